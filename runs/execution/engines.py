"""What brings the runs that wait to workers. Nobody outside of this folder knows which engine is bound."""

from typing import TYPE_CHECKING

from runs.execution.worker import Worker

if TYPE_CHECKING:
    from runs.execution.procrastinate_jobs import RunJobs


def engine_of(queue: str) -> "type[Worker] | type[RunJobs]":
    """Return the engine of a configured queue."""
    if queue == "local":
        return Worker
    # It takes a tenth of a second and 11 MiB: not from those who have not bound it.
    from runs.execution.procrastinate_jobs import RunJobs  # noqa: PLC0415

    return RunJobs
