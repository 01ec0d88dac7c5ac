"""`schedule` over an in-memory Studio: what it makes, changes, says and ends with."""

import asyncio
from pathlib import Path

import pytest

from contract.base import Page
from contract.events import ProcessIdentity
from contract.schedules import (
    Firing,
    PauseResult,
    ScheduleDeleted,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleResult,
    ScheduleSummary,
)
from contract.triggers import CronTrigger, GithubPollTrigger, IntervalTrigger, SchedulePreview
from runs.services.execution_ports import Ending
from studio_project.config import current_config
from studio_project.home import working
from studio_project.run_tailing import EXIT_NOT_COMPLETED
from tests.fakes.clocks import START_AT
from tests.fakes.shell import Shell

OWNER = ProcessIdentity(host="h", pid=1)
ON_FAIL = ("--on-fail", '{"kind": "command", "command": ["make"]}')
WAITS = "it waits for a worker: `studio serve` or `studio worker`\n"
MAKE = ("command", "--every", "1h")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def made(shell: Shell, name: str = "nightly", *options: str) -> str:
    """Make a schedule, and return its id."""
    shell("schedule", "create", name, *MAKE, "--json", *options, "--", "make")
    assert shell.exit_code == 0, shell.err
    return ScheduleResult.model_validate_json(shell.out).schedule_id


def detail(shell: Shell, which: str = "nightly") -> ScheduleDetail:
    shell("schedule", "show", which, "--json")
    assert shell.exit_code == 0, shell.err
    return ScheduleDetail.model_validate_json(shell.out)


def execute(shell: Shell, status: str, reason_code: str) -> None:
    """Be the worker of the one run that waits."""

    async def executed() -> None:
        launches = shell.studio.launches
        at = shell.studio.runs.clock.now()
        [claimed] = await launches.claim(owner=OWNER, limit=1, cap=0, at=at)
        await launches.started(claimed.lease, OWNER, at=at)
        await launches.end(claimed.lease, Ending(status=status, reason_code=reason_code), at=at)

    asyncio.run(executed())


# made and changed --------------------------------------------------------------------------------------------


def test_a_schedule_is_made_of_options(shell: Shell) -> None:
    when = ("--cron", "0 3 * * *", "--timezone", "Europe/Berlin", "--missed", "run_once", "--overlap", "allow")
    caps = ("--max-runs", "9", "--budget-usd", "1.5", "--budget-tokens", "100", "--project", "p", "--description", "d")
    links = ("--on-success", '{"kind": "command", "command": ["make", "all"]}')

    shell("schedule", "create", "nightly", "command", *when, *caps, *links, "--", "make", "-k", "--json")

    assert (shell.exit_code, shell.err) == (0, "")
    found = detail(shell)
    assert found.trigger == CronTrigger(expression="0 3 * * *", timezone="Europe/Berlin")
    assert (found.missed_fire_policy, found.overlap_policy) == ("run_once", "allow")
    assert (found.max_runs, found.budget_usd, found.budget_tokens) == (9, 1.5, 100)
    assert (found.project, found.description, found.enabled) == ("p", "d", True)
    assert found.action.command == ("make", "-k", "--json")
    assert found.action.on_success == {"kind": "command", "command": ["make", "all"]}
    assert shell("schedule", "show", "nightly").out.count("at 03:00 every day (0 3 * * * in Europe/Berlin)") == 1


def test_an_agent_takes_the_options_of_a_launch(shell: Shell) -> None:
    options = ["--model", "m", "--agent", "a", "--runtime", "li", "--cwd", "/"]
    poll = [
        "--github",
        "o/n",
        "--poll-every",
        "5m",
        "--filter",
        "event=pr_opened",
        "--filter",
        "draft=false",
        "--disabled",
    ]

    shell("schedule", "create", "reviews", "agent", "--prompt", "Look at {{event.url}}", *options, *poll, "--disabled")

    assert shell.exit_code == 0, shell.err
    found = detail(shell, "reviews")
    assert found.trigger == GithubPollTrigger(
        repository="o/n", poll_interval_seconds=300, filters={"event": "pr_opened", "draft": False}
    )
    assert (found.action.prompt, found.action.model, found.action.agent) == ("Look at {{event.url}}", "m", "a")
    assert (found.enabled, found.poller is None) == (False, False)


def test_an_update_changes_what_is_given_and_nothing_else(shell: Shell) -> None:
    made(shell, "nightly", "--description", "d", "--max-runs", "3", "--project", "p")

    shell("schedule", "update", "nightly", "--name", "daily", "--max-runs", "5", "--clear", "description")

    assert (shell.exit_code, shell.err) == (0, "")
    found = detail(shell, "daily")
    assert (found.description, found.max_runs, found.project) == (None, 5, "p")
    assert found.trigger == IntervalTrigger(seconds=3_600)
    assert found.action.command == ("make",)


def test_a_part_of_a_trigger_or_an_action_leaves_its_other_parts(shell: Shell) -> None:
    shell("schedule", "create", "x", "agent", "--runtime", "li", "--model", "m", "--prompt", "p",
          "--cron", "0 3 * * *", "--timezone", "Europe/Berlin", *ON_FAIL)  # fmt: skip

    shell("schedule", "update", "x", "--cron", "0 4 * * *", "--prompt", "q", "--clear", "on-fail")

    assert shell.exit_code == 0, shell.err
    found = detail(shell, "x")
    assert found.trigger == CronTrigger(expression="0 4 * * *", timezone="Europe/Berlin")
    assert (found.action.prompt, found.action.model, found.action.on_fail) == ("q", "m", None)


def test_an_action_of_another_kind_begins_anew_but_for_what_follows(shell: Shell) -> None:
    shell("schedule", "create", "x", "agent", "--runtime", "li", "--model", "m", "--prompt", "p", "--every", "60",
          *ON_FAIL)  # fmt: skip

    shell("schedule", "update", "x", "--kind", "command", "--", "make", "it")

    assert shell.exit_code == 0, shell.err
    action = detail(shell, "x").action
    assert (action.kind, action.command, action.prompt, action.model) == ("command", ("make", "it"), None, None)
    assert action.on_fail == {"kind": "command", "command": ["make"]}


def test_an_update_of_a_stale_schedule_is_a_conflict(shell: Shell) -> None:
    made(shell)

    shell("schedule", "update", "nightly", "--max-runs", "3", "--expected-updated-at", "1")

    assert (shell.exit_code, shell.out) == (5, "")


def test_nothing_to_change_changes_nothing(shell: Shell) -> None:
    before = made(shell) and detail(shell).updated_at

    shell("schedule", "update", "nightly")

    assert shell.exit_code == 0
    assert detail(shell).updated_at == before


def test_a_schedule_is_disabled_and_enabled(shell: Shell) -> None:
    made(shell)

    assert "does not fire" in shell("schedule", "disable", "nightly").out
    assert not detail(shell).enabled
    assert "due next at" in shell("schedule", "enable", "nightly").out
    assert detail(shell).enabled


def test_a_deleted_schedule_is_gone(shell: Shell) -> None:
    made(shell)
    shell("schedule", "fire", "nightly")

    assert shell("schedule", "delete", "nightly").exit_code == 5
    shell("schedule", "delete", "nightly", "--cancel-runs", "--json")

    assert len(ScheduleDeleted.model_validate_json(shell.out).cancelled_runs) == 1
    assert shell("schedule", "show", "nightly").exit_code == 4


# named -------------------------------------------------------------------------------------------------------


def test_a_schedule_is_named_by_its_id_or_its_name(shell: Shell) -> None:
    schedule_id = made(shell, "Größe: a/b")
    made(shell, "größe: a/b more")

    assert detail(shell, "Größe: a/b").schedule_id == detail(shell, schedule_id).schedule_id == schedule_id


@pytest.mark.parametrize("which", ["nobody", "night", "NIGHTLY", "", "x" * 300, "../etc", "\x00"])
def test_what_is_no_name_and_no_id_is_not_found(shell: Shell, which: str) -> None:
    made(shell)

    shell("schedule", "show", which)

    assert (shell.exit_code, shell.out) == (4, "")


# looked at ---------------------------------------------------------------------------------------------------


def test_schedules_are_listed_for_people_and_for_programs(shell: Shell) -> None:
    assert shell("schedule", "list").out == "no schedules\n"
    made(shell, "b", "--project", "p")
    made(shell, "a", "--disabled")

    header, *rows = shell("schedule", "list").rows
    page = Page[ScheduleSummary].model_validate_json(shell("schedule", "list", "--all", "--json").out)

    assert header[0] == "NAME"
    assert [(row[0], row[1]) for row in rows] == [("a", "disabled"), ("b", "never_fired")]
    assert [item.name for item in page.items] == ["a", "b"]
    assert [row[0] for row in shell("schedule", "list", "--disabled").rows[1:]] == ["a"]
    assert [row[0] for row in shell("schedule", "list", "--enabled", "--project", "p").rows[1:]] == ["b"]
    assert "--cursor" in shell("schedule", "list", "--limit", "1").err


def test_firings_are_listed_with_their_reasons(shell: Shell) -> None:
    made(shell)
    shell("schedule", "fire", "nightly")
    shell("schedule", "skip-next", "nightly")

    rows = shell("schedule", "firings", "nightly").rows[1:]
    page = Page[Firing].model_validate_json(
        shell("schedule", "firings", "nightly", "--outcome", "skipped", "--all", "--json").out
    )

    assert {row[5] for row in rows} == {"schedule.fired.manual", "schedule.skipped.by_operator"}
    assert [item.reason_code for item in page.items] == ["schedule.skipped.by_operator"]


def test_a_preview_is_of_a_schedule_or_of_a_trigger(shell: Shell) -> None:
    made(shell)

    own = SchedulePreview.model_validate_json(shell("schedule", "preview", "nightly", "--count", "2", "--json").out)
    cron = shell("schedule", "preview", "--cron", "30 2 * * *", "--timezone", "America/New_York",
                 "--after", "2026-03-08T01:00", "--count", "1")  # fmt: skip

    # The rhythm of the schedule, which began with it.
    assert [each.at for each in own.instants] == [START_AT + 3_600, START_AT + 7_200]
    assert "clocks go forward" in cron.out
    assert shell("schedule", "preview").exit_code == 2


def test_why_says_what_was_decided_and_limits_the_bounds(shell: Shell) -> None:
    made(shell, "nightly", "--max-runs", "3")
    shell("schedule", "fire", "nightly")

    said = shell("schedule", "why", "nightly").out
    explained = ScheduleExplanation.model_validate_json(shell("schedule", "why", "nightly", "--json").out)
    limits = ScheduleLimits.model_validate_json(shell("schedule", "limits", "--json").out)

    assert "A person fired it." in said
    assert "1 of 3 were started" in said
    assert explained.name == "nightly"
    assert f"max chain depth        {limits.max_chain_depth}" in shell("schedule", "limits").out


# decided -----------------------------------------------------------------------------------------------------


def test_fire_says_its_run_and_that_it_waits_where_nobody_works(shell: Shell) -> None:
    made(shell)

    shell("schedule", "fire", "nightly")
    first = shell.out.split()[-1]

    assert (shell.exit_code, shell.err) == (0, WAITS)
    assert shell("run", "show", first).exit_code == 0
    with working(current_config().home):
        assert shell("schedule", "fire", "nightly", "--force").err == ""


def test_the_same_fire_key_fires_once(shell: Shell) -> None:
    made(shell, "nightly", "--overlap", "allow")

    said = [shell("schedule", "fire", "nightly", "--fire-key", "k").out for _ in range(2)]

    assert said[0] == said[1]
    assert len(shell.studio.runs.runs) == 1


def test_a_firing_that_is_refused_is_a_conflict(shell: Shell) -> None:
    made(shell)
    shell("schedule", "fire", "nightly")

    shell("schedule", "fire", "nightly")

    assert (shell.exit_code, shell.out) == (5, "")
    assert "still open" in shell.err


@pytest.mark.parametrize(
    ("status", "reason_code", "exit_code"),
    [
        ("completed", "run.completed.ok", 0),
        ("failed", "run.failed.exit_nonzero", EXIT_NOT_COMPLETED),
        ("timed_out", "run.timed_out.deadline", EXIT_NOT_COMPLETED),
    ],
)
def test_waiting_ends_as_the_run_does(shell: Shell, status: str, reason_code: str, exit_code: int) -> None:
    made(shell)
    shell("schedule", "fire", "nightly", "--fire-key", "k")
    execute(shell, status, reason_code)

    shell("schedule", "fire", "nightly", "--fire-key", "k", "--wait")

    assert shell.exit_code == exit_code
    assert f"ended: {status} ({reason_code})" in shell.out


def test_all_are_paused_and_resumed(shell: Shell) -> None:
    made(shell, "a")
    made(shell, "b", "--disabled")

    paused = PauseResult.model_validate_json(shell("schedule", "pause-all", "--json").out)
    rows = shell("schedule", "list").rows[1:]

    assert (paused.changed, paused.paused) == (1, 1)
    assert [(row[0], row[1]) for row in rows] == [("a", "paused"), ("b", "disabled")]
    assert shell("schedule", "resume-all").out == "1 schedules resumed; 0 are paused now\n"
    assert detail(shell, "a").enabled
