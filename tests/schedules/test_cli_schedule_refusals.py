"""What `schedule` refuses: one line for each fault, with the path of its field."""

import os
from pathlib import Path

import pytest

from tests.fakes.shell import Shell

CRON = ("--cron", "0 3 * * *")
MAKE = ("--", "make")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (MAKE, ["trigger"]),
        (("--every", "1h", *CRON, *MAKE), ["trigger"]),
        (("--timezone", "UTC", *MAKE), ["trigger"]),
        (("--every", "soon", *MAKE), ["trigger.seconds"]),
        (("--every", "-1s", *MAKE), ["trigger.seconds"]),
        (("--every", "0", *MAKE), ["trigger.seconds"]),
        (("--every", "60", "--timezone", "UTC", *MAKE), ["trigger.timezone"]),
        (("--at", "tomorrow", *MAKE), ["trigger.at"]),
        (("--at", "2001-01-01", *MAKE), ["trigger.at"]),
        (("--github", "o/n", *MAKE), ["trigger.poll_interval_seconds"]),
        (("--github", "o/n", "--poll-every", "1m", "--filter", "draft", *MAKE), ["trigger.filters"]),
        (
            ("--github", "o", "--poll-every", "1m", "--filter", "x=1", *MAKE),
            ["trigger.repository", "trigger.filters.x"],
        ),
        (("--cron", "0 0 30 2 *", *MAKE), ["trigger.expression"]),
        ((*CRON, "--timezone", "Mars/Base", *MAKE), ["trigger.timezone"]),
        ((*CRON, "--", "rm", "-r", "/"), ["action.command.0"]),
        ((*CRON, "--overlap", "queue", *MAKE), ["overlap_policy"]),
        ((*CRON, "--max-runs", "0", *MAKE), ["max_runs"]),
        ((*CRON, "--on-success", "[]", *MAKE), ["action.on_success"]),
        ((*CRON, "--on-fail", "{", *MAKE), ["action.on_fail"]),
        ((*CRON, "--on-fail", "@/nowhere.json", *MAKE), ["action.on_fail"]),
        ((*CRON, "--on-fail", '{"kind": "dance"}', *MAKE), ["action.on_fail.kind"]),
        ((*CRON, "--on-success", "@-", "--on-fail", "@-", *MAKE), ["action.on_fail"]),
        ((*CRON, "--on-success", "@-", "--prompt", "-", *MAKE), ["action.prompt"]),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, tuple) else None,
)
def test_each_fault_of_a_new_schedule_is_a_line_with_its_field(
    shell: Shell, options: tuple[str, ...], fields: list[str]
) -> None:
    shell("schedule", "create", "x", "command", *options)

    assert (shell.exit_code, shell.out) == (2, "")
    assert [line.split(": ")[:2] for line in shell.err.splitlines()] == [["error", field] for field in fields]
    assert not shell.studio.schedules.schedules


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (("--clear", "name"), "changes.name"),
        (("--clear", "next-fire-at"), "clear"),
        (("--expected-updated-at", "now"), "expected_updated_at"),
        (("--timezone", "Mars/Base"), "changes.trigger.timezone"),
        (("--poll-every", "5m"), "changes.trigger.poll_interval_seconds"),
        (("--prompt", "x"), "changes.action.prompt"),
        (("--clear", "command"), "changes.action.command"),
        (("--budget-usd", "-1"), "changes.budget_usd"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_each_fault_of_a_change_is_a_line_with_its_field(shell: Shell, options: tuple[str, ...], field: str) -> None:
    shell("schedule", "create", "x", "command", *CRON, *MAKE)

    shell("schedule", "update", "x", *options)

    assert (shell.exit_code, shell.out) == (2, "")
    assert shell.err.startswith(f"error: {field}: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "--limit", "0"),
        ("list", "--trigger", "tide"),
        ("list", "--enabled", "--disabled"),
        ("firings", "x", "--outcome", "lost"),
        ("preview", "x", "--count", "51"),
        ("preview", "--every", "1m", "--after", "now"),
        ("fire", "x", "--fire-key", "../x"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_read_ends_with_2(shell: Shell, arguments: tuple[str, ...]) -> None:
    shell("schedule", "create", "x", "command", *CRON, *MAKE)

    assert shell("schedule", *arguments).exit_code == 2


def test_what_follows_comes_from_a_file_or_a_pipe(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "next.json"
    file.write_text('{"kind": "command", "command": ["make", "a"]}', encoding="utf-8")
    reading, writing = os.pipe()
    os.write(writing, b'{"kind": "command", "command": ["make", "b"]}')
    os.close(writing)
    shell.standard_input = reading

    shell("schedule", "create", "x", "command", *CRON, "--on-success", f"@{file}", "--on-fail", "@-", *MAKE)
    os.close(reading)

    assert shell.exit_code == 0, shell.err
    [state] = shell.studio.schedules.schedules.values()
    assert state.action.on_success == {"kind": "command", "command": ["make", "a"]}
    assert state.action.on_fail == {"kind": "command", "command": ["make", "b"]}


def test_a_name_that_is_taken_is_a_conflict(shell: Shell) -> None:
    for _ in range(2):
        shell("schedule", "create", "x", "command", *CRON, *MAKE)

    assert (shell.exit_code, shell.err) == (5, "error: there is a schedule x already\n")
