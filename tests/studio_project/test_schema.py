import pytest
from django.db.migrations.recorder import MigrationRecorder

from studio_project.schema import SchemaMismatch, SchemaState, refuse_missing, refuse_unknown, schema_state

FITTING = SchemaState(missing=(), unknown=())


@pytest.mark.django_db
def test_a_migrated_database_fits_the_code() -> None:
    assert schema_state() == FITTING


@pytest.mark.django_db
def test_a_migration_that_only_a_newer_code_has_is_seen() -> None:
    MigrationRecorder.Migration.objects.create(app="runs", name="9999_from_the_future")

    assert schema_state().unknown == ("runs.9999_from_the_future",)


@pytest.mark.django_db
def test_a_migration_that_the_database_has_not_seen_is_seen() -> None:
    MigrationRecorder.Migration.objects.filter(app="runs").delete()

    assert schema_state().missing[0] == "runs.0001_initial"


@pytest.mark.django_db
def test_migrations_of_apps_that_are_not_ours_do_not_matter() -> None:
    MigrationRecorder.Migration.objects.create(app="somebody_elses", name="0001_initial")

    assert schema_state() == FITTING


def test_a_database_ahead_of_the_code_is_refused_by_name() -> None:
    refuse_unknown(FITTING)

    with pytest.raises(SchemaMismatch, match=r"ahead of this code, by runs\.0009"):
        refuse_unknown(SchemaState(missing=(), unknown=("runs.0009",)))


def test_a_database_behind_the_code_is_refused_by_name() -> None:
    refuse_missing(FITTING)

    with pytest.raises(SchemaMismatch, match=r"behind this code, by a, b, c and 2 more"):
        refuse_missing(SchemaState(missing=("a", "b", "c", "d", "e"), unknown=()))
