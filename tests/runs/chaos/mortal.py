"""What a worker of the nursery does until it dies."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from artifacts.state import DjangoRunArtifactRows
from runs.endings import Stop
from runs.execution.executing import RunExecution
from runs.execution.worker import Worker
from runs.processes import identify
from runs.state.queueing import DjangoRunQueue
from runs.state.supervising import DjangoSupervisedRuns
from studio_project.statedb import StateDB
from tests.fakes.change_feed import InMemoryChangeFeed
from tests.fakes.clocks import FixedClock, SequentialIds
from tests.fakes.run_files import FakeRunFiles
from tests.runs.chaos.nursery import Order
from tests.runs.execution.scenes import ScriptedPlanner


def _stepping(port: Any, step: Callable[[], None], after: Callable[[str], None] = lambda _: None) -> Any:
    """Return the port with a step before and after each of its calls."""
    return _Stepping(port, step, after)


class _Stepping:
    def __init__(self, port: Any, step: Callable[[], None], after: Callable[[str], None]) -> None:
        self._port = port
        self._step = step
        self._after = after

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._port, name)

        async def stepped(*args: Any, **kwargs: Any) -> Any:
            self._step()
            result = await call(*args, **kwargs)
            self._step()
            self._after(name)
            return result

        return stepped


def obey(order: Order) -> int:
    """Carry an order out; return how many unforeseen errors it met."""
    return asyncio.run(_work(order))


async def _work(order: Order) -> int:
    made = 0
    incidents: list[Exception] = []
    db, feed, clock = StateDB(), InMemoryChangeFeed(), FixedClock()

    def step() -> None:
        nonlocal made
        made += 1
        if made == order.at:
            os.kill(os.getpid(), order.number)

    def after(name: str) -> None:
        if name == "record" and order.stops:
            execution.stop(Stop(cause="cancel"))

    queue = _stepping(DjangoRunQueue(db, feed=feed, announce=Worker.announce), step)
    runs = DjangoSupervisedRuns(db, feed=feed, artifacts=DjangoRunArtifactRows(SequentialIds()))
    [launch] = await queue.claim(owner=identify(os.getpid()), limit=1, cap=0, at=clock.now())
    execution = RunExecution(
        launch,
        runs=_stepping(runs, step, after),
        files=FakeRunFiles(),
        planner=_stepping(ScriptedPlanner(Path(order.folder)), step),
        clock=clock,
        grace_seconds=0,
        incident=incidents.append,
    )
    await execution.run()
    await asyncio.to_thread(db.close)
    return len(incidents)
