"""`python -m tests.benchmarks.producer RUN COUNT`: records messages into the database of STUDIO_HOME, itself."""

import asyncio
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio_project.settings")
django.setup()

from contract.events import MessageEvent, RecordEvents  # noqa: E402 (Django has to be set up first; so below)
from studio_project.composition import build_studio  # noqa: E402
from studio_project.config import current_config  # noqa: E402
from tests.benchmarks.pacing import produce  # noqa: E402


async def main(run_id: str, count: int) -> None:
    """Record one message at a time, as a run's own process does."""
    studio = build_studio(current_config())

    async def send(number: int, content: dict[str, float]) -> None:
        event = MessageEvent(role="assistant", content={**content}, event_id=f"producer-{number}")
        await studio.record_events(run_id, RecordEvents(events=(event,)))

    await produce(send, count)
    await studio.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
