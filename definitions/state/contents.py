"""Which contents histories know, asked for many at once."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

from django.db.models import F, QuerySet

from contract.definitions import DefinitionKind
from definitions.models import DefinitionVersionRecord
from definitions.state.locking import chunks

# Two variables each in one statement, and each name is looked up with each hash.
_ASKED_AT_ONCE: Final = 100
# Contents of at most 1 MiB that are in memory at once.
_READ_AT_ONCE: Final = 16


def known(kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], last: int) -> tuple[bool, ...]:
    """Say of each name and content whether a version has it, or one of the `last` begins with it."""
    return tuple(answer for chunk in chunks(contents, _ASKED_AT_ONCE) for answer in _known(kind, chunk, last))


def _known(kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], last: int) -> Iterator[bool]:
    hashes = [sha256(content).hexdigest() for _, content in contents]
    names = {name for name, _ in contents}
    found = set(whole(kind, sorted(names), hashes).values_list("definition__name", "content_sha256"))
    are_whole = [(name, number) in found for (name, _), number in zip(contents, hashes, strict=True)]
    begun = _begun(kind, [asked for asked, is_whole in zip(contents, are_whole, strict=True) if not is_whole], last)
    return (is_whole or asked in begun for asked, is_whole in zip(contents, are_whole, strict=True))


def _begun(kind: DefinitionKind, contents: Sequence[tuple[str, bytes]], last: int) -> set[tuple[str, bytes]]:
    """Return those that one of the last versions begins with; only their histories are read."""
    asked: defaultdict[str, set[bytes]] = defaultdict(set)
    for name, content in contents:
        asked[name].add(content)
    found: set[tuple[str, bytes]] = set()
    rows = newest(kind, sorted(asked), last).values_list("definition__name", "content")
    for name, text in rows.iterator(chunk_size=_READ_AT_ONCE):
        data = text.encode()
        found.update((name, content) for content in asked[name] if data.startswith(content))
    return found


def whole(kind: DefinitionKind, names: Sequence[str], hashes: Sequence[str]) -> QuerySet[DefinitionVersionRecord]:
    """Return the versions with one of these contents; the empty content of a deletion is none."""
    return DefinitionVersionRecord.objects.filter(
        definition__kind=kind, definition__name__in=names, content_sha256__in=hashes, deleted=False
    )


def newest(kind: DefinitionKind, names: Sequence[str], last: int) -> QuerySet[DefinitionVersionRecord]:
    """Return the last versions of each definition."""
    return DefinitionVersionRecord.objects.filter(
        definition__kind=kind, definition__name__in=names, version__gt=F("definition__latest_version") - last
    )
