"""Looks at the home, the database, the port and the rest, and changes none of them."""

import os
import platform
import shutil
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import django
from django.apps import apps
from django.db import DatabaseError, connection

from contract.ports import Clock
from studio_project.config import FILE_NAME, StudioConfig
from studio_project.doctor import DatabaseFacts, Facts, HomeFacts
from studio_project.home import find_holder
from studio_project.machine import executables, folder_fault
from studio_project.schema import schema_state
from studio_project.version import VERSION

_MODE_BITS: Final = 0o777


def gather(config: StudioConfig, clock: Clock) -> Facts:
    """Return what is found at this moment."""
    holder = find_holder(config.home)
    return Facts(
        home=home_facts(config.home),
        database=database_facts(config),
        holder=holder,
        port_fault=None if holder else port_fault(config.host, config.port),
        script=shutil.which("studio"),
        executables=executables(config.runtimes),
        root_fault=folder_fault(config.execution_root),
        now=datetime.fromtimestamp(clock.now(), tz=UTC).astimezone(ZoneInfo(config.timezone)),
        software=f"Studio {VERSION}, Django {django.get_version()}, Python {platform.python_version()}",
    )


def home_facts(home: Path) -> HomeFacts:
    """Look at a home, or at the nearest folder above one that is yet to be made."""
    there = next(path for path in (home, *home.parents) if path.exists())
    return HomeFacts(
        path=home,
        is_folder=home.is_dir(),
        is_writable=there.is_dir() and os.access(there, os.R_OK | os.W_OK | os.X_OK),
        mode=_mode(home),
        file_mode=_mode(home / FILE_NAME),
        free_bytes=shutil.disk_usage(there).free,
    )


def database_facts(config: StudioConfig) -> DatabaseFacts:
    """Ask the database. A SQLite file that is not there is not made."""
    name = Path(config.database.name)
    if config.database.engine == "sqlite" and not name.exists():
        return DatabaseFacts(absent=True)
    wal_bytes = _size(Path(f"{name}-wal"))  # before this connection: closing the only one empties it
    try:
        schema = schema_state()
        version, size_bytes, journal_mode = _sqlite() if connection.vendor == "sqlite" else _postgresql()
        shrinks = _sqlite_shrinks() if connection.vendor == "sqlite" else True
        reconciliations = None if schema.missing or schema.unknown else _pending_reconciliations()
    except DatabaseError as error:
        return DatabaseFacts(fault=str(error).strip().partition("\n")[0])
    finally:
        connection.close()
    return DatabaseFacts(
        schema=schema,
        version=version,
        size_bytes=size_bytes,
        journal_mode=journal_mode,
        wal_bytes=wal_bytes,
        shrinks=shrinks,
        reconciliations=reconciliations,
    )


def port_fault(host: str, port: int) -> str | None:
    """Say why a daemon could not listen there, or None."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host.strip("[]"), port))
        except OSError as error:
            return error.strerror or str(error)
    return None


def _sqlite() -> tuple[str, int, str | None]:
    with connection.cursor() as cursor:
        [version] = cursor.execute("SELECT sqlite_version()").fetchone()
        [pages] = cursor.execute("PRAGMA page_count").fetchone()
        [page_bytes] = cursor.execute("PRAGMA page_size").fetchone()
        [journal_mode] = cursor.execute("PRAGMA journal_mode").fetchone()
    return f"SQLite {version}", pages * page_bytes, journal_mode


def _sqlite_shrinks() -> bool:
    with connection.cursor() as cursor:
        [mode] = cursor.execute("PRAGMA auto_vacuum").fetchone()
    return bool(mode)


def _postgresql() -> tuple[str, int, str | None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
        version, size_bytes = cursor.fetchone()
    return f"PostgreSQL {version}", size_bytes, None


def _pending_reconciliations() -> int:
    pending: int = apps.get_model("definitions", "ReconciliationRecord").objects.filter(status="pending").count()
    return pending


def _mode(path: Path) -> int | None:
    with suppress(OSError):
        return path.stat().st_mode & _MODE_BITS
    return None


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0
