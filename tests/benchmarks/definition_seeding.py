"""`python -m tests.benchmarks.definition_seeding COUNT PENDING`: fills STUDIO_HOME with definitions of one version.

The newest PENDING of them are at work by a process that is gone, as a kill in the middle of that many saves would leave
them: half of the files hold their version, the others are still to be written.
"""

import hashlib
import os
import sys
from pathlib import Path
from typing import Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio_project.settings")
django.setup()

from django.core.management import call_command  # noqa: E402 (Django has to be set up first; so below)
from django.db import transaction  # noqa: E402

from definitions.models import DefinitionRecord, DefinitionVersionRecord  # noqa: E402
from tests.benchmarks.definition_files import SIZE_BYTES, name_of, path_of, text_of, write_files  # noqa: E402
from tests.benchmarks.seeding import gone_process  # noqa: E402

_AT_ONCE: Final = 2_000
_CREATED_AT: Final = 1_700_000_000.0


def seed(home: Path, count: int, pending: int) -> None:
    """Migrate, write the files, store heads and versions. Raises IntegrityError on a home that has them already."""
    call_command("migrate", verbosity=0)
    write_files(home, count)
    for number in range(count - pending, count, 2):
        (home / path_of(number)).unlink()
    writer = gone_process().model_dump_json()
    for first in range(0, count, _AT_ONCE):
        with transaction.atomic():
            _store(range(first, min(count, first + _AT_ONCE)), count - pending, writer)


def _store(numbers: range, first_pending: int, writer: str) -> None:
    DefinitionRecord.objects.bulk_create(
        _head(number, writer if number >= first_pending else None) for number in numbers
    )
    DefinitionVersionRecord.objects.bulk_create(
        _version(number, "pending" if number >= first_pending else "written") for number in numbers
    )


def _key(number: int) -> int:
    """Return the row number, so that versions can name it before it is stored."""
    return number + 1


def _version_id(number: int) -> str:
    return f"{number:016x}"


def _sha256(number: int) -> str:
    return hashlib.sha256(text_of(number).encode()).hexdigest()


def _head(number: int, writer: str | None) -> DefinitionRecord:
    return DefinitionRecord(
        id=_key(number),
        kind="agent",
        name=name_of(number),
        name_key=name_of(number),
        relative_path=path_of(number),
        latest_version=1,
        latest_version_id=_version_id(number),
        latest_sha256=_sha256(number),
        latest_size_bytes=SIZE_BYTES,
        file_sha256=None if writer else _sha256(number),
        writer_process=writer,
        writer_version_id=_version_id(number) if writer else None,
        writer_claimed_at=_CREATED_AT if writer else None,
        created_at=_CREATED_AT,
        updated_at=_CREATED_AT,
    )


def _version(number: int, write_status: str) -> DefinitionVersionRecord:
    return DefinitionVersionRecord(
        version_id=_version_id(number),
        definition_id=_key(number),
        version=1,
        relative_path=path_of(number),
        content=text_of(number),
        content_sha256=_sha256(number),
        size_bytes=SIZE_BYTES,
        origin="save",
        actor="operator",
        write_status=write_status,
        created_at=_CREATED_AT,
    )


if __name__ == "__main__":
    seed(Path(os.environ["STUDIO_HOME"]), int(sys.argv[1]), int(sys.argv[2]))
