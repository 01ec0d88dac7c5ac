"""What it takes to make the schedules there are those of a declared set: states and specifications in, plan out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from contract.base import FieldFailure
from contract.schedule_sets import FieldChange, PlannedSchedule
from contract.schedules import ScheduleSpec
from schedules.revising import is_meant_enabled, settled
from schedules.schedule import ScheduleState
from schedules.views import spec_of

Step = Literal["create", "update", "disable", "unchanged"]

_FIELDS: Final = tuple(name for name in ScheduleSpec.model_fields if name != "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One step: what is there (None: nothing yet), what the set says (None: nothing), and the fields that differ."""

    step: Step
    before: ScheduleState | None
    spec: ScheduleSpec | None
    changed: tuple[str, ...] = ()


def plan_of(states: Iterable[ScheduleState], specs: Sequence[ScheduleSpec], *, zone: str) -> tuple[Planned, ...]:
    """Return the steps in the order of names. What is neither in the set nor meant to fire is left as it is."""
    there = {state.name: state for state in states}
    declared = {spec.name: _settled(spec, zone) for spec in specs}
    steps = (_step(there.get(name), declared.get(name)) for name in sorted(there.keys() | declared.keys()))
    return tuple(step for step in steps if step is not None)


def repeated_names(specs: Sequence[ScheduleSpec]) -> tuple[FieldFailure, ...]:
    """Return a fault for each specification whose name an earlier one has."""
    seen: set[str] = set()
    failures = []
    for index, spec in enumerate(specs):
        if spec.name in seen:
            message = f"{spec.name} is in the set already"
            failures.append(FieldFailure(path=("schedules", index, "name"), code="repeated", message=message))
        seen.add(spec.name)
    return tuple(failures)


def shown(planned: Planned) -> PlannedSchedule:
    """Return a step as it is shown, with both values of each field that differs."""
    before = {} if planned.before is None else _dumped(spec_of(planned.before))
    after = {} if planned.spec is None else _dumped(planned.spec)
    if planned.step == "disable":
        after = {**before, "enabled": False}
    fields = _FIELDS if planned.step == "create" else planned.changed
    state, spec = planned.before, planned.spec
    return PlannedSchedule(
        name=state.name if state is not None else spec.name if spec is not None else "",
        step=planned.step,
        schedule_id=None if state is None else state.schedule_id,
        changes=tuple(
            FieldChange(field=name, before=before.get(name), after=after.get(name))
            for name in fields
            if planned.step != "create" or after.get(name) is not None
        ),
    )


def _settled(spec: ScheduleSpec, zone: str) -> ScheduleSpec:
    return spec.model_copy(update={"trigger": settled(spec.trigger, zone)})


def _step(state: ScheduleState | None, spec: ScheduleSpec | None) -> Planned | None:
    if state is None:
        return Planned(step="create", before=None, spec=spec)
    if spec is None:
        return (
            Planned(step="disable", before=state, spec=None, changed=("enabled",)) if is_meant_enabled(state) else None
        )
    before = spec_of(state)
    changed = tuple(name for name in _FIELDS if getattr(before, name) != getattr(spec, name))
    return Planned(step="update" if changed else "unchanged", before=state, spec=spec, changed=changed)


def _dumped(spec: ScheduleSpec) -> dict[str, Any]:
    return spec.model_dump(mode="json", exclude_defaults=False)
