"""What the in-memory history of definitions keeps, and the ways in which it can refuse to answer."""

from collections import Counter
from dataclasses import replace
from typing import Any

from contract.definitions import (
    AttemptOutcome,
    DefinitionKind,
    DefinitionVersion,
    Reconciliation,
    ReconciliationAttempt,
    Resolution,
    WriteStatus,
)
from contract.ports import IdGenerator
from definitions.services.ports import DefinitionHead
from tests.fakes.clocks import SequentialIds
from tests.fakes.turns import turns

Key = tuple[DefinitionKind, str]


class DefinitionStore:
    """The records, and the count of the calls that reached them. Base of the in-memory ports.

    Everything kept is a frozen value that a change replaces, so what was returned before never changes.
    """

    def __init__(self, *, ids: IdGenerator | None = None) -> None:
        self.ids = ids or SequentialIds()
        self.records: dict[Key, DefinitionHead] = {}
        # By definition, oldest first: version n stands at n - 1.
        self.histories: dict[Key, list[DefinitionVersion]] = {}
        self.reconciliations: dict[str, Reconciliation] = {}
        self.logs: dict[str, list[ReconciliationAttempt]] = {}
        self.calls: Counter[str] = Counter()
        self.fault: Exception | None = None
        # Which port calls the fault keeps from being answered; None is every call.
        self.failing: str | None = None

    async def reach(self, port_call: str) -> None:
        """Count a call and let others run while it is under way, as a database does. Raises the set `fault`."""
        self.calls[port_call] += 1
        await turns()
        if self.fault is not None and self.failing in (None, port_call):
            raise self.fault

    def working_on(self, version_id: str) -> DefinitionHead | None:
        """Return the head whose writer is at work on this version."""
        return next(
            (head for head in self.records.values() if head.writer and head.writer.version_id == version_id), None
        )

    def waiting_for(self, reconciliation_id: str) -> DefinitionHead | None:
        """Return the head where this reconciliation is pending."""
        return next((head for head in self.records.values() if head.reconciliation_id == reconciliation_id), None)

    def version_of(self, version_id: str) -> DefinitionVersion | None:
        """Return a version, of whatever definition."""
        return next(
            (version for history in self.histories.values() for version in history if version.id == version_id), None
        )

    def change_head(self, head: DefinitionHead, *, at: float, **fields: Any) -> None:
        """Replace fields of a head; its `updated_at` never goes back."""
        self.records[head.kind, head.name] = replace(head, **fields, updated_at=max(head.updated_at, at))

    def set_write_status(self, head: DefinitionHead, status: WriteStatus) -> DefinitionVersion:
        """Say what became of the newest version's file; return the version."""
        history = self.histories[head.kind, head.name]
        version = history[head.version - 1].model_copy(update={"write_status": status})
        history[head.version - 1] = version
        return version

    def resolve(
        self, reconciliation_id: str, resolution: Resolution, *, actor: str, at: float, reason: str | None = None
    ) -> None:
        """End a reconciliation, after the head has changed, and log it."""
        found = self.reconciliations[reconciliation_id]
        ended_at = max(found.updated_at, at)
        self.reconciliations[reconciliation_id] = found.model_copy(
            update={
                "status": "resolved",
                "resolution": resolution,
                "reason": reason,
                "actor": actor,
                "result_version": self.records[found.kind, found.name].version,
                "updated_at": ended_at,
                "resolved_at": ended_at,
            }
        )
        self.log(reconciliation_id, "resolved", action=resolution, actor=actor, detail=reason or "", at=at)

    def log(
        self,
        reconciliation_id: str,
        outcome: AttemptOutcome,
        *,
        actor: str,
        detail: str,
        at: float,
        action: Resolution | None = None,
    ) -> None:
        """Add an entry to a reconciliation's log."""
        entry = ReconciliationAttempt(action=action, outcome=outcome, actor=actor, detail=detail, at=at)
        self.logs.setdefault(reconciliation_id, []).append(entry)
