"""The two stores that the suite runs over: the in-memory one, and the Django adapters; both with the runs beside."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from artifacts.services.ports import ArtifactDraft, ArtifactOwnerPort, ArtifactRecordPort, Owner
from artifacts.state import DjangoArtifacts
from contract.artifacts import ArtifactListQuery, ArtifactMetadata
from runs.state.owning import DjangoRunOwners
from studio_project.statedb import StateDB
from tests.fakes.artifacts import InMemoryArtifacts
from tests.fakes.clocks import SequentialIds
from tests.fakes.runs import InMemoryRuns
from tests.runs.state.stores import DATABASE as RUNS_DATABASE
from tests.runs.state.stores import Store, django_store, memory_store

DATABASE = RUNS_DATABASE
RUN, INVOCATION = Owner("run", "r"), Owner("invocation", "i")

__all__ = ["DATABASE", "INVOCATION", "RUN", "Shop", "django_shop", "memory_shop"]


@dataclass(kw_only=True)
class Shop:
    """The artifacts' ports of one store, and its runs."""

    artifacts: ArtifactRecordPort
    owners: ArtifactOwnerPort
    runs: Store
    db: StateDB | None = None
    close: Callable[[], None] = field(default=lambda: None)

    async def save(self, name: str, *, owner: Owner = RUN, at: float = 1.0, **fields: Any) -> ArtifactMetadata:
        draft = ArtifactDraft(**{"owner": owner, "kind": "k", "name": name, "content": None, **fields})
        return await self.artifacts.save(draft, at=at)

    async def names(self, owner: Owner = RUN, *, after: int = 0, **query: Any) -> list[str]:
        page = await self.artifacts.list_artifacts(owner, ArtifactListQuery(**query), after=after)
        return [found.name for found in page.items]


def memory_shop() -> Shop:
    runs = memory_store()
    assert isinstance(runs.reads, InMemoryRuns)
    artifacts = InMemoryArtifacts(runs.reads)
    return Shop(artifacts=artifacts, owners=artifacts, runs=runs)


def django_shop() -> Shop:
    db = StateDB()
    artifacts = DjangoArtifacts(db, ids=SequentialIds())
    return Shop(artifacts=artifacts, owners=DjangoRunOwners(db), runs=django_store(db), db=db, close=db.close)
