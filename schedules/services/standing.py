"""How a schedule stands towards its caps: its own counters, and what its open runs have reported until now."""

from collections.abc import Collection

from contract.money import add_known
from schedules.admission import Standing
from schedules.schedule import ScheduleState
from schedules.services.needs import ScheduleNeeds
from schedules.services.ports import RunOutcome


async def standing_of(state: ScheduleState, needs: ScheduleNeeds) -> Standing:
    """Look at the open runs of one schedule, and at how many there are of all."""
    firings = await needs.states.open_firings((state.schedule_id,))
    outcomes = await needs.runs.outcomes([firing.run_id for firing in firings])
    return standing_with(state, outcomes.values(), all_open=await needs.runs.open_count(), capacity=needs.capacity)


def standing_with(state: ScheduleState, outcomes: Collection[RunOutcome], *, all_open: int, capacity: int) -> Standing:
    """Add up what a schedule has spent: what was recorded at ends, and what is not recorded yet."""
    micros, tokens = state.spent_micros, state.spent_tokens
    for outcome in outcomes:
        micros = add_known(micros, outcome.cost_micros)
        tokens = add_known(tokens, outcome.tokens)
    return Standing(
        own_open=sum(not outcome.is_terminal for outcome in outcomes),
        run_count=state.run_count,
        spent_micros=micros,
        spent_tokens=tokens,
        all_open=all_open,
        capacity=capacity,
    )
