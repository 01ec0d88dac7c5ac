"""Chains: the actions that follow on an action, validated before anything is stored, and which one comes next.

A chain is a tree of actions in `on_success` and `on_fail`. It is a value, and refers to no other schedule: so it ends,
after at most MAX_CHAIN_DEPTH steps, and no two schedules can set each other off.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from contract.actions import ActionFields
from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.limits import MAX_CHAIN_DEPTH
from contract.parsing import parse_model
from contract.schedules import ScheduleAction

Path = tuple[str | int, ...]

_LINKS: Final = ("on_success", "on_fail")
# What is neither: cancelled, aborted, and completed_empty, of which nobody knows whether it was meant to be so.
_SUCCESS: Final = frozenset({"completed"})
_FAILURE: Final = frozenset({"failed", "timed_out"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainStep:
    """One action of a chain and where it stands, from the first action's top."""

    path: Path
    action: ActionFields
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoldedChain:
    """Every action of a chain, the first included, and every fault of its form."""

    steps: tuple[ChainStep, ...]
    failures: tuple[FieldFailure, ...]


def unfold(action: ScheduleAction) -> UnfoldedChain:
    """Parse a chain to its ends, without recursion; what is too deep is a fault and is not looked into."""
    steps: list[ChainStep] = []
    failures: list[FieldFailure] = []
    waiting: list[tuple[Path, ScheduleAction, int]] = [((), action, 0)]
    while waiting:
        path, current, depth = waiting.pop()
        steps.append(ChainStep(path=path, action=fields_of(current), depth=depth))
        for link, raw in _links(current):
            place = (*path, link)
            if depth + 1 > MAX_CHAIN_DEPTH:
                message = f"a chain has at most {MAX_CHAIN_DEPTH} actions after the first"
                failures.append(FieldFailure(path=place, code="chain_depth", message=message))
                continue
            try:
                chained = parse_model(ScheduleAction, raw)
            except ValidationFailure as fault:
                failures += [each.model_copy(update={"path": (*place, *each.path)}) for each in fault.field_errors]
            else:
                waiting.append((place, inherited(current, chained), depth + 1))
    return UnfoldedChain(steps=tuple(steps), failures=tuple(failures))


def fields_of(action: ScheduleAction) -> ActionFields:
    """Return the action without what follows on it. ValidationFailure where what was filled in made it too long."""
    given = action.model_fields_set - set(_LINKS)
    return parse_model(ActionFields, {name: getattr(action, name) for name in given})


def launched_fields(action: ScheduleAction, project: str | None) -> ActionFields:
    """Return what is executed: with the schedule's project, where the action has none of its own."""
    fields = fields_of(action)
    return fields.model_copy(update={"project": project}) if fields.project is None and project else fields


def inherited(parent: ActionFields, child: ScheduleAction) -> ScheduleAction:
    """Give a chained action the project and folder of the one before, where it has none of its own."""
    missing = {
        name: value
        for name in ("project", "cwd")
        if name not in child.model_fields_set and (value := getattr(parent, name)) is not None
    }
    return child.model_copy(update=missing) if missing else child


def following(action: ScheduleAction, run_status: str) -> ScheduleAction | None:
    """Return the action that follows on a run that ended so, or None. Raises ValidationFailure for one nobody knows."""
    link = "on_success" if run_status in _SUCCESS else "on_fail" if run_status in _FAILURE else None
    raw = None if link is None else getattr(action, link)
    return None if raw is None else inherited(action, parse_model(ScheduleAction, raw))


def _links(action: ScheduleAction) -> Iterator[tuple[str, object]]:
    for link in _LINKS:
        raw = getattr(action, link)
        if raw is not None:
            yield link, raw
