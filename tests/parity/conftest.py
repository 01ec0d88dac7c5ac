"""The two applications that have to be equal: one in this process, one a live daemon's at the end of a wire."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from contract.client import RemoteStudio
from studio_project.composition import Studio, build_studio
from studio_project.config import current_config
from tests.live import TOKEN, LiveDaemon, live_daemon

# What runs may start, one of which there is nowhere.
ALLOWED = ("sh", "no-such-program")
# A daemon that does nothing by itself.
IDLE = ("--no-worker", "--no-scheduler")


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    """One daemon for all tests of a process; scenarios keep out of each other's way by their names.

    It executes and fires nothing: what is launched stays in the queue until somebody cancels it.
    """
    home = tmp_path_factory.mktemp("daemon") / "home"
    with live_daemon(home, *IDLE, auth_token=TOKEN, command_allowlist=",".join(ALLOWED)) as daemon:
        yield daemon


@pytest_asyncio.fixture
async def remote(daemon: LiveDaemon) -> AsyncIterator[RemoteStudio]:
    async with RemoteStudio(daemon.url, token=TOKEN) as studio:
        yield studio


@pytest.fixture
def local_home(tmp_path: Path) -> Path:
    """A home for each test: the tables are emptied after it, and files that outlived them would be strangers."""
    home = tmp_path / "local"
    home.mkdir()
    return home


@pytest_asyncio.fixture
async def local(transactional_db: None, local_home: Path) -> AsyncIterator[Studio]:
    studio = build_studio(current_config().model_copy(update={"home": local_home, "command_allowlist": ALLOWED}))
    yield studio
    studio.stopping()
    await studio.close()
