"""The two stores that the suite runs over: the in-memory one, and the Django adapters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, TypeVar

import pytest
from django.db import connections

from contract.definitions import (
    DefinitionKind,
    DefinitionVersion,
    DefinitionVersionDraft,
    DefinitionWriteFailure,
    Reconciliation,
    ReconciliationQuery,
    VersionQuery,
    WriteStatus,
)
from contract.events import ProcessIdentity
from definitions.services.ports import DefinitionHead, DefinitionHistoryPort, ReconciliationPort, Settlement
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from studio_project.statedb import StateDB
from tests.fakes.clocks import START_AT, SequentialIds
from tests.fakes.definition_history import InMemoryDefinitionHistory

T = TypeVar("T")

# Committed to by anyone, and empty again at the end.
DATABASE = pytest.mark.django_db(transaction=True)
WRITER = ProcessIdentity(host="here", pid=41, started_at=START_AT - 60.0, boot_id="boot")
OTHER_WRITER = ProcessIdentity(host="here", pid=42)


def hash_of(content: str) -> str:
    return sha256(content.encode()).hexdigest()


def draft(
    content: str = "one", name: str = "scout", kind: DefinitionKind = "agent", **fields: Any
) -> DefinitionVersionDraft:
    """Return a version of `scout`, an agent, unless told otherwise."""
    defaults = {"relative_path": f"{kind}s/{name}.md", "content_sha256": hash_of(content)}
    return DefinitionVersionDraft(kind=kind, name=name, content=content, **(defaults | fields))


def deletion(name: str = "scout", **fields: Any) -> DefinitionVersionDraft:
    return draft("", name, deleted=True, origin="delete", **fields)


def failure_of(version: DefinitionVersion, observed: str | None = None, **fields: Any) -> DefinitionWriteFailure:
    """Return the failure of a version whose file holds `observed`, a text."""
    defaults = {"version_id": version.id, "error_code": "no_space", "detail": "the disk is full"}
    return DefinitionWriteFailure(
        kind=version.kind,
        name=version.name,
        expected_sha256=version.content_sha256,
        observed_sha256=None if observed is None else hash_of(observed),
        **(defaults | fields),
    )


def settlement(version: DefinitionVersion, failure: DefinitionWriteFailure | None = None) -> Settlement:
    return Settlement(kind=version.kind, name=version.name, version_id=version.id, failure=failure)


@dataclass(kw_only=True)
class Store:
    """Both ports of one store, and short forms of what tests do all the time, at the first instant."""

    history: DefinitionHistoryPort
    reconciliations: ReconciliationPort
    close: Callable[[], None] = field(default=lambda: None)

    async def append(
        self,
        content: str = "one",
        name: str = "scout",
        *,
        after: int = 0,
        at: float = START_AT,
        writer: ProcessIdentity | None = None,
        held: str | None = None,
        **fields: Any,
    ) -> DefinitionVersion:
        """Append a version; with a writer, while the file holds `held`."""
        new = draft(content, name, **fields)
        file_sha256 = new.content_sha256 if writer is None else held and hash_of(held)
        return await self.history.append_version(new, after=after, at=at, file_sha256=file_sha256, writer=writer)

    async def fail(self, name: str = "scout", *, at: float = START_AT, **fields: Any) -> Reconciliation:
        """Append a first version that does not reach its file; return its reconciliation."""
        version = await self.append("wanted", name, writer=WRITER, at=at, **fields)
        return await self.found(await self.history.record_reconciliation(failure_of(version), at=at))

    async def head(self, name: str = "scout", kind: DefinitionKind = "agent") -> DefinitionHead:
        """Return a head that exists."""
        head = await self.history.find_head(kind, name)
        assert head is not None
        return head

    async def found(self, reconciliation_id: str) -> Reconciliation:
        """Return a reconciliation that exists."""
        found = await self.reconciliations.find_reconciliation(reconciliation_id)
        assert found is not None
        return found

    async def statuses(self, name: str = "scout") -> list[WriteStatus]:
        """Return what became of each version's file, oldest first."""
        page = await self.history.list_versions("agent", name, VersionQuery(limit=1_000), before=None)
        return [] if page is None else [version.write_status for version in reversed(page.items)]

    async def log(self, reconciliation_id: str) -> list[tuple[str | None, str, str, str]]:
        """Return a log without its instants."""
        attempts = await self.reconciliations.attempts(reconciliation_id)
        return [(entry.action, entry.outcome, entry.actor, entry.detail) for entry in attempts]

    async def ids(self, **query: Any) -> list[str]:
        """Return the ids of the first page of reconciliations."""
        page = await self.reconciliations.list_reconciliations(ReconciliationQuery(**query), before=None)
        return [entry.id for entry in page.items]


class CountingDB(StateDB):
    """A StateDB that keeps the SQL of its queries; what begins and ends transactions is not counted."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[str] = []

    async def read(self, work: Callable[[], T], *, snapshot: bool = False) -> T:
        return await super().read(partial(self._kept, work), snapshot=snapshot)

    async def write(self, work: Callable[[], T], *, durable: bool = True) -> T:
        return await super().write(partial(self._kept, work), durable=durable)

    def _kept(self, work: Callable[[], T]) -> T:
        with connections["default"].execute_wrapper(self._keep):
            return work()

    def _keep(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        self.queries.append(sql)
        return execute(sql, params, many, context)


def memory_store() -> Store:
    history = InMemoryDefinitionHistory()
    return Store(history=history, reconciliations=history)


def django_store(db: StateDB | None = None, ids: SequentialIds | None = None) -> Store:
    """Bind the adapters to the default database. To be closed, or its threads keep their connections."""
    db, ids = db or StateDB(), ids or SequentialIds()
    return Store(
        history=DjangoDefinitionHistory(db, ids=ids),
        reconciliations=DjangoReconciliations(db, ids=ids),
        close=db.close,
    )
