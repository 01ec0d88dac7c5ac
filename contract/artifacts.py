"""Artifacts on the wire, and where their files may be."""

from typing import Literal

from contract.base import ContractModel, EvidenceJson


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
