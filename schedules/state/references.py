"""What schedules refer to in other capabilities: runs that something may still follow on, and projects. Synchronous."""

import json
from collections.abc import Callable, Collection
from typing import Any, Final

from django.db.models import F

from schedules.models import FiringRecord, ScheduleRecord

_CHUNK: Final = 500
_LINKS: Final = ("on_success", "on_fail")


class DjangoScheduleReferences:
    """Asked, and told, inside the transaction of whoever removes runs or changes projects."""

    named = "schedules"

    def referenced(self, run_ids: Collection[str]) -> frozenset[str]:
        """Return those of the runs whose end is not recorded yet, so that a chain may follow on them."""
        ids = list(run_ids)
        found: set[str] = set()
        for first in range(0, len(ids), _CHUNK):
            rows = FiringRecord.objects.filter(run_id__in=ids[first : first + _CHUNK], run_status__isnull=True)
            found.update(run_id for run_id in rows.values_list("run_id", flat=True) if run_id is not None)
        return frozenset(found)

    def count(self, name: str) -> int:
        """Count the schedules of a project."""
        return len(_of_project(name))

    def rename(self, name: str, new_name: str) -> int:
        """Give the schedules of a project, and the actions that name it, another one."""
        return _replace(name, new_name)

    def detach(self, name: str) -> int:
        """Take a project from its schedules, and from the actions that name it."""
        return _replace(name, None)


def _of_project(name: str) -> list[ScheduleRecord]:
    """Lock the schedules that name a project, themselves or in an action, in the order in which everybody does."""
    # There are as many schedules as people make, and a project is renamed once in a while: all are looked at.
    rows = ScheduleRecord.objects.select_for_update().order_by("id").only("id", "project", "action")
    return [row for row in rows if row.project == name or _names(row.action, name)]


def _replace(name: str, new_name: str | None) -> int:
    found = _of_project(name)
    for row in found:
        ScheduleRecord.objects.filter(pk=row.pk).update(
            project=new_name if row.project == name else row.project,
            action=_renamed(row.action, name, new_name),
            # Whoever decides on what it was before decides anew.
            revision=F("revision") + 1,
        )
    return len(found)


def _names(action: str, name: str) -> bool:
    seen: list[bool] = []
    _walk(action, lambda step: seen.append(step.get("project") == name))
    return any(seen)


def _renamed(action: str, name: str, new_name: str | None) -> str:
    def rename(step: dict[str, Any]) -> None:
        if step.get("project") == name:
            step["project"] = new_name

    return _walk(action, rename)


def _walk(action: str, visit: Callable[[dict[str, Any]], object]) -> str:
    """Visit an action and what follows on it; return its text after that. What nobody can read stays as it is."""
    try:
        first = json.loads(action)
    except ValueError:
        return action
    waiting = [first]
    while waiting:
        step = waiting.pop()
        if isinstance(step, dict):
            visit(step)
            waiting += [step.get(link) for link in _LINKS]
    return json.dumps(first, ensure_ascii=False, separators=(",", ":"))
