"""Many rows at once, for what is asked of large tables."""

from typing import Final

from schedules.models import FiringRecord, ScheduleRecord
from schedules.schedule import ScheduleState
from schedules.state.rows import columns_of
from tests.fakes.clocks import START_AT
from tests.schedules.state.stores import schedule

_PROJECTS: Final = 7
_OPEN_EVERY: Final = 40
_ACTION: Final = '{"kind":"command","command":["look"]}'


def insert_schedules(count: int) -> None:
    """Insert schedules, each due a second after the one before; every third is disabled."""
    ScheduleRecord.objects.bulk_create(ScheduleRecord(**columns_of(_numbered(number))) for number in range(count))


def insert_firings(schedules: int, each: int) -> None:
    """Insert firings of the first schedules, a minute apart; few have an open run."""
    found = ScheduleRecord.objects.order_by("id").values_list("id", flat=True)[:schedules]
    FiringRecord.objects.bulk_create(_firing(schedule, number) for schedule in found for number in range(each))


def _numbered(number: int) -> ScheduleState:
    return schedule(
        f"s{number:05}",
        enabled=number % 3 > 0,
        project=f"project-{number % _PROJECTS}",
        next_fire_at=None if number % 10 == 0 else START_AT + number,
    )


def _firing(schedule_number: int, number: int) -> FiringRecord:
    fired = number % 2 == 0
    ended = fired and number % _OPEN_EVERY != 0
    at = START_AT + 60.0 * number
    return FiringRecord(
        firing_id=f"f{schedule_number}-{number}",
        schedule_id=schedule_number,
        slot=f"due:{at}",
        due_at=at,
        decided_at=at,
        outcome="fired" if fired else "skipped",
        reason_code="schedule.fired.due" if fired else "schedule.skipped.overlap",
        cause="due",
        root_firing_id=f"f{schedule_number}-{number}",
        action=_ACTION if fired else None,
        run_id=f"r{schedule_number}-{number}" if fired else None,
        run_status="completed" if ended else None,
    )
