"""The store fixtures."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.schedules.state.stores import DATABASE, Store, django_store, memory_store

WRITERS = 4


@pytest.fixture(params=["memory", pytest.param("database", marks=DATABASE)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """Each of the two stores, empty."""
    store = memory_store() if request.param == "memory" else django_store()
    yield store
    await asyncio.to_thread(store.close)


@pytest.fixture
async def database() -> AsyncIterator[Store]:
    """The Django adapter alone, over an empty database. For tests marked with DATABASE."""
    store = django_store()
    yield store
    await asyncio.to_thread(store.close)


@pytest.fixture
async def writers() -> AsyncIterator[list[Store]]:
    """Several stores over one empty database: each writes through a lane of its own, as a process does.

    For tests marked with DATABASE.
    """
    stores = [django_store() for _ in range(WRITERS)]
    yield stores
    await asyncio.gather(*(asyncio.to_thread(store.close) for store in stores))
