from contract.diffs import DiffHunk, DiffLine, DiffOp
from studio_project.admin_diffs import (
    LINE_MAX_CHARS,
    LINES_MAX,
    OFFERED_VERSIONS,
    diff_block,
    difference,
    offered_versions,
)


def hunk(*lines: DiffLine) -> DiffHunk:
    return DiffHunk(from_start=1, from_count=1, to_start=1, to_count=1, lines=lines)


def test_lines_are_signed_coloured_and_escaped() -> None:
    ops: tuple[DiffOp, ...] = ("same", "removed", "added")

    block = diff_block([hunk(*(DiffLine(op=op, text=f"<{op}>") for op in ops))])

    assert '<span style="display: block; "> &lt;same&gt;</span>' in block
    assert '22)">-&lt;removed&gt;</span>' in block
    assert '22)">+&lt;added&gt;</span>' in block


def test_a_missing_newline_is_said() -> None:
    assert "+end (no newline at the end)</span>" in diff_block([hunk(DiffLine(op="added", text="end", ends=False))])


def test_hunks_are_apart() -> None:
    line = DiffLine(op="added", text="x")

    assert diff_block([hunk(line), hunk(line), hunk(line)]).count("⋯") == 2
    assert "⋯" not in diff_block([hunk(line)])


def test_what_no_browser_would_lay_out_at_once_is_counted() -> None:
    block = diff_block([hunk(*[DiffLine(op="added", text="x")] * (LINES_MAX + 1_500))])

    assert block.count("<span") == LINES_MAX
    assert "1,500 more lines" in block


def test_a_long_line_is_cut_and_says_so() -> None:
    block = diff_block([hunk(DiffLine(op="added", text="x" * (LINE_MAX_CHARS + 7)))])

    assert "x" * LINE_MAX_CHARS + "\n… 7 more characters" in block


def test_nothing_is_an_empty_block() -> None:
    assert "<span" not in diff_block([])


def test_only_texts_without_a_difference_are_called_equal() -> None:
    line = DiffLine(op="added", text="x")

    equal = difference([], added=0, removed=0, coarse=False)
    too_large = difference([], added=110_000, removed=4_000, coarse=True)
    coarse = difference([hunk(line)], added=1, removed=0, coarse=True)
    exact = difference([hunk(line)], added=1, removed=0, coarse=False)

    assert equal == "<p>The two are equal.</p>"
    assert too_large == "<p>4,000 removed, 110,000 added. Too much differs to be shown.</p>"
    assert coarse.startswith("<p>0 removed, 1 added. Too much differs to compare line by line.</p><pre")
    assert exact.startswith("<p>0 removed, 1 added.</p><pre")


def test_the_newest_versions_and_the_first_are_offered_but_not_the_one_itself() -> None:
    newest = 3 * OFFERED_VERSIONS

    offered = [
        number for number in range(newest + 1) if f'?against={number}"' in offered_versions(newest, newest=newest)
    ]

    assert offered == [1, *range(newest - OFFERED_VERSIONS, newest)]
    assert offered_versions(1, newest=1) == ""
