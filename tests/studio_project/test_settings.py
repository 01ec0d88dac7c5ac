"""Django's settings, as they are in effect."""

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler
from pytest_django.plugin import DjangoDbBlocker

from studio_project.config import current_config
from studio_project.database_url import Database, parse_database_url
from studio_project.settings import database_settings
from tests.environment import NetworkRefused, refuse_other_machines


@pytest.fixture
def sqlite(tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[BaseDatabaseWrapper]:
    """A connection to a new SQLite file, whatever database the suite runs on."""
    database = Database(engine="sqlite", name=str(tmp_path / "new.db"))
    connection = ConnectionHandler({"default": database_settings(database)})["default"]
    with django_db_blocker.unblock():
        yield connection
        connection.close()


def pragma(connection: BaseDatabaseWrapper, name: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {name}")
        return cursor.fetchone()[0]


def test_the_system_checks_find_nothing() -> None:
    assert run_checks() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("foreign_keys", 1),
        ("busy_timeout", 20_000),
        ("auto_vacuum", 2),  # INCREMENTAL
    ],
)
def test_every_sqlite_connection_has_its_pragmas(sqlite: BaseDatabaseWrapper, name: str, value: object) -> None:
    assert pragma(sqlite, name) == value


def test_a_database_that_exists_keeps_its_mode_and_waits_for_nobody(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    path = tmp_path / "older.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as older:
        older.execute("CREATE TABLE things (name text)")
        older.execute("BEGIN IMMEDIATE")
        connection = ConnectionHandler({"default": database_settings(parse_database_url(f"sqlite://{path}"))})[
            "default"
        ]
        connection.settings_dict["OPTIONS"]["init_command"] = ""  # entering WAL is what waits here
        with django_db_blocker.unblock():
            assert pragma(connection, "auto_vacuum") == 0
            connection.close()


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_a_new_database_is_its_owners_alone_whatever_the_umask(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker, suffix: str
) -> None:
    path = tmp_path / "new.db"
    connection = ConnectionHandler({"default": database_settings(parse_database_url(f"sqlite://{path}"))})["default"]
    before = os.umask(0)
    try:
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute("CREATE TABLE things (name text)")
            mode = stat.S_IMODE(path.with_name(path.name + suffix).stat().st_mode)
    finally:
        os.umask(before)
        connection.close()

    assert mode == 0o600


def test_the_mode_of_a_database_that_exists_is_its_owners_to_choose(
    tmp_path: Path, django_db_blocker: DjangoDbBlocker
) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o660)
    connection = ConnectionHandler({"default": database_settings(parse_database_url(f"sqlite://{path}"))})["default"]
    with django_db_blocker.unblock():
        connection.ensure_connection()
        connection.close()

    assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_a_sqlite_transaction_waits_for_the_write_lock_at_its_start(sqlite: BaseDatabaseWrapper) -> None:
    assert sqlite.settings_dict["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert sqlite.settings_dict["TEST"]["NAME"].endswith("new.db.test")


def test_postgresql_gets_every_part_of_its_url() -> None:
    found = database_settings(parse_database_url("postgresql://u%40:p%3A@h:1/d?sslmode=require"))

    assert {key: found[key] for key in ("NAME", "HOST", "PORT", "USER", "PASSWORD", "OPTIONS")} == {
        "NAME": "d",
        "HOST": "h",
        "PORT": "1",
        "USER": "u@",
        "PASSWORD": "p:",
        "OPTIONS": {"sslmode": "require", "options": "-c idle_in_transaction_session_timeout=10s"},
    }
    assert found["CONN_MAX_AGE"] is None


def test_the_session_options_of_a_postgresql_url_come_behind_ours_and_win() -> None:
    url = "postgresql://h/d?options=-c%20idle_in_transaction_session_timeout%3D60s%20-c%20jit%3Doff"

    options = database_settings(parse_database_url(url))["OPTIONS"]["options"]

    assert options == (
        "-c idle_in_transaction_session_timeout=10s -c idle_in_transaction_session_timeout=60s -c jit=off"
    )


def test_the_key_of_sessions_is_the_homes() -> None:
    key_file = current_config().home / "secret_key"

    assert str(settings.SECRET_KEY) == key_file.read_text(encoding="ascii").strip()


def test_cookies_are_the_admins_alone() -> None:
    assert {settings.SESSION_COOKIE_PATH, settings.CSRF_COOKIE_PATH} == {"/admin/"}
    assert settings.SESSION_COOKIE_HTTPONLY
    assert settings.SESSION_COOKIE_SAMESITE == settings.CSRF_COOKIE_SAMESITE == "Lax"


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("socket.connect", (None, ("93.184.215.14", 80))),
        ("socket.connect", (None, ("2001:db8::1", 80, 0, 0))),
        ("socket.getaddrinfo", ("studio.example", 80, 0, 0, 0)),
    ],
)
def test_tests_reach_no_other_machine(event: str, arguments: tuple[object, ...]) -> None:
    with pytest.raises(NetworkRefused):
        refuse_other_machines(event, arguments)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("socket.connect", (None, ("127.0.0.1", 80))),
        ("socket.connect", (None, ("::1", 80, 0, 0))),
        ("socket.connect", (None, "/run/socket")),
        ("socket.getaddrinfo", (b"localhost", 80, 0, 0, 0)),
        ("open", ("file", "r", 0)),
    ],
)
def test_tests_may_reach_this_machine(event: str, arguments: tuple[object, ...]) -> None:
    refuse_other_machines(event, arguments)
