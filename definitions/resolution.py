"""What may be done about a reconciliation, judged by what its file holds now."""

from contract.definitions import ReconcileAction, Reconciliation, ResolveReconciliation
from contract.errors import Conflict, ValidationFailure


def wanted_hash(reconciliation: Reconciliation) -> str | None:
    """Return what the version wants its file to hold, None for no file."""
    return None if reconciliation.deleted else reconciliation.expected_sha256


def possible_actions(
    reconciliation: Reconciliation, found: str | None, *, readable: bool
) -> tuple[ReconcileAction, ...]:
    """Return the actions that would be taken; `found` is the file's hash now, None for no file."""
    if reconciliation.status == "resolved":
        return ()
    if not readable:
        return ("dismiss",)
    if found in (wanted_hash(reconciliation), reconciliation.observed_sha256):
        return ("retry_write", "accept_file", "dismiss")
    return ("accept_file", "dismiss")


def require_reason(command: ResolveReconciliation) -> None:
    """Raise a ValidationFailure for a dismissal that nobody will understand later."""
    if command.action == "dismiss" and not (command.reason or "").strip():
        raise ValidationFailure.at("reason", code="missing", message="a dismissal needs a reason")


def settled_by(reconciliation: Reconciliation, action: ReconcileAction) -> Reconciliation:
    """Return a resolved reconciliation to whoever resolved it in this way; Conflict to everybody else."""
    if reconciliation.resolution == action:
        return reconciliation
    how = reconciliation.resolution
    raise Conflict("reconciliation", "pending", how, f"reconciliation {reconciliation.id} is resolved already: {how}")


def refuse_problem(reconciliation: Reconciliation, problem: str | None) -> None:
    """Raise Conflict when what stands in the file's place cannot be read."""
    if problem is not None:
        raise Conflict("definition file", reconciliation.observed_sha256, None, problem)


def refuse_changed(reconciliation: Reconciliation, found: str | None) -> None:
    """Raise Conflict when the file is not any more what it was when the write failed: a retry would overwrite it."""
    if found != reconciliation.observed_sha256:
        detail = f"{reconciliation.relative_path} was changed since the write failed: accept the file, or dismiss"
        raise Conflict("definition file", reconciliation.observed_sha256, found, detail)
