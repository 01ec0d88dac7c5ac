"""Launched runs in a store of their own, executed with real children."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from contract.actions import ActionFields
from contract.errors import StateUnavailable
from contract.events import ProcessIdentity, RunEvent
from runs.endings import Verdict
from runs.execution.child import ChildOrder
from runs.execution.executing import Plan, RunExecution
from runs.output_reading import OutputReader, reader_named
from runs.services.execution_ports import ClaimedLaunch, Ending, Lease, SupervisedRunPort
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock
from tests.fakes.run_files import FakeRunFiles
from tests.fakes.run_launches import InMemoryLaunches
from tests.fakes.run_records import StoredLaunch, StoredRun
from tests.fakes.runs import InMemoryRuns
from tests.fakes.turns import turns
from tests.runs.execution.children import GRACE_SECONDS, PATIENCE_SECONDS, python
from tests.runs.state.launches import draft, worker

# Of a child: does not end when it is asked to.
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n"
ENDLESS_STUBBORN = f"{STUBBORN}while True: signal.pause()"
# Between two tries while the store is away.
SOON_SECONDS = 0.01


def event_line(**fields: Any) -> str:
    """Return a line of the run-event protocol."""
    return json.dumps({"studio": 1, **fields})


class ScriptedPlanner:
    """Plans for each launch to execute the `command` of its action as it is, or what a test set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: Verdict | Exception | None = None
        self.reader: Callable[[], OutputReader] = lambda: reader_named("events")
        self.cleared: list[str] = []
        # Runs of other tests, which run beside this one, have the same ids, and a run's children are found by its mark.
        self._mark = secrets.token_hex(8)

    async def plan(self, launch: ClaimedLaunch) -> Plan | Verdict:
        if isinstance(self.told, Exception):
            raise self.told
        if self.told is not None:
            return self.told
        assert isinstance(launch.action, ActionFields)
        order = ChildOrder(
            run_id=f"{self._mark}-{launch.lease.run_id}",
            argv=launch.action.command,
            env={},
            cwd=launch.cwd or str(self.folder),
        )
        return Plan(order=order, reader=self.reader())

    async def clear(self, launch: ClaimedLaunch) -> None:
        self.cleared.append(launch.lease.run_id)


class Forgetful:
    """A SupervisedRunPort whose first answer to each kind of call is lost: before the call was obeyed, or after."""

    def __init__(self, runs: SupervisedRunPort, *, obeys: bool) -> None:
        self._runs = runs
        self._obeys = obeys
        self._lost: set[str] = set()

    async def started(self, lease: Lease, process: ProcessIdentity, *, at: float) -> bool:
        return await self._answer("started", lambda: self._runs.started(lease, process, at=at))

    async def record(self, lease: Lease, events: Sequence[RunEvent], *, at: float) -> bool:
        return await self._answer("record", lambda: self._runs.record(lease, events, at=at))

    async def end(self, lease: Lease, ending: Ending, *, at: float) -> bool:
        return await self._answer("end", lambda: self._runs.end(lease, ending, at=at))

    async def _answer(self, kind: str, call: Callable[[], Any]) -> bool:
        if kind in self._lost:
            return bool(await call())
        self._lost.add(kind)
        if self._obeys:
            await call()
        raise StateUnavailable(retryable=True)


class Scene:
    """The store, the queue, and who executes."""

    def __init__(self, folder: Path) -> None:
        self.clock = FixedClock()
        self.feed = InMemoryChangeFeed()
        self.runs = InMemoryRuns(clock=self.clock, feed=self.feed)
        self.launches = InMemoryLaunches(self.runs)
        self.files = FakeRunFiles()
        self.planner = ScriptedPlanner(folder)
        self.incidents: list[Exception] = []

    async def queue(self, *command: str, run_id: str = "r", **fields: Any) -> None:
        """Launch a command."""
        action = ActionFields(kind="command", command=command)
        await self.launches.launch(draft(run_id, action=action, **fields), at=self.clock.now())

    async def claimed(self, *command: str, **fields: Any) -> ClaimedLaunch:
        """Launch a command, and claim it."""
        await self.queue(*command, **fields)
        [launch] = await self.launches.claim(owner=worker(), limit=1, cap=0, at=self.clock.now())
        return launch

    def execution(
        self, launch: ClaimedLaunch, *, grace_seconds: float = GRACE_SECONDS, runs: SupervisedRunPort | None = None
    ) -> RunExecution:
        return RunExecution(
            launch,
            runs=runs or self.launches,
            files=self.files,
            planner=self.planner,
            clock=self.clock,
            grace_seconds=grace_seconds,
            incident=self.incidents.append,
            retry_seconds=SOON_SECONDS,
        )

    async def ran(self, *command: str, runs: SupervisedRunPort | None = None, **fields: Any) -> StoredRun:
        """Launch a command and execute it to its end."""
        execution = self.execution(await self.claimed(*command, **fields), runs=runs)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await execution.run()
        return self.run()

    @asynccontextmanager
    async def executing(self, code: str, *, grace_seconds: float = 0.1, **fields: Any) -> AsyncIterator[RunExecution]:
        """Execute a child of this code, from when it has said that it is ready; after the block it is waited for."""
        execution = self.execution(await self.claimed(*python(code), **fields), grace_seconds=grace_seconds)
        task = asyncio.create_task(execution.run())
        try:
            await self.until(lambda: "ready" in self.printed() or task.done())
            yield execution
            async with asyncio.timeout(PATIENCE_SECONDS):
                await task
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def until(self, holds: Callable[[], bool]) -> None:
        """Let the loop turn until something holds."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not holds():
                await turns()

    def run(self, run_id: str = "r") -> StoredRun:
        return self.runs.runs[run_id]

    def launch(self, run_id: str = "r") -> StoredLaunch:
        launch = self.run(run_id).launch
        assert launch is not None
        return launch

    def ending(self, run_id: str = "r") -> Ending:
        ending = self.launch(run_id).ending
        assert ending is not None
        return ending

    def child(self, run_id: str = "r") -> ProcessIdentity:
        """Return the recorded child."""
        process = self.run(run_id).command.process
        assert process is not None
        return process

    def printed(self, stream: str | None = None, run_id: str = "r") -> str:
        """Return the plain output that was recorded, of one stream or of both."""
        views = [message.view for message in self.run(run_id).messages if message.view.role == "output"]
        return "".join(str(view.content) for view in views if stream in (None, view.sender))

    def pids_printed(self) -> Iterable[int]:
        """Return the numbers on the standard error: who was started, as `children.starting` tells."""
        return [int(line) for line in self.printed("stderr").split()]
