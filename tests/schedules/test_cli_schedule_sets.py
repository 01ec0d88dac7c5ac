"""`schedule apply` and `schedule export`: a set of schedules as a file, and every fault with its place there."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from contract.schedule_sets import ApplyResult, ScheduleSet
from contract.schedules import CreateSchedule, ScheduleAction
from contract.triggers import AtTrigger, CronTrigger, GithubPollTrigger, IntervalTrigger, Trigger
from tests.fakes.shell import Shell

SET = """\
schedules:
  - name: nightly
    trigger: {kind: cron, expression: "0 3 * * *", timezone: Europe/Berlin}
    action:
      kind: command
      command: [make, all]
  - name: once
    trigger: {kind: at, at: 2030-01-01T10:00:00+01:00}
    action: {kind: command, command: [make]}
    enabled: false
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def apply(shell: Shell, text: str, *options: str) -> Shell:
    """Apply a set that stands in a file."""
    file = shell.folder / "schedules.yaml"
    file.write_text(text, encoding="utf-8")
    return shell("schedule", "apply", str(file), *options)


def steps(shell: Shell) -> dict[str, str]:
    return {step.name: step.step for step in ApplyResult.model_validate_json(shell.out).plan}


def test_a_set_is_made_what_there_is(shell: Shell) -> None:
    shell("schedule", "create", "old", "command", "--every", "1h", "--", "make")

    apply(shell, SET)
    again = steps(apply(shell, SET, "--json"))

    assert shell.exit_code == 0, shell.err
    assert again == {"nightly": "unchanged", "once": "unchanged"}
    states = {state.name: state for state in shell.studio.schedules.schedules.values()}
    assert states["once"].trigger == AtTrigger(at=1_893_488_400.0)
    assert [states[name].enabled for name in ("nightly", "once", "old")] == [True, False, False]


def test_a_dry_run_shows_the_plan_as_a_diff_and_changes_nothing(shell: Shell) -> None:
    apply(shell, SET)
    shell("schedule", "create", "old", "command", "--every", "1h", "--", "make")

    apply(shell, SET.replace("0 3 *", "0 4 *").replace("once", "twice"), "--dry-run")

    assert (shell.exit_code, shell.err) == (0, "")
    assert shell.out.splitlines() == [
        "~ nightly",
        '    - trigger: {"kind": "cron", "expression": "0 3 * * *", "timezone": "Europe/Berlin"}',
        '    + trigger: {"kind": "cron", "expression": "0 4 * * *", "timezone": "Europe/Berlin"}',
        "- old",
        "    - enabled: true",
        "    + enabled: false",
        "+ twice",
        '    + trigger: {"kind": "at", "at": 1893488400.0}',
        *[line for line in shell.out.splitlines() if line.startswith("    + action: ")],
        "    + enabled: false",
        *[line for line in shell.out.splitlines() if "_policy: " in line],
        "1 created, 1 updated, 1 disabled, 0 unchanged; nothing was changed (--dry-run)",
    ]
    assert {state.name for state in shell.studio.schedules.schedules.values()} == {"nightly", "once", "old"}


def test_a_set_comes_from_a_pipe(shell: Shell) -> None:
    reading, writing = os.pipe()
    os.write(writing, SET.encode())
    os.close(writing)
    shell.standard_input = reading

    shell("schedule", "apply", "-", "--json")
    os.close(reading)

    assert steps(shell) == {"nightly": "create", "once": "create"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("schedules: [", ["error: line 2, column 1: a value is missing here"]),
        ("", ["error: must be a mapping with `schedules`, a list of them"]),
        ("- a\n", ["error: must be a mapping with `schedules`, a list of them"]),
        ("schedules: &a [*a]\n", ["error: line 1, column 16: `*a` refers to what it stands in"]),
        (SET + "colour: blue\n", ["error: colour: line 11, column 1: is not a field here"]),
        (SET + "    colour: blue\n", ["error: schedules.1.colour: line 11, column 5: is not a field here"]),
        (SET.replace("name: once", "nome: once"), [
            "error: schedules.1.name: line 7, column 5: Field required",
            "error: schedules.1.nome: line 7, column 5: is not a field here",
        ]),
        (SET.replace("name: once", "name: nightly"), [
            "error: schedules.1.name: line 7, column 5: nightly is in the set already"
        ]),
        (SET.replace("0 3 * * *", "0 0 30 2 *"), ["error: schedules.0.trigger.expression: line 3, column 27: "]),
        (SET.replace("[make, all]", "[make, 1]"), [
            "error: schedules.0.action.command.1: line 6, column 23: Input should be a valid string"
        ]),
        (SET.replace("[make]", "[rm]"), ["error: schedules.1.action.command.0: line 9, column 39: rm is not on "]),
    ],
)  # fmt: skip
def test_each_fault_has_its_path_and_its_place(shell: Shell, text: str, expected: list[str]) -> None:
    apply(shell, text)

    assert (shell.exit_code, shell.out) == (2, "")
    said = shell.err.splitlines()
    assert len(said) == len(expected)
    assert all(line.startswith(begins) for line, begins in zip(said, expected, strict=True)), said
    assert not shell.studio.schedules.schedules


def test_an_export_reads_as_it_was_and_says_nothing_needless(shell: Shell) -> None:
    apply(shell, SET)

    exported = shell("schedule", "export").out

    assert exported.splitlines()[:10] == [
        "schedules:",
        "- name: nightly",
        "  trigger:",
        "    kind: cron",
        "    expression: 0 3 * * *",
        "    timezone: Europe/Berlin",
        "  action:",
        "    kind: command",
        "    command:",
        "    - make",
    ]
    assert set(steps(apply(shell, exported, "--json")).values()) == {"unchanged"}


async def test_whatever_an_export_holds_it_applies_again_as_unchanged(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    texts = (
        "yes",
        "1:30",
        "2026-01-01",
        "=",
        "<<",
        "a: b # c",
        "\x1b[31m\x85\u2028",
        "zwei\nZeilen\n",
        " ",
        "🙂",
        "null",
    )
    chain: dict[str, Any] = {"kind": "command", "command": ["make", *texts], "model": None}
    triggers: tuple[Trigger, ...] = (
        IntervalTrigger(seconds=7),
        AtTrigger(at=1_893_488_400.1234567),
        GithubPollTrigger(repository="o/n", poll_interval_seconds=300, filters={"base": "yes", "draft": True}),
        CronTrigger(expression="*/5 * * * *"),
    )
    for number, trigger in enumerate(triggers):
        action = ScheduleAction(kind="command", command=("make", *texts), on_fail=chain)
        name = f"{number} {texts[number]}"
        more: dict[str, Any] = {"description": texts[-number - 1], "budget_usd": 0.1, "overlap_policy": "allow"}
        await shell.studio.mutate_schedule(CreateSchedule(name=name, trigger=trigger, action=action, **more))

    held = await shell.studio.export_schedules()

    # Commands have an event loop of their own.
    exported = await asyncio.to_thread(lambda: shell("schedule", "export", "--json").out)
    again = await asyncio.to_thread(lambda: steps(apply(shell, shell("schedule", "export").out, "--json")))
    assert ScheduleSet.model_validate_json(exported) == held
    assert set(again.values()) == {"unchanged"}
