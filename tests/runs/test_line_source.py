"""Reading a descriptor in pieces, with word of pauses."""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from runs.management.line_source import CHUNK_BYTES, Piece, read_pieces

# Long enough that a ready pipe is never taken for a pause, short enough for a test.
PAUSE_SECONDS = 0.05


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        try:
            os.close(descriptor)
        except OSError:  # closed by the test
            continue


async def all_of(pieces: AsyncIterator[Piece]) -> list[Piece]:
    return [piece async for piece in pieces]


async def test_a_file_is_read_whole_in_bounded_pieces(tmp_path: Path) -> None:
    content = os.urandom(3 * CHUNK_BYTES + 5)
    (tmp_path / "file").write_bytes(content)
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)

    pieces = await all_of(read_pieces(descriptor))
    os.close(descriptor)

    assert b"".join(piece for piece in pieces if piece) == content
    assert max(len(piece or b"") for piece in pieces) == CHUNK_BYTES


async def test_a_pipe_that_pauses_says_so_once_and_goes_on(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    pieces = read_pieces(reading, pause_seconds=PAUSE_SECONDS)

    os.write(writing, b"a")
    first, second = await anext(pieces), await anext(pieces)
    os.write(writing, b"b")
    third = await anext(pieces)
    os.close(writing)
    rest = await all_of(pieces)

    assert (first, second, third) == (b"a", None, b"b")
    assert rest in ([], [None])


async def test_an_end_right_after_a_piece_is_no_pause(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"a")
    os.close(writing)

    assert await all_of(read_pieces(reading)) == [b"a"]


async def test_a_descriptor_that_cannot_be_read_raises(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)

    with pytest.raises(IsADirectoryError):
        await all_of(read_pieces(folder))
    os.close(folder)


async def test_leaving_early_waits_for_no_read(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.write(writing, b"a")
    pieces: Any = read_pieces(reading)

    async with aclosing(pieces):
        first = await anext(pieces)

    assert first == b"a"


async def test_a_reader_that_is_not_asked_reads_only_a_little_ahead(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(64 * CHUNK_BYTES))
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    pieces: Any = read_pieces(descriptor)

    async with aclosing(pieces):
        await anext(pieces)
        position = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.close(descriptor)

    assert position <= 8 * CHUNK_BYTES
