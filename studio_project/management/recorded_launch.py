"""What a worker does with a launched run, told to the ports without any process: for the recording of the contract."""

from typing import Final

from contract.events import ProcessIdentity, RecordEvents
from contract.parsing import parse_model
from runs.services.execution_ports import Ending, RunQueue, SupervisedRunPort
from studio_project.contract_standins import RecordedClock
from studio_project.contract_story import START_AT

_WORKER: Final = ProcessIdentity(host="example-host", pid=4242, started_at=START_AT, boot_id="boot-1")
_CHILD: Final = ProcessIdentity(host="example-host", pid=4250, started_at=START_AT + 37.5, boot_id="boot-1")
_SAID: Final = (
    {"type": "signal", "kind": "SessionStarted", "payload": {"model": "model-1"}, "event_id": "w1"},
    {"type": "message", "role": "assistant", "content": "Two files have no tests.", "event_id": "w2"},
    {"type": "usage", "input_tokens": 900, "output_tokens": 40, "cost_usd": 0.0031, "event_id": "w3"},
    {"type": "message", "role": "output", "content": "1 file was skipped\n", "sender": "stderr"},
)
_ENDING: Final = Ending(
    status="completed",
    reason_code="run.completed.ok",
    exit_code=0,
    stdout_bytes=412,
    stderr_bytes=19,
    withheld_bytes=0,
    output_tail="1 file was skipped\n",
)


class RecordedWorker:
    """Executes what waits in the queue as if its process had said little and ended well, a second for each step."""

    def __init__(self, queue: RunQueue, runs: SupervisedRunPort, clock: RecordedClock) -> None:
        """Take what a worker writes to."""
        self._queue = queue
        self._runs = runs
        self._clock = clock

    async def execute(self) -> None:
        """Execute the oldest."""
        events = parse_model(RecordEvents, {"events": list(_SAID)}).events
        [launch] = await self._queue.claim(owner=_WORKER, limit=1, cap=1, at=self._next())
        await self._runs.started(launch.lease, _CHILD, at=self._next())
        await self._runs.record(launch.lease, events, at=self._next())
        await self._runs.end(launch.lease, _ENDING, at=self._next())

    def _next(self) -> float:
        self._clock.advance()
        return self._clock.now()
