"""Projects on the wire: a label that runs and schedules carry, with a home of its own."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from contract.base import (
    ABSOLUTE_PATTERN,
    SAFE,
    ContractModel,
    ContractPatch,
    Cursor,
    Identifier,
    Instant,
    Name,
    Summary,
    Tup,
)
from contract.limits import (
    ASSIGNED_RUNS_MAX,
    LIST_LIMIT_DEFAULT,
    LIST_OFFSET_MAX,
    NAME_MAX_CHARS,
    PATH_MAX_CHARS,
    PROJECT_FOLDERS_MAX,
)

DetectionSource = Literal["config", "git_remote", "path"]
# What stands in the place of a project's name, or after it, in the routes.
_RESERVED: Final = "detect"
_RESERVED_END: Final = "assign"


def project_name_fault(name: str) -> str | None:
    """Say why nothing can be called so, or None.

    A name may hold slashes (`github.com/team/thing`) and stands in URLs as it is: so no part of it may be one that
    clients resolve, and none that a route ends in.
    """
    if name != name.strip() or any(ord(char) < 0x20 or ord(char) == 0x7F for char in name):
        return "must not begin or end with a blank or hold control characters"
    if "\\" in name:
        return "must not hold a backslash"
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "must not hold empty, `.` or `..` parts"
    if name == _RESERVED or parts[-1] == _RESERVED_END:
        return f"must not be `{_RESERVED}` or end with the part `{_RESERVED_END}`"
    return None


def _refuse_unusable_name(name: str) -> str:
    if fault := project_name_fault(name):
        raise PydanticCustomError("project_name", "{fault}", {"fault": fault})
    return name


ProjectName = Annotated[
    str, Field(min_length=1, max_length=NAME_MAX_CHARS), SAFE, AfterValidator(_refuse_unusable_name)
]
Folder = Annotated[str, Field(min_length=1, max_length=PATH_MAX_CHARS, pattern=ABSOLUTE_PATTERN), SAFE]
RemoteUrl = Annotated[str, Field(min_length=1, max_length=PATH_MAX_CHARS), SAFE]


class ProjectActivity(ContractModel):
    """What the runs of a project amount to. `last_activity_at` is null without runs."""

    run_count: int = 0
    running_count: int = 0
    last_activity_at: float | None = None


class ProjectSummary(ContractModel):
    """One project with what its runs amount to now. `last_activity_at` is null without runs."""

    name: str
    path: str | None
    description: str | None
    run_count: int
    running_count: int
    last_activity_at: float | None
    created_at: float
    updated_at: float


class ProjectQuery(ContractModel):
    """Which page of the projects, by name. `search` finds its text in the name, whatever the case."""

    search: Name | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=1_000)
    cursor: Cursor | None = None


class CreateProject(ContractModel):
    """A new project. `path` is the absolute folder in which its runs are executed."""

    name: ProjectName
    path: Folder | None = None
    description: Summary | None = None


class PatchProject(ContractPatch):
    """What to change. A field that is left out stays as it is; null clears `path` and `description`.

    A new `name` goes to every run and schedule of the project as well.
    """

    NEEDED = ("name",)

    name: ProjectName | None = None
    path: Folder | None = None
    description: Summary | None = None
    expected_updated_at: Instant | None = None


class DeleteProject(ContractModel):
    """Without `detach` a project that anything refers to stays."""

    detach: bool = False


class ProjectDeleted(ContractModel):
    """A removed project; `detached_runs` and `detached_schedules` had it and have none now."""

    name: str
    detached_runs: int
    detached_schedules: int = 0


class AssignRuns(ContractModel):
    """Which runs get the project: those of `run_ids`, or with `unassigned` all that have none. Exactly one."""

    run_ids: Annotated[Tup[Identifier], Field(max_length=ASSIGNED_RUNS_MAX)] = ()
    unassigned: bool = False

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if bool(self.run_ids) == self.unassigned:
            raise PydanticCustomError("missing", "give either run_ids or unassigned", {"path": ("run_ids",)})
        return self


class AssignResult(ContractModel):
    """How many runs changed their project; those that had it already are not counted."""

    name: str
    assigned: int


class DetectProject(ContractModel):
    """What a machine knows of a folder: itself and the folders above it, nearest first, and what was found there.

    `configured` is the name that the nearest `.studio.toml` gives, `remote_url` that of the nearest git repository.
    """

    folders: Annotated[Tup[Folder], Field(min_length=1, max_length=PROJECT_FOLDERS_MAX)]
    configured: ProjectName | None = None
    remote_url: RemoteUrl | None = None


class DetectedProject(ContractModel):
    """The project of a folder: the configured one, else that of the git remote, else the nearest registered path."""

    name: str | None
    source: DetectionSource | None
    registered: bool = False
