"""The suites of launching, of the queue and of supervision, where Procrastinate is the engine of the queue."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.runs.state.stores import DATABASE, Store, job_store
from tests.runs.state.test_launching import *  # noqa: F403 (this and the next: all of their tests)
from tests.runs.state.test_queueing import *  # noqa: F403
from tests.runs.state.test_supervising import *  # noqa: F403

pytestmark = DATABASE


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    """In the place of the suites' own."""
    store = job_store()
    yield store
    await asyncio.to_thread(store.close)
