"""The store fixtures. What only one of the two databases has is tested where that database is."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from django.conf import settings

from tests.runs.state.stores import DATABASE, Store, django_store, memory_store

_ON_SQLITE = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
collect_ignore_glob = ["*_on_postgresql.py"] if _ON_SQLITE else ["*_on_sqlite.py"]


@pytest.fixture(params=["memory", pytest.param("database", marks=DATABASE)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """Each of the two stores, empty."""
    store = memory_store() if request.param == "memory" else django_store()
    yield store
    await asyncio.to_thread(store.close)


@pytest.fixture
async def database() -> AsyncIterator[Store]:
    """The Django adapters alone, over an empty database. For tests marked with DATABASE."""
    store = django_store()
    yield store
    await asyncio.to_thread(store.close)
