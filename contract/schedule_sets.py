"""Sets of schedules: a declared whole that is compared with what there is, and made so."""

from typing import Annotated, Literal

from pydantic import Field

from contract.base import CommandJson, ContractModel, Tup
from contract.limits import (
    SCHEDULES_PER_SET_MAX,
)
from contract.schedules import ScheduleSpec


class ApplySchedules(ContractModel):
    """A set of schedules that is to be all there is: new names are created, known ones updated, others disabled.

    All or nothing. With `dry_run` only the plan is made.
    """

    schedules: Annotated[Tup[ScheduleSpec], Field(max_length=SCHEDULES_PER_SET_MAX)]
    dry_run: bool = False


class FieldChange(ContractModel):
    """One field that an application of a set changes; values as in the JSON of a specification."""

    field: str
    before: CommandJson = None
    after: CommandJson = None


class PlannedSchedule(ContractModel):
    """What an application of a set does with one schedule."""

    name: str
    step: Literal["create", "update", "disable", "unchanged"]
    schedule_id: str | None = None
    changes: Tup[FieldChange] = ()


class ApplyResult(ContractModel):
    """The plan by name, and whether it was carried out."""

    plan: Tup[PlannedSchedule]
    applied: bool


class ScheduleSet(ContractModel):
    """Every schedule as a specification, by name; applied again it changes nothing."""

    schedules: Tup[ScheduleSpec]
