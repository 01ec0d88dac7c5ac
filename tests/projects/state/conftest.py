"""The store fixtures."""

from collections.abc import AsyncIterator

import pytest

from tests.projects.state.stores import Store, django_store, memory_store
from tests.runs.state.stores import DATABASE


@pytest.fixture(params=["memory", pytest.param("database", marks=DATABASE)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """Each of the two stores, empty."""
    store = memory_store() if request.param == "memory" else django_store()
    yield store
    await store.close()
