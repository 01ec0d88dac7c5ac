"""The reading halves of DefinitionHistoryPort and ReconciliationPort over the in-memory records."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from contract.base import Page
from contract.definitions import (
    DefinitionKind,
    DefinitionVersion,
    DefinitionVersionSummary,
    Reconciliation,
    ReconciliationAttempt,
    ReconciliationQuery,
    VersionQuery,
)
from definitions.services.ports import DefinitionHead
from tests.fakes.definition_records import DefinitionStore

T = TypeVar("T")


class InMemoryDefinitionReads(DefinitionStore):
    """Reads heads, versions and reconciliations."""

    async def latest_version(self, kind: DefinitionKind, name: str) -> int:
        await self.reach("latest_version")
        return len(self.histories.get((kind, name), ()))

    async def find_head(self, kind: DefinitionKind, name: str) -> DefinitionHead | None:
        await self.reach("find_head")
        return self.records.get((kind, name))

    async def heads(self, kind: DefinitionKind, names: Sequence[str]) -> dict[str, DefinitionHead]:
        await self.reach("heads")
        return {name: self.records[kind, name] for name in names if (kind, name) in self.records}

    async def names(self, kind: DefinitionKind, *, deleted: bool) -> tuple[str, ...]:
        await self.reach("names")
        heads = (head for head in self.records.values() if head.kind == kind)
        return tuple(sorted(head.name for head in heads if deleted or head.sha256 is not None))

    async def at_work(self) -> tuple[DefinitionHead, ...]:
        await self.reach("at_work")
        found = {head.writer.version_id: head for head in self.records.values() if head.writer}
        return tuple(found[version_id] for version_id in sorted(found))

    async def list_versions(
        self, kind: DefinitionKind, name: str, query: VersionQuery, *, before: int | None
    ) -> Page[DefinitionVersionSummary] | None:
        await self.reach("list_versions")
        history = self.histories.get((kind, name))
        if history is None:
            return None
        older = [version for version in reversed(history) if before is None or version.version < before]
        items, has_next = _cut(older, query)
        return Page[DefinitionVersionSummary](
            items=tuple(DefinitionVersionSummary(**version.model_dump(exclude={"content"})) for version in items),
            offset=query.offset,
            limit=query.limit,
            has_next=has_next,
        )

    async def find_version(self, kind: DefinitionKind, name: str, version: int) -> DefinitionVersion | None:
        await self.reach("find_version")
        return next((entry for entry in self.histories.get((kind, name), ()) if entry.version == version), None)

    async def known_contents(
        self, kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], *, last: int
    ) -> tuple[bool, ...]:
        await self.reach("known_contents")
        return tuple(self._knows(self.histories.get((kind, name), []), content, last) for name, content in contents)

    def _knows(self, history: list[DefinitionVersion], content: bytes, last: int) -> bool:
        whole = any(version.content.encode() == content and not version.deleted for version in history)
        return whole or any(
            version.content.encode().startswith(content) for version in history[max(len(history) - last, 0) :]
        )

    async def list_reconciliations(
        self, query: ReconciliationQuery, *, before: tuple[float, str] | None
    ) -> Page[Reconciliation]:
        await self.reach("list_reconciliations")
        wanted = {"status": query.status, "kind": query.kind, "name": query.name}
        found = [
            entry
            for entry in self.reconciliations.values()
            if all(value is None or getattr(entry, field) == value for field, value in wanted.items())
            and (before is None or (entry.created_at, entry.id) < before)
        ]
        items, has_next = _cut(sorted(found, key=lambda entry: (entry.created_at, entry.id), reverse=True), query)
        return Page[Reconciliation](items=tuple(items), offset=query.offset, limit=query.limit, has_next=has_next)

    async def find_reconciliation(self, reconciliation_id: str) -> Reconciliation | None:
        await self.reach("find_reconciliation")
        return self.reconciliations.get(reconciliation_id)

    async def attempts(self, reconciliation_id: str) -> tuple[ReconciliationAttempt, ...]:
        await self.reach("attempts")
        return tuple(self.logs.get(reconciliation_id, ()))


def _cut(found: Iterable[T], query: VersionQuery | ReconciliationQuery) -> tuple[list[T], bool]:
    rest = list(found)[query.offset :]
    return rest[: query.limit], len(rest) > query.limit
