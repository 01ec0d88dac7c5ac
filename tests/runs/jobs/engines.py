"""A store whose queue is bound to Procrastinate, the jobs in it, and a worker of theirs in this process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection
from procrastinate.manager import JobManager
from psycopg.rows import tuple_row

from contract.actions import ActionFields
from runs.execution.executing import RunExecution
from runs.execution.procrastinate_jobs import RunJobs
from runs.processes import identify
from runs.services.execution_ports import ClaimedLaunch
from tests.fakes.run_files import FakeRunFiles
from tests.runs.execution.children import PATIENCE_SECONDS
from tests.runs.execution.scenes import ScriptedPlanner
from tests.runs.state.other_process import url_of
from tests.runs.state.stores import Store


class Workplace:
    """The store, what is seen of its jobs, and who executes them."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        self.planner = ScriptedPlanner(folder)
        self.incidents: list[Exception] = []

    def jobs(self, *, cap: int = 4) -> RunJobs:
        """Return the jobs of one process."""
        return RunJobs(
            queue=self.store.leases,
            execute=self._execution,
            feed=self.store.feed,
            owner=identify(1),
            cap=cap,
            clock=self.store.clock,
            watch_seconds=0.05,
        )

    async def queue(self, run_id: str, *command: str) -> None:
        await self.store.queue(run_id, action=ActionFields(kind="command", command=command))

    @asynccontextmanager
    async def working(self, *, cap: int = 4) -> AsyncIterator[None]:
        """Let a worker of the jobs work; after the block it is shut down."""
        task = asyncio.create_task(self.jobs(cap=cap).run())
        try:
            yield
        finally:
            task.cancel()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await asyncio.wait([task])
        assert task.cancelled()

    async def until(self, holds: Callable[[], Any]) -> None:
        """Look again after each change of the runs, and now and then, until something holds."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await asyncio.to_thread(holds):
                pass

    async def until_status(self, status: str, *run_ids: str) -> None:
        query = "SELECT count(*) FROM runs_runrecord WHERE status = %s AND run_id = ANY(%s)"
        await self.until(lambda: self.ask(query, status, list(run_ids)) == [(len(run_ids),)])

    def waiting(self) -> list[tuple[str, str]]:
        """Return the run id and status of each job for a run, in the order of the jobs."""
        query = "SELECT args->>'run_id', status::text FROM procrastinate_jobs WHERE args ? 'run_id' ORDER BY id"
        return self.ask(query)

    def ask(self, query: str, *arguments: Any) -> list[Any]:
        """Ask, or tell, the database beside all that is tested."""
        with psycopg.connect(url_of(connection.settings_dict), autocommit=True, row_factory=tuple_row) as direct:
            found = direct.execute(query, arguments)
            return found.fetchall() if found.description else []

    def _execution(self, launch: ClaimedLaunch) -> RunExecution:
        return RunExecution(
            launch,
            runs=self.store.supervised,
            planner=self.planner,
            files=FakeRunFiles(),
            clock=self.store.clock,
            grace_seconds=0.1,
            incident=self.incidents.append,
        )


@asynccontextmanager
async def job_manager() -> AsyncIterator[JobManager]:
    """The manager of the jobs, over a connection as a worker has it."""
    async with RunJobs.app().open_async() as app:
        yield app.job_manager
