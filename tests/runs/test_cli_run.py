"""`run list|show|tail|cancel|tag` over an in-memory Studio: what is asked, printed, and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest

from contract.base import Page
from contract.errors import (
    StateUnavailable,
)
from contract.events import StreamFrame
from contract.runs import (
    RunDetail,
    RunSummary,
)
from tests.fakes.shell import Shell
from tests.fakes.studio import InMemoryStudio


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


# list -------------------------------------------------------------------------------------------------------


def test_list_prints_plain_aligned_columns_where_no_terminal_is(shell: Shell) -> None:
    shell.recorded("r1", options=("--name", "a b", "--agent", "coder", "--tag", "x", "--tag", "y"))
    shell("run", "list")

    header, row = shell.out.splitlines()
    assert header.split() == ["RUN", "STATUS", "NAME", "AGENT", "PROJECT", "STARTED", "TOOK", "MSGS", "COST", "TAGS"]
    assert row.split()[:6] == ["r1", "completed", "a", "b", "coder", "-"]
    assert row.split()[6:] == ["2023-11-14", "22:13", "0.0s", "2", "$0.2500", "x", "y"]
    assert header.index("STATUS") == row.index("completed")
    assert "\x1b" not in shell.out


def test_list_of_nothing_says_so(shell: Shell) -> None:
    assert shell("run", "list").out == "no runs\n"


def test_list_as_json_is_the_contract_s_page(shell: Shell) -> None:
    shell.recorded("r1")

    page = Page[RunSummary].model_validate_json(shell("run", "list", "--json").out)

    assert [found.run_id for found in page.items] == ["r1"]
    assert shell.out.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--status", "failed", "--status", "running"], ["b"]),
        (["--kind", "flow"], ["a"]),
        (["--agent", "coder"], ["a"]),
        (["--playbook", "pb"], ["b"]),
        (["--project", "p"], ["a"]),
        (["--no-project"], ["b"]),
        (["--invocation", "none"], []),
        (["--tag", "x"], ["b", "a"]),
        (["--tag", "x", "--tag", "y"], ["a"]),
        (["--tag", "z", "--tag", "y", "--tags-match", "any"], ["a"]),
        (["--search", "FIRST"], ["a"]),
        (["--started-after", "2023-11-14T22:13:20"], ["b", "a"]),
        (["--started-after", "2023-11-14T22:13:20+00:00"], ["b", "a"]),
        (["--started-before", "2023-11-14"], []),
        (["--started-before", "1700000001"], ["b", "a"]),
        (["--sort", "cost"], ["a", "b"]),
        (["--limit", "1"], ["b"]),
        (["--offset", "1"], ["a"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_every_filter_is_an_option(shell: Shell, options: list[str], found: list[str]) -> None:
    first = ("--name", "the first", "--kind", "flow", "--agent", "coder", "--project", "p", "--tag", "x")
    shell.recorded("a", options=(*first, "--tag", "y"))
    shell.recorded("b", {"type": "usage"}, options=("--playbook", "pb", "--tag", "x"))

    shell("run", "list", "--json", *options)

    page = Page[RunSummary].model_validate_json(shell.out)
    assert [run.run_id for run in page.items] == found


def test_list_names_the_cursor_of_the_next_page_and_takes_it(shell: Shell) -> None:
    for run_id in ("a", "b", "c"):
        shell.recorded(run_id, {"type": "usage"})

    shell("run", "list", "--limit", "2")
    cursor = shell.err.partition("--cursor ")[2].partition(",")[0]
    shell("run", "list", "--limit", "2", "--cursor", cursor)

    assert [row[0] for row in shell.rows] == ["RUN", "a"]
    assert shell.err == ""


def test_list_all_reads_every_page(shell: Shell) -> None:
    for number in range(5):
        shell.recorded(f"r{number}", {"type": "usage"})

    shell("run", "list", "--all", "--limit", "2", "--json")

    page = Page[RunSummary].model_validate_json(shell.out)
    assert [run.run_id for run in page.items] == ["r4", "r3", "r2", "r1", "r0"]
    assert (page.has_next, page.next_cursor) == (False, None)


def test_every_fault_of_the_options_is_one_line_with_its_path(shell: Shell) -> None:
    shell("run", "list", "--limit", "many", "--sort", "up", "--started-after", "tomorrow")

    assert shell.exit_code == 2
    assert shell.out == ""
    assert [line.split(": ")[:2] for line in shell.err.splitlines()] == [
        ["error", "limit"],
        ["error", "started_after"],
        ["error", "sort"],
    ]


# show -------------------------------------------------------------------------------------------------------


def test_show_tells_all_of_a_run(shell: Shell) -> None:
    shell.recorded("r1", options=("--name", "n", "--model", "m", "--provider", "p", "--tag", "t"))
    shell("run", "show", "r1")

    for piece in (
        "status    completed",
        "reason    run.completed.ok",
        "model     p m",
        "usage     10 in, - out, $0.2500",
        "n1 -> n2",
        "report r out/r.md",
        "running -> completed run.completed.ok by producer",
        "branch main: 1 messages",
        "22:13:20 user: hello\n    world \\x1b[31m\n",
        'branch side from main: 1 messages\n22:13:20 assistant bob: {"a": 1}\n',
    ):
        assert piece in shell.out


def test_show_as_json_is_the_contract_s_detail(shell: Shell) -> None:
    shell.recorded("r1")

    detail = RunDetail.model_validate_json(shell("run", "show", "r1", "--json", "--message-limit", "1").out)

    assert (detail.run_id, detail.message_limit) == ("r1", 1)


def test_show_names_the_cursor_of_older_messages(shell: Shell) -> None:
    shell.recorded("r1", *({"type": "message", "role": "user", "content": f"m{n}"} for n in range(3)))

    shell("run", "show", "r1", "--message-limit", "2")
    newest = shell.out
    cursor = newest.rpartition("--cursor ")[2].strip()
    shell("run", "show", "r1", "--message-limit", "2", "--cursor", cursor)

    assert "older ones left out" in newest
    assert "m2" in newest
    assert "m0" not in newest
    assert "user: m0" in shell.out


def test_a_run_that_does_not_exist_is_not_found(shell: Shell) -> None:
    shell("run", "show", "nope")

    assert (shell.exit_code, shell.out, shell.err) == (4, "", "error: no run nope\n")


# tail -------------------------------------------------------------------------------------------------------


def test_tail_prints_messages_and_how_the_run_ended(shell: Shell) -> None:
    shell.recorded("r1")
    shell("run", "tail", "r1")

    assert shell.exit_code == 0
    assert shell.out == (
        "22:13:20 main user: hello\n"
        "    world \\x1b[31m\n"
        '22:13:20 side assistant bob: {"a": 1}\n'
        "run r1 ended: completed (run.completed.ok)\n"
    )


def test_tail_of_signals(shell: Shell) -> None:
    shell.recorded("r1")
    shell("run", "tail", "r1", "--signals")

    assert shell.out == ('22:13:20 main NodeStarted n1 {"x": 1}\nrun r1 ended: completed (run.completed.ok)\n')


def test_tail_as_json_is_one_frame_a_line_and_goes_on_from_any_of_them(shell: Shell) -> None:
    shell.recorded("r1")

    shell("run", "tail", "r1", "--json")
    frames = [StreamFrame.model_validate_json(line) for line in shell.out.splitlines()]
    shell("run", "tail", "r1", "--json", "--cursor", frames[0].cursor)
    resumed = [StreamFrame.model_validate_json(line) for line in shell.out.splitlines()]

    assert [frame.payload.type for frame in frames] == ["message", "message", "done"]
    assert resumed == frames[1:]


def test_tail_of_an_unknown_run_or_with_a_foreign_cursor_is_refused(shell: Shell) -> None:
    shell.recorded("r1")

    assert shell("run", "tail", "nope").exit_code == 4
    assert shell("run", "tail", "r1", "--cursor", "garbled").exit_code == 2
    assert "cursor" in shell.err


def test_a_tail_that_breaks_off_says_from_where_to_go_on(shell: Shell) -> None:
    shell.recorded("r1", {"type": "message", "role": "user", "content": "x"})

    class BreakingStudio(InMemoryStudio):
        async def _broken(self, run_id: str) -> Any:
            async for frame in InMemoryStudio.stream_messages(self, run_id, None):
                yield frame
                raise StateUnavailable(retryable=True, detail="the database does not answer")

        def stream_messages(self, run_id: str, cursor: str | None) -> Any:
            return self._broken(run_id)

    shell.studio = BreakingStudio(shell.studio.runs)
    shell("run", "tail", "r1")

    assert shell.exit_code == 7
    assert "user: x" in shell.out
    note, error = shell.err.splitlines()
    assert note.startswith("to go on: --cursor ")
    assert error == "error: the database does not answer"


# cancel and tag ---------------------------------------------------------------------------------------------


def test_cancel_says_what_it_did(shell: Shell) -> None:
    shell.recorded("r1", {"type": "usage"})

    shell("run", "cancel", "r1", "--reason", "enough")

    assert shell.out == "run r1 was asked to stop; it is running until it obeys\n"
    assert json.loads(shell("run", "cancel", "r1", "--json").out)["run_id"] == "r1"


def test_cancelling_an_ended_run_is_a_conflict(shell: Shell) -> None:
    shell.recorded("r1")

    assert shell("run", "cancel", "r1").exit_code == 5
    assert shell.err == "error: run r1 has ended: completed\n"


def test_tags_are_added_and_removed(shell: Shell) -> None:
    shell.recorded("r1", options=("--tag", "a", "--tag", "b"))

    assert shell("run", "tag", "r1", "--add", "c", "--add", "d", "--remove", "a").out == "run r1: b c d\n"
    assert json.loads(shell("run", "tag", "r1", "--remove", "b", "--json").out)["tags"] == ["c", "d"]
    assert shell("run", "tag", "r1", "--remove", "c", "--remove", "d").out == "run r1: no tags\n"


def test_a_tag_that_is_none_is_refused_with_its_place(shell: Shell) -> None:
    shell.recorded("r1")

    assert shell("run", "tag", "r1", "--add", "ok", "--add", "two words").exit_code == 2
    assert shell.err.startswith("error: add.1: ")
