"""The save protocol, in the order that makes it safe to die between any two steps.

    1  look at the history's head; refuse a stale expectation
    2  a writer at work: wait for it, or settle its work if it is gone
    3  look at the file; what was done to it by hand becomes a version of its own, then again from 1
    4  append the version, pending, only if the head is still the one of step 1          (committed)
    5  put the content in the file's place, only if the file is still the one of step 3  (on the disk)
    6  settle the version as written                                                      (committed)

Dying before 4 leaves nothing. Between 4 and 6 the version names its writer: whoever finds that writer gone settles it
by what the file holds. A file that changes between 3 and 5 is left as it is, the version is withdrawn, and all begins
anew.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from contract.definitions import (
    DefinitionKind,
    DefinitionOrigin,
    DefinitionVersion,
    DefinitionVersionDraft,
    DefinitionWriteFailure,
)
from contract.errors import Conflict, NotFound, ReconciliationRequired, StateUnavailable
from contract.events import ProcessIdentity
from contract.ports import Clock
from definitions.content import sha256_of
from definitions.errors import FileChanged, HeadMoved, WriteFault
from definitions.heads import WRITER_LEASE_SECONDS, changed_by_hand, is_abandoned, refuse_stale
from definitions.names import flat_place
from definitions.services.captures import capture_of
from definitions.services.ports import (
    DefinitionHead,
    DefinitionHistoryPort,
    FileDefinitionPort,
    FileObservation,
    Settlement,
    WriterProbe,
)

T = TypeVar("T")

OPERATOR: Final = "operator"
SYSTEM: Final = "system"
# Longer than a writer may hold a definition, so that whoever waits for one that hangs takes over from it.
_PATIENCE_SECONDS: Final = WRITER_LEASE_SECONDS + 10.0
# Between two looks at a writer: from a file's write on a fast disk to what a person does not notice.
_PAUSES: Final = (0.005, 0.01, 0.02, 0.05)
# A file that is edited by hand again within the microseconds of each of so many writes is not edited by hand.
_WRITES_MAX: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a caller wants a definition to be: a content, or (`deleted`) no file."""

    kind: DefinitionKind
    name: str
    content: str = ""
    deleted: bool = False
    origin: DefinitionOrigin
    message: str | None
    actor: str | None
    expected_version: int | None


class Turn:
    """The patience of one operation with other writers."""

    def __init__(self, clock: Clock) -> None:
        """Start waiting now."""
        self._clock = clock
        self._until = clock.monotonic() + _PATIENCE_SECONDS
        self._waits = 0

    async def wait(self, name: str) -> None:
        """Wait a moment. StateUnavailable when that was done for too long."""
        if self._clock.monotonic() >= self._until:
            raise StateUnavailable(retryable=True, detail=f"{name} is being written by others; try again")
        await asyncio.sleep(_PAUSES[min(self._waits, len(_PAUSES) - 1)])
        self._waits += 1


class DefinitionWriter:
    """Changes definitions, and settles what other writers left behind."""

    def __init__(
        self, *, history: DefinitionHistoryPort, files: FileDefinitionPort, writers: WriterProbe, clock: Clock
    ) -> None:
        """Take the history and the files, who else writes, and the time."""
        self.history = history
        self.files = files
        self.clock = clock
        self._writers = writers
        # Versions of this process whose end could not be recorded: nobody needs to wait for their lease.
        self._left: set[str] = set()

    async def store(self, change: Change) -> DefinitionVersion:
        """Carry a change out, by the protocol above.

        Conflict, PermissionDenied, ReconciliationRequired, StateUnavailable; NotFound for the deletion of nothing.
        """
        turn = Turn(self.clock)
        writes = 0
        while True:
            head = await self.history.find_head(change.kind, change.name)
            refuse_stale(change.name, head, change.expected_version)
            if head is not None and head.writer is not None:
                await self.pass_writer(head, turn)
                continue
            found = await self.files.current_hash(change.kind, change.name)
            removing_nothing = change.deleted and found is None
            if changed_by_hand(head, found) and not removing_nothing:
                await self.capture(change.kind, change.name, head, actor=change.actor)
                continue
            if found is None:
                await self._refuse_without_file(change, head)
            writes += 1
            stored = await finished(self._append_and_write(change, head, found, last=writes >= _WRITES_MAX))
            if stored is not None:
                return stored
            await turn.wait(change.name)

    async def pass_writer(self, head: DefinitionHead, turn: Turn) -> None:
        """Wait a moment for the writer at work, or settle its work if it is gone."""
        if self.is_abandoned(head):
            await self.settle([head])
        else:
            await turn.wait(head.name)

    def is_abandoned(self, head: DefinitionHead) -> bool:
        """Whether the head's writer will not end its work."""
        if head.writer is None:
            return False
        if head.writer.version_id in self._left:
            return True
        alive = self._writers.alive(head.writer.process)
        return is_abandoned(alive=alive, claimed_at=head.writer.claimed_at, now=self.clock.now())

    async def capture(
        self,
        kind: DefinitionKind,
        name: str,
        head: DefinitionHead | None,
        *,
        actor: str | None,
        message: str | None = None,
    ) -> DefinitionVersion | None:
        """Append what the file holds, or that it is gone, as a version; None when somebody else was first."""
        current = await self.files.read_current(kind, name)
        at = self.clock.now()
        found = capture_of(kind, name, head, current, at=at, actor=actor or OPERATOR, message=message)
        if found is None:
            return None
        try:
            return await self.history.append_version(
                found.draft, after=found.after, at=at, file_sha256=found.file_sha256
            )
        except HeadMoved:
            return None

    async def put(self, version: DefinitionVersion, *, replacing: str | None) -> None:
        """Make the file what the version wants it to be. FileChanged, WriteFault."""
        if not version.deleted:
            await self.files.write_current(version.kind, version.name, version.content, replacing=replacing)
        elif replacing is not None:
            await self.files.remove_current(version.kind, version.name, replacing=replacing)

    async def record(
        self, version: DefinitionVersion, fault: WriteFault, *, replacing: str | None, actor: str | None
    ) -> str:
        """Persist that a version did not reach its file; return the reconciliation's id."""
        (seen,) = await self.files.observe(version.kind, [version.name])
        failure = _failure(version.id, version.kind, version.name, version.content_sha256, replacing, seen, fault)
        return await self.history.record_reconciliation(failure, at=self.clock.now(), actor=actor or OPERATOR)

    async def settle(self, heads: Sequence[DefinitionHead]) -> int:
        """Settle versions whose writers are gone by what their files hold now; return how many were."""
        settlements: list[Settlement] = []
        for kind in sorted({head.kind for head in heads}):
            of_kind = [head for head in heads if head.kind == kind]
            observations = await self.files.observe(kind, [head.name for head in of_kind])
            settlements += map(_settlement, of_kind, observations)
        return await self.history.settle(settlements, at=self.clock.now(), actor=SYSTEM)

    async def _refuse_without_file(self, change: Change, head: DefinitionHead | None) -> None:
        """Refuse to delete nothing, and to make a file that can be taken for another one."""
        if change.deleted:
            if head is None or head.sha256 is None:
                raise NotFound("definition", f"{change.kind}/{change.name}")
            return
        other = await self.files.find_namesake(change.kind, change.name)
        if other is not None:
            detail = f"{change.name} collides with {other}: the names differ only in case or form"
            raise Conflict("definition", change.name, other, detail)

    async def _append_and_write(
        self, change: Change, head: DefinitionHead | None, found: str | None, *, last: bool
    ) -> DefinitionVersion | None:
        """Do steps 4 to 6; None when another writer or an editor was in between."""
        try:
            version = await self._append(change, head, found)
        except HeadMoved:
            return None
        try:
            return await self._write(change, version, found, last=last)
        except StateUnavailable as unavailable:
            # Whatever the store says of its last transaction: the version was stored by an earlier one.
            self._left.add(version.id)
            detail = f"version {version.version} is in the history; what became of its file is settled later"
            raise StateUnavailable(retryable=False, detail=f"{detail} ({unavailable})") from unavailable

    async def _write(
        self, change: Change, version: DefinitionVersion, found: str | None, *, last: bool
    ) -> DefinitionVersion | None:
        """Do steps 5 and 6."""
        try:
            await self.put(version, replacing=found)
        except FileChanged:
            if last:
                fault = WriteFault("changed_meanwhile")
                recorded = await self.record(version, fault, replacing=found, actor=change.actor)
                raise ReconciliationRequired(recorded) from None
            await self.history.withdraw(version.id, at=self.clock.now())
            await self._capture_change(change)
            return None
        except WriteFault as fault:
            recorded = await self.record(version, fault, replacing=found, actor=change.actor)
            raise ReconciliationRequired(recorded) from fault
        if not await self.history.mark_written(version.id, at=self.clock.now()):
            raise StateUnavailable(retryable=False, detail="writing its file took too long; others have settled it")
        return version

    async def _capture_change(self, change: Change) -> None:
        """Keep what came to the file's place, if it was not another writer's version."""
        head = await self.history.find_head(change.kind, change.name)
        if changed_by_hand(head, await self.files.current_hash(change.kind, change.name)):
            await self.capture(change.kind, change.name, head, actor=change.actor)

    async def _append(self, change: Change, head: DefinitionHead | None, found: str | None) -> DefinitionVersion:
        draft = DefinitionVersionDraft(
            kind=change.kind,
            name=change.name,
            # Without a file it is made in the flat place, wherever an earlier one stood.
            relative_path=flat_place(change.kind, change.name) if head is None or found is None else head.relative_path,
            content=change.content,
            content_sha256=sha256_of(change.content),
            message=change.message,
            origin=change.origin,
            deleted=change.deleted,
            actor=change.actor or OPERATOR,
        )
        return await self.history.append_version(
            draft,
            after=0 if head is None else head.version,
            at=self.clock.now(),
            file_sha256=found,
            writer=self.own(),
        )

    def own(self) -> ProcessIdentity:
        """Return the identity under which this process writes."""
        return self._writers.own()


async def finished(work: Awaitable[T]) -> T:
    """Await work that goes on to its end even if whoever asked for it goes away."""
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, also when nobody waits any more
    return await asyncio.shield(task)


def _settlement(head: DefinitionHead, seen: FileObservation) -> Settlement:
    failure = None
    if seen.problem is not None or seen.sha256 != head.sha256:
        fault = WriteFault("interrupted")
        expected = head.sha256 or sha256_of("")
        failure = _failure(head.version_id, head.kind, head.name, expected, head.file_sha256, seen, fault)
    return Settlement(kind=head.kind, name=head.name, version_id=head.version_id, failure=failure)


def _failure(
    version_id: str,
    kind: DefinitionKind,
    name: str,
    expected: str,
    replacing: str | None,
    seen: FileObservation,
    fault: WriteFault,
) -> DefinitionWriteFailure:
    """Say what the file held when the write failed.

    What neither was to be replaced nor was written is an edit by hand since. It is not what the failure observed: if it
    were, a second try would replace an edit that no history has.
    """
    edited = seen.sha256 not in (None, replacing, expected)
    notes = [str(fault), seen.problem, "the file was edited by hand meanwhile" if edited else None]
    return DefinitionWriteFailure(
        version_id=version_id,
        kind=kind,
        name=name,
        expected_sha256=expected,
        error_code=fault.code,
        observed_sha256=replacing if edited else seen.sha256,
        detail="; ".join(note for note in notes if note),
    )
