"""One launched run, from the hold of it to its end."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from contract.errors import StateUnavailable
from contract.events import RunEvent
from contract.ports import Clock
from runs.endings import Said, Stop, Verdict, verdict_of
from runs.execution.child import Child, ChildOrder, Exit, NotExecuted
from runs.execution.recorder import OutputRecorder
from runs.output_reading import OutputReader
from runs.services.execution_ports import ClaimedLaunch, Ending, RunFilesPort, SupervisedRunPort

_log = logging.getLogger(__name__)

# After a child exited, what it left behind may still print for so long, before it is ended as well.
_LINGER_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 1.0
# What a run left is registered after its end was told, and nobody waits for it longer than this; a worker that stops
# waits for as much as its own stop leaves.
_COLLECT_SECONDS: Final = 30.0
_LAST_COLLECT_SECONDS: Final = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to execute, and what reads its output."""

    order: ChildOrder
    reader: OutputReader
    promises_claim: bool = False


class Planner(Protocol):
    """Makes plans of launches on this machine, and clears up after them."""

    async def plan(self, launch: ClaimedLaunch) -> Plan | Verdict:
        """Return the plan, or how the run ends because there is none."""
        ...

    async def clear(self, launch: ClaimedLaunch) -> None:
        """Remove what the plan put on the disk. Idempotent."""
        ...


class RunExecution:
    """Executes one launch. `stop` may be called at any time; `run` returns when nobody of the run is left."""

    def __init__(
        self,
        launch: ClaimedLaunch,
        *,
        runs: SupervisedRunPort,
        files: RunFilesPort,
        planner: Planner,
        clock: Clock,
        grace_seconds: float,
        incident: Callable[[Exception], object],
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        """Take the launch and who is written to; `incident` is told of the unforeseen."""
        self.lease: Final = launch.lease
        self._launch = launch
        self._runs = runs
        self._files = files
        self._planner = planner
        self._clock = clock
        self._grace_seconds = grace_seconds
        self._incident = incident
        self._retry_seconds = retry_seconds
        self._stop: Stop | None = None
        self._stopped = asyncio.Event()
        self._hurried = asyncio.Event()
        self._ended = False

    def stop(self, stop: Stop, *, grace_seconds: float | None = None) -> None:
        """End the child; the first cause counts, a shorter grace does at any time: then nobody can wait any more."""
        if grace_seconds is not None:
            self._grace_seconds = min(self._grace_seconds, grace_seconds)
            self._hurried.set()
        if self._stop is None:
            self._stop = stop
            self._stopped.set()

    async def run(self) -> None:
        """Execute. Whatever goes wrong, the run ends with a reason, unless the lease is lost."""
        try:
            plan = await self._planner.plan(self._launch)
            if isinstance(plan, Verdict):
                await self._end(plan)
            else:
                await self._execute(plan)
        except Exception as error:  # noqa: BLE001 (a run must end, and take nobody with it)
            self._incident(error)
            told = f"unforeseen {type(error).__name__}; see the log"
            await self._end(Verdict(status="failed", reason_code="run.failed.error", reason_summary=told))
        finally:
            await self._planner.clear(self._launch)
        if self._ended:
            await self._collect()

    async def _execute(self, plan: Plan) -> None:
        try:
            child = Child.start(plan.order)
        except NotExecuted as fault:
            await self._end(_not_executed(fault))
            return
        try:
            await self._attend(child, plan)
        except NotExecuted as fault:
            await self._end(_not_executed(fault))
        except BaseException:
            # Whatever it was, nobody would look after the child any more.
            await child.end(grace_seconds=0.0)
            await child.close()
            raise

    async def _attend(self, child: Child, plan: Plan) -> None:
        if not await self._started(child):
            await child.abandon()
            return
        deadline = asyncio.create_task(self._stop_at_deadline())
        try:
            await self._release(child)
            await self._supervise(child, plan)
        finally:
            deadline.cancel()

    async def _release(self, child: Child) -> None:
        """Let the child begin. One that hangs before it does, in a folder that never answers, is only stopped."""
        releasing = asyncio.create_task(child.release())
        done = await _first_of(releasing, asyncio.create_task(self._stopped.wait()))
        if releasing in done:
            releasing.result()
        else:
            await asyncio.wait([releasing])

    async def _stop_at_deadline(self) -> None:
        await asyncio.sleep(self._launch.deadline_seconds)
        self.stop(Stop(cause="deadline", said=f"after {self._launch.deadline_seconds:g} seconds"))

    async def _started(self, child: Child) -> bool:
        """Record the child before it may begin. Without that it never does."""
        while self._stop is None:
            try:
                return await self._runs.started(self.lease, child.identity, at=self._clock.now())
            except StateUnavailable:
                await _pause(self._stopped, self._retry_seconds)
        if self._stop.cause != "shutdown":  # after one it is executed by the next worker
            await self._end(verdict_of(stop=self._stop, exit_code=None, exit_signal=None))
        return False

    async def _supervise(self, child: Child, plan: Plan) -> None:
        recorder = OutputRecorder(plan.reader, self._record, retry_seconds=self._retry_seconds)
        reading = asyncio.create_task(child.read(recorder.take))
        flushing = asyncio.create_task(recorder.flush_forever())
        try:
            stop = await self._until_over(child, recorder, (reading, flushing))
            left = await self._end_child(child)
            await reading
            exited = await child.close()
            withheld = await recorder.finish()
            if flushing.done():  # it does not end by itself: it raises what broke it
                flushing.result()
        finally:
            for task in (reading, flushing):
                task.cancel()
        tail = recorder.tail()
        said = Said(claim=recorder.claim, last_line=_last_line(tail), promises_claim=plan.promises_claim)
        verdict = verdict_of(stop=stop, exit_code=exited.code, exit_signal=exited.signal, said=said, left=len(left))
        await self._end(verdict, child=child, exited=exited, withheld_bytes=withheld, tail=tail)

    async def _record(self, events: Sequence[RunEvent]) -> bool:
        try:
            return await self._runs.record(self.lease, events, at=self._clock.now())
        except StateUnavailable:
            if self._gives_up:
                return False
            raise

    async def _until_over(
        self, child: Child, recorder: OutputRecorder, work: Sequence["asyncio.Task[None]"]
    ) -> Stop | None:
        """Return when the child has exited, or has to: then with the reason. What ended by itself was not stopped."""
        if self._stop is not None:  # it may never have begun, and an exit would be that of the gate
            return self._stop
        exited = asyncio.create_task(child.exited())
        lost = asyncio.create_task(recorder.lost.wait())
        stopped = asyncio.create_task(self._stopped.wait())
        broken = asyncio.create_task(asyncio.wait(work, return_when=asyncio.FIRST_EXCEPTION))
        done = await _first_of(exited, lost, stopped, broken)
        if exited in done:
            await self._linger(child)
            return None
        if lost in done:
            self.stop(Stop(cause="lost"))
        return self._stop

    async def _linger(self, child: Child) -> None:
        lingering = asyncio.create_task(child.linger(seconds=_LINGER_SECONDS))
        await _first_of(lingering, asyncio.create_task(self._stopped.wait()))

    async def _end_child(self, child: Child) -> tuple[int, ...]:
        """End the child. A grace that becomes shorter meanwhile counts."""
        ending = asyncio.create_task(child.end(grace_seconds=self._grace_seconds))
        done = await _first_of(ending, asyncio.create_task(self._hurried.wait()))
        return ending.result() if ending in done else await child.end(grace_seconds=self._grace_seconds)

    async def _end(
        self,
        verdict: Verdict,
        *,
        child: Child | None = None,
        exited: Exit | None = None,
        withheld_bytes: int | None = None,
        tail: str = "",
    ) -> None:
        """Tell the end, over any passing fault of the store; a lost lease has been told by another."""
        ending = Ending(
            status=verdict.status,
            reason_code=verdict.reason_code,
            reason_summary=verdict.reason_summary,
            exit_code=None if exited is None else exited.code,
            exit_signal=None if exited is None else exited.signal,
            stdout_bytes=None if child is None else child.size_bytes("stdout"),
            stderr_bytes=None if child is None else child.size_bytes("stderr"),
            withheld_bytes=withheld_bytes,
            output_tail=tail,
        )
        while True:
            try:
                self._ended = await self._runs.end(self.lease, ending, at=self._clock.now())
                if not self._ended:
                    _log.warning("run %s: the lease was lost before its end was told", self.lease.run_id)
                return
            except StateUnavailable as unavailable:
                if self._gives_up:
                    _log.warning("run %s: its end was not told: %s", self.lease.run_id, unavailable)
                    return
                await _pause(self._hurried, self._retry_seconds)

    async def _collect(self) -> None:
        """Register the files that the run left. It has ended: nothing here can change that, or keep anybody."""
        collecting = asyncio.create_task(self._files.collect(self.lease.run_id))
        hurried = asyncio.create_task(self._hurried.wait())
        try:
            await asyncio.wait({collecting, hurried}, timeout=_COLLECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({collecting}, timeout=_LAST_COLLECT_SECONDS)
        finally:
            hurried.cancel()
            collecting.cancel()
        if collecting.done() and (error := collecting.exception()) is not None:
            _log.error("run %s: its files were not registered", self.lease.run_id, exc_info=error)

    @property
    def _gives_up(self) -> bool:
        """Whether a store that is away is not waited for: the reaper settles what was not told."""
        return self._hurried.is_set() or (self._stop is not None and self._stop.cause == "lost")


def _not_executed(fault: NotExecuted) -> Verdict:
    code = {"cwd": "run.failed.cwd", "exec": "run.failed.spawn", "gate": "run.failed.spawn"}[fault.stage]
    return Verdict(status="failed", reason_code=code, reason_summary=str(fault))


async def _first_of(*tasks: "asyncio.Task[Any]") -> set["asyncio.Task[Any]"]:
    """Return those that are done first; the others are given up."""
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done
    finally:
        for task in tasks:
            task.cancel()


async def _pause(event: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        # Not wait_for: before Python 3.12 it swallows a cancellation that meets the event.
        async with asyncio.timeout(seconds):
            await event.wait()


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "")
