"""Operations that change a definition: save, roll back, delete."""

from contract.definitions import DeleteDefinition, RollbackDefinition, SaveDefinition, SaveResult
from contract.errors import Conflict, NotFound
from definitions.content import check_content
from definitions.names import known_kind, require_name
from definitions.services.text_work import CHECKS, in_turn
from definitions.services.writing import Change, DefinitionWriter


async def save_file_definition(*, command: SaveDefinition, writer: DefinitionWriter) -> SaveResult:
    """Store content in history and file.

    ValidationFailure with line and column, Conflict, PermissionDenied, ReconciliationRequired.
    """
    require_name(command.name, "name")
    await in_turn(CHECKS, check_content, command.kind, command.content)
    change = Change(
        kind=command.kind,
        name=command.name,
        content=command.content,
        origin="save",
        message=command.message,
        actor=command.actor,
        expected_version=command.expected_version,
    )
    return await _stored(change, writer)


async def rollback_definition(
    *, kind: str, name: str, command: RollbackDefinition, writer: DefinitionWriter
) -> SaveResult:
    """Store an earlier version's content, as it was, as the newest version.

    It is not validated: it was the file once. NotFound for the version; Conflict when it records a deletion.
    """
    known = known_kind(kind, name, version=command.version)
    earlier = await writer.history.find_version(known, name, command.version)
    if earlier is None:
        raise NotFound("definition version", f"{kind}/{name}/{command.version}")
    if earlier.deleted:
        detail = f"version {command.version} of {name} records a deletion; to repeat that, delete the definition"
        raise Conflict("definition version", "content", "deletion", detail)
    change = Change(
        kind=known,
        name=name,
        content=earlier.content,
        origin="rollback",
        message=command.message or f"rollback to version {command.version}",
        actor=command.actor,
        expected_version=command.expected_version,
    )
    return await _stored(change, writer)


async def delete_definition(*, kind: str, name: str, command: DeleteDefinition, writer: DefinitionWriter) -> SaveResult:
    """Record the deletion as a version and remove the file. NotFound when there is nothing to delete."""
    known = known_kind(kind, name)
    (seen,) = await writer.files.observe(known, [name])
    if seen.shadowed is not None:
        detail = f"{seen.shadowed} would take its place: move or remove it first"
        raise Conflict("definition file", seen.relative_path, seen.shadowed, detail)
    change = Change(
        kind=known,
        name=name,
        deleted=True,
        origin="delete",
        message=command.message,
        actor=command.actor,
        expected_version=command.expected_version,
    )
    return await _stored(change, writer)


async def _stored(change: Change, writer: DefinitionWriter) -> SaveResult:
    version = await writer.store(change)
    return SaveResult(kind=version.kind, name=version.name, version=version.version, saved_at=version.created_at)
