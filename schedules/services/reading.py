"""The operations that only look at schedules."""

from contract import limits
from contract.base import Page
from contract.errors import ValidationFailure
from contract.schedules import (
    Firing,
    FiringQuery,
    ScheduleDetail,
    ScheduleExplanation,
    ScheduleLimits,
    ScheduleQuery,
    ScheduleSummary,
)
from contract.triggers import PreviewSchedule, SchedulePreview
from schedules import explaining, views
from schedules.previews import preview_of
from schedules.revising import settled, terms_of, zone_of
from schedules.services.checking import failures_of
from schedules.services.needs import ScheduleNeeds
from schedules.services.standing import standing_of

_DETAIL_FIRINGS = 10


async def list_schedules(*, query: ScheduleQuery, needs: ScheduleNeeds) -> Page[ScheduleSummary]:
    """Return one page of schedules."""
    return await needs.states.page(query, now=needs.clock.now())


async def get_schedule(*, schedule_id: str, needs: ScheduleNeeds) -> ScheduleDetail:
    """Return a schedule with its last firings."""
    state = await needs.get(schedule_id)
    firings = await needs.states.firings(schedule_id, FiringQuery(limit=_DETAIL_FIRINGS))
    return views.detail_of(state, firings.items, now=needs.clock.now())


async def list_firings(*, schedule_id: str, query: FiringQuery, needs: ScheduleNeeds) -> Page[Firing]:
    """Return one page of a schedule's firings."""
    await needs.get(schedule_id)
    return await needs.states.firings(schedule_id, query)


async def preview_schedule(*, query: PreviewSchedule, needs: ScheduleNeeds) -> SchedulePreview:
    """Return the next instants of a trigger that nothing is scheduled by yet."""
    check = needs.check()
    failures = await failures_of(trigger=query.trigger, action=None, needs=check)
    if failures:
        raise ValidationFailure(failures)
    after = check.now if query.after is None else query.after
    return preview_of(
        settled(query.trigger, needs.zone),
        after=after,
        count=query.count,
        anchor_at=after,
        zone=zone_of(query.trigger, needs.zone),
    )


def schedule_limits(*, needs: ScheduleNeeds) -> ScheduleLimits:
    """Return the bounds of schedules."""
    return ScheduleLimits(
        max_chain_depth=limits.MAX_CHAIN_DEPTH,
        cron_max_chars=limits.CRON_MAX_CHARS,
        interval_seconds_max=limits.INTERVAL_SECONDS_MAX,
        preview_max_count=limits.PREVIEW_MAX_COUNT,
        schedules_per_set_max=limits.SCHEDULES_PER_SET_MAX,
        missed_after_seconds=limits.MISSED_AFTER_SECONDS,
        max_concurrent=needs.capacity,
        timezone=needs.zone,
    )


async def explain_schedule(*, schedule_id: str, needs: ScheduleNeeds) -> ScheduleExplanation:
    """Say in words what was decided and what the next decision depends on."""
    state = await needs.get(schedule_id)
    firings = await needs.states.firings(schedule_id, FiringQuery(limit=_DETAIL_FIRINGS))
    standing = await standing_of(state, needs)
    now = needs.clock.now()
    return ScheduleExplanation(
        schedule_id=state.schedule_id,
        name=state.name,
        health=views.health(state, now),
        standing=explaining.standing_sentence(state, now=now),
        decisions=tuple(explaining.decision_sentence(firing, zone=state.zone) for firing in firings.items),
        next_depends_on=tuple(explaining.next_sentences(state, terms_of(state), standing, now=now)),
    )
