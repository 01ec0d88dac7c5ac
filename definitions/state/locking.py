"""How a transaction takes hold of definitions, and the changes that several of its kinds make."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

from django.db.models import F, Value
from django.db.models.functions import Greatest

from contract.definitions import WriteStatus
from definitions.models import DefinitionRecord, DefinitionVersionRecord

T = TypeVar("T")

# Well below the variables that one statement may have in every SQLite: 999 before version 3.32.
_CHUNK: Final = 500


def locked(**where: Any) -> DefinitionRecord | None:
    """Read one definition and keep others from changing it until the transaction ends."""
    return DefinitionRecord.objects.select_for_update().filter(**where).first()


def later(at: float) -> Greatest:
    """Return the `updated_at` of a change: it never goes back, whatever the clock does."""
    return Greatest(F("updated_at"), Value(at))


def set_write_status(version_ids: Sequence[str], status: WriteStatus) -> None:
    """Say what became of the files of versions: at most as many as one statement takes."""
    DefinitionVersionRecord.objects.filter(version_id__in=version_ids).update(write_status=status)


def chunks(values: Sequence[T], size: int = _CHUNK) -> Iterator[Sequence[T]]:
    """Cut values into what one statement takes, or less."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
