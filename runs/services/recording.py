"""Operations by which a producer registers a run and tells what happens in it."""

from contract.errors import NotFound
from contract.events import ArtifactEvent, RecordEvents, RecordResult
from contract.lookup import require_possible
from contract.ports import Clock, IdGenerator
from contract.runs import RunSummary, StartRun
from runs.batch import check_events
from runs.services.execution_ports import RunFilesPort
from runs.services.ports import RunWritePort


async def start_run(*, command: StartRun, runs: RunWritePort, clock: Clock, ids: IdGenerator) -> RunSummary:
    """Register a run that its producer executes. Conflict when the chosen id is taken."""
    return await runs.start_run(command.run_id or ids.new_id(), command, at=clock.now())


async def record_events(
    *, run_id: str, command: RecordEvents, runs: RunWritePort, files: RunFilesPort, clock: Clock
) -> RecordResult:
    """Store a batch atomically; then measure the files that it names. ValidationFailure names the event; NotFound."""
    require_possible("run", run_id)
    check_events(command.events)
    result = await runs.record_events(run_id, command.events, at=clock.now())
    if result is None:
        raise NotFound("run", run_id)
    named = [event.path for event in command.events if isinstance(event, ArtifactEvent) and event.path is not None]
    if named:
        await files.measure(run_id, named)
    return result
