"""A stored action that is none to this version ends its own run and no worker, and delays nobody."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from contract.actions import ActionFields
from runs.models import LaunchRecord
from runs.services.execution_ports import UnreadableAction
from studio_project.statedb import StateDB
from tests.runs.state.launches import ending
from tests.runs.state.stores import DATABASE, django_store

pytestmark = DATABASE


@pytest.fixture
async def db() -> AsyncIterator[StateDB]:
    db = StateDB()
    yield db
    await asyncio.to_thread(db.close)


async def poison(db: StateDB, run_id: str, action: str) -> None:
    launch = LaunchRecord.objects.filter(run__run_id=run_id)
    assert await db.write(lambda: launch.update(action=action)) == 1


@pytest.mark.parametrize(
    ("stored", "fault"),
    [
        ('{"kind":"team","prompt":"x"}', "kind: "),
        ('{"kind":"agent","budget":7}', "budget: is not a field here"),
        ('{"kind":"agent","prompt":7}', "prompt: "),
        ("[]", "must be an object"),
        ("{", "is not JSON"),
        ("", "is not JSON"),
    ],
)
async def test_an_unreadable_action_is_handed_out_with_its_fault_beside_the_others(
    db: StateDB, stored: str, fault: str
) -> None:
    database = django_store(db)
    for run_id in ("poisoned", "good"):
        await database.queue(run_id, action=ActionFields(kind="agent", prompt=run_id))
    await poison(db, "poisoned", stored)

    claimed = await database.claim()

    assert list(claimed) == ["poisoned", "good"]
    assert isinstance(unreadable := claimed["poisoned"].action, UnreadableAction)
    assert fault in unreadable.fault
    assert claimed["good"].action == ActionFields(kind="agent", prompt="good")


async def test_a_run_with_an_unreadable_action_can_be_ended_and_looked_at(db: StateDB) -> None:
    database = django_store(db)
    await database.queue("r")
    await poison(db, "r", '{"kind":"team"}')
    lease = (await database.claim())["r"].lease

    await database.supervised.end(lease, ending("failed", "run.failed.refused"), at=database.clock.now())

    run = await database.detail("r")
    assert (run.status, run.status_reason_code) == ("failed", "run.failed.refused")
    assert run.execution is not None
    assert run.execution.action == {"kind": "team"}
    assert await database.claim() == {}
