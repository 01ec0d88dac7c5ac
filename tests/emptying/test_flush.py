"""What keeps tests that commit from each other: afterwards nothing is left but what migrations have made."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from runs.models import InvocationRecord, RunRecord
from tests.runs.state.records import insert_runs

pytestmark = pytest.mark.django_db(transaction=True)
_MADE_BY_MIGRATIONS = {ContentType, Permission}


def flush() -> None:
    """Empty the database as Django does it after a test."""
    options = {"reset_sequences": False, "allow_cascade": False, "inhibit_post_migrate": False}
    call_command("flush", verbosity=0, interactive=False, database="default", **options)


def left() -> set[str]:
    existing = set(connection.introspection.table_names())
    models = {model for model in apps.get_models() if model._meta.db_table in existing} - _MADE_BY_MIGRATIONS
    return {model.__name__ for model in models if model._default_manager.exists()}


def test_what_a_test_has_stored_is_gone_and_what_migrations_have_made_is_there() -> None:
    made = [sorted(model.objects.values_list("pk", flat=True)) for model in (ContentType, Permission)]
    ada = User.objects.create_user("ada")
    ada.user_permissions.add(Permission.objects.earliest("pk"))
    InvocationRecord.objects.create(invocation_id="a", kind="agent", created_at=1.0)
    filled = left()

    flush()

    assert filled == {"User", "InvocationRecord"}
    assert left() == set()
    assert not User.user_permissions.through.objects.exists()
    assert [sorted(model.objects.values_list("pk", flat=True)) for model in (ContentType, Permission)] == made
    assert all(made)


def test_tables_that_have_grown_are_emptied_too() -> None:
    insert_runs()
    filled = RunRecord.objects.count()

    flush()

    assert filled > 1_000
    assert left() == set()


def test_an_empty_database_stays_as_it_is() -> None:
    flush()

    assert left() == set()
