"""How the admin shows the difference of two texts: coloured lines, bounded, every text escaped."""

from collections.abc import Iterable, Sequence
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from contract.diffs import DiffHunk, DiffLine, DiffOp
from studio_project.admin_values import cut

# What a browser lays out at once; the API has whole differences.
LINES_MAX: Final = 2_000
LINE_MAX_CHARS: Final = 500
# Versions offered for a comparison: the newest, and the first. `?against=` takes any.
OFFERED_VERSIONS: Final = 20

# Pale enough for black text, and to be seen on black.
_STYLES: Final[dict[DiffOp, tuple[str, str]]] = {
    "same": (" ", ""),
    "removed": ("-", "background: rgba(255, 70, 70, .22)"),
    "added": ("+", "background: rgba(50, 190, 90, .22)"),
}
_GAP: Final = ("opacity: .6", "⋯")


def offered_versions(version: int, *, newest: int) -> SafeString:
    """Link to comparisons of a version with others, by `?against=`."""
    numbers = {1, *range(max(1, newest - OFFERED_VERSIONS), newest + 1)} - {version}
    links = format_html_join(" ", '<a href="?against={}">{}</a>', ((number, number) for number in sorted(numbers)))
    return format_html("<p>Compare with version {} </p>", links) if numbers else SafeString("")


def difference(hunks: Sequence[DiffHunk], *, added: int, removed: int, coarse: bool) -> SafeString:
    """Say how far two texts differ, and show it. A difference that is too large has numbers and no hunks."""
    if not (added or removed):
        return format_html("<p>{}</p>", "The two are equal.")
    how = "compare line by line" if hunks else "be shown"
    told = f"{removed:,} removed, {added:,} added.{f' Too much differs to {how}.' if coarse else ''}"
    return format_html("<p>{}</p>{}", told, diff_block(hunks) if hunks else "")


def diff_block(hunks: Sequence[DiffHunk]) -> SafeString:
    """Show hunks one below the other, with a gap between them, up to LINES_MAX lines."""
    lines = [line for hunk in hunks for line in (None, *hunk.lines)][1:]
    rows = format_html_join("", '<span style="display: block; {}">{}</span>', _rows(lines[:LINES_MAX]))
    block = format_html('<pre style="margin: 0; white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>', rows)
    rest = len(lines) - LINES_MAX
    return format_html("{}<p>… {} more lines</p>", block, f"{rest:,}") if rest > 0 else block


def _rows(lines: Iterable[DiffLine | None]) -> Iterable[tuple[str, str]]:
    """Yield style and text of each line; None is the gap between two hunks."""
    for line in lines:
        if line is None:
            yield _GAP
            continue
        sign, style = _STYLES[line.op]
        end = "" if line.ends else " (no newline at the end)"
        yield style, f"{sign}{cut(line.text, LINE_MAX_CHARS)}{end}"
