"""Many definitions with histories and reconciliations, put into the tables at once."""

from definitions.models import (
    DefinitionRecord,
    DefinitionVersionRecord,
    ReconciliationAttemptRecord,
    ReconciliationRecord,
)
from tests.definitions.state.stores import WRITER, hash_of
from tests.fakes.clocks import START_AT

KINDS = ("agent", "playbook")
# Of every definition every so many versions have failed.
FAILED_EVERY = 4


def insert_definitions(count: int, *, versions: int, writer_every: int) -> None:
    """Insert definitions `n0`.. of both kinds, alternating; every so many have a writer at work.

    The reconciliation of a newest version is pending, those of earlier ones are resolved.
    """
    DefinitionRecord.objects.bulk_create(
        _definition(number, versions, has_writer=number % writer_every == 0) for number in range(count)
    )
    definitions = list(DefinitionRecord.objects.order_by("id"))
    DefinitionVersionRecord.objects.bulk_create(
        _version(definition, number) for definition in definitions for number in range(1, versions + 1)
    )
    failed = DefinitionVersionRecord.objects.filter(write_status="failed").select_related("definition")
    ReconciliationRecord.objects.bulk_create(map(_reconciliation, failed))
    ReconciliationAttemptRecord.objects.bulk_create(
        ReconciliationAttemptRecord(reconciliation=found, outcome="opened", actor="ada", detail="", at=START_AT)
        for found in ReconciliationRecord.objects.all()
    )


def _definition(number: int, versions: int, *, has_writer: bool) -> DefinitionRecord:
    version_id = f"v{number}.{versions}"
    return DefinitionRecord(
        kind=KINDS[number % 2],
        name=f"n{number}",
        name_key=f"n{number}",
        relative_path=f"agents/n{number}.md",
        latest_version=versions,
        latest_version_id=version_id,
        latest_sha256=None if number % 7 == 0 else hash_of(version_id),
        latest_size_bytes=10,
        writer_process=WRITER.model_dump_json() if has_writer else None,
        writer_version_id=version_id if has_writer else None,
        writer_claimed_at=START_AT if has_writer else None,
        pending_reconciliation_id=f"r{version_id}" if versions % FAILED_EVERY == 0 else None,
        created_at=START_AT,
        updated_at=START_AT,
    )


def _version(definition: DefinitionRecord, number: int) -> DefinitionVersionRecord:
    version_id = f"v{definition.name[1:]}.{number}"
    return DefinitionVersionRecord(
        version_id=version_id,
        definition=definition,
        version=number,
        relative_path=definition.relative_path,
        content=version_id,
        content_sha256=hash_of(version_id),
        size_bytes=10,
        origin="save",
        actor="ada",
        write_status="failed" if number % FAILED_EVERY == 0 else "written",
        created_at=START_AT + number,
    )


def _reconciliation(version: DefinitionVersionRecord) -> ReconciliationRecord:
    is_pending = version.version_id == version.definition.latest_version_id
    return ReconciliationRecord(
        reconciliation_id=f"r{version.version_id}",
        definition=version.definition,
        version_id=version.version_id,
        status="pending" if is_pending else "resolved",
        resolution=None if is_pending else "superseded",
        resolved_at=None if is_pending else START_AT,
        error_code="io",
        error_detail="",
        expected_sha256=version.content_sha256,
        created_at=version.created_at,
        updated_at=version.created_at,
    )
