"""Artifacts on the wire, and where their files may be.

An artifact is metadata of one thing that a run or an invocation made, and for a run optionally a file below the run's
own folder, `<home>/artifacts/<run_id>/`. Its natural key is owner, kind and name.
"""

import base64
import binascii
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from contract.base import (
    SAFE,
    SHA256_PATTERN,
    CommandJson,
    ContractModel,
    Cursor,
    EvidenceJson,
    Identifier,
    Name,
    Token,
    Tup,
    is_rich,
)
from contract.evidence import size_bytes
from contract.limits import (
    ARTIFACT_LIST_LIMIT_MAX,
    ARTIFACT_PREVIEW_DEFAULT_BYTES,
    ARTIFACT_PREVIEW_MAX_BYTES,
    ARTIFACT_UPLOAD_MAX_BYTES,
    EVENT_MAX_BYTES,
    EVIDENCE_VALUES_MAX,
    LIST_LIMIT_DEFAULT,
    LIST_OFFSET_MAX,
)

PreviewKind = Literal["text", "image", "binary"]
VerifyOutcome = Literal["unchanged", "changed", "missing", "unreadable", "unhashed"]


def relative_path_fault(path: str) -> str | None:
    """Say why `path` cannot name a file below a root, or None.

    POSIX and Windows forms alike are judged on every platform: absolute, drive, UNC, backslash, `.` and `..`.
    """
    if "\\" in path:
        return "must not contain a backslash"
    if path.startswith("/"):
        return "must be relative"
    if len(path) > 1 and path[1] == ":":
        return "must not name a drive"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "must not contain empty, `.` or `..` parts"
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in path):
        return "must not contain control characters"
    return None


def _refuse_unsafe_path(path: str) -> str:
    if fault := relative_path_fault(path):
        raise PydanticCustomError("path", "{fault}", {"fault": fault})
    return path


def _refuse_large(content: Any) -> Any:
    if is_rich(content, EVIDENCE_VALUES_MAX, None):
        raise PydanticCustomError("too_large", "must hold at most {limit} values", {"limit": EVIDENCE_VALUES_MAX})
    return content


def _refuse_long(content: JsonValue) -> JsonValue:
    if size_bytes(content) > EVENT_MAX_BYTES:
        raise PydanticCustomError("too_large", "must have at most {limit} bytes", {"limit": EVENT_MAX_BYTES})
    return content


def _decoded(data: Any) -> Any:
    """Return the bytes of base64 text, in either alphabet (RFC 4648, 4 and 5), with or without its padding."""
    if not isinstance(data, str):
        return data
    text = data.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise PydanticCustomError("base64", "must be base64") from None


RelativePath = Annotated[str, Field(min_length=1, max_length=1_024), SAFE, AfterValidator(_refuse_unsafe_path)]
# Hexadecimal in any case; kept in lower case.
Sha256 = Annotated[str, Field(pattern=SHA256_PATTERN), AfterValidator(str.lower)]
MediaType = Annotated[str, Field(min_length=3, max_length=127), SAFE]
# What is recorded of an artifact beside its file: bounded like the body of an event, but refused and never cut.
ArtifactBody = Annotated[CommandJson, BeforeValidator(_refuse_large), AfterValidator(_refuse_long)]
Upload = Annotated[bytes, Field(max_length=ARTIFACT_UPLOAD_MAX_BYTES), BeforeValidator(_decoded)]


class ArtifactView(ContractModel):
    """Metadata of one artifact of a run.

    `content` is null when a read budget withheld it; `content_bytes` is the size of its JSON text.
    """

    type: Literal["artifact"] = "artifact"
    artifact_id: str
    kind: str
    name: str
    path: str | None = None
    media_type: str | None = None
    content: EvidenceJson = None
    content_bytes: int = 0
    withheld: bool = False
    created_at: float
    updated_at: float
    sha256: str | None = None
    size_bytes: int | None = None


class ArtifactSummary(ContractModel):
    """One artifact as a list shows it: what was recorded of it. Exactly one of the owners is set.

    `sha256` and `size_bytes` (of the file) are null until the file was registered or its producer told them.
    """

    artifact_id: str
    run_id: str | None
    invocation_id: str | None
    kind: str
    name: str
    path: str | None
    media_type: str | None
    sha256: str | None
    size_bytes: int | None
    created_at: float
    updated_at: float


class ArtifactListQuery(ContractModel):
    """Which page of the artifacts of one run or invocation, oldest first."""

    kind: Token | None = None
    offset: int = Field(default=0, ge=0, le=LIST_OFFSET_MAX)
    limit: int = Field(default=LIST_LIMIT_DEFAULT, ge=1, le=ARTIFACT_LIST_LIMIT_MAX)
    cursor: Cursor | None = None


class ArtifactQuery(ContractModel):
    """Which artifact, with or without the beginning of its file (bytes)."""

    artifact_id: str
    include_preview: bool = False
    preview_limit_bytes: int = Field(default=ARTIFACT_PREVIEW_DEFAULT_BYTES, ge=1, le=ARTIFACT_PREVIEW_MAX_BYTES)


class ArtifactResult(ContractModel):
    """One artifact. `content` is what was recorded; anything but an object stands below the key `value`.

    `preview` is there when it was asked for and the artifact has a readable file: verified bytes of its beginning,
    a text never cut within a character. `preview_kind` tells how to show it. `display_path` is relative to the home.
    `file_missing` says that the artifact names a file and there is none.
    """

    id: str
    kind: str
    name: str
    content: dict[str, object]
    display_path: str | None
    sha256: str | None
    media_type: str | None
    preview: bytes | None
    preview_truncated: bool = False
    preview_kind: PreviewKind | None = None
    size_bytes: int | None = None
    file_missing: bool = False
    run_id: str | None = None
    invocation_id: str | None = None
    created_at: float | None = None
    updated_at: float | None = None


class ArtifactMetadata(ContractModel):
    """What the store holds of an artifact. `relative_path` is below the artifact root: run folder and path."""

    id: str
    kind: str
    name: str
    content: dict[str, JsonValue]
    relative_path: str | None
    sha256: str | None
    media_type: str | None
    size_bytes: int | None
    run_id: str | None = None
    invocation_id: str | None = None
    created_at: float | None = None
    updated_at: float | None = None


class VerifiedPreview(ContractModel):
    """The beginning of a file and the hash of all of it, through one descriptor."""

    data: bytes
    sha256: str
    truncated: bool
    media_type: str
    size_bytes: int = 0
    kind: PreviewKind = "binary"


class ArtifactContent(ContractModel):
    """The bytes of an artifact's file, at most `ARTIFACT_PREVIEW_MAX_BYTES` of them, to be saved and never executed.

    `media_type` is a passive one, `application/octet-stream` for whatever a browser would execute or is not known to be
    harmless; `sha256` and `size_bytes` are those of the whole file.
    """

    artifact_id: str
    file_name: str
    media_type: str
    data: bytes
    sha256: str
    size_bytes: int
    truncated: bool


class SaveArtifact(ContractModel):
    """Records an artifact of a run or an invocation, replacing the one of the same kind and name.

    With `data` those bytes become the file `path` of the run; with `path` alone the file that is there is registered:
    hashed, measured, and refused when it is not the one of `sha256`. An invocation has no files.
    """

    run_id: Identifier | None = None
    invocation_id: Identifier | None = None
    kind: Token
    name: Name
    path: RelativePath | None = None
    media_type: MediaType | None = None
    content: ArtifactBody = None
    data: Upload | None = None
    sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _has_one_owner(self) -> Self:
        if (self.run_id is None) == (self.invocation_id is None):
            raise PydanticCustomError("owner", "give either run_id or invocation_id", {"path": ("run_id",)})
        if self.path is None and (self.data is not None or self.sha256 is not None):
            raise PydanticCustomError("missing", "is needed with data or sha256", {"path": ("path",)})
        if self.path is not None and self.run_id is None:
            raise PydanticCustomError("path", "an invocation has no files", {"path": ("path",)})
        return self


class ArtifactCheck(ContractModel):
    """One registered file compared with what was recorded of it."""

    artifact_id: str
    kind: str
    name: str
    path: str
    outcome: VerifyOutcome
    recorded_sha256: str | None = None
    found_sha256: str | None = None
    found_bytes: int | None = None
    detail: str | None = None


class ArtifactVerification(ContractModel):
    """All registered files of a run, and the files of its folder that no artifact names.

    `truncated` says that there are more of either than one answer holds.
    """

    run_id: str
    checks: Tup[ArtifactCheck]
    unregistered: Tup[str]
    truncated: bool = False
