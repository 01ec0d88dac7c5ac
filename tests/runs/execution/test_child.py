import asyncio
import errno
import os
import resource
import signal
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from runs.execution.child import Child, Exit, NotExecuted
from runs.execution.exits import exited
from runs.execution.pipes import Stream
from runs.output_window import OutputPiece, OutputWindow
from tests.runs.execution.children import (
    ENDLESS,
    PATIENCE_SECONDS,
    Heard,
    lives,
    order_of,
    python,
    run,
    running,
    starting,
)

# Of a grandchild: goes on when the child, which leads the session, is gone.
_WHEN_ALONE = "import os\nwhile os.getppid() == os.getsid(0): pass\n"


async def test_a_child_tells_how_it_exited(tmp_path: Path) -> None:
    assert (await run(order_of("/bin/sh", "-c", "exit 0", cwd=tmp_path)))[0] == Exit(code=0, signal=None)
    assert (await run(order_of("/bin/sh", "-c", "exit 3", cwd=tmp_path)))[0] == Exit(code=3, signal=None)
    assert (await run(order_of("/bin/sh", "-c", "kill -KILL $$", cwd=tmp_path)))[0] == Exit(code=None, signal=9)


async def test_a_child_is_waited_for(tmp_path: Path) -> None:
    async with running(order_of(*python("pass"), cwd=tmp_path)) as it:
        await it.child.exited()
        kept = psutil.pid_exists(it.child.identity.pid)
        await it.ended()

    assert kept, "until it is closed, nobody else may get its pid"
    assert not psutil.pid_exists(it.child.identity.pid)


async def test_a_child_without_a_text_reads_nothing(tmp_path: Path) -> None:
    _, heard = await run(order_of(*python("import sys; print(repr(sys.stdin.read()))"), cwd=tmp_path))

    assert heard.text() == "''\n"


async def test_a_child_reads_the_text_it_was_given(tmp_path: Path) -> None:
    text = "first\nsecond €\n" + "x" * 300_000

    _, heard = await run(order_of("/bin/cat", cwd=tmp_path, stdin_text=text))

    assert heard.text() == text


async def test_a_child_that_does_not_read_its_text_keeps_nobody_waiting(tmp_path: Path) -> None:
    exit_, _ = await run(order_of(*python("pass"), cwd=tmp_path, stdin_text="x" * 1_000_000))

    assert exit_ == Exit(code=0, signal=None)


async def test_both_streams_are_drained(tmp_path: Path) -> None:
    code = "import os\nfor _ in range(200):\n  os.write(1, b'x' * 4096); os.write(2, b'y' * 8192)\nprint(1)"

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        exit_ = await it.ended()

    assert exit_ == Exit(code=0, signal=None)
    assert it.heard.text("stdout") == "x" * 200 * 4096 + "1\n"
    assert it.heard.text("stderr") == "y" * 200 * 8192
    assert (it.child.size_bytes("stdout"), it.child.size_bytes("stderr")) == (200 * 4096 + 2, 200 * 8192)


async def test_bytes_that_are_no_text_are_replaced_and_nothing_else_is_lost(tmp_path: Path) -> None:
    code = r"import os; [os.write(1, bytes([byte])) for byte in b'a\0b\xff\xe2\x82\xac\xe2\x82\nend \xf0\x9f']"

    _, heard = await run(order_of(*python(code), cwd=tmp_path))

    assert heard.text() == "a\0b�€�\nend �"


async def test_a_flood_on_one_line_costs_no_memory(tmp_path: Path) -> None:
    process, window, peaks = psutil.Process(), OutputWindow(), list[int]()
    code = "import os\nfor _ in range(800): os.write(1, b'x' * 65536)"

    async def take(_: Stream, pieces: Sequence[OutputPiece]) -> None:
        for piece in pieces:
            window.feed(piece.text)
        peaks.append(process.memory_info().rss)

    child = Child.start(order_of(*python(code), cwd=tmp_path))
    before = process.memory_info().rss
    await child.release()
    await child.read(take)
    await child.exited()
    exit_ = await child.close()
    withheld, rest = window.rest()
    assert exit_ == Exit(code=0, signal=None)
    assert (withheld, len(rest)) == (800 * 65536 - 1024 * 1024 - 64 * 1024, 64 * 1024)
    assert max(peaks) - before < 30_000_000


async def test_a_child_that_closes_its_output_is_still_waited_for(tmp_path: Path) -> None:
    code = "import os, sys; print('bye', flush=True); os.close(1); os.close(2)\nwhile not sys.stdin.read(1): pass"

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        await it.reading
        alive = lives(it.child.identity.pid)
        exit_ = await it.stopped(grace_seconds=PATIENCE_SECONDS)

    assert alive
    assert exit_ == Exit(code=None, signal=signal.SIGTERM)
    assert it.heard.text() == "bye\n"


async def test_nothing_is_read_ahead_of_who_takes(tmp_path: Path) -> None:
    taken, go_on = asyncio.Event(), asyncio.Event()

    class Slow(Heard):
        async def take(self, stream: Stream, pieces: Sequence[OutputPiece]) -> None:
            taken.set()
            await go_on.wait()
            await super().take(stream, pieces)

    code = "import os\nfor _ in range(1000): os.write(1, b'x' * 999 + b'\\n')"
    async with running(order_of(*python(code), cwd=tmp_path), Slow()) as it, asyncio.timeout(PATIENCE_SECONDS):
        await taken.wait()
        read = it.child.size_bytes("stdout")
        go_on.set()
        await it.ended()

    assert read <= 16 * 1024
    assert it.heard.text() == ("x" * 999 + "\n") * 1000


async def test_a_grandchild_may_finish_what_it_prints(tmp_path: Path) -> None:
    code = "print('early', flush=True)\n" + starting(_WHEN_ALONE + "print('late')")

    exit_, heard = await run(order_of(*python(code), cwd=tmp_path))

    assert exit_ == Exit(code=0, signal=None)
    assert heard.text() == "early\nlate\n"


async def test_a_grandchild_that_keeps_the_pipes_is_ended_after_a_while(tmp_path: Path) -> None:
    code = starting(ENDLESS)

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        exit_ = await it.ended(linger_seconds=0)

    assert exit_ == Exit(code=0, signal=None)
    assert not lives(int(it.heard.text("stderr")))


async def test_nobody_waits_for_a_pipe_when_the_group_is_gone(tmp_path: Path) -> None:
    code = starting(ENDLESS, more=", env={}, start_new_session=True")

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        exit_ = await it.ended(linger_seconds=PATIENCE_SECONDS * 2)
        stranger = int(it.heard.text("stderr"))
        os.kill(stranger, signal.SIGKILL)

    assert exit_ == Exit(code=0, signal=None)


async def test_nobody_who_prints_for_ever_can_keep_the_run(tmp_path: Path) -> None:
    flood = "import os\nwhile True: os.write(1, b'flood\\n' * 1000)"
    code = starting(flood, more=", env={}, start_new_session=True")

    async with running(order_of(*python(code), cwd=tmp_path)) as it:
        exit_ = await it.ended(linger_seconds=0)
        # It writes into a pipe that nobody reads any more.
        await exited(int(it.heard.text("stderr").split("\n")[0]))

    assert exit_ == Exit(code=0, signal=None)


async def test_nothing_that_was_printed_before_the_exit_is_lost_on_who_takes_slowly(tmp_path: Path) -> None:
    go_on = asyncio.Event()
    code = "import os\nfor _ in range(10): os.write(1, b'x' * 6000 + b'\\n')\n" + starting(ENDLESS)

    class Slow(Heard):
        async def take(self, stream: Stream, pieces: Sequence[OutputPiece]) -> None:
            await go_on.wait()
            await super().take(stream, pieces)

    async with running(order_of(*python(code), cwd=tmp_path), Slow()) as it:
        await it.child.exited()
        await it.child.end(grace_seconds=PATIENCE_SECONDS)
        go_on.set()
        await it.reading

    assert it.heard.text().startswith(("x" * 6000 + "\n") * 10)


async def test_a_child_is_closed_when_all_that_it_printed_is_taken(tmp_path: Path) -> None:
    async with running(order_of(*python("print('last')"), cwd=tmp_path)) as it, asyncio.timeout(PATIENCE_SECONDS):
        await it.child.exited()

        exit_ = await it.child.close()

    assert exit_ == Exit(code=0, signal=None)
    assert it.heard.text() == "last\n"


async def test_a_child_that_is_closed_without_an_exit_has_none(tmp_path: Path) -> None:
    async with running(order_of(*python(ENDLESS), cwd=tmp_path)) as it, asyncio.timeout(PATIENCE_SECONDS):
        exit_ = await it.child.close()

    assert exit_ == Exit(code=None, signal=None)


async def test_what_the_taker_raises_ends_the_reading(tmp_path: Path) -> None:
    class Failing(Heard):
        async def take(self, stream: Stream, pieces: Sequence[OutputPiece]) -> None:
            raise LookupError(stream)

    async with running(order_of(*python(ENDLESS), cwd=tmp_path), Failing()) as it:
        with pytest.raises(LookupError):
            await it.reading
        exit_ = await it.child.end(grace_seconds=PATIENCE_SECONDS), await it.child.close()

    assert exit_ == ((), Exit(code=None, signal=signal.SIGTERM))


async def test_a_system_without_room_for_another_process_is_told(tmp_path: Path) -> None:
    order = order_of(*python("pass"), cwd=tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with pytest.raises(NotExecuted) as caught:
            Child.start(order)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert (caught.value.stage, caught.value.number) == ("gate", errno.EMFILE)
