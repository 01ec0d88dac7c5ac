"""`stats` over an in-memory Studio."""

from pathlib import Path

import pytest

from contract.stats import Stats
from tests.fakes.clocks import START_AT
from tests.fakes.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_counts_and_spend_are_told(shell: Shell) -> None:
    shell.recorded("r1", options=("--project", "p"))
    shell.recorded("r2", {"type": "signal", "kind": "S"})
    shell.studio.runs.clock.advance(60)  # type: ignore[attr-defined]  # the fakes' clock moves when told

    shell("stats")

    assert shell.exit_code == 0
    assert "2023-11-14 22:14:20" in shell.out
    assert "1 running, 1 completed" in shell.out
    assert [row for row in shell.rows if row and row[0] in ("p", "(no", "total")] == [
        ["p", "1", "$0.2500", "0", "10", "-", "0"],
        ["(no", "project)", "1", "-", "1", "-", "-", "1"],
        ["total", "2", "$0.2500", "1", "10", "-", "1"],
    ]


def test_an_empty_studio_has_stats_too(shell: Shell) -> None:
    assert shell("stats").out.endswith("\n\nno runs started then\n")


def test_a_window_and_a_project_can_be_asked_for(shell: Shell) -> None:
    shell.recorded("r1", options=("--project", "p"))

    for options, runs in (
        (("--since", str(START_AT), "--until", str(START_AT + 1)), 1),
        (("--since", "2023-11-14", "--until", "2023-11-15"), 1),
        (("--until", str(START_AT)), 0),
        (("--since", "2023-11-14", "--until", "2023-11-15", "--project", "q"), 0),
    ):
        stats = Stats.model_validate_json(shell("stats", *options, "--json").out)
        assert stats.spend.total.runs == runs


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--since", "2023-11-15", "--until", "2023-11-14"), "until: must be after `since`"),
        (("--since", "2999-01-01"), "since: must be in the past"),
        (("--since", "yesterday"), "since: "),
        (("--project", ""), "project: "),
    ],
)
def test_a_window_that_cannot_be_is_refused(shell: Shell, options: tuple[str, ...], said: str) -> None:
    shell("stats", *options)

    assert shell.exit_code == 2
    assert said in shell.err
