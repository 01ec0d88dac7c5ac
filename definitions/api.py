"""HTTP endpoints of definitions and reconciliations: parse, one call, answer."""

import re
from typing import Final

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contract.base import ContractModel, FieldFailure, Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionQuery,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    DeleteDefinition,
    Reconciliation,
    ReconciliationDetail,
    ReconciliationQuery,
    ResolveReconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinitions,
    SnapshotResult,
    VersionQuery,
)
from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import NotFound, ValidationFailure
from contract.parsing import parse_model, strict_json_loads
from definitions.names import require_name
from studio_project.api import body_of, optional_body_of, query_of, refuse_body, respond
from studio_project.composition import get_studio
from studio_project.openapi import describes

router = Router(tags=["definitions"])

# What looking at a file can end in, and what changing one can.
_READING: Final = ("not_found", "conflict", "permission_denied")
_WRITING: Final = (*_READING, "reconciliation_required")

# What HTTP has for `expected_version`. There are no entity tags here, so that none of these could ever hold.
_PRECONDITIONS: Final = ("If-Match", "If-None-Match", "If-Unmodified-Since")
# Fewer digits than SAFE_INTEGER_MAX has: no history is as long, and no column holds more.
_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,14}")


@router.get("/definitions/", **describes(Page[DefinitionSummary], query=DefinitionQuery))
async def list_definitions(request: HttpRequest) -> HttpResponse:
    """One page of definitions by kind and name."""
    query = query_of(DefinitionQuery, request)
    return respond(await get_studio().list_definitions(query))


@router.post(
    "/definitions/snapshot",
    **describes(SnapshotResult, body=SnapshotDefinitions, body_required=False, errors=("not_found",)),
)
async def snapshot_definitions(request: HttpRequest) -> HttpResponse:
    """Make versions of what was done to files by hand."""
    command = optional_body_of(SnapshotDefinitions, request)
    return respond(await get_studio().snapshot_definitions(command))


@router.get("/definitions/{kind}/{name}", **describes(DefinitionDetail, errors=_READING))
async def get_definition(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """A definition's file, and how the history stands to it."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_definition(kind, name))


@router.put(
    "/definitions/{kind}/{name}",
    **describes(
        SaveResult,
        body=SaveDefinition,
        path_fields=("kind", "name"),
        errors=("conflict", "permission_denied", "reconciliation_required"),
    ),
)
async def save_file_definition(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Store content as the next version and as the file. The body may repeat kind and name."""
    _refuse_preconditions(request)
    command = _save_of(request, kind, name)
    return respond(await get_studio().save_file_definition(command))


@router.delete("/definitions/{kind}/{name}", **describes(SaveResult, query=DeleteDefinition, errors=_WRITING))
async def delete_definition(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Record the deletion as a version and remove the file."""
    _refuse_preconditions(request)
    refuse_body(request)
    command = query_of(DeleteDefinition, request)
    return respond(await get_studio().delete_definition(kind, name, command))


@router.get(
    "/definitions/{kind}/{name}/versions/",
    **describes(Page[DefinitionVersionSummary], query=VersionQuery, errors=("not_found",)),
)
async def list_definition_versions(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """One page of a history, newest first."""
    query = query_of(VersionQuery, request)
    return respond(await get_studio().list_definition_versions(kind, name, query))


@router.get("/definitions/{kind}/{name}/versions/{version}", **describes(DefinitionVersion, errors=("not_found",)))
async def get_definition_version(request: HttpRequest, kind: str, name: str, version: str) -> HttpResponse:
    """One version with its content."""
    query_of(ContractModel, request)
    number = _number_of(kind, name, version)
    return respond(await get_studio().get_definition_version(kind, name, number))


@router.get("/definitions/{kind}/{name}/diff", **describes(DefinitionDiff, query=DiffQuery, errors=_READING))
async def diff_definition(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Two versions compared, or a version and the file."""
    query = query_of(DiffQuery, request)
    return respond(await get_studio().diff_definition(kind, name, query))


@router.post("/definitions/{kind}/{name}/rollback", **describes(SaveResult, body=RollbackDefinition, errors=_WRITING))
async def rollback_definition(request: HttpRequest, kind: str, name: str) -> HttpResponse:
    """Store an earlier version's content as the newest."""
    _refuse_preconditions(request)
    command = body_of(RollbackDefinition, request)
    return respond(await get_studio().rollback_definition(kind, name, command))


@router.get("/reconciliations/", **describes(Page[Reconciliation], query=ReconciliationQuery))
async def list_reconciliations(request: HttpRequest) -> HttpResponse:
    """One page of reconciliations, newest first."""
    query = query_of(ReconciliationQuery, request)
    return respond(await get_studio().list_reconciliations(query))


@router.get("/reconciliations/{reconciliation_id}", **describes(ReconciliationDetail, errors=("not_found",)))
async def get_reconciliation(request: HttpRequest, reconciliation_id: str) -> HttpResponse:
    """A reconciliation with its log and the file as it is now."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_reconciliation(reconciliation_id))


@router.post(
    "/reconciliations/{reconciliation_id}/resolve",
    **describes(
        Reconciliation, body=ResolveReconciliation, errors=("not_found", "conflict", "reconciliation_required")
    ),
)
async def resolve_reconciliation(request: HttpRequest, reconciliation_id: str) -> HttpResponse:
    """Settle a reconciliation; the same action again is the same as once."""
    command = body_of(ResolveReconciliation, request)
    return respond(await get_studio().resolve_reconciliation(reconciliation_id, command))


def _save_of(request: HttpRequest, kind: str, name: str) -> SaveDefinition:
    """Read a save whose kind and name are in the path. ValidationFailure where the body has others."""
    body = strict_json_loads(request.body)
    place = {"kind": kind, "name": name}
    command = parse_model(SaveDefinition, {**place, **body} if isinstance(body, dict) else body)
    require_name(command.name, "name")
    message = "must be the same as in the path, or be left out"
    differing = [
        FieldFailure(path=(field,), code="path", message=message)
        for field, value in place.items()
        if getattr(command, field) != value
    ]
    if differing:
        raise ValidationFailure(tuple(differing))
    return command


def _refuse_preconditions(request: HttpRequest) -> None:
    """Refuse a condition that would not be read, before its sender relies on it."""
    for header in _PRECONDITIONS:
        if header in request.headers:
            message = "is not read here: give `expected_version`"
            raise ValidationFailure.at(header, code="precondition", message=message)


def _number_of(kind: str, name: str, version: str) -> int:
    if _NUMBER.fullmatch(version) is None:
        raise NotFound("definition version", f"{kind}/{name}/{version}")
    return int(version)
