"""Two worker processes on one queue."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from django.db import connection

from contract.actions import ActionFields
from runs.services.execution_ports import LAUNCHES_TOPIC
from studio_project.change_feed import DatabaseChangeFeed
from studio_project.config import isolated_environment
from tests.runs.execution.children import PATIENCE_SECONDS
from tests.runs.state.other_process import url_of
from tests.runs.state.stores import DATABASE, Store, django_store

pytestmark = DATABASE

_ROOT = Path(__file__).parents[3]
_LAUNCHES = 60
_WORKERS = 2


@contextmanager
def _worker(home: Path) -> Iterator[None]:
    """Run a worker with a home of its own on the database of the test; at the end it is told to stop, and does."""
    home.mkdir()
    url = url_of(connection.settings_dict)
    environment = isolated_environment(home, database_url=url, command_allowlist="sh", max_concurrent="8")
    command = [sys.executable, "manage.py", "worker"]
    with subprocess.Popen(command, cwd=_ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Executing")
        yield
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0


@pytest.fixture
async def store(transactional_db: None) -> AsyncIterator[Store]:
    store = django_store()
    yield store
    await asyncio.to_thread(store.close)


async def test_two_workers_execute_each_of_many_launches_once(store: Store, tmp_path: Path) -> None:
    done = tmp_path / "done"
    command = ("sh", "-c", 'echo "$STUDIO_RUN_ID" >> "$0"', str(done))
    run_ids = [f"r{number}" for number in range(_LAUNCHES)]
    for run_id in run_ids:
        await store.queue(run_id, action=ActionFields(kind="command", command=command))
    feed = DatabaseChangeFeed()

    with ExitStack() as workers, closing(feed.subscribe(LAUNCHES_TOPIC)) as ended:
        for number in range(_WORKERS):
            workers.enter_context(_worker(tmp_path / f"home{number}"))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await store.leases.held() or await store.ids(status=("queued",), limit=1):
                await ended.wait(None)

    await asyncio.to_thread(feed.close)
    assert len(await store.ids(status=("completed",), limit=_LAUNCHES)) == _LAUNCHES
    assert sorted(done.read_text().split()) == sorted(run_ids)
    assert await store.leases.held() == ()
