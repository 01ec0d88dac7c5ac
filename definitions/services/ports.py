"""What the operations on definitions need from the outside: a history, files, and word of who else writes.

The history raises StateUnavailable when its store cannot answer; one call is one transaction. A missing definition is
None, never an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from contract.base import Page
from contract.definitions import (
    DefinitionKind,
    DefinitionVersion,
    DefinitionVersionDraft,
    DefinitionVersionSummary,
    DefinitionWriteFailure,
    FileDefinition,
    FileWriteResult,
    ReconcileAction,
    Reconciliation,
    ReconciliationAttempt,
    ReconciliationQuery,
    VersionQuery,
)
from contract.errors import Conflict
from contract.events import ProcessIdentity


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who is writing which version to its file, since when."""

    process: ProcessIdentity
    version_id: str
    claimed_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionHead:
    """How far a definition's history is.

    `sha256` is what the newest version wants the file to hold, null for no file. `file_sha256` is what the file was
    last known to hold: by it a change by hand is told from a write of ours that failed. `reconciliation_id` is the
    pending one, if any.
    """

    kind: DefinitionKind
    name: str
    relative_path: str
    version: int
    version_id: str
    sha256: str | None
    file_sha256: str | None
    size_bytes: int
    created_at: float
    updated_at: float
    writer: Writer | None = None
    reconciliation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileObservation:
    """What stands at a definition's place. Neither hash nor problem: there is no file.

    `problem` says why what is there cannot be read; `shadowed` names a second file of the same name that is not used.
    """

    relative_path: str
    sha256: str | None = None
    size_bytes: int | None = None
    problem: str | None = None
    shadowed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """A temporary file of a save that did not end. `content` is null where it is more than any definition holds."""

    kind: DefinitionKind
    name: str
    relative_path: str
    content: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What became of a version whose writer is gone: no `failure` is written."""

    kind: DefinitionKind
    name: str
    version_id: str
    failure: DefinitionWriteFailure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What a file was found to hold beside its history, to be its version `after + 1`, written at `at`.

    `file_sha256` is what the file is known to hold, null for no file.
    """

    draft: DefinitionVersionDraft
    after: int
    at: float
    file_sha256: str | None


class FileDefinitionPort(Protocol):
    """The files. Places are `name.ext` and `name/name.ext` below the kind's root; the first is used if both exist.

    No symbolic link is followed below a root. What cannot be read as text raises: PermissionDenied for a link or a file
    that may not be read, Conflict for anything but a regular UTF-8 file of at most 1 MiB without NUL, StateUnavailable
    when the disk reports a fault.
    """

    async def read_current(self, kind: DefinitionKind, name: str) -> FileDefinition | None:
        """Return the file, byte for byte; `version` is 0, for files know no history."""
        ...

    async def current_hash(self, kind: DefinitionKind, name: str) -> str | None:
        """Return the SHA-256 of the file's bytes, lower-case hexadecimal."""
        ...

    async def write_current(
        self, kind: DefinitionKind, name: str, content: str, *, replacing: str | None = None
    ) -> FileWriteResult:
        """Put `content` in the place of the file with the hash `replacing` (None: of no file), durably and at once.

        A reader sees the whole old or the whole new text; mode and owner stay. Whatever else is found in the place,
        even if it comes in the middle, is left or put back there, and FileChanged raised. WriteFault when it cannot be
        done.
        """
        ...

    async def remove_current(self, kind: DefinitionKind, name: str, *, replacing: str) -> None:
        """Remove the file with that hash, durably; under the same rules as a write."""
        ...

    async def find_namesake(self, kind: DefinitionKind, name: str) -> str | None:
        """Return the name of another file that a file system or a reader may take for this one, or None."""
        ...

    async def names(self, kind: DefinitionKind) -> tuple[str, ...]:
        """Return the possible names of a root's files, sorted; whatever cannot be a definition is left out."""
        ...

    async def strangers(self, kind: DefinitionKind) -> tuple[tuple[str, str], ...]:
        """Return relative path and reason of the files in a root that have an impossible name."""
        ...

    async def observe(self, kind: DefinitionKind, names: Sequence[str]) -> tuple[FileObservation, ...]:
        """Look at several places, in their order; never raises for what is found there."""
        ...

    async def leftovers(self) -> tuple[Leftover, ...]:
        """Return the temporary files of saves, finished or not."""
        ...

    async def discard(self, leftover: Leftover) -> None:
        """Remove a leftover. Idempotent."""
        ...

    async def rescue(self, leftover: Leftover) -> str:
        """Give a leftover a name under which people find it; return its relative path."""
        ...


class DefinitionHistoryPort(Protocol):
    """The append-only history. Writers of one definition are serialized by it, in this and in other processes."""

    async def latest_version(self, kind: DefinitionKind, name: str) -> int:
        """Return the newest version's number, 0 for none."""
        ...

    async def append_version(
        self,
        draft: DefinitionVersionDraft,
        *,
        after: int,
        at: float,
        file_sha256: str | None,
        writer: ProcessIdentity | None = None,
    ) -> DefinitionVersion:
        """Append as version `after + 1`. HeadMoved when `after` is not the newest or a writer is at work.

        With a `writer` the version is pending, and that writer is at work until the version is settled; without one the
        file holds it already. A pending reconciliation of the definition is resolved as superseded: only the newest
        version ever has one. `file_sha256` is what the file is known to hold now. Conflict names a definition whose
        name a file system or a reader may take for this one.
        """
        ...

    async def append_captured(self, captures: Sequence[Capture]) -> tuple[DefinitionVersion | Conflict | None, ...]:
        """Append many without a writer, by the same rules, in one transaction; what is refused keeps no other out.

        In their order: the version; None where HeadMoved would be raised; the Conflict of a name.
        """
        ...

    async def mark_written(self, version_id: str, *, at: float) -> bool:
        """Settle a version at work as written: its file holds it. False when it is not at work any more."""
        ...

    async def withdraw(self, version_id: str, *, at: float) -> None:
        """Settle a version at work as superseded: its file was not touched. Idempotent."""
        ...

    async def record_reconciliation(
        self, failure: DefinitionWriteFailure, *, at: float, actor: str = "operator"
    ) -> str:
        """Settle a version as failed and return the id of its one reconciliation: a new one, or an attempt more.

        The file is from now on known to hold what the failure observed; a reconciliation keeps what it observed first.
        """
        ...

    async def settle(self, settlements: Sequence[Settlement], *, at: float, actor: str) -> int:
        """Settle versions whose writers are gone, all in one transaction; return how many still were at work.

        A written version's pending reconciliation is resolved as recovered, a failed one's gets an attempt more.
        """
        ...

    async def find_head(self, kind: DefinitionKind, name: str) -> DefinitionHead | None:
        """Return how far the history of one definition is."""
        ...

    async def heads(self, kind: DefinitionKind, names: Sequence[str]) -> dict[str, DefinitionHead]:
        """Return the heads of those that have a history."""
        ...

    async def names(self, kind: DefinitionKind, *, deleted: bool) -> tuple[str, ...]:
        """Return the names with a history, sorted; without `deleted` only those that should have a file."""
        ...

    async def at_work(self) -> tuple[DefinitionHead, ...]:
        """Return the heads that have a writer."""
        ...

    async def list_versions(
        self, kind: DefinitionKind, name: str, query: VersionQuery, *, before: int | None
    ) -> Page[DefinitionVersionSummary] | None:
        """Return one page, newest first, from before a version; `next_cursor` is left null."""
        ...

    async def find_version(self, kind: DefinitionKind, name: str, version: int) -> DefinitionVersion | None:
        """Return one version with its content."""
        ...

    async def known_contents(
        self, kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], *, last: int
    ) -> tuple[bool, ...]:
        """Whether a version of the definition has the content, or one of its `last` versions begins with it.

        `contents` are names with bytes that need not be whole characters; the answers are in their order.
        """
        ...


class ReconciliationPort(Protocol):
    """The reconciliations and their log."""

    async def list_reconciliations(
        self, query: ReconciliationQuery, *, before: tuple[float, str] | None
    ) -> Page[Reconciliation]:
        """Return one page, newest first, from before (created_at, id); `next_cursor` is left null."""
        ...

    async def find_reconciliation(self, reconciliation_id: str) -> Reconciliation | None:
        """Return one."""
        ...

    async def attempts(self, reconciliation_id: str) -> tuple[ReconciliationAttempt, ...]:
        """Return its log, oldest first."""
        ...

    async def claim(self, reconciliation_id: str, *, writer: ProcessIdentity, at: float) -> DefinitionVersion | None:
        """Set a writer to work on the version again; None when it is resolved or a writer is at work already."""
        ...

    async def close_written(
        self, reconciliation_id: str, *, action: ReconcileAction, reason: str | None, actor: str, at: float
    ) -> bool:
        """Resolve: the file holds the version now. False when it was resolved already."""
        ...

    async def accept(
        self,
        reconciliation_id: str,
        draft: DefinitionVersionDraft,
        *,
        after: int,
        reason: str | None,
        at: float,
    ) -> DefinitionVersion | None:
        """Append what the file holds (a deletion: no file) and resolve; None when it was resolved already.

        HeadMoved when `after` is not the newest version or a writer is at work.
        """
        ...

    async def dismiss(self, reconciliation_id: str, *, reason: str, actor: str, at: float) -> bool:
        """Resolve and leave history and file as they are. False when it was resolved already or a writer is at work."""
        ...


class WriterProbe(Protocol):
    """Names this process and looks at others."""

    def own(self) -> ProcessIdentity:
        """Return the identity of this process."""
        ...

    def alive(self, process: ProcessIdentity) -> bool | None:
        """Whether this very process lives; None when that cannot be known."""
        ...
