"""Projects as tables and lines for people. Values in, text out; `zone` is where the reader lives."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final

from contract.projects import DetectedProject, DetectionSource, ProjectDeleted, ProjectSummary
from studio_project.terminal import UNKNOWN, Line, Styled, Table
from studio_project.wording import instant, minute, pairs

_SOURCES: Final[dict[DetectionSource, str]] = {
    "config": "a .studio.toml says so",
    "git_remote": "by the remote of its git repository",
    "path": "by the path of the project",
}


def projects_table(projects: Sequence[ProjectSummary], zone: tzinfo) -> Table:
    """Return the table of a list of projects."""
    return Table(
        headers=("PROJECT", "RUNS", "RUNNING", "LAST ACTIVITY", "PATH", "DESCRIPTION"),
        rows=[
            (
                project.name,
                str(project.run_count),
                str(project.running_count),
                minute(project.last_activity_at, zone),
                project.path or UNKNOWN,
                project.description or UNKNOWN,
            )
            for project in projects
        ],
        empty="no projects",
        elastic={"PATH", "DESCRIPTION"},
    )


def project_lines(project: ProjectSummary, zone: tzinfo) -> list[Line]:
    """Return what `show` says."""
    return pairs(
        [
            ("project", project.name),
            ("path", project.path),
            ("description", project.description),
            ("runs", f"{project.run_count}, {project.running_count} running"),
            ("last activity", instant(project.last_activity_at, zone)),
            ("created", instant(project.created_at, zone)),
            ("changed", instant(project.updated_at, zone)),
        ]
    )


def runs(count: int) -> str:
    """Return a number of runs in words."""
    return f"{count} run{'' if count == 1 else 's'}"


def removed_line(removed: ProjectDeleted) -> str:
    """Say what a removal took the project from."""
    schedules = f"{removed.detached_schedules} schedule{'' if removed.detached_schedules == 1 else 's'}"
    return f"project {removed.name} is removed; {runs(removed.detached_runs)} and {schedules} had it"


def detected_line(found: DetectedProject) -> Line:
    """Return what is said of a folder's project."""
    if found.name is None or found.source is None:
        return (Styled("no project"),)
    registered = "" if found.registered else "; there is no such project yet: its first run makes it"
    return (Styled(found.name, "bold"), Styled(f"  {_SOURCES[found.source]}{registered}"))
