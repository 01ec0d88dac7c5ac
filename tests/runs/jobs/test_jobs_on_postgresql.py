"""Jobs: one for each run that waits, in the transaction that makes it wait; and none is lost."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from contract.errors import StateUnavailable
from runs.execution.procrastinate_jobs import EXECUTE, MEND, RunJobs
from studio_project.statedb import StateDB
from tests.fakes.clocks import START_AT
from tests.runs.execution.children import ENDLESS, python
from tests.runs.jobs.engines import Workplace, job_manager
from tests.runs.state.launches import draft, ending, worker
from tests.runs.state.stores import DATABASE, job_store

pytestmark = DATABASE

TRUE = ("/bin/sh", "-c", "exit 0")
# As a server does that is restarted, to the connections of the engine alone.
_END_ENGINE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND query ILIKE '%%procrastinate%%' AND pid <> pg_backend_pid()"
)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Workplace]:
    store = job_store()
    yield Workplace(store, tmp_path)
    await asyncio.to_thread(store.close)


async def test_a_launch_defers_one_job_and_the_same_again_none(place: Workplace) -> None:
    action = draft().action

    for run_id in ("r", "again"):
        await place.store.queue(run_id, action=action, launch_key="k")

    assert place.waiting() == [("r", "todo")]


async def test_a_launch_that_is_rolled_back_leaves_no_job(place: Workplace) -> None:
    db = StateDB()

    def launch_and_fail() -> None:
        RunJobs.announce("r")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await db.write(launch_and_fail)

    await asyncio.to_thread(db.close)
    assert place.waiting() == []


async def test_without_the_tables_a_launch_says_so_and_leaves_no_run(place: Workplace) -> None:
    place.ask("ALTER TABLE procrastinate_jobs RENAME TO taken_away")
    try:
        with pytest.raises(StateUnavailable, match="has not the tables"):
            await place.store.queue("r")
    finally:
        place.ask("ALTER TABLE taken_away RENAME TO procrastinate_jobs")

    assert await place.store.ids() == []


async def test_what_is_given_back_is_called_for_again_by_one_job(place: Workplace) -> None:
    lease = await place.store.lease("r")
    place.ask("UPDATE procrastinate_jobs SET status = 'doing'")

    taken = await place.store.leases.take_over(lease, owner=worker(2), at=START_AT)
    assert taken is not None
    await place.store.leases.give_back(taken, at=START_AT)
    again = (await place.store.claim())["r"].lease
    await place.store.leases.give_back(again, at=START_AT)

    assert place.waiting() == [("r", "doing"), ("r", "todo")]


async def test_what_was_launched_while_nobody_worked_is_executed_and_leaves_no_job(place: Workplace) -> None:
    run_ids = [f"r{number}" for number in range(6)]
    for run_id in run_ids:
        await place.queue(run_id, *TRUE)

    async with place.working(cap=2):
        await place.until_status("completed", *run_ids)
        await place.queue("later", *TRUE)
        await place.until_status("completed", "later")
        await place.until(lambda: place.waiting() == [])

    assert [(await place.store.detail(run_id)).execution.attempts for run_id in run_ids] == [1] * 6  # type: ignore[union-attr]
    assert place.incidents == []


async def test_a_job_for_a_run_that_is_over_ends_quietly(place: Workplace) -> None:
    await place.queue("r", *TRUE)
    await place.store.writes.request_cancel("r", reason=None, at=START_AT)

    async with place.working():
        await place.until(lambda: place.waiting() == [])

    assert (await place.store.detail("r")).status == "cancelled"


async def test_a_running_run_is_cancelled(place: Workplace) -> None:
    await place.queue("r", *python(ENDLESS))

    async with place.working():
        await place.until_status("running", "r")
        await place.store.writes.request_cancel("r", reason="enough", at=START_AT)
        await place.until_status("cancelled", "r")

    assert (await place.store.detail("r")).status_reason_code == "run.cancelled.requested"


async def test_aborting_the_job_of_a_running_run_cancels_the_run(place: Workplace) -> None:
    await place.queue("r", *python(ENDLESS))

    async with place.working(), job_manager() as manager:
        await place.until_status("running", "r")
        [job] = await manager.list_jobs_async(task=EXECUTE)
        assert job.id is not None
        await manager.cancel_job_by_id_async(job.id, abort=True)
        await place.until_status("cancelled", "r")
        await place.until(lambda: place.waiting() == [("r", "aborted")])


async def test_where_there_is_no_room_the_job_waits_for_it_and_is_not_tried_again_and_again(place: Workplace) -> None:
    await place.queue("held", *TRUE)
    [held] = (await place.store.claim(only="held")).values()
    await place.queue("r", *TRUE)

    async with place.working(cap=1):
        await place.until(lambda: ("r", "doing") in place.waiting())
        before = (await place.store.detail("r")).status
        await place.store.supervised.end(held.lease, ending(), at=START_AT)
        await place.until_status("completed", "r")
        tried = place.ask("SELECT max(attempts) FROM procrastinate_jobs")

    assert (before, tried) == ("queued", [(None,)])


async def test_a_shutdown_ends_what_runs_and_calls_again_for_what_waits(place: Workplace) -> None:
    await place.queue("held", *TRUE)
    await place.store.claim(only="held")
    place.ask("DELETE FROM procrastinate_jobs")
    for run_id in ("running", "waiting", "behind"):
        await place.queue(run_id, *python(ENDLESS))

    async with place.working(cap=2):
        await place.until_status("running", "running")
        await place.until(lambda: ("waiting", "doing") in place.waiting())
    left = sorted(place.waiting())
    running = await place.store.detail("running")

    assert (running.status, running.status_reason_code) == ("cancelled", "run.cancelled.shutdown")
    assert left == [("behind", "todo"), ("waiting", "todo")]
    assert await place.store.leases.waiting() == ("waiting", "behind")


async def test_a_run_goes_on_when_the_engine_loses_its_database_and_the_next_is_executed(place: Workplace) -> None:
    go = place.planner.folder / "go"
    await place.queue("r", "/bin/sh", "-c", 'mkfifo "$0"; read line < "$0"', str(go))

    async with place.working():
        await place.until_status("running", "r")
        assert place.ask(_END_ENGINE)
        await place.queue("next", *TRUE)
        await place.until_status("completed", "next")
        status = (await place.store.detail("r")).status
        await asyncio.to_thread(go.write_text, "go\n")
        await place.until_status("completed", "r")

    assert status == "running"
    assert place.incidents == []


async def test_mending_tries_the_job_of_a_dead_worker_again(place: Workplace) -> None:
    await place.queue("r", *TRUE)
    place.ask("UPDATE procrastinate_jobs SET status = 'doing'")

    async with job_manager() as manager:
        await place.jobs().mend(manager)

    assert place.waiting() == [("r", "todo")]


async def test_mending_leaves_the_job_of_a_living_worker_alone(place: Workplace) -> None:
    await place.queue("r", *TRUE)

    async with job_manager() as manager:
        await manager.fetch_job(queues=None, worker_id=await manager.register_worker())
        await place.jobs().mend(manager)

    assert place.waiting() == [("r", "doing")]


async def test_mending_removes_the_job_of_a_dead_worker_whose_run_has_another_that_waits(place: Workplace) -> None:
    lease = await place.store.lease("r")
    place.ask("UPDATE procrastinate_jobs SET status = 'doing'")
    await place.store.leases.give_back(lease, at=START_AT)

    async with job_manager() as manager:
        await place.jobs().mend(manager)

    assert place.waiting() == [("r", "todo")]


async def test_mending_calls_for_every_waiting_run_that_has_no_job(place: Workplace) -> None:
    for run_id in ("has", "removed", "held"):
        await place.queue(run_id, *TRUE)
    await place.store.claim(only="held")
    place.ask("DELETE FROM procrastinate_jobs WHERE args->>'run_id' <> 'has'")

    async with job_manager() as manager:
        await place.jobs().mend(manager)

    assert place.waiting() == [("has", "todo"), ("removed", "todo")]


async def test_a_worker_mends_the_queue_by_itself(place: Workplace) -> None:
    await place.queue("r", *TRUE)
    place.ask("DELETE FROM procrastinate_jobs")

    async with place.working():
        await place.until_status("completed", "r")

    assert place.ask("SELECT task_name FROM procrastinate_periodic_defers") == [(MEND,)]
