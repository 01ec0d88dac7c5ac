"""From rows to what the ports return. Rows come from our own tables, and pass the models' own validation."""

from typing import Any, Final

from django.db.models import F

from contract.definitions import (
    DefinitionKind,
    DefinitionVersion,
    DefinitionVersionSummary,
    Reconciliation,
    ReconciliationAttempt,
)
from contract.events import ProcessIdentity
from definitions.services.ports import DefinitionHead, Writer

Row = dict[str, Any]

HEAD_COLUMNS: Final = (
    "kind", "name", "relative_path", "latest_version", "latest_version_id", "latest_sha256", "latest_size_bytes",
    "file_sha256", "writer_process", "writer_version_id", "writer_claimed_at", "pending_reconciliation_id",
    "created_at", "updated_at",
)  # fmt: skip
SUMMARY_COLUMNS: Final = (
    "version_id", "version", "relative_path", "content_sha256", "size_bytes", "message", "origin", "deleted", "actor",
    "write_status", "created_at",
)  # fmt: skip
VERSION_COLUMNS: Final = (*SUMMARY_COLUMNS, "content")
RECONCILIATION_COLUMNS: Final = (
    "reconciliation_id", "version_id", "definition__kind", "definition__name", "version__version", "version__deleted",
    "version__relative_path", "expected_sha256", "observed_sha256", "error_code", "error_detail", "status", "attempts",
    "resolution", "reason", "actor", "result_version", "created_at", "updated_at", "resolved_at",
)  # fmt: skip
ATTEMPT_COLUMNS: Final = ("action", "outcome", "actor", "detail", "at")
# What a head holds while nobody is at work.
NO_WRITER: Final[Row] = {"writer_process": None, "writer_version_id": None, "writer_claimed_at": None}


def writer_columns(process: ProcessIdentity, version_id: str | F, at: float) -> Row:
    """Return the columns that say who is at work."""
    return {"writer_process": process.model_dump_json(), "writer_version_id": version_id, "writer_claimed_at": at}


def head(row: Row) -> DefinitionHead:
    """Return how far a history is."""
    return DefinitionHead(
        kind=row["kind"],
        name=row["name"],
        relative_path=row["relative_path"],
        version=row["latest_version"],
        version_id=row["latest_version_id"],
        sha256=row["latest_sha256"],
        file_sha256=row["file_sha256"],
        size_bytes=row["latest_size_bytes"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        writer=_writer(row),
        reconciliation_id=row["pending_reconciliation_id"],
    )


def _writer(row: Row) -> Writer | None:
    if row["writer_process"] is None:
        return None
    process = ProcessIdentity.model_validate_json(row["writer_process"])
    return Writer(process=process, version_id=row["writer_version_id"], claimed_at=row["writer_claimed_at"])


def version(row: Row, *, kind: DefinitionKind, name: str) -> DefinitionVersion:
    """Return a version with its content, taking its row over."""
    row["id"] = row.pop("version_id")
    return DefinitionVersion(kind=kind, name=name, **row)


def summary(row: Row, *, kind: DefinitionKind, name: str) -> DefinitionVersionSummary:
    """Return a version without its content, taking its row over."""
    row["id"] = row.pop("version_id")
    return DefinitionVersionSummary(kind=kind, name=name, **row)


def reconciliation(row: Row) -> Reconciliation:
    """Return a reconciliation, taking its row over."""
    row["id"] = row.pop("reconciliation_id")
    for column in ("definition__kind", "definition__name", "version__version", "version__deleted"):
        row[column.partition("__")[2]] = row.pop(column)
    row["relative_path"] = row.pop("version__relative_path")
    return Reconciliation(**row)


def attempt(row: Row) -> ReconciliationAttempt:
    """Return one entry of a log."""
    return ReconciliationAttempt(**row)
