"""Launches: queued runs with what to execute, made once for each key."""

import pytest

from contract.actions import ActionFields, ExecutionView, LaunchResult, LaunchRun
from contract.errors import Conflict
from contract.runs import TransitionView
from runs.services.execution_ports import LAUNCHES_TOPIC
from runs.services.following import run_topic
from tests.builders import status
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import DEADLINE_SECONDS, draft
from tests.runs.state.stores import Store

COMMAND = ActionFields(kind="command", command=("make", "test"), project="studio/größe")


async def test_a_launch_is_a_queued_run_that_has_not_started(store: Store) -> None:
    result = await store.queue("r")

    run = await store.detail("r")
    assert result == LaunchResult(run_id="r", status="queued", launch_key="key-of-r", created_at=START_AT)
    assert (run.status, run.status_reason_code, run.effective_health) == ("queued", "run.queued.launched", None)
    assert (run.created_at, run.updated_at, run.started_at, run.ended_at) == (START_AT, START_AT, None, None)
    assert run.transitions == (
        TransitionView(
            number=run.transitions[0].number,
            from_status=None,
            to_status="queued",
            reason_code="run.queued.launched",
            actor="producer",
            at=START_AT,
        ),
    )


async def test_a_launch_shows_what_will_be_executed_and_how(store: Store) -> None:
    await store.queue("r", action=COMMAND, runtime="plain", cwd="/srv/größe", deadline_seconds=12.5)

    assert (await store.detail("r")).execution == ExecutionView(
        launch_key="key-of-r",
        action={"kind": "command", "command": ["make", "test"], "project": "studio/größe"},
        runtime="plain",
        cwd="/srv/größe",
        deadline_seconds=12.5,
        queued_at=START_AT,
    )


async def test_a_launch_without_runtime_and_folder_shows_none(store: Store) -> None:
    await store.queue("r")

    execution = (await store.detail("r")).execution
    assert execution is not None
    assert (execution.runtime, execution.cwd, execution.deadline_seconds) == (None, None, DEADLINE_SECONDS)


async def test_a_run_that_its_producer_executes_has_no_execution(store: Store) -> None:
    await store.start("r")

    assert (await store.detail("r")).execution is None


async def test_a_launched_run_is_described_by_its_action_and_found_by_it(store: Store) -> None:
    action = ActionFields(kind="play", playbook="nightly", agent="Tester", project="p", model="m")

    await store.queue("r", action=action, name="Night run", tags=("b", "a", "b"), invocation_id="i")

    run = await store.detail("r")
    assert (run.name, run.playbook_name, run.agent_name) == ("Night run", "nightly", "Tester")
    assert (run.project, run.model, run.provider, run.tags) == ("p", "m", None, ("a", "b"))
    assert (run.invocation_kind, run.invocation_id) == ("play", "i")
    assert (await store.invocation("i")).status == "queued"
    for query in (
        {"search": "NIGHT"},
        {"search": "tester"},
        {"tags": ("a",)},
        {"kind": "play"},
        {"playbook": "nightly"},
    ):
        assert await store.ids(**query) == ["r"]


async def test_a_launch_keeps_of_a_command_only_the_action(store: Store) -> None:
    command = LaunchRun(kind="agent", prompt="hello", launch_key="k", name="n", tags=("t",), deadline_seconds=5.0)

    await store.queue("r", action=command)

    execution = (await store.detail("r")).execution
    assert execution is not None
    assert execution.action == {"kind": "agent", "prompt": "hello"}
    assert (await store.claim())["r"].action == ActionFields(kind="agent", prompt="hello")


async def test_the_same_key_and_action_again_is_the_run_there_is(store: Store) -> None:
    first = await store.queue("r", action=COMMAND)
    before = await store.detail("r")
    store.clock.advance(60)

    again = await store.queue("other", action=COMMAND, launch_key="key-of-r", invocation_id="i", tags=("t",))

    assert again == first.model_copy(update={"repeated": True})
    assert await store.ids() == ["r"]
    assert await store.detail("r") == before
    assert await store.invocations.get_invocation("i") is None


async def test_a_repeated_launch_says_how_far_the_run_is(store: Store) -> None:
    await store.queue("r")
    await store.record("r", status("failed"))

    again = await store.queue("r")

    assert (again.status, again.repeated) == ("failed", True)


async def test_the_same_key_for_another_action_is_a_conflict_and_changes_nothing(store: Store) -> None:
    await store.queue("r", action=COMMAND)
    before = await store.detail("r")
    other = draft("other", launch_key="key-of-r")

    with pytest.raises(Conflict) as failure:
        await store.launches.launch(other, at=START_AT)

    assert failure.value.resource == "launch"
    assert (failure.value.expected, failure.value.actual) == (other.digest, draft(action=COMMAND).digest)
    assert "key-of-r" in str(failure.value)
    assert await store.ids() == ["r"]
    assert await store.detail("r") == before


async def test_a_launch_is_found_by_its_key_as_a_repeat_finds_it(store: Store) -> None:
    first = await store.queue("r", action=COMMAND)
    digest = draft(action=COMMAND).digest

    found = await store.launches.find_launch("key-of-r", digest=digest)
    none = await store.launches.find_launch("key-of-other", digest=digest)

    assert (found, none) == (first.model_copy(update={"repeated": True}), None)
    with pytest.raises(Conflict) as failure:
        await store.launches.find_launch("key-of-r", digest="other")
    assert (failure.value.expected, failure.value.actual) == ("other", digest)


async def test_equal_actions_under_different_keys_are_different_runs(store: Store) -> None:
    for run_id in ("a", "b"):
        await store.queue(run_id, action=COMMAND)

    assert await store.ids() == ["b", "a"]


async def test_a_launch_under_the_id_of_another_run_is_a_conflict(store: Store) -> None:
    await store.start("r")
    before = await store.detail("r")

    with pytest.raises(Conflict) as failure:
        await store.queue("r")

    assert (failure.value.resource, failure.value.actual) == ("run", "r")
    assert await store.detail("r") == before


async def test_a_launch_wakes_who_follows_the_run_and_who_waits_for_launches(store: Store) -> None:
    await store.queue("r")
    published = [*store.feed.published]

    await store.queue("r")

    assert published == [run_topic("r"), LAUNCHES_TOPIC]
    assert store.feed.published == published


async def test_a_repeated_launch_does_not_undo_what_was_stored_with_the_first(store: Store) -> None:
    await store.queue("r", tags=("t",), invocation_id="i")

    await store.queue("r", tags=("t",), invocation_id="i")

    assert await store.ids(tags=("t",)) == ["r"]
    assert (await store.invocation("i")).run_count == 1
