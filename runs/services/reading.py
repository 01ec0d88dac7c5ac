"""Operations that read runs and invocations."""

from contract.base import Page
from contract.errors import NotFound
from contract.lookup import require_possible
from contract.runs import (
    EvidencePage,
    EvidenceRequest,
    InvocationDetail,
    InvocationQuery,
    InvocationSummary,
    RunDetail,
    RunQuery,
    RunReadQuery,
    RunSummary,
)
from runs.cursors import decode_evidence, decode_invocations, decode_window
from runs.listing import check_query
from runs.services.ports import InvocationReadPort, RunEvidencePort, RunReadPort


async def list_runs(*, query: RunQuery, runs: RunReadPort) -> Page[RunSummary]:
    """Return one page of runs. ValidationFailure for unknown statuses, contradicting fields, foreign cursors."""
    check_query(query)
    return await runs.list_runs(query)


async def get_run(*, run_id: str, query: RunReadQuery, runs: RunReadPort) -> RunDetail:
    """Return a run's detail. ValidationFailure for a foreign cursor, NotFound."""
    require_possible("run", run_id)
    decode_window(query.cursor, run_id, query.message_limit)
    detail = await runs.get_run(run_id, message_limit=query.message_limit, cursor=query.cursor)
    if detail is None:
        raise NotFound("run", run_id)
    return detail


async def read_evidence(*, request: EvidenceRequest, evidence: RunEvidencePort) -> EvidencePage:
    """Return one page of a pane. ValidationFailure for a foreign cursor, NotFound."""
    require_possible("run", request.run_id)
    decode_evidence(request)
    page = await evidence.read_evidence(request)
    if page is None:
        raise NotFound("run", request.run_id)
    return page


async def list_invocations(*, query: InvocationQuery, invocations: InvocationReadPort) -> Page[InvocationSummary]:
    """Return one page of invocations. ValidationFailure for a foreign cursor."""
    decode_invocations(query.cursor, query.kind)
    return await invocations.list_invocations(query)


async def get_invocation(*, invocation_id: str, invocations: InvocationReadPort) -> InvocationDetail:
    """Return an invocation with its runs. NotFound."""
    require_possible("invocation", invocation_id)
    detail = await invocations.get_invocation(invocation_id)
    if detail is None:
        raise NotFound("invocation", invocation_id)
    return detail
