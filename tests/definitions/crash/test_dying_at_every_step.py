"""Whatever changes a definition is killed at each of its steps, and the next start finds nothing lost."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from contract.definitions import ReconciliationQuery, ResolveReconciliation, VersionQuery
from definitions.content import sha256_of
from definitions.files.disk import DiskDefinitionFiles
from definitions.services import reading, reconciling
from definitions.services.recovering import recover_definitions
from definitions.services.writing import Change, DefinitionWriter
from definitions.state.history import DjangoDefinitionHistory
from definitions.state.reconciliations import DjangoReconciliations
from runs.processes import LocalProcesses
from studio_project.statedb import StateDB
from studio_project.system import RandomIds, SystemClock
from tests.definitions.crash.nursery import Death, Nursery, Order, edit_by_hand, nursery
from tests.definitions.state.stores import DATABASE

pytestmark = DATABASE

# With an edit at every step, every death after it would be a thousand; the others are met with another edit.
_STRIDE = 7

OLD, NEW, EDITED, LATER = "old " * 50, "new " * 50, "edited " * 50, "later " * 50


@dataclass
class House:
    """The home after a death: what starts next, and what is found."""

    home: Path
    writer: DefinitionWriter
    reconciliations: DjangoReconciliations
    nursery: Nursery
    # The step of a save at which a death leaves a reconciliation, as far as it is known.
    fatal_step: int = 1

    async def save(self, name: str, content: str) -> None:
        await self.writer.store(
            Change(
                kind="agent", name=name, content=content, origin="save", message=None, actor=None, expected_version=None
            )
        )

    async def restart(self) -> None:
        await recover_definitions(writer=self.writer, progress=lambda _: None)

    def file(self, name: str) -> str | None:
        place = self.home / "agents" / f"{name}.md"
        return place.read_text() if place.exists() else None

    async def history(self, name: str) -> list[str]:
        """Return every version's content, oldest first, once their numbers are seen to have no gap."""
        page = await self.writer.history.list_versions("agent", name, VersionQuery(limit=1000), before=None)
        numbers = sorted(item.version for item in page.items) if page else []
        assert numbers == list(range(1, len(numbers) + 1))
        found = [await self.writer.history.find_version("agent", name, number) for number in numbers]
        return [version.content for version in found if version is not None]

    async def kept(self, name: str) -> set[str]:
        """Return every content that is in the history, in the file, or in a file that was kept beside it."""
        beside = [path.read_text() for path in (self.home / "agents").glob(f"*{name}.md.rescued*")]
        return {*await self.history(name), self.file(name) or "", *beside}

    async def require_agreement(self, name: str, *, by_hand: str | None = None) -> None:
        """Assert that the file is the newest version, or that a pending reconciliation says truly how they differ.

        A file that holds what was written `by_hand` is as it should be, and stands for itself.
        """
        head = await self.writer.history.find_head("agent", name)
        found = self.file(name)
        found_sha256 = None if found is None else sha256_of(found)
        assert head is None or head.writer is None
        assert not list((self.home / "agents").glob(".*"))
        if head is None or head.sha256 == found_sha256 or (found is not None and found == by_hand):
            return
        query = ReconciliationQuery(status="pending", kind="agent", name=name)
        (pending,) = (await self.reconciliations.list_reconciliations(query, before=None)).items
        assert pending.id == head.reconciliation_id
        assert (pending.version, pending.error_code) == (head.version, "interrupted")
        assert pending.observed_sha256 == found_sha256

    async def require_usable(self, name: str) -> None:
        """Assert that the definition can be saved as if nothing had happened."""
        await self.save(name, LATER)
        assert self.file(name) == LATER
        assert (await self.history(name))[-1] == LATER


@pytest.fixture(scope="module")
def children(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """The process that forks, on the database of all tests; the home of each child is in its order."""
    with nursery(connection.settings_dict, tmp_path_factory.mktemp("nursery")) as children:
        yield children


@pytest.fixture
def house(tmp_path: Path, transactional_db: None, children: Nursery) -> Iterator[House]:
    db, ids = StateDB(), RandomIds()
    history = DjangoDefinitionHistory(db, ids=ids)
    files = DiskDefinitionFiles(tmp_path, tokens=ids)
    writer = DefinitionWriter(history=history, files=files, writers=LocalProcesses(), clock=SystemClock())
    yield House(tmp_path, writer, DjangoReconciliations(db, ids=ids), children)
    db.close()


def _order(house: House, name: str, **fields: Any) -> Order:
    return Order(home=str(house.home), name=name, **fields)


async def _die(house: House, order: Order) -> Death:
    return await asyncio.to_thread(house.nursery.obey, order)


@pytest.mark.parametrize(
    ("verb", "before", "edited"),
    [
        ("save", None, None),
        ("save", OLD, None),
        ("save", OLD, EDITED),
        ("save", None, EDITED),
        ("delete", OLD, None),
        ("delete", OLD, EDITED),
    ],
)
async def test_a_change_that_dies_at_any_step_leaves_history_and_file_agreeing(
    house: House, verb: str, before: str | None, edited: str | None
) -> None:
    deaths = 0
    while True:
        deaths += 1
        name = f"a{deaths}"
        if before is not None:
            await house.save(name, before)
        if edited is not None:
            edit_by_hand(house.home, name, edited)

        death = await _die(house, _order(house, name, verb=verb, content=NEW, die_at=deaths))
        await house.restart()

        await house.require_agreement(name, by_hand=edited)
        assert {content for content in (before, edited) if content} <= await house.kept(name)
        if death.told:
            assert house.file(name) == (NEW if verb == "save" else None)
            break
        await house.require_usable(name)
    assert deaths > 20


@pytest.mark.long
async def test_an_edit_at_any_step_of_a_save_that_dies_at_any_later_step_is_kept(house: House) -> None:
    for edit_at in count(1):
        for die_at in chain([edit_at], count(edit_at + 1, _STRIDE)):
            name = f"a{edit_at}-{die_at}"
            await house.save(name, OLD)

            order = _order(house, name, verb="save", content=NEW, edit_at=edit_at, edit=EDITED, die_at=die_at)
            death = await _die(house, order)
            await house.restart()

            await house.require_agreement(name, by_hand=EDITED)
            if death.steps < edit_at:
                assert edit_at > 20
                return
            assert EDITED in await house.kept(name)
            if not death.killed:
                break


async def test_a_retry_that_dies_at_any_step_can_be_repeated(house: House) -> None:
    deaths = 0
    told = False
    while not told:
        deaths += 1
        name = f"a{deaths}"
        await house.save(name, OLD)
        reconciliation_id = await _interrupted(house, name)

        order = _order(house, name, verb="retry", target=reconciliation_id, die_at=deaths)
        told = (await _die(house, order)).told
        await house.restart()
        settled = await reconciling.get_reconciliation(
            reconciliation_id=reconciliation_id, reconciliations=house.reconciliations, files=house.writer.files
        )
        if settled.status == "pending":
            await reconciling.resolve_reconciliation(
                reconciliation_id=reconciliation_id,
                command=ResolveReconciliation(action="retry_write"),
                reconciliations=house.reconciliations,
                writer=house.writer,
            )

        assert house.file(name) == NEW
        await house.require_agreement(name)
        assert await house.history(name) == [OLD, NEW]
    assert deaths > 20


async def _interrupted(house: House, name: str) -> str:
    """Let a save die between history and file; return the reconciliation that the next start makes of it."""
    for step in count(house.fatal_step):
        await _die(house, _order(house, name, verb="save", content=NEW, die_at=step, expected_version=1))
        await house.restart()
        detail = await reading.get_definition(
            kind="agent", name=name, history=house.writer.history, files=house.writer.files
        )
        if detail.reconciliation_id is not None:
            house.fatal_step = step
            return detail.reconciliation_id
    raise AssertionError("no death left a reconciliation")
