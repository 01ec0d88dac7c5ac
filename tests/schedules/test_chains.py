"""Chains of actions: parsed to their ends, bounded, inherited from, followed."""

from typing import Any

import pytest

from contract.errors import ValidationFailure
from contract.limits import MAX_CHAIN_DEPTH
from contract.parsing import parse_model
from contract.schedules import ScheduleAction
from schedules.chains import fields_of, following, launched_fields, unfold


def action(**fields: Any) -> ScheduleAction:
    return parse_model(ScheduleAction, {"kind": "command", "command": ["true"], **fields})


def chain_of(depth: int) -> dict[str, Any]:
    built: dict[str, Any] = {"kind": "command", "command": ["end"]}
    for _ in range(depth):
        built = {"kind": "command", "command": ["step"], "on_success": built}
    return built


def test_every_action_of_a_chain_is_found_with_its_path() -> None:
    first = action(
        on_success={"kind": "command", "command": ["a"], "on_fail": {"kind": "command", "command": ["b"]}},
        on_fail={"kind": "command", "command": ["c"]},
    )

    unfolded = unfold(first)

    found = {step.path: (step.action.command, step.depth) for step in unfolded.steps}
    assert found == {
        (): (("true",), 0),
        ("on_success",): (("a",), 1),
        ("on_success", "on_fail"): (("b",), 2),
        ("on_fail",): (("c",), 1),
    }
    assert not unfolded.failures


def test_a_chain_may_be_as_deep_as_the_bound_and_no_deeper() -> None:
    deepest = parse_model(ScheduleAction, chain_of(MAX_CHAIN_DEPTH))
    deeper = parse_model(ScheduleAction, chain_of(MAX_CHAIN_DEPTH + 3))

    assert not unfold(deepest).failures
    (fault,) = unfold(deeper).failures
    assert fault.code == "chain_depth"
    assert fault.path == ("on_success",) * (MAX_CHAIN_DEPTH + 1)


def test_each_fault_within_a_chain_is_told_with_its_path() -> None:
    first = action(on_success={"kind": "command", "colour": "red"}, on_fail={"kind": "nonsense"})

    paths = {fault.path for fault in unfold(first).failures}

    assert paths == {("on_success", "colour"), ("on_fail", "kind")}


def test_a_chained_action_inherits_project_and_folder_and_nothing_else() -> None:
    first = action(project="p", cwd="/there", runtime="r", model="m", on_success={"kind": "command", "command": ["a"]})

    after = following(first, "completed")

    assert after is not None
    assert (after.project, after.cwd, after.runtime, after.model) == ("p", "/there", None, None)


def test_what_a_chained_action_says_itself_stays() -> None:
    first = action(project="p", on_fail={"kind": "command", "command": ["a"], "project": None, "cwd": "/own"})

    after = following(first, "failed")

    assert after is not None
    assert (after.project, after.cwd) == (None, "/own")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("completed", "good"),
        ("failed", "bad"),
        ("timed_out", "bad"),
        ("cancelled", None),
        ("aborted", None),
        ("completed_empty", None),
        ("gone", None),
    ],
)
def test_success_and_failure_are_what_they_say_and_the_rest_is_neither(status: str, expected: str | None) -> None:
    first = action(on_success={"kind": "command", "command": ["good"]}, on_fail={"kind": "command", "command": ["bad"]})

    after = following(first, status)

    assert (after and after.command) == (expected and (expected,))


def test_nothing_follows_where_nothing_is_chained() -> None:
    assert following(action(), "completed") is None


def test_a_stored_chain_that_nobody_knows_is_a_failure_and_no_surprise() -> None:
    with pytest.raises(ValidationFailure):
        following(action(on_success={"kind": "nonsense"}), "completed")


def test_what_is_launched_has_no_chain_and_the_project_of_the_schedule() -> None:
    first = action(on_success={"kind": "command", "command": ["a"]})

    assert set(fields_of(first).model_dump(exclude_defaults=True)) == {"kind", "command"}
    assert launched_fields(first, "p").project == "p"
    assert launched_fields(first, None).project is None
    assert launched_fields(action(project="own"), "p").project == "own"
