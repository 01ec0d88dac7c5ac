import asyncio
import subprocess
from pathlib import Path

from runs.execution.exits import _exited_by_looking, exited
from tests.runs.execution.children import ENDLESS, PATIENCE_SECONDS, order_of, python, running


async def test_an_exit_is_noticed_and_left_to_be_waited_for(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it:
        await it.heard.line()

        for notice in (exited, _exited_by_looking):
            waiting = asyncio.create_task(notice(it.child.identity.pid))
            it.child._process.kill()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await waiting

        exit_ = await it.child.close()
    assert exit_.signal == 9


async def test_a_process_that_was_waited_for_has_exited() -> None:
    process = await asyncio.create_subprocess_exec(*python("pass"), stdout=subprocess.DEVNULL)
    await process.wait()

    for notice in (exited, _exited_by_looking):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await notice(process.pid)


async def test_who_stops_waiting_leaves_nothing_open(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it:
        await it.heard.line()
        before = open_files()
        waiting = asyncio.create_task(exited(it.child.identity.pid))
        await asyncio.wait([waiting], timeout=0)
        during = open_files()
        waiting.cancel()
        await asyncio.wait([waiting])

        after = open_files()

    assert before == after < during


def open_files() -> set[str]:
    return {path.name for path in Path("/dev/fd").iterdir()}
