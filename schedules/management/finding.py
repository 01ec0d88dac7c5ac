"""Which schedule is meant: by its id, or by its name, which no other one has."""

from contract.application import StudioApplication
from contract.errors import NotFound, ValidationFailure
from contract.limits import SCHEDULE_LIST_LIMIT_MAX
from contract.parsing import parse_model
from contract.schedules import ScheduleDetail, ScheduleQuery


async def find_schedule(studio: StudioApplication, which: str) -> ScheduleDetail:
    """Return the schedule with this id, else the one with exactly this name. NotFound."""
    try:
        return await studio.get_schedule(which)
    except NotFound:
        return await studio.get_schedule(await _id_of(studio, which))


async def _id_of(studio: StudioApplication, name: str) -> str:
    try:
        query = parse_model(ScheduleQuery, {"search": name, "limit": SCHEDULE_LIST_LIMIT_MAX})
    except ValidationFailure:  # no schedule can be called so
        raise NotFound("schedule", name) from None
    while True:
        page = await studio.list_schedules(query)
        for found in page.items:
            if found.name == name:
                return found.schedule_id
        if page.next_cursor is None:
            raise NotFound("schedule", name)
        query = query.model_copy(update={"cursor": page.next_cursor})
