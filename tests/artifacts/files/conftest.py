from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.artifacts.files.shelves import DiskShelf, MemoryShelf, Shelf


@pytest.fixture(params=["memory", "disk"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    """Files in memory, and on a disk."""
    shelf = DiskShelf(tmp_path) if request.param == "disk" else MemoryShelf()
    yield shelf
    shelf.close()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskShelf]:
    shelf = DiskShelf(tmp_path / "home")
    yield shelf
    shelf.close()
