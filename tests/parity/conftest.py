"""The two applications that have to be equal: one in this process, one a live daemon's at the end of a wire."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from contract.client import RemoteStudio
from studio_project.composition import Studio, build_studio
from studio_project.config import current_config
from tests.live import TOKEN, LiveDaemon, live_daemon


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    """One daemon for all tests of a process; scenarios keep out of each other's way by their names."""
    with live_daemon(tmp_path_factory.mktemp("daemon") / "home", auth_token=TOKEN) as daemon:
        yield daemon


@pytest_asyncio.fixture
async def remote(daemon: LiveDaemon) -> AsyncIterator[RemoteStudio]:
    async with RemoteStudio(daemon.url, token=TOKEN) as studio:
        yield studio


@pytest_asyncio.fixture
async def local(transactional_db: None) -> AsyncIterator[Studio]:
    studio = build_studio(current_config())
    yield studio
    studio.stopping()
    await studio.close()
