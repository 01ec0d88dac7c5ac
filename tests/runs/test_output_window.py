import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.output_window import OutputLines, OutputPiece, OutputWindow

# Bytes in which lines, characters of every width, and what is no character at all are close together.
BYTES = st.lists(
    st.sampled_from([b"\n", b"\r\n", b"a", b"\0", "ä".encode(), "€".encode(), "😀".encode()]) | st.binary(max_size=3)
).map(b"".join)
TEXTS = st.text(st.sampled_from("aä€😀\n") | st.characters(codec=None), max_size=40)


def cut(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    chunks = []
    for size in sizes:
        chunks.append(data[:size])
        data = data[size:]
    return [*chunks, data]


def read(chunks: Iterable[bytes], lines: OutputLines | None = None) -> list[OutputPiece]:
    lines = lines or OutputLines()
    return [*(piece for chunk in chunks for piece in lines.feed(chunk)), *lines.finish()]


def kept(window: OutputWindow, texts: Iterable[str]) -> str:
    return "".join(window.feed(text) for text in texts)


def size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def test_a_stream_is_cut_into_its_lines() -> None:
    pieces = read([b"first\n\nthi", b"rd\nlast"])

    assert pieces == [
        OutputPiece("first", whole=True, ended=True),
        OutputPiece("", whole=True, ended=True),
        OutputPiece("third", whole=True, ended=True),
        OutputPiece("last", whole=True, ended=False),
    ]


def test_a_stream_that_ends_with_a_line_has_no_other() -> None:
    assert read([b"only\n"]) == [OutputPiece("only", whole=True, ended=True)]
    assert read([]) == []


def test_a_line_is_handed_on_as_soon_as_it_is_there() -> None:
    lines = OutputLines()

    handed_on = [lines.feed(b"a"), lines.feed(b"\nb"), lines.feed(b"\n")]

    assert [[piece.text for piece in pieces] for pieces in handed_on] == [[], ["a"], ["b"]]


@given(BYTES, st.lists(st.integers(0, 5)), st.integers(0, 6), st.integers(1, 4))
def test_the_text_is_that_of_the_bytes_however_they_come(
    data: bytes, sizes: list[int], line_bytes: int, part_bytes: int
) -> None:
    pieces = read(cut(data, sizes), OutputLines(line_bytes=line_bytes, part_bytes=part_bytes))

    assert "".join(piece.text + "\n" * piece.ended for piece in pieces) == data.decode("utf-8", "replace")
    assert all("\n" not in piece.text for piece in pieces)


@given(BYTES, st.lists(st.integers(0, 5)), st.integers(0, 6))
def test_a_line_is_whole_exactly_when_it_is_within_the_bound(data: bytes, sizes: list[int], line_bytes: int) -> None:
    pieces = read(cut(data, sizes), OutputLines(line_bytes=line_bytes, part_bytes=2))

    # A stream that ends with a line's end has an empty line there only for split().
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    expected = [line.decode("utf-8", "replace") for line in lines if len(line) <= line_bytes]
    assert [piece.text for piece in pieces if piece.whole] == expected


def test_a_line_of_the_longest_size_is_whole_and_a_longer_one_comes_in_parts() -> None:
    longest = b"x" * 1024 * 1024

    whole = read(cut(longest + b"\n", [65_536] * 16))
    longer = read(cut(longest + "x€\nnext\n".encode(), [65_536] * 16))

    assert whole == [OutputPiece(longest.decode(), whole=True, ended=True)]
    assert [piece.whole for piece in longer] == [False] * 18 + [True]
    assert {len(piece.text) for piece in longer[:16]} == {64 * 1024}
    assert longer[-1] == OutputPiece("next", whole=True, ended=True)
    assert "".join(piece.text for piece in longer[:-1]) == longest.decode() + "x€"


def test_the_parts_of_a_line_are_cut_between_characters() -> None:
    pieces = read(["€€€".encode()], OutputLines(line_bytes=4, part_bytes=4))

    assert [piece.text for piece in pieces] == ["€", "€", "€", ""]


def test_what_fits_is_handed_on_as_it_comes() -> None:
    window = OutputWindow(head_bytes=8, tail_bytes=4)

    handed_on = [window.feed("ab"), window.feed("cdef"), window.feed("gh")]

    assert handed_on == ["ab", "cdef", "gh"]
    assert window.rest() == (0, "")


def test_of_a_flood_both_ends_are_kept_and_the_rest_is_counted() -> None:
    window = OutputWindow(head_bytes=4, tail_bytes=3)

    handed_on = [window.feed("abc"), window.feed("defg"), window.feed("hijk")]

    assert handed_on == ["abc", "d", ""]
    assert window.rest() == (4, "ijk")


def test_a_little_more_than_the_head_is_kept_whole() -> None:
    window = OutputWindow(head_bytes=4, tail_bytes=3)

    handed_on = window.feed("abcdef")

    assert handed_on == "abcd"
    assert window.rest() == (0, "ef")


def test_a_character_is_kept_whole_or_not_at_all() -> None:
    window = OutputWindow(head_bytes=5, tail_bytes=5)

    handed_on = window.feed("€€€€€")

    assert handed_on == "€"
    assert window.rest() == (9, "€")


def test_a_head_that_is_full_has_no_gaps() -> None:
    window = OutputWindow(head_bytes=4, tail_bytes=0)

    handed_on = [window.feed("a"), window.feed("😀"), window.feed("b")]

    assert handed_on == ["a", "", ""]
    assert window.rest() == (5, "")


@given(st.lists(TEXTS), st.integers(0, 30), st.integers(0, 30))
def test_no_byte_is_lost_without_being_counted(texts: list[str], head_bytes: int, tail_bytes: int) -> None:
    window, text = OutputWindow(head_bytes=head_bytes, tail_bytes=tail_bytes), "".join(texts)

    head = kept(window, texts)
    withheld, rest = window.rest()

    assert text.startswith(head)
    assert text.endswith(rest)
    assert size(head) <= head_bytes
    assert size(rest) <= tail_bytes
    assert size(head) + withheld + size(rest) == size(text)


@given(st.lists(TEXTS), st.integers(0, 30), st.integers(0, 40))
def test_the_end_is_the_longest_that_fits(texts: list[str], tail_bytes: int, size_bytes: int) -> None:
    window, text = OutputWindow(head_bytes=10, tail_bytes=tail_bytes), "".join(texts)
    kept(window, texts)

    end = window.end(size_bytes)

    fits = min(size_bytes, tail_bytes)
    assert text.endswith(end)
    assert size(end) <= fits
    assert size(end) == size(text) or size(text[len(text) - len(end) - 1 :]) > fits


@pytest.mark.parametrize("line_end", ["", "\n"])
def test_memory_is_flat_whatever_comes(line_end: str) -> None:
    lines, window = OutputLines(), OutputWindow()
    chunk = b"x" * 65_535 + (line_end or "x").encode()

    tracemalloc.start()
    for _ in range(800):
        for piece in lines.feed(chunk):
            window.feed(piece.text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4_000_000
    assert window.rest()[0] > 50_000_000
