"""Definitions on the wire: agent and playbook files, their history, and what to do when the two disagree.

The *file* is current, the *history* only grows. A version is in the history for good from the moment it has a number;
its `write_status` says what became of the file.
"""

from typing import Annotated, Literal

from pydantic import Field

from contract.base import SAFE, ContractModel, Cursor, Name, Summary, Text, Tup
from contract.limits import (
    DEFINITION_LIST_LIMIT_MAX,
    DELETE_MESSAGE_MAX_CHARS,
    LIST_LIMIT_DEFAULT,
    LIST_OFFSET_MAX,
    SAFE_INTEGER_MAX,
)

DefinitionKind = Literal["agent", "playbook"]
# How a version came to be: saved or rolled back to by a caller, a deletion asked for, or found on disk (`external`).
DefinitionOrigin = Literal["save", "rollback", "delete", "external"]
# What became of a version's file: not yet known; it held the version; it could not be written and a reconciliation
# says so; a newer version took its place before it was written; a person let it be.
WriteStatus = Literal["pending", "written", "failed", "superseded", "dismissed"]
# How a file differs from the newest version: changed by hand, removed by hand, never versioned, or not to be read.
Drift = Literal["edited", "missing", "untracked", "unreadable"]
ReconcileAction = Literal["retry_write", "accept_file", "dismiss"]
ReconciliationStatus = Literal["pending", "resolved"]
# How a reconciliation ended: by one of the actions, by a newer version, or because the file turned out to be right.
Resolution = Literal["retry_write", "accept_file", "dismiss", "superseded", "recovered"]
AttemptOutcome = Literal["opened", "failed", "resolved"]

VersionNumber = Annotated[int, Field(ge=1, le=SAFE_INTEGER_MAX)]
ExpectedVersion = Annotated[int, Field(ge=0, le=SAFE_INTEGER_MAX)]


class SaveDefinition(ContractModel):
    """Stores `content` as the next version and as the file.

    `expected_version` is the newest version the caller has seen, 0 for none; anything else is a Conflict. Null asks
    for the last write to win: what is there is kept in the history and replaced.
    """

    kind: DefinitionKind
    name: Annotated[Text, Field(min_length=1)]
    content: Text
    message: Summary | None = None
    expected_version: ExpectedVersion | None = None
    actor: Name | None = None


class SaveResult(ContractModel):
    """The version that is in history and file now. `reconciliation_id` is null: a save that leaves one fails."""

    kind: DefinitionKind
    name: str
    version: int = Field(ge=1)
    saved_at: float
    reconciliation_id: str | None = None


class FileDefinition(ContractModel):
    """A definition as its file is now. `relative_path` is below the home; `version` is the newest in the history."""

    kind: DefinitionKind
    name: str
    relative_path: str
    content: str
    sha256: str
    version: int


class FileWriteResult(ContractModel):
    """What was written, and is on the disk."""

    relative_path: str
    sha256: str
    bytes_written: int = Field(ge=0)


class DefinitionVersionDraft(ContractModel):
    """A version that has no number yet. `deleted`: it records that the file is gone; its content is empty."""

    kind: DefinitionKind
    name: str
    relative_path: str
    content: str
    content_sha256: str
    message: str | None = None
    origin: DefinitionOrigin = "save"
    deleted: bool = False
    actor: str = "operator"


class DefinitionVersion(DefinitionVersionDraft):
    """One entry of a definition's history."""

    id: str
    version: int = Field(ge=1)
    created_at: float
    write_status: WriteStatus = "pending"
    size_bytes: int = 0


class DefinitionVersionSummary(ContractModel):
    """A version without its content."""

    id: str
    kind: DefinitionKind
    name: str
    version: int
    relative_path: str
    content_sha256: str
    size_bytes: int
    message: str | None
    origin: DefinitionOrigin
    deleted: bool
    actor: str
    write_status: WriteStatus
    created_at: float


class DefinitionWriteFailure(ContractModel):
    """A version that is in the history and not in the file. `observed_sha256` is what the file holds, null for none."""

    version_id: str
    kind: DefinitionKind
    name: str
    expected_sha256: str
    error_code: str
    observed_sha256: str | None = None
    detail: str = ""


class DefinitionQuery(ContractModel):
    """Which definitions, by kind and name. `search` is a part of the name, whatever the case.

    `deleted` also lists what has a history and no file any more, so that it can be restored.
    """

    kind: DefinitionKind | None = None
    search: Name | None = None
    deleted: bool = False
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=DEFINITION_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class DefinitionSummary(ContractModel):
    """One definition as a list shows it. `version` 0 has no history; `sha256` and `size_bytes` are the file's.

    `problem` says why a file is unreadable, or which second file of the same name is not used.
    """

    kind: DefinitionKind
    name: str
    relative_path: str
    version: int
    sha256: str | None
    size_bytes: int | None
    deleted: bool = False
    drift: Drift | None = None
    problem: str | None = None
    reconciliation_id: str | None = None
    created_at: float | None = None
    updated_at: float | None = None


class DefinitionDetail(FileDefinition):
    """A definition with its file's content, and how the file and the history stand to each other."""

    size_bytes: int
    drift: Drift | None = None
    problem: str | None = None
    reconciliation_id: str | None = None
    created_at: float | None = None
    updated_at: float | None = None


class VersionQuery(ContractModel):
    """Which page of a history, newest first."""

    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=DEFINITION_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class RollbackDefinition(ContractModel):
    """Appends the content of an earlier version as the newest. Restores what was deleted, too."""

    version: VersionNumber
    message: Summary | None = None
    expected_version: ExpectedVersion | None = None
    actor: Name | None = None


class DeleteDefinition(ContractModel):
    """Appends a version that records the deletion and removes the file. Everything stays restorable.

    The message travels in the query of a DELETE, whose whole head may have 16 KiB.
    """

    message: Annotated[str, Field(max_length=DELETE_MESSAGE_MAX_CHARS), SAFE] | None = None
    expected_version: ExpectedVersion | None = None
    actor: Name | None = None


class SnapshotDefinitions(ContractModel):
    """Captures what was done to files by hand as versions: of one definition, of one kind, or of all."""

    kind: DefinitionKind | None = None
    name: Annotated[Text, Field(min_length=1)] | None = None
    message: Summary | None = None
    actor: Name | None = None


class CapturedFile(ContractModel):
    """A file that became a version. `deleted`: it was gone."""

    kind: DefinitionKind
    name: str
    version: int
    deleted: bool
    sha256: str | None


class SkippedFile(ContractModel):
    """A file that could not become a version, and why."""

    kind: DefinitionKind
    relative_path: str
    reason: str


class SnapshotResult(ContractModel):
    """What a snapshot captured, left as it was, and could not take."""

    captured: Tup[CapturedFile]
    unchanged: int
    skipped: Tup[SkippedFile] = ()


class ReconciliationQuery(ContractModel):
    """Which reconciliations, newest first."""

    status: ReconciliationStatus | None = None
    kind: DefinitionKind | None = None
    name: Annotated[Text, Field(min_length=1)] | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=DEFINITION_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class Reconciliation(ContractModel):
    """A version that is in the history and did not reach its file, until somebody or something settles it.

    `expected_sha256` is the version's, `observed_sha256` what the file held when the write failed (null: no file).
    `deleted`: the version records a deletion, so the file should be gone. `result_version` is the newest version of
    the definition once it was settled.
    """

    id: str
    version_id: str
    kind: DefinitionKind
    name: str
    version: int
    deleted: bool
    relative_path: str
    expected_sha256: str
    observed_sha256: str | None
    error_code: str
    error_detail: str
    status: ReconciliationStatus
    attempts: int
    resolution: Resolution | None = None
    reason: str | None = None
    actor: str | None = None
    result_version: int | None = None
    created_at: float
    updated_at: float
    resolved_at: float | None = None


class ReconciliationAttempt(ContractModel):
    """One entry of a reconciliation's log. `action` is null for the failed write that opened it."""

    action: Resolution | None
    outcome: AttemptOutcome
    actor: str
    detail: str
    at: float


class ReconciliationDetail(Reconciliation):
    """A reconciliation with its log, the file as it is now, and the actions that would be taken now."""

    file_sha256: str | None
    problem: str | None = None
    actions: Tup[ReconcileAction] = ()
    log: Tup[ReconciliationAttempt] = ()


class ResolveReconciliation(ContractModel):
    """Settles a reconciliation; the same action again is the same as once.

    `retry_write` writes the version, only while the file is as it was when the write failed. `accept_file` appends
    the file as it is as a new version. `dismiss` leaves both as they are and needs a `reason`.
    """

    action: ReconcileAction
    reason: Summary | None = None
    actor: Name | None = None
