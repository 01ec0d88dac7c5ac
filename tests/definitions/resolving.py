"""Reconciliations in tests: made, resolved and looked at."""

from typing import Final

from contract.definitions import ReconcileAction, Reconciliation, ReconciliationDetail, ResolveReconciliation
from definitions.services.reconciling import get_reconciliation, resolve_reconciliation
from tests.definitions.desk import Desk

ACTIONS: Final[tuple[ReconcileAction, ...]] = ("retry_write", "accept_file", "dismiss")


async def resolved(
    desk: Desk, found: Reconciliation, action: ReconcileAction, reason: str | None = "because", actor: str | None = None
) -> Reconciliation:
    return await resolve_reconciliation(
        reconciliation_id=found.id,
        command=ResolveReconciliation(action=action, reason=reason, actor=actor),
        reconciliations=desk.history,
        writer=desk.writer,
    )


async def detail(desk: Desk, found: Reconciliation) -> ReconciliationDetail:
    return await get_reconciliation(reconciliation_id=found.id, reconciliations=desk.history, files=desk.files)


async def failed(desk: Desk) -> Reconciliation:
    """Version one stands in the file, version two does not."""
    await desk.store("one")
    return await desk.fail("two")
