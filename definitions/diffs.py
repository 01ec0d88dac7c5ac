"""Two texts compared line by line, within a bound: what was removed, what was added, and the lines around it.

Lines end at LF and nowhere else, so a CR is part of a line and a change of line ends shows. Equal lines at both ends
are set aside, lines that occur once on each side are anchors (patience diff), and what is between two anchors goes to
difflib while the budget lasts.
"""

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, chain
from typing import Final, NamedTuple

from contract.diffs import DiffHunk, DiffOp

# Steps of difflib's search, about 0.2 microseconds each: a comparison may cost a third of a second of it. Two thousand
# lines that occur nowhere twice cost some thousand; a file of 400 blank lines against another one costs 160,000.
_BUDGET_STEPS: Final = 1_500_000
# What one comparison may show, equal lines included, so that its answer is below two mebibytes, escapes apart: a line
# costs 75 bytes in JSON beside its text, which is there twice. JSON is written in the thread that everybody waits for.
SHOWN_LINES_MAX: Final = 10_000
SHOWN_BYTES_MAX: Final = 512 * 1024
_SIGNS: Final[dict[DiffOp, str]] = {"same": " ", "removed": "-", "added": "+"}
_NO_NEWLINE: Final = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class TextDiff:
    """How two texts differ.

    `coarse`: some part was too costly to compare and is shown as replaced, or, beyond what may be shown, is only
    counted: then there are no hunks.
    """

    hunks: tuple[DiffHunk, ...]
    added: int
    removed: int
    coarse: bool


class _Span(NamedTuple):
    """Lines of both sides, ends excluded."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int

    @property
    def empty(self) -> bool:
        return self.old_from == self.old_to and self.new_from == self.new_to

    @property
    def one_sided(self) -> bool:
        return self.old_from == self.old_to or self.new_from == self.new_to


class _Part(NamedTuple):
    """What one hunk shows: neighbouring changes, and the span of them all with the lines around."""

    changes: list[_Span]
    whole: _Span


def compare(old: str, new: str, *, context: int) -> TextDiff:
    """Compare two texts; `context` is how many equal lines are shown around a change."""
    old_lines, new_lines = _lines(old), _lines(new)
    changes, coarse = _changes(old_lines, new_lines)
    added = sum(change.new_to - change.new_from for change in changes)
    removed = sum(change.old_to - change.old_from for change in changes)
    few = changes if added + removed <= SHOWN_LINES_MAX else []
    parts = [_part(group, len(old_lines), context) for group in _groups(few, context)]
    if few != changes or _is_too_much(old_lines, new_lines, parts, added):
        return TextDiff(hunks=(), added=added, removed=removed, coarse=True)
    hunks = tuple(_hunk(old_lines, new_lines, part) for part in parts)
    return TextDiff(hunks=hunks, added=added, removed=removed, coarse=coarse)


def unified(hunks: Iterable[DiffHunk], *, from_label: str, to_label: str) -> str:
    """Return hunks as a unified diff (POSIX `diff -u`); empty for no hunks."""
    lines = [line for hunk in hunks for line in _unified_lines(hunk)]
    return "\n".join([f"--- {from_label}", f"+++ {to_label}", *lines, ""]) if lines else ""


def _unified_lines(hunk: DiffHunk) -> Iterator[str]:
    yield f"@@ -{_range(hunk.from_start, hunk.from_count)} +{_range(hunk.to_start, hunk.to_count)} @@"
    for line in hunk.lines:
        yield _SIGNS[line.op] + line.text
        if not line.ends:
            yield _NO_NEWLINE


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _lines(text: str) -> list[str]:
    """Return the lines with their ends: without one, only the last line differs from its equal with one."""
    *lines, rest = text.split("\n")
    return [line + "\n" for line in lines] + ([rest] if rest else [])


def _changes(old: Sequence[str], new: Sequence[str]) -> tuple[list[_Span], bool]:
    """Return what differs, in order, and whether some of it is coarse."""
    whole = _trimmed(old, new, _Span(0, len(old), 0, len(new)))
    search = _Search()
    changes = [
        change
        for gap in _gaps(_anchors(old, new, whole), whole)
        for change in search.changes(old, new, _trimmed(old, new, gap))
    ]
    return changes, search.coarse


def _trimmed(old: Sequence[str], new: Sequence[str], span: _Span) -> _Span:
    """Return the span without equal lines at its two ends."""
    old_from, old_to, new_from, new_to = span
    while old_from < old_to and new_from < new_to and old[old_from] == new[new_from]:
        old_from, new_from = old_from + 1, new_from + 1
    while old_from < old_to and new_from < new_to and old[old_to - 1] == new[new_to - 1]:
        old_to, new_to = old_to - 1, new_to - 1
    return _Span(old_from, old_to, new_from, new_to)


def _anchors(old: Sequence[str], new: Sequence[str], span: _Span) -> list[tuple[int, int]]:
    """Return where lines stand that occur once on each side, as many as have the same order there."""
    in_old = _single(old, span.old_from, span.old_to)
    in_new = _single(new, span.new_from, span.new_to)
    return _longest_rising([(place, in_new[line]) for line, place in in_old.items() if line in in_new])


def _single(lines: Sequence[str], start: int, end: int) -> dict[str, int]:
    times = Counter(lines[start:end])
    return {lines[place]: place for place in range(start, end) if times[lines[place]] == 1}


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of `pairs`, ordered by their first, in which the second rises (patience sorting)."""
    tops: list[int] = []
    top_pairs: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(top_pairs[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        top_pairs[pile : pile + 1] = [at]
    rising = []
    at = top_pairs[-1] if top_pairs else -1
    while at >= 0:
        rising.append(pairs[at])
        at = before[at]
    return rising[::-1]


def _gaps(anchors: Iterable[tuple[int, int]], span: _Span) -> Iterator[_Span]:
    """Yield what lies between neighbouring anchors and is not empty."""
    old_from, new_from = span.old_from, span.new_from
    for old_to, new_to in (*anchors, (span.old_to, span.new_to)):
        gap = _Span(old_from, old_to, new_from, new_to)
        if not gap.empty:
            yield gap
        old_from, new_from = old_to + 1, new_to + 1


class _Search:
    """Finds equal lines with difflib, until the budget of one comparison is spent."""

    def __init__(self) -> None:
        self.coarse = False
        self._steps = _BUDGET_STEPS

    def changes(self, old: Sequence[str], new: Sequence[str], span: _Span) -> Iterator[_Span]:
        """Yield what differs within a span that neither begins nor ends with equal lines."""
        if span.one_sided:
            if not span.empty:
                yield span
            return
        old_from, new_from = span.old_from, span.new_from
        equal = self._equal(old[span.old_from : span.old_to], new[span.new_from : span.new_to])
        end = (span.old_to - span.old_from, span.new_to - span.new_from, 0)
        for old_at, new_at, size in (*equal, end):
            change = _Span(old_from, span.old_from + old_at, new_from, span.new_from + new_at)
            if not change.empty:
                yield change
            old_from, new_from = change.old_to + size, change.new_to + size

    def _equal(self, old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
        """Return the runs of equal lines, widest parts first: what is left when the budget ends is small."""
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        # What a search through old lines costs: each looks at every line of the other side that is equal to it.
        times = Counter(new)
        costs = [0, *accumulate(1 + times[line] for line in old)]
        waiting = deque([_Span(0, len(old), 0, len(new))])
        equal = []
        while waiting:
            part = waiting.popleft()
            if not self._afford(costs[part.old_to] - costs[part.old_from]):
                continue
            found = matcher.find_longest_match(*part)
            if found.size:
                equal.append((found.a, found.b, found.size))
                left = _Span(part.old_from, found.a, part.new_from, found.b)
                right = _Span(found.a + found.size, part.old_to, found.b + found.size, part.new_to)
                waiting.extend(side for side in (left, right) if not side.one_sided)
        return sorted(equal)

    def _afford(self, steps: int) -> bool:
        if steps > self._steps:
            self.coarse = True
            return False
        self._steps -= steps
        return True


def _groups(changes: Sequence[_Span], context: int) -> Iterator[list[_Span]]:
    """Yield changes that are near enough to share their surroundings."""
    group: list[_Span] = []
    for change in changes:
        if group and change.old_from - group[-1].old_to > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _part(group: list[_Span], old_count: int, context: int) -> _Part:
    first, last = group[0], group[-1]
    before = min(context, first.old_from)
    after = min(context, old_count - last.old_to)
    whole = _Span(first.old_from - before, last.old_to + after, first.new_from - before, last.new_to + after)
    return _Part(group, whole)


def _is_too_much(old: Sequence[str], new: Sequence[str], parts: Sequence[_Part], added: int) -> bool:
    """Whether it is more than may be shown: the old lines of all parts, and what was added."""
    if added + sum(part.whole.old_to - part.whole.old_from for part in parts) > SHOWN_LINES_MAX:
        return True
    texts = chain(
        (old[at] for part in parts for at in range(part.whole.old_from, part.whole.old_to)),
        (new[at] for part in parts for change in part.changes for at in range(change.new_from, change.new_to)),
    )
    return sum(len(text.encode()) for text in texts) > SHOWN_BYTES_MAX


def _hunk(old: Sequence[str], new: Sequence[str], part: _Part) -> DiffHunk:
    old_from, old_to, new_from, new_to = part.whole
    end = _Span(old_to, old_to, new_to, new_to)
    return DiffHunk.model_validate(
        {
            # An empty side is named by the line before it, as `diff -u` does: 0 at the beginning.
            "from_start": old_from + 1 if old_to > old_from else old_from,
            "from_count": old_to - old_from,
            "to_start": new_from + 1 if new_to > new_from else new_from,
            "to_count": new_to - new_from,
            # As fields, all validated in one go: a model for each of thousands of lines would cost twice as much.
            "lines": list(_hunk_lines(old, new, (*part.changes, end), old_from, new_from)),
        }
    )


def _hunk_lines(
    old: Sequence[str], new: Sequence[str], changes: Iterable[_Span], old_at: int, new_at: int
) -> Iterator[dict[str, object]]:
    """Yield the fields of DiffLines: each change, and before it the equal lines since the last one."""
    for change in changes:
        for at in range(change.old_from - old_at):
            yield _line("same", old[old_at + at], old_at + at + 1, new_at + at + 1)
        for at in range(change.old_from, change.old_to):
            yield _line("removed", old[at], at + 1, None)
        for at in range(change.new_from, change.new_to):
            yield _line("added", new[at], None, at + 1)
        old_at, new_at = change.old_to, change.new_to


def _line(op: DiffOp, line: str, from_line: int | None, to_line: int | None) -> dict[str, object]:
    text = line.removesuffix("\n")
    return {"op": op, "text": text, "from_line": from_line, "to_line": to_line, "ends": text != line}
