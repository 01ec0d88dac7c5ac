"""How a definition's history and its file stand to each other, and what a writer has to do first."""

from typing import Final, Protocol

from contract.definitions import Drift
from contract.errors import Conflict

# A writer that has not ended after this long is taken over even where its process cannot be looked at. A slow one
# cannot do harm: it replaces only the very file it has seen.
WRITER_LEASE_SECONDS: Final = 30.0


class Head(Protocol):
    """What the rules look at of a history's head."""

    @property
    def version(self) -> int:
        """The newest version's number."""
        ...

    @property
    def sha256(self) -> str | None:
        """What the newest version wants the file to hold, None for no file."""
        ...

    @property
    def file_sha256(self) -> str | None:
        """What the file was last known to hold."""
        ...


def changed_by_hand(head: Head | None, found: str | None) -> bool:
    """Whether the file holds what no write of ours can have left there; `found` is its hash, None for no file."""
    if head is None:
        return found is not None
    return found not in (head.file_sha256, head.sha256)


def drift_of(head: Head | None, found: str | None, *, readable: bool) -> Drift | None:
    """Say how the file differs from the newest version, or None."""
    if not readable:
        return "unreadable"
    if head is None:
        return "untracked" if found is not None else None
    if found == head.sha256:
        return None
    return "missing" if found is None else "edited"


def refuse_stale(name: str, head: Head | None, expected: int | None) -> None:
    """Raise Conflict when the newest version is not the one the caller has seen. No expectation is never stale."""
    version = head.version if head is not None else 0
    if expected is None or expected == version:
        return
    raise Conflict(
        "definition", str(expected), str(version), f"{name} is at version {version}, not {expected}: read it again"
    )


def is_abandoned(*, alive: bool | None, claimed_at: float, now: float) -> bool:
    """Whether a writer will not end its work: its process is gone, or it has held the definition too long.

    Of a process that cannot be looked at (`alive` None) the clock may be ahead, but not by more than a lease.
    """
    age = now - claimed_at
    if alive is False or age > WRITER_LEASE_SECONDS:
        return True
    return alive is None and age < -WRITER_LEASE_SECONDS
