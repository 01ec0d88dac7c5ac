"""Whoever executes a launch is killed, or stands still, at each of its steps: the run ends once, with a true reason."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil
import pytest
from django.db import connection

from contract.actions import ActionFields
from contract.runs import RunDetail, TransitionView
from runs.execution.groups import RUN_MARK
from runs.execution.reaper import LEASE_SECONDS, Reaper
from runs.processes import LocalProcesses, identify
from runs.transitions import is_terminal
from tests.runs.chaos.nursery import Nursery, Order, nursery
from tests.runs.execution.children import lives
from tests.runs.state.stores import DATABASE, Store, django_store

pytestmark = DATABASE

# Two sides of: claim, plan, started, record, end, clear.
_STEPS_AT_LEAST = 12
_QUICK = 'echo begun >> "$0"; echo ready; echo done >> "$0"'
_ENDLESS = 'echo begun >> "$0"; echo ready; sleep 600 & exec sleep 600'

EACH_RUN = pytest.mark.parametrize(
    ("code", "stops"), [pytest.param(_QUICK, False, id="ends-itself"), pytest.param(_ENDLESS, True, id="is-cancelled")]
)


@dataclass
class Ward:
    """The store, who may die in it, and what looks after their runs."""

    store: Store
    nursery: Nursery
    reaper: Reaper
    folder: Path

    async def launch(self, run_id: str, code: str) -> None:
        command = ("/bin/sh", "-c", code, str(self.folder / run_id))
        await self.store.queue(run_id, action=ActionFields(kind="command", command=command))

    async def execute(self, *, at: int = 0, number: int = signal.SIGKILL, stops: bool) -> int | None:
        return await self.nursery.obey(Order(folder=str(self.folder), at=at, number=number, stops=stops))

    async def settle(self, run_id: str, *, stops: bool) -> None:
        """Do what the next start does: settle what the lost have held, and execute what waits."""
        await self.reaper.sweep()
        if (await self.store.detail(run_id)).status == "queued":
            assert await self.execute(stops=stops) == 0

    async def outlive_lease(self) -> None:
        """Look at the holders, again and again, until those that did not move are lost."""
        for _ in range(3):
            await self.reaper.sweep()
            self.store.clock.advance(LEASE_SECONDS * 0.6)

    def did(self, run_id: str) -> list[str]:
        """Return what was written by whoever executed the run."""
        path = self.folder / run_id
        return path.read_text().split() if path.exists() else []

    async def require_true_end(self, run_id: str) -> RunDetail:
        """Assert that the run ended once and as it says, that nobody holds it, and that nobody of it lives."""
        detail = await self.store.detail(run_id)
        done = self.did(run_id).count("done")
        assert self.did(run_id).count("begun") <= 1
        assert (detail.status, detail.status_reason_code, done) in {
            ("completed", "run.completed.exit_zero", 1),
            ("failed", "run.failed.worker_lost", 0),
            ("failed", "run.failed.worker_lost", 1),
            ("cancelled", "run.cancelled.requested", 0),
        }
        shown = (await self.store.pane(run_id, "transitions")).items
        moves = [item.to_status for item in shown if isinstance(item, TransitionView) and not item.refused]
        assert [status for status in moves if is_terminal(status)] == [detail.status]
        assert await self.store.leases.held() == ()
        assert [pid for pid in psutil.pids() if _is_of(pid, run_id)] == []
        return detail


def _is_of(pid: int, run_id: str) -> bool:
    try:
        return psutil.Process(pid).environ().get(RUN_MARK) == run_id and lives(pid)
    except psutil.Error:
        return False


@pytest.fixture(scope="module")
def workers(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    """The process that forks, on the database of all tests."""
    with nursery(connection.settings_dict, tmp_path_factory.mktemp("nursery")) as workers:
        yield workers


@pytest.fixture
async def ward(tmp_path: Path, transactional_db: None, workers: Nursery) -> AsyncIterator[Ward]:
    store = django_store()
    reaper = Reaper(
        queue=store.leases,
        runs=store.supervised,
        probe=LocalProcesses(),
        owner=identify(os.getpid()),
        clock=store.clock,
        grace_seconds=0,
    )
    yield Ward(store, workers, reaper, tmp_path)
    await asyncio.to_thread(store.close)


@EACH_RUN
async def test_a_run_whose_worker_dies_at_any_step_ends_once_and_leaves_nobody(
    ward: Ward, code: str, stops: bool
) -> None:
    for at in count(1):
        run_id = f"chaos-{os.getpid()}-{at}"
        await ward.launch(run_id, code)

        fate = await ward.execute(at=at, stops=stops)
        await ward.settle(run_id, stops=stops)

        detail = await ward.require_true_end(run_id)
        if fate == 0:
            assert detail.status == ("cancelled" if stops else "completed")
            assert at > _STEPS_AT_LEAST
            return
        assert fate == -signal.SIGKILL


@EACH_RUN
async def test_a_worker_that_stands_still_at_any_step_and_goes_on_after_its_lease_changes_nothing(
    ward: Ward, code: str, stops: bool
) -> None:
    for at in count(1):
        run_id = f"chaos-{os.getpid()}-{at}"
        await ward.launch(run_id, code)

        fate = await ward.execute(at=at, number=signal.SIGSTOP, stops=stops)
        if fate == 0:
            await ward.require_true_end(run_id)
            assert at > _STEPS_AT_LEAST
            return
        await ward.outlive_lease()
        settled = await ward.store.detail(run_id)

        assert await ward.nursery.resume() == 0

        if at > 1:  # at the first it had not claimed yet, and may
            assert settled.status != "running"
            assert await ward.store.detail(run_id) == settled
        await ward.settle(run_id, stops=stops)
        await ward.require_true_end(run_id)
