from pathlib import Path

import pytest

from tests.definitions.files.hands import DiskHome, Home, MemoryHome


@pytest.fixture(params=["memory", "disk"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    return DiskHome(tmp_path) if request.param == "disk" else MemoryHome()


@pytest.fixture
def disk(tmp_path: Path) -> DiskHome:
    return DiskHome(tmp_path)
