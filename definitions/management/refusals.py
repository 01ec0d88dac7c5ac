"""What a person can do about an error: said after it, with the command that does it."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from contract.application import StudioApplication
from contract.definitions import VersionQuery
from contract.errors import NotFound, ReconciliationRequired, StudioError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The error of an operation, and the lines that say how to go on."""

    error: StudioError
    notes: tuple[str, ...] = ()


def remote_options(remote: str | None) -> list[str]:
    """Return the options with which another command asks the same application."""
    return [] if remote is None else ["--remote", remote]


def command_line(*words: str, options: Sequence[str]) -> str:
    """Return a command on definitions, as a shell takes it."""
    return shlex.join(["studio", "definition", *words, *options])


async def way_on(error: StudioError, studio: StudioApplication, options: Sequence[str]) -> tuple[str, ...]:
    """Return what is said after an error; an application that does not answer once more makes that less."""
    match error:
        case ReconciliationRequired(reconciliation_id=found_id):
            return await _to_reconcile(found_id, studio, options)
        case NotFound(resource="definition", identifier=identifier):
            kind, _, name = identifier.partition("/")
            return await _to_restore(kind, name, studio, options)
    return ()


async def _to_reconcile(found_id: str, studio: StudioApplication, options: Sequence[str]) -> tuple[str, ...]:
    how = f"to settle it: {command_line('reconcile', found_id, options=options)}"
    try:
        found = await studio.get_reconciliation(found_id)
    except StudioError:
        return (how,)
    return (f"why: {found.error_code}{f': {found.error_detail}' if found.error_detail else ''}", how)


async def _to_restore(kind: str, name: str, studio: StudioApplication, options: Sequence[str]) -> tuple[str, ...]:
    """Name the history of what has no file, and the newest content in it."""
    try:
        page = await studio.list_definition_versions(kind, name, VersionQuery())
    except StudioError:
        return ()
    notes = [f"its history is there: {command_line('history', kind, name, options=options)}"]
    if newest := next((version.version for version in page.items if not version.deleted), None):
        notes.append(f"to restore it: {command_line('rollback', kind, name, str(newest), options=options)}")
    return tuple(notes)
