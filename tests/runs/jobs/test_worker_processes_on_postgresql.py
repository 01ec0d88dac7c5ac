"""Workers in processes of their own, Procrastinate's and ours, beside a daemon that executes nothing."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import cast

import pytest

from contract.actions import LaunchRun
from contract.client import RemoteStudio
from contract.events import StreamFrame
from contract.runs import CancelRun, RunDetail, RunReadQuery
from tests.live import ROOT, LiveDaemon, live_daemon
from tests.runs.execution.children import PATIENCE_SECONDS, lives

_LAUNCHES = 100
_PROCRASTINATE = ("procrastinate", "worker")
_STUDIO = ("worker",)
_ENDLESS = ("sh", "-c", 'echo "$STUDIO_RUN_ID" >> "$0"; echo begun; exec sleep 600')


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    home = tmp_path_factory.mktemp("daemon") / "home"
    with live_daemon(home, "--no-worker", queue="procrastinate", command_allowlist="sh") as daemon:
        yield daemon


@contextmanager
def working(daemon: LiveDaemon, home: Path, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a worker with a home of its own; at the end it is told to stop, and does, unless it was killed."""
    home.mkdir()
    environment = daemon.environment | {"STUDIO_HOME": str(home), "STUDIO_URL": daemon.url}
    with subprocess.Popen(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
                assert process.wait(PATIENCE_SECONDS) == 0


async def launched(studio: RemoteStudio, *command: str) -> str:
    return (await studio.launch_run(LaunchRun(kind="command", command=command, cwd="/"))).run_id


async def told(studio: RemoteStudio, run_id: str, *, until: str) -> RunDetail:
    """Follow a run to the first frame of a type; return it as it is then."""
    frames = cast(AsyncGenerator[StreamFrame, None], studio.stream_messages(run_id, None))
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(frames):
        async for frame in frames:
            if frame.payload.type == until:
                break
    return await studio.get_run(run_id, RunReadQuery())


async def begun(studio: RemoteStudio, run_id: str) -> RunDetail:
    """Return a run when it has printed something."""
    return await told(studio, run_id, until="message")


async def ended(studio: RemoteStudio, run_id: str) -> RunDetail:
    """Return a run when it has ended."""
    return await told(studio, run_id, until="done")


async def test_two_workers_execute_each_of_many_launches_once(daemon: LiveDaemon, tmp_path: Path) -> None:
    done = tmp_path / "done"
    async with RemoteStudio(daemon.url, token=None) as studio:
        run_ids = [
            await launched(studio, "sh", "-c", 'echo "$STUDIO_RUN_ID" >> "$0"', str(done)) for _ in range(_LAUNCHES)
        ]

        with working(daemon, tmp_path / "a", *_PROCRASTINATE), working(daemon, tmp_path / "b", *_STUDIO):
            runs = [await ended(studio, run_id) for run_id in run_ids]

    assert {run.status for run in runs} == {"completed"}
    assert sorted(done.read_text().split()) == sorted(run_ids)


async def test_the_runs_of_a_worker_that_is_killed_fail_and_what_waits_is_executed_by_the_next(
    daemon: LiveDaemon, tmp_path: Path
) -> None:
    said = tmp_path / "begun"
    async with RemoteStudio(daemon.url, token=None) as studio:
        running = [await launched(studio, *_ENDLESS, str(said)) for _ in range(4)]
        waiting = [await launched(studio, "sh", "-c", 'echo "$STUDIO_RUN_ID" >> "$0"', str(said)) for _ in range(4)]

        with working(daemon, tmp_path / "a", *_PROCRASTINATE) as killed:
            for run_id in running:
                await begun(studio, run_id)
            killed.kill()
            killed.wait()
        with working(daemon, tmp_path / "b", *_PROCRASTINATE):
            failed = [await ended(studio, run_id) for run_id in running]
            completed = [await ended(studio, run_id) for run_id in waiting]

    assert {run.status_reason_code for run in failed} == {"run.failed.worker_lost"}
    assert {run.status for run in completed} == {"completed"}
    assert sorted(said.read_text().split()) == sorted(running + waiting)
    assert not [run for run in failed if run.process is None or lives(run.process.pid)]


@pytest.mark.parametrize("command", [_PROCRASTINATE, _STUDIO], ids="-".join)
async def test_a_worker_obeys_a_cancel_and_ends_its_children_when_it_is_stopped(
    daemon: LiveDaemon, tmp_path: Path, command: tuple[str, ...]
) -> None:
    said = tmp_path / "begun"
    async with RemoteStudio(daemon.url, token=None) as studio:
        cancelled, left = [await launched(studio, *_ENDLESS, str(said)) for _ in range(2)]
        with working(daemon, tmp_path / "a", *command):
            for run_id in (cancelled, left):
                await begun(studio, run_id)
            await studio.cancel_run(cancelled, CancelRun(reason="enough"))
            await ended(studio, cancelled)
        runs = [await ended(studio, run_id) for run_id in (cancelled, left)]

    assert [run.status_reason_code for run in runs] == ["run.cancelled.requested", "run.cancelled.shutdown"]
    assert not [run for run in runs if run.process is None or lives(run.process.pid)]
