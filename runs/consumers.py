"""The two streams of a run."""

from collections.abc import AsyncIterator, Mapping

from contract.application import StudioApplication
from contract.events import StreamFrame
from studio_project.sse import StreamConsumer, StreamRoute


class RunMessages(StreamConsumer):
    """Follow a run's messages until it is done."""

    def open_stream(
        self, studio: StudioApplication, names: Mapping[str, str], cursor: str | None
    ) -> AsyncIterator[StreamFrame]:
        """Return the messages of the run after `cursor`."""
        return studio.stream_messages(names["run_id"], cursor)


class RunSignals(StreamConsumer):
    """Follow a run's signals until it is done."""

    def open_stream(
        self, studio: StudioApplication, names: Mapping[str, str], cursor: str | None
    ) -> AsyncIterator[StreamFrame]:
        """Return the signals of the run after `cursor`."""
        return studio.stream_signals(names["run_id"], cursor)


streams = (
    StreamRoute(path="runs/<run_id>/stream", operation_id="stream_messages", consumer=RunMessages),
    StreamRoute(path="runs/<run_id>/signals", operation_id="stream_signals", consumer=RunSignals),
)
