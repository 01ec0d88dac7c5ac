"""Fixtures for every test live in the folders of their capability. Here is only what the whole suite keeps to."""

import sys

import pytest
from django.db import connection
from hypothesis import settings

# By which pytest-django gives a test a database.
_FIXTURES = {"db", "transactional_db"}
# For who only asks which lines are reached (tests/architecture/test_testability.py): `--hypothesis-profile=few`.
settings.register_profile("few", max_examples=5)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests marked `long` first, so that no worker is left with one alone; the others in the order they have.

    On PostgreSQL run what reaches a database; everything else has run on SQLite and would do the same again.
    """
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    if connection.vendor != "postgresql":
        return
    reaching = [item for item in items if _reaches_database(item)]
    kept = set(reaching)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = reaching


def _reaches_database(item: pytest.Item) -> bool:
    """Whether a test asks for it by a mark or a fixture, or starts a daemon. To any other pytest denies a database."""
    if item.get_closest_marker("django_db") is not None or _FIXTURES & set(getattr(item, "fixturenames", ())):
        return True
    fixtures = getattr(item, "_fixtureinfo").name2fixturedefs.values()  # noqa: B009 (pytest has no public name for it)
    modules = {sys.modules[fixture.func.__module__] for found in fixtures for fixture in found}
    return any("live_daemon" in vars(module) for module in {*modules, getattr(item, "module", sys)})
