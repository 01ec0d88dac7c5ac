"""Another process on the database of the test: it records what it is told, one line of JSON at a time.

`python -m tests.runs.state.other_process` reads `{"run_id": ..., "batches": ..., "size": ...}` and answers each line
with `{"accepted": ..., "last_seq": ...}`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import django

from contract.events import RecordEvents
from tests.builders import messages

_ROOT = Path(__file__).parents[3]
_MODULE = "tests.runs.state.other_process"


class OtherProcess:
    """The test's end of the other process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def record(self, run_id: str, *, batches: int = 1, size: int = 1) -> dict[str, int]:
        """Let the process record `batches` batches of `size` messages, and return the sum."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"run_id": run_id, "batches": batches, "size": size}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        answer: dict[str, int] = json.loads(await self._process.stdout.readline())
        return answer


@asynccontextmanager
async def other_process(settings: dict[str, Any], home: Path) -> AsyncIterator[OtherProcess]:
    """Run another process on the database of these Django settings until the block ends."""
    environment = {"STUDIO_HOME": str(home), "STUDIO_DATABASE_URL": url_of(settings), "STUDIO_TIMEZONE": "UTC"}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        _MODULE,
        cwd=_ROOT,
        env=environment | {"DJANGO_SETTINGS_MODULE": "studio_project.settings"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield OtherProcess(process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def url_of(settings: dict[str, Any]) -> str:
    """Return the database of Django's settings as a URL, for another process."""
    name = str(settings["NAME"])
    if settings["ENGINE"].endswith("sqlite3"):
        return f"sqlite://{quote(name)}"
    user = quote(settings["USER"], safe="") + (
        f":{quote(settings['PASSWORD'], safe='')}" if settings["PASSWORD"] else ""
    )
    port = f":{settings['PORT']}" if settings["PORT"] else ""
    return f"postgresql://{user}@{settings['HOST']}{port}/{quote(name)}"


async def _obey() -> None:
    from studio_project.composition import get_studio  # noqa: PLC0415 (its records need Django to be set up)

    studio = get_studio()
    for line in sys.stdin:
        order = json.loads(line)
        batch = RecordEvents(events=tuple(messages(order["size"])))
        results = [await studio.record_events(order["run_id"], batch) for _ in range(order["batches"])]
        answer = {"accepted": sum(result.accepted for result in results), "last_seq": results[-1].last_seq}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    await studio.close()


if __name__ == "__main__":
    django.setup()
    asyncio.run(_obey())
