"""The operation that makes versions of what was done to files by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from contract.definitions import (
    CapturedFile,
    DefinitionKind,
    DefinitionVersion,
    SkippedFile,
    SnapshotDefinitions,
    SnapshotResult,
)
from contract.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from definitions.heads import changed_by_hand
from definitions.names import KINDS, ROOTS, known_kind
from definitions.services.captures import capture_of
from definitions.services.ports import Capture, DefinitionHead
from definitions.services.writing import OPERATOR, DefinitionWriter

# Looked at in one turn.
_LOOKED_AT_ONCE: Final = 500
# Stored in one transaction: enough for its wait on the disk not to count, short enough to let others write in between.
_STORED_AT_ONCE: Final = 250
# And with no more text than this.
_HELD_CHARS: Final = 8 * 1024 * 1024


async def snapshot_definitions(*, command: SnapshotDefinitions, writer: DefinitionWriter) -> SnapshotResult:
    """Append each file that was edited, added or removed by hand; what cannot be read is skipped with its reason.

    Idempotent. ValidationFailure for a name without a kind; NotFound for a name that nothing has.
    """
    snapshot = _Snapshot(command, writer)
    if command.name is not None:
        if command.kind is None:
            raise ValidationFailure.at("kind", code="missing", message="a name needs its kind")
        await snapshot.take_one(known_kind(command.kind, command.name), command.name)
        return snapshot.result()
    for kind in KINDS if command.kind is None else (command.kind,):
        await snapshot.take_all(kind)
    return snapshot.result()


@dataclass(slots=True)
class _Snapshot:
    command: SnapshotDefinitions
    writer: DefinitionWriter
    captured: list[CapturedFile] = field(default_factory=list)
    unchanged: int = 0
    skipped: list[SkippedFile] = field(default_factory=list)
    _read: list[Capture] = field(default_factory=list)
    _held_chars: int = 0

    def result(self) -> SnapshotResult:
        return SnapshotResult(captured=tuple(self.captured), unchanged=self.unchanged, skipped=tuple(self.skipped))

    async def take_one(self, kind: DefinitionKind, name: str) -> None:
        (seen,) = await self.writer.files.observe(kind, [name])
        head = await self.writer.history.find_head(kind, name)
        if head is None and seen.sha256 is None and seen.problem is None:
            raise NotFound("definition", f"{kind}/{name}")
        await self._take(kind, [name])

    async def take_all(self, kind: DefinitionKind) -> None:
        try:
            on_disk = await self.writer.files.names(kind)
        except (Conflict, PermissionDenied) as error:  # what is not there now was not deleted
            self._skip(kind, ROOTS[kind], str(error))
            return
        names = sorted({*on_disk, *await self.writer.history.names(kind, deleted=False)})
        for first in range(0, len(names), _LOOKED_AT_ONCE):
            await self._take(kind, names[first : first + _LOOKED_AT_ONCE])
        for relative_path, reason in await self.writer.files.strangers(kind):
            self.skipped.append(SkippedFile(kind=kind, relative_path=relative_path, reason=reason))

    async def _take(self, kind: DefinitionKind, names: Sequence[str]) -> None:
        heads = await self.writer.history.heads(kind, names)
        if gone := [head for head in heads.values() if self.writer.is_abandoned(head)]:
            await self.writer.settle(gone)
            heads = await self.writer.history.heads(kind, names)
        observations = await self.writer.files.observe(kind, names)
        for name, seen in zip(names, observations, strict=True):
            head = heads.get(name)
            if seen.problem is not None:
                self._skip(kind, seen.relative_path, seen.problem)
            elif changed_by_hand(head, seen.sha256) and (head is None or head.writer is None):
                await self._capture(kind, name, head, seen.relative_path)
            else:
                self.unchanged += 1
        await self._store()

    async def _capture(self, kind: DefinitionKind, name: str, head: DefinitionHead | None, path: str) -> None:
        """Read a file; store what was read when it is enough."""
        try:
            current = await self.writer.files.read_current(kind, name)
        except (Conflict, PermissionDenied) as error:  # of this one file: the others are captured all the same
            self._skip(kind, path, str(error))
            return
        actor, at = self.command.actor or OPERATOR, self.writer.clock.now()
        capture = capture_of(kind, name, head, current, at=at, actor=actor, message=self.command.message)
        if capture is None:
            self.unchanged += 1
            return
        self._read.append(capture)
        self._held_chars += len(capture.draft.content)
        if len(self._read) >= _STORED_AT_ONCE or self._held_chars >= _HELD_CHARS:
            await self._store()

    async def _store(self) -> None:
        captures, self._read, self._held_chars = self._read, [], 0
        outcomes = await self.writer.history.append_captured(captures) if captures else ()
        for capture, outcome in zip(captures, outcomes, strict=True):
            if isinstance(outcome, DefinitionVersion):
                self._tell(outcome)
            elif isinstance(outcome, Conflict):
                self._skip(capture.draft.kind, capture.draft.relative_path, str(outcome))
            else:  # somebody else was first, with this or a newer content
                self.unchanged += 1

    def _tell(self, version: DefinitionVersion) -> None:
        sha256 = None if version.deleted else version.content_sha256
        self.captured.append(
            CapturedFile(
                kind=version.kind, name=version.name, version=version.version, deleted=version.deleted, sha256=sha256
            )
        )

    def _skip(self, kind: DefinitionKind, relative_path: str, reason: str) -> None:
        self.skipped.append(SkippedFile(kind=kind, relative_path=relative_path, reason=reason))
