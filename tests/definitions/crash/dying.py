"""What a child of the nursery does until it dies."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from contract.definitions import ResolveReconciliation
from contract.errors import StudioError
from definitions.files.disk import DiskDefinitionFiles
from definitions.services.reconciling import resolve_reconciliation
from definitions.services.writing import Change, DefinitionWriter
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from runs.processes import LocalProcesses
from studio_project.statedb import StateDB
from studio_project.system import RandomIds, SystemClock
from tests.definitions.crash.nursery import Order, edit_by_hand
from tests.definitions.files.watched import watched

_REFUSED = 9


class Steps:
    """Counts a child's steps, and is what happens at one of them. The count outlives the child in a pipe."""

    def __init__(self, order: Order, count_to: int) -> None:
        self._order = order
        self._count_to = count_to
        self._made = 0

    def step(self, *_: object) -> None:
        self._made += 1
        os.write(self._count_to, b".")
        if self._made == self._order.edit_at:
            edit_by_hand(Path(self._order.home), self._order.name, self._order.edit)
        if self._made == self._order.die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, port: Any) -> Any:
        """Return the port with a step before and after each of its calls."""
        return _Stepping(port, self)


class _Stepping:
    def __init__(self, port: Any, steps: Steps) -> None:
        self._port = port
        self._steps = steps

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        call = getattr(self._port, name)

        async def stepped(*args: Any, **kwargs: Any) -> Any:
            self._steps.step()
            result = await call(*args, **kwargs)
            self._steps.step()
            return result

        return stepped


def obey(order: Order, count_to: int) -> int:
    """Carry an order out; return the exit code."""
    steps, db, ids = Steps(order, count_to), StateDB(), RandomIds()
    writer = DefinitionWriter(
        history=steps.around(DjangoDefinitionHistory(db, ids=ids)),
        files=DiskDefinitionFiles(Path(order.home), tokens=ids, syscalls=watched(steps.step)),
        writers=LocalProcesses(),
        clock=SystemClock(),
    )

    async def change() -> None:
        if order.verb == "retry":
            await resolve_reconciliation(
                reconciliation_id=order.target,
                command=ResolveReconciliation(action="retry_write"),
                reconciliations=steps.around(DjangoReconciliations(db, ids=ids)),
                writer=writer,
            )
            return
        await writer.store(
            Change(
                kind="agent",
                name=order.name,
                content=order.content,
                deleted=order.verb == "delete",
                origin="delete" if order.verb == "delete" else "save",
                message=None,
                actor=None,
                expected_version=order.expected_version,
            )
        )

    try:
        asyncio.run(change())
    except StudioError:
        return _REFUSED
    return 0
