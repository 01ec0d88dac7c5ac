"""Events of pull requests: found, told apart, new once."""

from typing import Any

import pytest

from contract.parsing import parse_model
from contract.schedules import ScheduleAction
from schedules.pull_events import (
    OVERLAP_SECONDS,
    PullEvent,
    UnreadableListing,
    events_of,
    filled_in,
    handled,
    is_read_far_enough,
    new_events,
    seeded,
)
from schedules.schedule import PollState

AT = 1_767_225_600.0
NOON = "2026-01-01T12:00:00Z"
NOON_AT = AT + 12 * 3_600


def pull(number: int, **fields: Any) -> dict[str, Any]:
    repo = {"full_name": "o/n"}
    return {
        "number": number,
        "title": f"Change {number}",
        "html_url": f"https://github.example/o/n/pull/{number}",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": NOON,
        "closed_at": None,
        "merged_at": NOON,
        "draft": False,
        "base": {"ref": "main", "repo": repo},
        "head": {"ref": "x", "repo": repo},
        **fields,
    }


def found(*pulls: dict[str, Any], **filters: Any) -> tuple[PullEvent, ...]:
    return events_of(list(pulls), repository="o/n", filters=filters)[0]


@pytest.mark.parametrize(
    ("event", "numbers"),
    [("pr_merged", {1}), ("pr_opened", {1, 2, 3}), ("pr_updated", {1, 2, 3}), ("pr_closed", {1, 2})],
)
def test_each_kind_of_event_has_its_own_instant(event: str, numbers: set[int]) -> None:
    pulls = [pull(1, closed_at=NOON), pull(2, merged_at=None, closed_at=NOON), pull(3, merged_at=None)]

    assert {each.number for each in found(*pulls, event=event)} == numbers


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({}, {1, 2, 3, 4}),
        ({"base": "main"}, {1, 2, 3}),
        ({"draft": True}, {2}),
        ({"draft": False}, {1, 3, 4}),
        ({"same_repo_only": True}, {1, 2, 4}),
        ({"same_repo_only": False}, {1, 2, 3, 4}),
    ],
)
def test_filters_leave_out_what_does_not_pass(filters: dict[str, Any], numbers: set[int]) -> None:
    fork = pull(3, head={"ref": "x", "repo": None})
    pulls = [pull(1), pull(2, draft=True), fork, pull(4, base={"ref": "old", "repo": {"full_name": "o/n"}})]

    assert {each.number for each in found(*pulls, **filters)} == numbers


@pytest.mark.parametrize(
    "page",
    [
        {"message": "Not Found"},
        "<html>",
        ["text"],
        [{"number": 1}],
        [pull(1, updated_at="yesterday")],
        [pull(1, updated_at="2026-01-01T00:00:00")],
        [pull(1, merged_at=17)],
        [{**pull(1), "number": "1"}],
        [{**pull(1), "number": True}],
    ],
)
def test_what_is_no_listing_is_said_to_be_none(page: object) -> None:
    with pytest.raises(UnreadableListing, match=r"\w"):
        events_of(page, repository="o/n", filters={})


def test_the_first_poll_remembers_and_fires_nothing() -> None:
    events = found(pull(7), pull(8))

    state = seeded(PollState(), events, now=AT)

    assert new_events(events, PollState()) == ()
    assert new_events(events, state) == ()
    assert state.cursor_at == NOON_AT


def test_a_first_poll_of_nothing_begins_now() -> None:
    assert seeded(PollState(), (), now=AT).cursor_at == AT


def test_events_of_one_second_are_told_apart_also_when_one_comes_late() -> None:
    state = seeded(PollState(), (), now=NOON_AT - 60)
    first, second, late = found(pull(7), pull(8), pull(9))

    assert new_events((second, first), state) == (first, second)
    after = handled(state, first)
    assert new_events((first, second), after) == (second,)
    assert new_events((first, second, late), handled(after, second)) == (late,)


def test_an_event_that_happened_again_is_another_one() -> None:
    state = handled(seeded(PollState(), (), now=AT), found(pull(7), event="pr_updated")[0])

    again = found(pull(7, updated_at="2026-01-01T12:00:01Z"), event="pr_updated")

    assert new_events(again, state) == again


def test_what_happened_long_before_is_no_news() -> None:
    state = seeded(PollState(), (), now=NOON_AT + OVERLAP_SECONDS + 1)

    assert new_events(found(pull(7)), state) == ()


def test_old_keys_are_forgotten_and_their_events_stay_old() -> None:
    (old,) = found(pull(1, merged_at="2026-01-01T11:00:00Z"))
    state = handled(PollState(cursor_at=AT), old)

    after = handled(state, found(pull(2))[0])

    assert after.seen == (f"pr_merged:2:{NOON_AT:.0f}",)
    assert new_events((old,), after) == ()


def test_pages_are_read_until_they_are_older_than_what_can_be_new() -> None:
    state = PollState(cursor_at=NOON_AT)

    assert not is_read_far_enough(NOON_AT, state)
    assert not is_read_far_enough(NOON_AT - OVERLAP_SECONDS, state)
    assert is_read_far_enough(NOON_AT - OVERLAP_SECONDS - 1, state)
    assert is_read_far_enough(None, state)
    assert is_read_far_enough(NOON_AT, PollState())


def test_an_event_is_put_where_an_action_names_it_and_nowhere_else() -> None:
    (event,) = found(pull(7, title="{{event.url}} $(rm -rf /)"))
    action = parse_model(
        ScheduleAction,
        {
            "kind": "command",
            "command": ["review", "{{event.number}}", "--title={{event.title}}", "{{event.other}}", "{{event.url"],
            "prompt": "{{event.kind}} of {{event.repository}}: {{event.url}}",
        },
    )

    filled = filled_in(action, event)

    assert filled.command == (
        "review",
        "7",
        "--title={{event.url}} $(rm -rf /)",
        "{{event.other}}",
        "{{event.url",
    )
    assert filled.prompt == "pr_merged of o/n: https://github.example/o/n/pull/7"
    assert filled_in(parse_model(ScheduleAction, {"kind": "agent"}), event).command == ()
    assert event.told() == "pull request 7 merged"
