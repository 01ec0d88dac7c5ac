"""Two texts compared: what the hunks say is true, is small, and never takes long."""

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.diffs import DiffHunk, DiffLine
from definitions.diffs import SHOWN_BYTES_MAX, SHOWN_LINES_MAX, TextDiff, compare, unified

MEBIBYTE = 1024 * 1024
# Few different lines, so that they repeat, and every kind of line end.
TEXTS = st.lists(st.sampled_from(["a", "b", "", "a\r", "c\x0bd", "\u2028", " "]), max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{line}\n" for line in lines)])
)
CONTEXTS = st.integers(min_value=0, max_value=4)


def end_of(line: DiffLine) -> str:
    return line.text + ("\n" if line.ends else "")


def pieces(text: str) -> list[str]:
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def applied(old: str, hunks: Sequence[DiffHunk]) -> str:
    """Do what `patch` does: go to each hunk's place, check what is there, and replace it."""
    lines, made, at = pieces(old), list[str](), 0
    for hunk in hunks:
        start = hunk.from_start - 1 if hunk.from_count else hunk.from_start
        made += lines[at:start]
        assert lines[start : start + hunk.from_count] == [end_of(one) for one in hunk.lines if one.op != "added"]
        made += [end_of(one) for one in hunk.lines if one.op != "removed"]
        at = start + hunk.from_count
    return "".join([*made, *lines[at:]])


def read_back(patch: str) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """Yield the hunks as the unified text alone tells them: both starts, and each side's lines with their ends."""
    for hunk in patch.replace("\n\\ No newline at end of file", "\0").split("\n@@ ")[1:]:
        ranges, _, body = hunk.partition(" @@\n")
        old, new = (int(part[1:].partition(",")[0]) for part in ranges.split())
        rows = [f"{row}\n".removesuffix("\0\n") for row in body.removesuffix("\n").split("\n")]
        yield old, new, [row[1:] for row in rows if row[0] != "+"], [row[1:] for row in rows if row[0] != "-"]


@given(TEXTS, TEXTS, CONTEXTS)
def test_hunks_applied_to_the_old_text_give_the_new_one(old: str, new: str, context: int) -> None:
    assert applied(old, compare(old, new, context=context).hunks) == new


@given(TEXTS, TEXTS, CONTEXTS)
def test_hunks_are_in_order_and_number_their_lines_as_they_stand_in_the_texts(old: str, new: str, context: int) -> None:
    hunks = compare(old, new, context=context).hunks

    assert all(one.from_start + one.from_count <= two.from_start + 1 for one, two in pairwise(hunks))
    assert all(one.to_start + one.to_count <= two.to_start + 1 for one, two in pairwise(hunks))
    for line in (line for hunk in hunks for line in hunk.lines):
        assert line.from_line is None or pieces(old)[line.from_line - 1] == end_of(line)
        assert line.to_line is None or pieces(new)[line.to_line - 1] == end_of(line)
        assert (line.from_line is None, line.to_line is None) == (line.op == "added", line.op == "removed")


@given(TEXTS, TEXTS, CONTEXTS)
def test_a_hunk_has_a_change_and_at_most_the_context_at_its_ends(old: str, new: str, context: int) -> None:
    for hunk in compare(old, new, context=context).hunks:
        changed = [at for at, line in enumerate(hunk.lines) if line.op != "same"]

        assert changed[0] <= context
        assert len(hunk.lines) - changed[-1] - 1 <= context
        assert all(right - left - 1 <= 2 * context for left, right in pairwise(changed))


@given(TEXTS, TEXTS)
def test_the_sums_are_those_of_the_lines(old: str, new: str) -> None:
    found = compare(old, new, context=0)

    lines = [line for hunk in found.hunks for line in hunk.lines]
    assert found.added == len(lines) - found.removed == sum(line.op == "added" for line in lines)
    assert len(pieces(old)) - found.removed == len(pieces(new)) - found.added
    assert not found.coarse


@given(TEXTS, TEXTS, CONTEXTS)
def test_the_unified_text_says_what_the_hunks_say(old: str, new: str, context: int) -> None:
    hunks = compare(old, new, context=context).hunks

    said = list(read_back(unified(hunks, from_label="old", to_label="new")))

    assert said == [
        (
            hunk.from_start,
            hunk.to_start,
            [end_of(line) for line in hunk.lines if line.op != "added"],
            [end_of(line) for line in hunk.lines if line.op != "removed"],
        )
        for hunk in hunks
    ]


@given(TEXTS)
def test_equal_texts_have_no_hunk_and_an_empty_unified_text(text: str) -> None:
    assert compare(text, text, context=3) == TextDiff(hunks=(), added=0, removed=0, coarse=False)
    assert unified((), from_label="a", to_label="b") == ""


def shown(old: str, new: str, context: int = 3) -> str:
    return unified(compare(old, new, context=context).hunks, from_label="1", to_label="2")


def test_a_changed_line_is_shown_between_its_neighbours() -> None:
    old = "".join(f"{number}\n" for number in range(1, 11))

    assert shown(old, old.replace("5", "five")) == (
        "--- 1\n+++ 2\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_a_first_version_is_added_from_line_nought() -> None:
    assert shown("", "a\nb\n") == "--- 1\n+++ 2\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert shown("a\n", "") == "--- 1\n+++ 2\n@@ -1 +0,0 @@\n-a\n"


def test_without_context_an_empty_side_is_named_by_the_line_before() -> None:
    assert shown("a\nb\n", "a\nx\nb\n", context=0) == "--- 1\n+++ 2\n@@ -1,0 +2 @@\n+x\n"


def test_a_missing_last_newline_is_a_change_and_is_said() -> None:
    assert shown("a\nb\n", "a\nb") == "--- 1\n+++ 2\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n"


def test_other_line_ends_show_as_text() -> None:
    (hunk,) = compare("a\r\nb\n", "a\nb\n", context=0).hunks

    assert [(line.op, line.text) for line in hunk.lines] == [("removed", "a\r"), ("added", "a")]


def test_what_moved_leaves_the_longer_part_in_place() -> None:
    lines = [f"line {number}\n" for number in range(200)]
    moved = "".join([*lines[10:], *lines[:10]])

    found = compare("".join(lines), moved, context=3)

    assert (found.added, found.removed) == (10, 10)


def test_a_long_text_of_repeated_lines_with_few_edits_is_compared_line_by_line() -> None:
    old = [f"entry {number}\n" if number % 3 else "\n" for number in range(30_000)]
    new = [*old[:5], "new\n", *old[5:15_000], *old[15_003:29_990], "other\n", *old[29_991:]]

    found = compare("".join(old), "".join(new), context=3)

    assert (found.added, found.removed, found.coarse) == (2, 4, False)


def numbered(count: int) -> list[str]:
    return [f"{number:05x}\n" for number in range(count)]


def shuffled(lines: list[str], seed: int) -> str:
    return "".join(sorted(lines, key=lambda line: crc32(f"{seed} {line}".encode())))


def chosen(kinds: int, seed: int, count: int) -> str:
    return "".join(f"{crc32(f'{seed} {at}'.encode()) % kinds}\n" for at in range(count))


def hostile(count: int) -> dict[str, tuple[str, str]]:
    """Pairs of texts of so many lines each."""
    lines, pairs, half = numbered(count), numbered(count // 2) * 2, count // 2
    return {
        "shuffled": ("".join(lines), shuffled(lines, 1)),
        "shuffled pairs": (shuffled(pairs, 1), shuffled(pairs, 2)),
        "reversed": ("".join(lines), "".join(lines[::-1])),
        "all equal": ("a\n" * 25 * count, "a\n" * (25 * count - 1_000)),
        "alternating": ("a\nb\n" * half, "b\na\n" * half),
        "empty lines": ("\n" * count, "x\n" + "\n" * (count - 1) + "x"),
        "one line": ("a" * SHOWN_BYTES_MAX, "b"),
        "few kinds": (chosen(4, 1, count), chosen(4, 2, count)),
        "many kinds": (chosen(500, 1, count), chosen(500, 2, count)),
    }


# Without the bound, difflib is busy for minutes with most of them.
@pytest.mark.parametrize("texts", hostile(20_000).values(), ids=hostile(2))
def test_no_text_takes_long(texts: tuple[str, str]) -> None:
    begun = time.process_time()
    compare(*texts, context=3)
    taken_seconds = time.process_time() - begun

    assert taken_seconds < 5  # half a second on an idle machine


@pytest.mark.parametrize("texts", hostile(4_000).values(), ids=hostile(2))
def test_no_text_is_compared_wrongly(texts: tuple[str, str]) -> None:
    old, new = texts

    found = compare(old, new, context=3)

    assert found.hunks or found.coarse
    assert not found.hunks or applied(old, found.hunks) == new


def test_what_is_too_costly_is_shown_as_replaced_and_said_to_be_coarse() -> None:
    found = compare("same\n" + "a\nb\n" * 2_000, "same\n" + "b\na\n" * 2_000, context=3)

    assert found.coarse
    assert (found.added, found.removed) == (4_000, 4_000)


def test_more_lines_than_may_be_shown_are_counted() -> None:
    text = "a\n" * (SHOWN_LINES_MAX + 1)

    assert compare(text, "", context=3) == TextDiff(hunks=(), added=0, removed=SHOWN_LINES_MAX + 1, coarse=True)
    (hunk,) = compare(text[2:], "", context=3).hunks
    assert hunk.from_count == SHOWN_LINES_MAX


def test_more_bytes_than_may_be_shown_are_counted() -> None:
    text = "é" * (SHOWN_BYTES_MAX // 2)

    assert compare("", f"{text}a", context=3) == TextDiff(hunks=(), added=1, removed=0, coarse=True)
    (hunk,) = compare("", text, context=3).hunks
    assert hunk.lines[0].text == text


def test_the_lines_around_changes_count_as_shown_once_each() -> None:
    old = [f"{number}\n" for number in range(SHOWN_LINES_MAX)]
    new = ["x\n" if number % 100 == 50 else line for number, line in enumerate(old)]

    whole = compare("".join(old[100:]), "".join(new[100:]), context=1_000)
    too_much = compare("".join(old), "".join(new), context=1_000)

    assert sum(len(hunk.lines) for hunk in whole.hunks) == SHOWN_LINES_MAX - 1
    assert (too_much.hunks, too_much.coarse, too_much.added) == ((), True, 100)
