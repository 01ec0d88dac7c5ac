"""Procrastinate as the engine of the queue: a job for each run that waits, and workers that are called by it.

A job is a call and no more. It holds nothing: the run is claimed, executed and ended under the lease in its own row, so
a job that comes twice, late, or for a run that is over changes nothing. It is deferred in the transaction by which the
run begins to wait. A job whose worker died is noticed by Procrastinate's heartbeats; `mend` lets it be tried again.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from typing import Final

import psycopg
from django.db import transaction
from procrastinate import App, JobContext, RetryStrategy
from procrastinate.app import WorkerOptions
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.contrib.django.utils import connector_params
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException, ProcrastinateException
from procrastinate.job_context import AbortReason
from procrastinate.jobs import Job, JobDeferrer, Status
from procrastinate.manager import JobManager
from procrastinate.psycopg_connector import PsycopgConnector
from procrastinate.tasks import configure_task

from contract.events import ProcessIdentity
from contract.ports import ChangeFeed, Clock
from runs.endings import Stop
from runs.execution.attendance import SHUTDOWN, WATCH_SECONDS, Execute
from runs.execution.called_worker import CalledWorker, Stopped
from runs.services.execution_ports import RunQueue

_log = logging.getLogger(__name__)

QUEUE: Final = "studio"
EXECUTE: Final = "studio.execute_run"
MEND: Final = "studio.mend_queue"
_EVERY_MINUTE: Final = "* * * * *"
_ABORTED: Final = Stop(cause="cancel", said="its job was aborted")
# Jobs at a time where runs have no cap: more than any host executes.
_UNCAPPED: Final = 10_000
# The jobs that call for a run, or have.
_CALLING: Final = (Status.TODO, Status.DOING)
_RETRY_SECONDS: Final = 1.0
# Fetching, ending, heartbeats: each short, and rarely two at a time.
_CONNECTIONS_MAX: Final = 2


class StillWaits(Exception):
    """The run was not claimed before its job had to end: another worker is to be called."""


class RunJobs:
    """The jobs of this process: executed by a worker that is called, within an engine of its own or of another's."""

    def __init__(
        self,
        *,
        queue: RunQueue,
        execute: Execute,
        feed: ChangeFeed,
        owner: ProcessIdentity,
        cap: int,
        clock: Clock,
        watch_seconds: float = WATCH_SECONDS,
    ) -> None:
        """Take what a worker takes."""
        self._queue = queue
        self._cap = cap
        self._worker = CalledWorker(
            queue=queue, execute=execute, feed=feed, owner=owner, cap=cap, clock=clock, watch_seconds=watch_seconds
        )
        self._outlive_engine = False
        self._calls: dict[asyncio.Task[bool], Stopped] = {}

    @staticmethod
    def announce(run_id: str) -> None:
        """Defer the job of a run, inside the transaction by which it begins to wait; one that waits is enough."""
        try:
            with transaction.atomic():
                _deferrer(JobManager(DjangoConnector()), run_id).defer()
        except AlreadyEnqueued:
            return
        except ConnectorException as fault:
            # As the driver said it, for StateDB to translate.
            raise fault.__cause__ or fault from fault

    @staticmethod
    def bind(app: App, jobs: "Callable[[], RunJobs]", *, cap: int) -> None:
        """Let an app execute runs; `jobs` returns those of the process, as soon as one comes."""
        # Nothing else is tried again: the unforeseen is seen, and the run called for anew when the queue is mended.
        again = RetryStrategy(retry_exceptions=(StillWaits,))

        @app.task(name=EXECUTE, queue=QUEUE, pass_context=True, retry=again)
        async def execute_run(context: JobContext, run_id: str) -> None:
            await jobs().execute(context, run_id)

        # Before all others: it is short, and what it mends has waited for long.
        @app.periodic(cron=_EVERY_MINUTE)
        @app.task(name=MEND, queue=QUEUE, queueing_lock=MEND, priority=1, pass_context=True)
        async def mend_queue(context: JobContext, timestamp: int) -> None:  # noqa: ARG001 (every periodic task is told)
            await jobs().mend(context.app.job_manager)

        app.worker_defaults |= WorkerOptions(
            queues=[QUEUE],
            concurrency=cap or _UNCAPPED,
            # At once: the children have a grace of their own.
            shutdown_graceful_timeout=0.0,
            # A run's history is with the run; what failed unforeseen is kept to be looked at.
            delete_jobs="successful",
        )

    @staticmethod
    def app() -> App:
        """Return an app on the configured database, as a worker needs it; to be opened."""
        return App(connector=PsycopgConnector(kwargs=connector_params(), min_size=1, max_size=_CONNECTIONS_MAX))

    async def run(self) -> None:
        """Be a Procrastinate worker until cancelled; then end the children.

        When the engine loses its database it begins anew; what is executed meanwhile goes on under its lease.
        """
        self._outlive_engine = True
        working = asyncio.create_task(self._work_forever())
        try:
            await asyncio.wait([working])
        finally:
            self._outlive_engine = False
            working.cancel()
            await asyncio.wait([working])
            await self._end_all()
        working.result()  # it does not end by itself: it raises what broke it

    async def execute(self, context: JobContext, run_id: str) -> None:
        """Execute a run. StillWaits when it was not claimed before the engine stopped.

        A run that a shutdown has ended, or given back with a job of its own, is done with.
        """
        stopped: Stopped = asyncio.get_running_loop().create_future()
        call = asyncio.create_task(self._worker.execute(run_id, stopped))
        self._calls[call] = stopped
        call.add_done_callback(self._calls.pop)
        try:
            over = await asyncio.shield(call)
        except asyncio.CancelledError:
            aborted = context.abort_reason() is AbortReason.USER_REQUEST
            if self._outlive_engine and not aborted:
                raise
            stopped.set_result(_ABORTED if aborted else SHUTDOWN)
            over = await call
            if over and aborted:
                raise
        if not over:
            raise StillWaits(run_id)

    async def mend(self, manager: JobManager) -> None:
        """Try the jobs of workers that died again, and defer one for each waiting run that has none.

        It has none when it was launched while another queue was bound, or when somebody removed it.
        """
        for job in await manager.get_stalled_jobs(queue=QUEUE):
            await _try_again(manager, job)
        if not (waiting := await self._queue.waiting()):
            return
        jobs = [await manager.list_jobs_async(queue=QUEUE, status=status.value) for status in _CALLING]
        called = {job.queueing_lock for job in chain(*jobs)}
        for run_id in waiting:
            if run_id not in called:
                with suppress(AlreadyEnqueued):
                    await _deferrer(manager, run_id).defer_async()

    async def _work_forever(self) -> None:
        while True:
            try:
                app = self.app()
                self.bind(app, lambda: self, cap=self._cap)
                async with app.open_async():
                    await app.run_worker_async(install_signal_handlers=False)
                _log.warning("the engine of the queue stopped by itself; it begins anew")
            except (ProcrastinateException, psycopg.Error) as fault:
                _log.warning("the engine of the queue does not work (%s); it begins anew", fault.__cause__ or fault)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _end_all(self) -> None:
        """End what no job waits for any more."""
        for stopped in self._calls.values():
            if not stopped.done():
                stopped.set_result(SHUTDOWN)
        if self._calls:
            await asyncio.wait(self._calls)


def _deferrer(manager: JobManager, run_id: str) -> JobDeferrer:
    # The lock is of the queue alone: of one run one job waits at most, whatever is executed.
    return configure_task(
        name=EXECUTE, job_manager=manager, queue=QUEUE, queueing_lock=run_id, task_kwargs={"run_id": run_id}
    )


async def _try_again(manager: JobManager, job: Job) -> None:
    try:
        await manager.retry_job(job)
    except ConnectorException:
        # Its run has been given back and has another job that waits, or its worker lives and has just ended it.
        with suppress(ConnectorException):
            await manager.finish_job(job, Status.FAILED, delete_job=True)
