"""Every member of the error taxonomy is the same in process and at the end of a wire, attribute by attribute."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
import pytest_asyncio

from contract.base import FieldFailure
from contract.client import RemoteStudio
from contract.errors import (
    Conflict,
    NotFound,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    StudioApplicationError,
    StudioError,
    ValidationFailure,
)
from contract.events import ProcessIdentity
from contract.runs import RunQuery, RunReadQuery, StartRun
from studio_project.application import build_application
from studio_project.composition import Studio, build_studio, get_studio, set_studio
from studio_project.config import current_config
from studio_project.contract_standins import FaultyProbe
from studio_project.readiness import Readiness
from tests.parity.witness import refused

URL = "http://127.0.0.1:8765"
EVERY_MEMBER = (
    ValidationFailure(
        (
            FieldFailure(path=("a", 0, "é\x00"), code="one", message="is wrong"),
            FieldFailure(path=(), code="two", message="is wrong as a whole"),
        )
    ),
    NotFound("artifact", "no/such\nthing"),
    Conflict("schedule", None, "5", "told in its own words"),
    Conflict("definition", "3", None),
    StateUnavailable(retryable=True),
    StateUnavailable(retryable=False, detail="the disk is full"),
    ReconciliationRequired("0123456789abcdef"),
    PermissionDenied("the path leaves its root"),
)


@dataclass(frozen=True)
class Pair:
    """One Studio, reached directly and through its whole HTTP stack; `probe` is where faults enter it."""

    local: Studio
    remote: RemoteStudio
    probe: FaultyProbe


@pytest_asyncio.fixture
async def pair(transactional_db: None) -> AsyncIterator[Pair]:
    probe = FaultyProbe()
    studio = build_studio(current_config(), probe=probe)
    set_studio(studio)
    transport = httpx.ASGITransport(build_application(get_studio))
    await studio.start_run(StartRun(run_id="r", process=ProcessIdentity(host="h", pid=1)))
    async with RemoteStudio(URL, transport=transport) as remote:
        yield Pair(studio, remote, probe)
    set_studio(None)
    studio.stopping()
    await studio.close()


@pytest.mark.parametrize("fault", EVERY_MEMBER, ids=lambda fault: f"{fault.code}")
async def test_an_error_of_the_application_crosses_the_wire_whole(fault: StudioError, pair: Pair) -> None:
    pair.probe.fault = fault

    for studio in (pair.local, pair.remote):
        for operation in (studio.get_run("r", RunReadQuery()), studio.list_runs(RunQuery())):
            error = await refused(type(fault), operation)
            assert error.body().to_json() == fault.body().to_json()


async def test_an_error_nobody_foresaw_says_nothing_but_its_incident(pair: Pair) -> None:
    pair.probe.fault = RuntimeError("a secret detail")

    error = await refused(StudioError, pair.remote.get_run("r", RunReadQuery()))

    assert error.code == "internal"
    assert error.body().incident_id
    assert "secret" not in str(error.body())


async def test_a_daemon_that_starts_asks_for_patience_on_every_operation(pair: Pair) -> None:
    pair.local.readiness = Readiness(ready=False)

    for operation in (pair.remote.get_run("r", RunReadQuery()), pair.remote.describe_contract()):
        assert (await refused(StateUnavailable, operation)).retryable


def test_no_member_of_the_taxonomy_is_left_out() -> None:
    assert {fault.code for fault in EVERY_MEMBER} == {member.code for member in StudioApplicationError.__subclasses__()}
