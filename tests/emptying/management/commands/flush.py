"""`flush` in place of Django's: empties what has rows, after each test that commits.

Django's own truncates every table, for which PostgreSQL makes as many new files and waits for the disk, and then makes
content types and permissions anew. Nearly every test leaves a few rows in a few tables.
"""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.base import BaseCommand
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

# What migrations have made stays, as it does in a database in use.
_KEPT = {ContentType._meta.db_table, Permission._meta.db_table}
# Rows that are deleted keep their place in the file until somebody vacuums; from this size on a new file is cheaper.
_LARGE_BYTES = 1_048_576


class Command(BaseCommand):
    """Called by Django's TransactionTestCase with options for how to truncate, which say nothing here."""

    help = "Empty every table that has rows, except those that migrations have filled."
    requires_system_checks = []  # noqa: RUF012 (Django's declaration)
    stealth_options = ("interactive", "reset_sequences", "allow_cascade", "inhibit_post_migrate")

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--database", default="default")

    def handle(self, *_: Any, database: str, **__: Any) -> None:
        connection = connections[database]
        with transaction.atomic(using=database):
            if filled := _filled(connection):
                _empty(connection, filled)


def _filled(connection: BaseDatabaseWrapper) -> list[str]:
    """Return the quoted names of the tables that have rows."""
    tables = set(connection.introspection.django_table_names(only_existing=True)) - _KEPT
    quoted = [connection.ops.quote_name(table) for table in sorted(tables)]
    asked = [f"SELECT {n} WHERE EXISTS (SELECT 1 FROM {table})" for n, table in enumerate(quoted)]  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asked))
        return [quoted[number] for (number,) in cursor.fetchall()]


def _empty(connection: BaseDatabaseWrapper, tables: list[str]) -> None:
    """Empty these tables. Constraints are looked at when the transaction ends, so their order does not matter."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL synchronous_commit = off")
            cursor.execute("SELECT max(pg_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name", [tables])
            if cursor.fetchone()[0] > _LARGE_BYTES:
                cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
                return
        for table in tables:
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 (a table of ours)
