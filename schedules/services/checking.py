"""The one validator of schedules: of those created and changed, over HTTP, by command, and from a file."""

from dataclasses import dataclass

from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.schedules import ScheduleAction
from contract.triggers import Trigger
from schedules.chains import unfold
from schedules.services.ports import ScheduledRuns
from schedules.triggers import trigger_failures

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckNeeds:
    """What a check asks: what may be executed, the zone of cron expressions that name none, and the instant."""

    runs: ScheduledRuns
    zone: str
    now: float


async def failures_of(
    *, trigger: Trigger | None, action: ScheduleAction | None, needs: CheckNeeds, at: Path = ()
) -> tuple[FieldFailure, ...]:
    """Return every fault of a trigger and an action with its chains, with paths below `at`; None is not looked at."""
    failures: list[FieldFailure] = []
    if trigger is not None:
        failures += _below((*at, "trigger"), trigger_failures(trigger, now=needs.now, zone=needs.zone))
    if action is not None:
        failures += _below((*at, "action"), await _chain_failures(action, needs.runs))
    return tuple(failures)


async def require_sound(
    *, trigger: Trigger | None, action: ScheduleAction | None, needs: CheckNeeds, at: Path = ()
) -> None:
    """Raise ValidationFailure with every fault, with paths below `at`."""
    failures = await failures_of(trigger=trigger, action=action, needs=needs, at=at)
    if failures:
        raise ValidationFailure(failures)


async def _chain_failures(action: ScheduleAction, runs: ScheduledRuns) -> list[FieldFailure]:
    chain = unfold(action)
    failures = list(chain.failures)
    for step in chain.steps:
        failures += _below(step.path, await runs.action_failures(step.action))
    return failures


def _below(path: Path, failures: tuple[FieldFailure, ...] | list[FieldFailure]) -> list[FieldFailure]:
    return [each.model_copy(update={"path": (*path, *each.path)}) for each in failures]
