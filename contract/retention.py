"""Retention on the wire: which runs may go, and what went."""

from typing import Annotated

from pydantic import Field

from contract.base import ContractModel, Cursor, Name, Text, Tup
from contract.limits import PRUNE_DEFAULT_RUNS, PRUNE_MAX_RUNS, RETENTION_SECONDS_MAX


class PruneRuns(ContractModel):
    """Removes runs that ended at least `older_than_seconds` ago, oldest first, with evidence, artifacts and files.

    At most `limit` of them in one call; with the `next_cursor` of the same command another one goes on from there. A
    run that has not ended, one whose invocation has such a run, and one that something still refers to stays. With
    `dry_run` nothing is removed, and all that would be is told, whatever `limit`.
    """

    older_than_seconds: Annotated[float, Field(ge=0, le=RETENTION_SECONDS_MAX)]
    status: Tup[Text] = ()
    project: Name | None = None
    limit: int = Field(default=PRUNE_DEFAULT_RUNS, ge=1, le=PRUNE_MAX_RUNS)
    dry_run: bool = False
    cursor: Cursor | None = None


class PruneResult(ContractModel):
    """What went, or would go. `has_more`: there are further ones that are old enough. Bytes are those of removed files.

    `kept_referenced` counts runs that were looked at, are old enough and stay, because something refers to them.
    `failed_folders` could not be removed whole; a later call tries again.
    """

    runs: int
    messages: int
    signals: int
    artifacts: int
    file_bytes: int
    kept_referenced: int = 0
    has_more: bool
    next_cursor: str | None = None
    dry_run: bool
    failed_folders: Tup[str] = ()
