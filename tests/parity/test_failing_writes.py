"""Writes that somebody comes in between: the same in process and at the end of a wire, for each operation that writes.

Between Studio's look at a file and its write, the file is made a folder. Only inside one process can that be done in
time, so both applications are one Studio here, reached directly and through its whole HTTP stack.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx
import pytest
import pytest_asyncio

from contract.application import StudioApplication
from contract.client import RemoteStudio
from contract.definitions import VersionQuery
from contract.errors import ReconciliationRequired
from contract.events import ProcessIdentity
from runs.processes import LocalProcesses
from studio_project.application import build_application
from studio_project.composition import Studio, build_studio, get_studio, set_studio
from studio_project.config import current_config
from tests.parity.definition_file_scenarios import file_of
from tests.parity.definition_scenarios import delete, roll_back, save, save_all
from tests.parity.reconciliation_scenarios import fail, resolve
from tests.parity.witness import Witness, refused

URL = "http://127.0.0.1:8765"


class MeddlingProcesses(LocalProcesses):
    """Makes a folder of a file once, at the moment where a writer names itself: after its look, before its write."""

    def __init__(self) -> None:
        self.path: Path | None = None

    def own(self) -> ProcessIdentity:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self.path.mkdir()
            self.path = None
        return super().own()


@dataclass(frozen=True)
class Pair:
    """One Studio, reached directly and by HTTP."""

    local: Studio
    remote: RemoteStudio
    processes: MeddlingProcesses
    home: Path


@pytest_asyncio.fixture
async def pair(transactional_db: None, local_home: Path) -> AsyncIterator[Pair]:
    processes = MeddlingProcesses()
    studio = build_studio(current_config().model_copy(update={"home": local_home}), probe=processes)
    set_studio(studio)
    async with RemoteStudio(URL, transport=httpx.ASGITransport(build_application(get_studio))) as remote:
        yield Pair(studio, remote, processes, local_home)
    set_studio(None)
    studio.stopping()
    await studio.close()


Write = Callable[[Pair, StudioApplication, str], Awaitable[object]]


async def _save(pair: Pair, studio: StudioApplication, name: str) -> None:
    await save(studio, name, "1")
    pair.processes.path = file_of(pair.home, name)
    await save(studio, name, "2")


async def _roll_back(pair: Pair, studio: StudioApplication, name: str) -> None:
    await save_all(studio, name, "1", "2")
    pair.processes.path = file_of(pair.home, name)
    await roll_back(studio, name, 1)


async def _delete(pair: Pair, studio: StudioApplication, name: str) -> None:
    await save(studio, name, "1")
    pair.processes.path = file_of(pair.home, name)
    await delete(studio, name)


async def _retry(pair: Pair, studio: StudioApplication, name: str) -> None:
    reconciliation_id = await fail(pair.home, save(studio, name, "1"))
    pair.processes.path = file_of(pair.home, name)
    await resolve(studio, reconciliation_id, "retry_write")


WRITES: Final[dict[str, Write]] = {
    "save_file_definition": _save,
    "rollback_definition": _roll_back,
    "delete_definition": _delete,
    "resolve_reconciliation": _retry,
}


@pytest.mark.parametrize("operation", WRITES)
async def test_a_write_that_somebody_comes_in_between_fails_the_same(operation: str, pair: Pair) -> None:
    in_process = await _steps(pair, pair.local, "in-process", operation)
    over_http = await _steps(pair, pair.remote, "over-http", operation)

    assert over_http == in_process


async def _steps(pair: Pair, studio: StudioApplication, name: str, operation: str) -> object:
    """Return all that is said of the write, of the version that it left, and of its reconciliation."""
    witness = Witness(studio)
    required = await refused(ReconciliationRequired, WRITES[operation](pair, witness.application, name))
    found = await witness.application.get_reconciliation(required.reconciliation_id)
    await witness.application.list_definition_versions("agent", name, VersionQuery())

    assert (operation, "reconciliation_required") in witness.met()
    assert (found.error_code, found.actions) == ("not_a_file", ("dismiss",))
    assert file_of(pair.home, name).is_dir()
    return json.loads(json.dumps(witness.steps).replace(name, "<name>"))
