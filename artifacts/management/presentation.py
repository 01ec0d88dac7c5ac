"""Artifacts as tables and lines for people. Values in, text out; `zone` is where the reader lives."""

import json
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from contract.artifacts import ArtifactCheck, ArtifactResult, ArtifactSummary, ArtifactVerification, VerifyOutcome
from studio_project.terminal import UNKNOWN, Line, Styled, Table
from studio_project.wording import instant, minute, pairs, size, titled

_SHOWN_HASH_CHARS: Final = 12
# Outcomes that say that something is not as it was recorded.
FAULTS: Final[frozenset[VerifyOutcome]] = frozenset({"changed", "missing", "unreadable"})


def artifacts_table(artifacts: Sequence[ArtifactSummary], zone: tzinfo) -> Table:
    """Return the table of a list of artifacts."""
    return Table(
        headers=("ARTIFACT", "KIND", "NAME", "FILE", "TYPE", "SIZE", "CHANGED"),
        rows=[
            (
                found.artifact_id,
                found.kind,
                found.name,
                found.path or UNKNOWN,
                found.media_type or UNKNOWN,
                size(found.size_bytes),
                minute(found.updated_at, zone),
            )
            for found in artifacts
        ],
        empty="no artifacts",
        elastic={"NAME", "FILE", "TYPE"},
    )


def artifact_lines(found: ArtifactResult, zone: tzinfo) -> Iterator[Line]:
    """Yield what `artifact show` says."""
    yield from pairs(
        [
            ("artifact", found.id),
            ("kind", found.kind),
            ("name", found.name),
            ("run", found.run_id),
            ("invocation", found.invocation_id),
            ("file", found.display_path),
            ("type", found.media_type),
            ("size", None if found.size_bytes is None else size(found.size_bytes)),
            ("sha256", found.sha256),
            ("created", instant(found.created_at, zone)),
            ("changed", instant(found.updated_at, zone)),
        ]
    )
    if found.content:
        yield from titled("content", json.dumps(found.content, ensure_ascii=False, indent=2).splitlines())


def described_line(found: ArtifactResult) -> Line:
    """Return what is said of a file that is no text: its name, its size and its type."""
    where = found.display_path or found.name
    return (Styled(f"{where}: {found.preview_kind}, {found.media_type}, {size(found.size_bytes)}"),)


def preview_text(found: ArtifactResult) -> str:
    """Return the beginning of a text, and where that is not all of it a line that says so."""
    text = (found.preview or b"").decode()
    if not found.preview_truncated:
        return text
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{text}{end}[truncated: {size(len(found.preview or b''))} of {size(found.size_bytes)} are shown]\n"


def saved_line(found: ArtifactResult) -> Line:
    """Return what is said of an artifact that was recorded."""
    told = f"artifact {found.id}: {found.kind} {found.name} is recorded"
    file = f", {found.display_path} ({size(found.size_bytes)})" if found.display_path else ""
    return (Styled(f"{told}{file}"),)


def checks_table(found: ArtifactVerification) -> Table:
    """Return the table of what was compared."""
    return Table(
        headers=("OUTCOME", "KIND", "NAME", "FILE", "RECORDED", "FOUND"),
        rows=[
            (
                check.outcome,
                check.kind,
                check.name,
                check.path,
                _short(check.recorded_sha256),
                _short(check.found_sha256),
            )
            for check in found.checks
        ],
        empty="no artifact of this run names a file",
        elastic={"NAME", "FILE"},
    )


def unregistered_lines(found: ArtifactVerification) -> Iterator[Line]:
    """Yield the files that no artifact names."""
    yield from titled("unregistered", found.unregistered)


def verification_notes(found: ArtifactVerification) -> list[str]:
    """Return what else is to be said of a verification."""
    notes = [check.detail for check in found.checks if check.detail is not None]
    if found.truncated:
        notes.append("there is more than one verification looks at; this is not all")
    return notes


def faulty(checks: Sequence[ArtifactCheck]) -> bool:
    """Whether any file is not what was recorded of it."""
    return any(check.outcome in FAULTS for check in checks)


def _short(sha256: str | None) -> str:
    return UNKNOWN if sha256 is None else sha256[:_SHOWN_HASH_CHARS]
