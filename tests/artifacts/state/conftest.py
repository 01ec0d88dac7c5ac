import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.artifacts.state.stores import DATABASE, Shop, django_shop, memory_shop


@pytest.fixture(params=["memory", pytest.param("database", marks=DATABASE)])
async def shop(request: pytest.FixtureRequest) -> AsyncIterator[Shop]:
    """Each of the two stores, with a run `r` that an invocation `i` caused."""
    shop = memory_shop() if request.param == "memory" else django_shop()
    await shop.runs.start("r", invocation_id="i")
    yield shop
    await asyncio.to_thread(shop.close)


@pytest.fixture
async def database() -> AsyncIterator[Shop]:
    """The Django adapters alone. For tests marked with DATABASE."""
    shop = django_shop()
    await shop.runs.start("r", invocation_id="i")
    yield shop
    await asyncio.to_thread(shop.close)
