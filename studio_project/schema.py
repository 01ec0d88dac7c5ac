"""Whether the database has the schema this code is written for, and the step that brings it there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.executor import MigrationExecutor

from studio_project.database_url import Database


class DatabaseUnusable(Exception):
    """The database does not answer, or refuses."""


class SchemaMismatch(Exception):
    """The database and the code do not fit, and nobody asked to change that."""


@dataclass(frozen=True, kw_only=True)
class SchemaState:
    """`missing` migrations the database has yet to see, `unknown` ones that only a newer code has."""

    missing: tuple[str, ...]
    unknown: tuple[str, ...]


@contextmanager
def usable_database(database: Database) -> Iterator[None]:
    """Turn what the database says into DatabaseUnusable, and leave no connection open."""
    try:
        yield
    except DatabaseError as error:
        reason = str(error).strip().partition("\n")[0]
        raise DatabaseUnusable(f"the database {database.display} cannot be used: {reason}") from error
    finally:
        connections.close_all()


def schema_state() -> SchemaState:
    """Compare the migrations of the code with those the database has seen."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    ours = {app for app, _ in executor.loader.disk_migrations}
    ahead = [
        key for key in executor.loader.applied_migrations if key[0] in ours and key not in executor.loader.graph.nodes
    ]
    return SchemaState(
        missing=tuple(f"{step.app_label}.{step.name}" for step, _ in plan),
        unknown=tuple(sorted(".".join(key) for key in ahead)),
    )


def migrate() -> None:
    """Apply every missing migration."""
    call_command("migrate", interactive=False, verbosity=0)


def refuse_unknown(state: SchemaState) -> None:
    """Raise SchemaMismatch when the database was written by a newer code: an older one would misread it."""
    if state.unknown:
        raise SchemaMismatch(
            f"the database is ahead of this code, by {_list(state.unknown)}; use the newer Studio that migrated it"
        )


def refuse_missing(state: SchemaState) -> None:
    """Raise SchemaMismatch when the database is behind the code."""
    if state.missing:
        raise SchemaMismatch(
            f"the database is behind this code, by {_list(state.missing)}; "
            "start `studio serve` once without --no-migrate"
        )


def _list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
