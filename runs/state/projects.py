"""DjangoProjectRuns: what projects ask and change of runs, inside the transaction of whoever asks."""

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Count, Max, Q, QuerySet

from contract.errors import NotFound
from contract.projects import ProjectActivity
from runs.models import RunRecord

# One walk of the runs' index by project, which holds all of these columns.
ACTIVITY: Final[QuerySet[Any, dict[str, Any]]] = (
    RunRecord.objects.order_by()
    .values("project")
    .annotate(
        run_count=Count("id"), running_count=Count("id", filter=Q(status="running")), last=Max("last_activity_at")
    )
)


class DjangoProjectRuns:
    """The runs of projects. Each change is one statement; a run's own instants stay as they are."""

    named = "runs"

    def activity(self, names: Sequence[str]) -> dict[str, ProjectActivity]:
        """Sum up the runs of these projects: one query."""
        return {
            row["project"]: ProjectActivity(
                run_count=row["run_count"], running_count=row["running_count"], last_activity_at=row["last"]
            )
            for row in ACTIVITY.filter(project__in=names)
        }

    def count(self, name: str) -> int:
        """Count the runs of a project."""
        return RunRecord.objects.filter(project=name).count()

    def rename(self, name: str, new_name: str) -> int:
        """Give all runs of a project another one."""
        return RunRecord.objects.filter(project=name).update(project=new_name)

    def detach(self, name: str) -> int:
        """Take the project from all of its runs."""
        return RunRecord.objects.filter(project=name).update(project=None)

    def assign(self, name: str, run_ids: Sequence[str]) -> int:
        """Give these runs a project, while their rows are locked in the order in which everybody locks them."""
        rows = RunRecord.objects.select_for_update().filter(run_id__in=run_ids).order_by("id")
        found = {run_id: (number, project) for number, run_id, project in rows.values_list("id", "run_id", "project")}
        for run_id in run_ids:
            if run_id not in found:
                raise NotFound("run", run_id)
        others = [number for number, project in found.values() if project != name]
        return RunRecord.objects.filter(id__in=others).update(project=name)

    def assign_unassigned(self, name: str) -> int:
        """Give a project to all runs without."""
        return RunRecord.objects.filter(project__isnull=True).update(project=name)
