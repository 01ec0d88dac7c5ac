"""The store fixtures."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.definitions.state.stores import DATABASE, CountingDB, Store, django_store, memory_store
from tests.fakes.clocks import SequentialIds

WRITERS = 4


@pytest.fixture(params=["memory", pytest.param("database", marks=DATABASE)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """Each of the two stores, empty."""
    store = memory_store() if request.param == "memory" else django_store()
    yield store
    await asyncio.to_thread(store.close)


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does.

    For tests marked with DATABASE.
    """
    ids = SequentialIds()
    stores = [django_store(ids=ids) for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(asyncio.to_thread(store.close) for store in stores))


@pytest.fixture
async def counting() -> AsyncIterator[CountingDB]:
    """An executor that counts. For tests marked with DATABASE."""
    db = CountingDB()
    yield db
    await asyncio.to_thread(db.close)
