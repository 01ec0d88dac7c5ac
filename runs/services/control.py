"""Operations by which a person, or the daemon for them, steers runs."""

import asyncio
from collections.abc import Callable
from typing import Final

from contract.base import FieldFailure
from contract.errors import NotFound, StateUnavailable, ValidationFailure
from contract.lookup import require_possible
from contract.ports import Clock
from contract.runs import CancelResult, CancelRun, ChangeTags, TagsResult
from runs.services.ports import ProcessProbe, RunningProcess, RunSettlementPort, RunWritePort

# Runs looked at and settled at once: one short write transaction each.
_SETTLED_AT_ONCE: Final = 500


async def cancel_run(*, run_id: str, command: CancelRun, runs: RunWritePort, clock: Clock) -> CancelResult:
    """Ask a run to stop; idempotent. NotFound, Conflict when it has ended otherwise."""
    require_possible("run", run_id)
    result = await runs.request_cancel(run_id, reason=command.reason, at=clock.now())
    if result is None:
        raise NotFound("run", run_id)
    return result


async def change_run_tags(*, run_id: str, command: ChangeTags, runs: RunWritePort, clock: Clock) -> TagsResult:
    """Add and remove tags; idempotent. ValidationFailure for a tag in both lists or too many; NotFound."""
    require_possible("run", run_id)
    removed = frozenset(command.remove)
    failures = tuple(
        FieldFailure(path=("add", index), code="exclusive", message="is also to be removed")
        for index, tag in enumerate(command.add)
        if tag in removed
    )
    if failures:
        raise ValidationFailure(failures)
    result = await runs.change_tags(run_id, add=frozenset(command.add), remove=removed, at=clock.now())
    if result is None:
        raise NotFound("run", run_id)
    return result


async def settle_gone_runs(
    *, runs: RunSettlementPort, probe: ProcessProbe, clock: Clock, progress: Callable[[int], None]
) -> int:
    """Fail every running run whose process is known to be gone; return how many.

    Safe beside any number of others doing the same: each move is guarded. `progress` is told how many were looked at.
    """
    settled, after = 0, 0
    while found := await runs.running_processes(after=after, limit=_SETTLED_AT_ONCE):
        after = found[-1].number
        gone = [run.run_id for run in found if _is_gone(run, probe)]
        if gone:
            settled += await runs.settle_gone(gone, at=clock.now())
        progress(len(found))
    return settled


async def keep_settling(
    *,
    runs: RunSettlementPort,
    probe: ProcessProbe,
    clock: Clock,
    every_seconds: float,
    on_fault: Callable[[StateUnavailable], None],
) -> None:
    """Settle gone runs again and again, until cancelled. A store that does not answer is told of, not fatal."""
    while True:
        await asyncio.sleep(every_seconds)
        try:
            await settle_gone_runs(runs=runs, probe=probe, clock=clock, progress=lambda _: None)
        except StateUnavailable as fault:
            on_fault(fault)


def _is_gone(run: RunningProcess, probe: ProcessProbe) -> bool:
    return probe.alive(run.process) is False
