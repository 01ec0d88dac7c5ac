"""Processes that remove every old run of the test's database and die, forked from one that has Django loaded.

`python -m tests.runs.state.dying` reads a number on each line: the statement inside of writes in front of which
a process gets SIGKILL. It answers with that one's exit code, 0 when it came to the end.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import django

from tests.runs.state.other_process import url_of

_ROOT: Final = Path(__file__).parents[3]


@asynccontextmanager
async def dying_removals(settings: dict[str, Any], home: Path) -> AsyncIterator[Callable[[int], Awaitable[int]]]:
    """Yield what lets a process die before its nth statement on the database of these settings; it returns the code."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.runs.state.dying",
        cwd=_ROOT,
        env={
            "STUDIO_HOME": str(home),
            "STUDIO_DATABASE_URL": url_of(settings),
            "STUDIO_TIMEZONE": "UTC",
            "DJANGO_SETTINGS_MODULE": "studio_project.settings",
        },
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    async def die(statement: int) -> int:
        stdin.write(b"%d\n" % statement)
        return int(await stdout.readline())

    try:
        yield die
    finally:
        stdin.close()
        await process.wait()


async def _remove(fatal: int) -> None:
    from django.db import connections  # noqa: PLC0415 (this and the next need Django to be set up)

    from contract.retention import PruneRuns  # noqa: PLC0415
    from studio_project.composition import get_studio  # noqa: PLC0415

    studio, made = get_studio(), 0

    def count(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal made
        made += 1
        if made == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, params, many, context)

    await studio._db.maintain(lambda: connections["default"].execute_wrappers.append(count))
    await studio.prune_runs(PruneRuns(older_than_seconds=0))
    await studio.close()


def _main() -> None:
    django.setup()
    from studio_project import urls  # noqa: F401, PLC0415 (so that each fork has everything loaded)

    for line in sys.stdin:
        removing = os.fork()
        if removing == 0:
            asyncio.run(_remove(int(line)))
            os._exit(0)
        _, status = os.waitpid(removing, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _main()
