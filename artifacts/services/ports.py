"""What the operations on artifacts need from the outside: rows, files, and word of who owns them.

The rows raise StateUnavailable when their store cannot answer; one call is one transaction. A missing artifact is None,
never an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue

from contract.artifacts import ArtifactListQuery, ArtifactMetadata, ArtifactSummary, VerifiedPreview
from contract.base import Page

OwnerKind = Literal["run", "invocation"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose artifacts: those of a run, or those that an invocation has of its own."""

    kind: OwnerKind
    identifier: str

    def __str__(self) -> str:
        return f"{self.kind} {self.identifier}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactDraft:
    """An artifact to be recorded. `path` is in the folder of its run, and with it comes what was found there."""

    owner: Owner
    kind: str
    name: str
    content: JsonValue
    path: str | None = None
    media_type: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFile:
    """A file in the folder of a run. What is null could not be found out."""

    path: str
    sha256: str | None = None
    size_bytes: int | None = None
    media_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderListing:
    """The regular files in the folder of a run, by their paths in it, sorted. `truncated` says that there are more."""

    paths: tuple[str, ...] = ()
    truncated: bool = False


class ArtifactMetadataPort(Protocol):
    """Reads one artifact."""

    async def get(self, artifact_id: str) -> ArtifactMetadata | None:
        """Return what is recorded of it."""
        ...


class ArtifactRecordPort(ArtifactMetadataPort, Protocol):
    """Reads and writes artifacts. The natural key is owner, kind and name."""

    async def list_artifacts(self, owner: Owner, query: ArtifactListQuery, *, after: int) -> Page[ArtifactSummary]:
        """Return one page, oldest first, from after a row number; empty for an owner that has none."""
        ...

    async def files_of(self, run_id: str, *, limit: int) -> tuple[ArtifactSummary, ...]:
        """Return the artifacts of a run that name a file, oldest first."""
        ...

    async def save(self, draft: ArtifactDraft, *, at: float) -> ArtifactMetadata:
        """Insert, or replace what is recorded under the natural key and keep its id and `created_at`."""
        ...

    async def unmeasured(self, run_id: str, *, paths: Sequence[str] | None, limit: int) -> tuple[str, ...]:
        """Return the paths of a run's artifacts whose files were never measured; of all, or of these."""
        ...

    async def measure(self, run_id: str, files: Sequence[MeasuredFile]) -> None:
        """Keep what was found of files that were not measured yet.

        A hash that their producer told stays: if it is another one, so does the size, which is then of no use.
        """
        ...

    async def add_files(self, run_id: str, files: Sequence[MeasuredFile], *, at: float) -> None:
        """Record files that no artifact of the run names, each under its path; what has that name already stays."""
        ...


class ArtifactFilePort(Protocol):
    """Reads files below the artifact root. A path there begins with the run's id: `<run_id>/<path>`."""

    async def preview(self, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        """Return the first bytes of a file and the hash of all of it, both read through one descriptor.

        NotFound where nothing stands. PermissionDenied for a link anywhere below the root, for what is no regular file,
        and for a path that leaves its run's folder. Conflict for another hash than the expected one, a file that is too
        large, and one that changes meanwhile. Stops early when it is cancelled.
        """
        ...


class ArtifactFolderPort(ArtifactFilePort, Protocol):
    """The folders of runs: written to, and looked through."""

    async def write(self, relative_path: str, data: bytes) -> VerifiedPreview:
        """Make a file of `data`, or put it in the place of one, durably and at once; return the beginning of it.

        PermissionDenied and StateUnavailable as for reading; ValidationFailure for a name that no file can have.
        """
        ...

    async def survey(self, run_id: str, *, limit: int) -> FolderListing:
        """Return the files of a run. No link is followed, and what is no regular file is left out."""
        ...

    async def prepare(self, run_id: str) -> str:
        """Make the folder of a run, its owner's alone; return its absolute path."""
        ...

    async def tidy(self, run_id: str) -> None:
        """Remove the folder of a run if nothing is in it."""
        ...


class ArtifactOwnerPort(Protocol):
    """Knows the owners."""

    async def exists(self, owner: Owner) -> bool:
        """Whether there is such a run or invocation."""
        ...
