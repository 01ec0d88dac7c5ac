"""How a schedule stands towards its caps."""

from dataclasses import replace

from schedules.services.ports import RunOutcome
from schedules.services.standing import standing_of, standing_with
from tests.schedules.making import state
from tests.schedules.scheduler.rigs import Rig


async def test_open_runs_and_what_they_have_reported_are_added() -> None:
    rig = Rig(capacity=4)
    rig.add(overlap_policy="allow")
    await rig.live(120, ending=False)
    first, second = rig.runs.open_ids
    rig.runs.report(first, cost_micros=5)
    rig.runs.end(second, cost_micros=7, tokens=3)
    rig.runs.others_open = 2

    standing = await standing_of(rig.state(), rig.needs)

    assert (standing.own_open, standing.run_count, standing.all_open, standing.capacity) == (1, 2, 3, 4)
    assert (standing.spent_micros, standing.spent_tokens) == (12, 3)


def test_what_was_recorded_at_ends_counts() -> None:
    made = replace(state(), spent_micros=1, run_count=3)
    silent = RunOutcome(status="running", is_terminal=False, cost_micros=None, tokens=None)

    standing = standing_with(made, [silent], all_open=0, capacity=0)

    assert (standing.spent_micros, standing.spent_tokens, standing.run_count) == (1, None, 3)
