"""HTTP endpoints of runs and invocations: parse, one call, answer."""

from django.http import HttpRequest, HttpResponse
from ninja import Router

from contract.actions import LaunchResult, LaunchRun
from contract.base import ContractModel, Page
from contract.events import RecordEvents, RecordResult
from contract.retention import PruneResult, PruneRuns
from contract.runs import (
    CancelResult,
    CancelRun,
    ChangeTags,
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
    StartRun,
    TagsResult,
)
from contract.stats import Stats, StatsQuery
from studio_project.api import body_of, optional_body_of, query_of, respond
from studio_project.composition import get_studio
from studio_project.http_errors import ACCEPTED, CREATED
from studio_project.openapi import describes

router = Router(tags=["runs"])


@router.get("/runs/", **describes(Page[RunSummary], query=RunQuery))
async def list_runs(request: HttpRequest) -> HttpResponse:
    """One page of runs."""
    query = query_of(RunQuery, request)
    return respond(await get_studio().list_runs(query))


@router.post("/runs/", **describes(RunSummary, status=CREATED, body=StartRun, errors=("conflict",)))
async def start_run(request: HttpRequest) -> HttpResponse:
    """Register a run that the caller executes itself."""
    command = body_of(StartRun, request)
    return respond(await get_studio().start_run(command), status=CREATED)


@router.post("/launches/", **describes(LaunchResult, status=ACCEPTED, body=LaunchRun, errors=("conflict",)))
async def launch_run(request: HttpRequest) -> HttpResponse:
    """Queue a run that Studio executes."""
    command = body_of(LaunchRun, request)
    return respond(await get_studio().launch_run(command), status=ACCEPTED)


@router.get("/runs/{run_id}", **describes(RunDetail, query=RunReadQuery, errors=("not_found",)))
async def get_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """A run with its branches, windowed messages, graph, artifacts, reasons and totals."""
    query = query_of(RunReadQuery, request)
    return respond(await get_studio().get_run(run_id, query))


@router.get(
    "/runs/{run_id}/evidence",
    **describes(EvidencePage, query=EvidenceRequest, path_fields=("run_id",), errors=("not_found",)),
)
async def read_evidence(request: HttpRequest, run_id: str) -> HttpResponse:
    """One page of one pane of a run."""
    query = query_of(EvidenceRequest, request, run_id=run_id)
    return respond(await get_studio().read_evidence(query))


@router.post("/runs/{run_id}/events", **describes(RecordResult, body=RecordEvents, errors=("not_found",)))
async def record_events(request: HttpRequest, run_id: str) -> HttpResponse:
    """Record one atomic batch of evidence."""
    command = body_of(RecordEvents, request)
    return respond(await get_studio().record_events(run_id, command))


@router.post(
    "/runs/{run_id}/cancel",
    **describes(CancelResult, status=ACCEPTED, body=CancelRun, body_required=False, errors=("not_found", "conflict")),
)
async def cancel_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """Ask a run to stop; again is the same as once."""
    command = optional_body_of(CancelRun, request)
    return respond(await get_studio().cancel_run(run_id, command), status=ACCEPTED)


@router.patch("/runs/{run_id}/tags", **describes(TagsResult, body=ChangeTags, errors=("not_found",)))
async def change_run_tags(request: HttpRequest, run_id: str) -> HttpResponse:
    """Add and remove tags."""
    command = body_of(ChangeTags, request)
    return respond(await get_studio().change_run_tags(run_id, command))


@router.get("/invocations/", **describes(Page[InvocationSummary], query=InvocationQuery))
async def list_invocations(request: HttpRequest) -> HttpResponse:
    """One page of invocations, newest first."""
    query = query_of(InvocationQuery, request)
    return respond(await get_studio().list_invocations(query))


@router.get("/invocations/{invocation_id}", **describes(InvocationDetail, errors=("not_found",)))
async def get_invocation(request: HttpRequest, invocation_id: str) -> HttpResponse:
    """An invocation with its runs."""
    query_of(ContractModel, request)
    return respond(await get_studio().get_invocation(invocation_id))


@router.post("/retention/prune", **describes(PruneResult, body=PruneRuns), tags=["upkeep"])
async def prune_runs(request: HttpRequest) -> HttpResponse:
    """Remove old runs with all that belongs to them, a bounded number at a time."""
    command = body_of(PruneRuns, request)
    return respond(await get_studio().prune_runs(command))


@router.get("/stats", **describes(Stats, query=StatsQuery), tags=["upkeep"])
async def get_stats(request: HttpRequest) -> HttpResponse:
    """Counts by status, spend by project, the queue and the store, all of one instant."""
    query = query_of(StatsQuery, request)
    return respond(await get_studio().get_stats(query))
