"""What a patch changes, what becomes of its instant, and what keeps a project from being removed."""

import math
from collections.abc import Mapping

from contract.errors import Conflict
from contract.projects import PatchProject

Fields = dict[str, str | None]

CHANGEABLE = ("name", "path", "description")


def changed_fields(current: Fields, command: PatchProject, *, updated_at: float) -> Fields:
    """Return the fields that are given and differ. Conflict for a stale `expected_updated_at`."""
    expected = command.expected_updated_at
    if expected is not None and expected != updated_at:
        raise Conflict("project", repr(expected), repr(updated_at))
    given = command.model_fields_set & current.keys()
    return {name: value for name in sorted(given) if (value := getattr(command, name)) != current[name]}


def later(before: float, at: float) -> float:
    """Return `at`, or the next instant after `before` where the clock has not gone on since."""
    return max(at, math.nextafter(before, math.inf))


def require_unused(name: str, counts: Mapping[str, int]) -> None:
    """Refuse to remove a project that anything refers to, told by what that is called. Conflict."""
    found = " and ".join(_counted(count, named) for named, count in counts.items() if count)
    if found:
        raise Conflict("project", "no references", found, f"project {name} has {found}: detach them, or keep it")


def _counted(count: int, named: str) -> str:
    return f"{count} {named.removesuffix('s') if count == 1 else named}"
