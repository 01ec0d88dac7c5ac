"""The worker as a process: beside a daemon that executes nothing, alone, and how it ends."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import TypeAdapter

from contract.actions import ExecutionView, LaunchResult
from contract.runs import RunDetail
from studio_project.config import isolated_environment
from studio_project.home import HomeLock, is_worked
from studio_project.part_process import KILLED_BY_HAND
from studio_project.worker import daemon_url
from tests.live import ROOT, LiveDaemon, live_daemon
from tests.studio_project.scripted import config_of

# A worker ends its children first, each within a second.
STOP_SECONDS = 5.0
# Far longer than anything here takes.
END_SECONDS = 60.0
LIVES_ON = ("sh", "-c", "echo $STUDIO_URL; exec sleep 60")


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    """A daemon that executes nothing."""
    home = tmp_path_factory.mktemp("idle") / "home"
    with live_daemon(home, "--no-worker", command_allowlist="sh") as daemon:
        yield daemon


@contextmanager
def worker_of(daemon: LiveDaemon) -> Iterator["subprocess.Popen[str]"]:
    """Run a worker beside the daemon, from when it has said its two lines; it is killed if nobody ends it."""
    command = [sys.executable, "manage.py", "worker"]
    worker = subprocess.Popen(command, cwd=ROOT, env=daemon.environment, stdout=subprocess.PIPE, text=True)
    with worker:
        assert worker.stdout is not None
        assert worker.stdout.readline().startswith("Executing the queued runs of ")
        assert daemon.url in worker.stdout.readline()
        try:
            yield worker
        finally:
            worker.kill()


def launch(daemon: LiveDaemon, *command: str) -> str:
    launched = httpx.post(f"{daemon.url}/api/v1/launches/", json={"kind": "command", "command": command})
    return LaunchResult.model_validate_json(launched.content).run_id


def told(daemon: LiveDaemon, run_id: str) -> tuple[RunDetail, ExecutionView]:
    run = RunDetail.model_validate_json(httpx.get(f"{daemon.url}/api/v1/runs/{run_id}").content)
    return run, TypeAdapter(ExecutionView).validate_python(run.execution)


def until_it_speaks(daemon: LiveDaemon, run_id: str) -> None:
    """Return when the run's process has said something."""
    with httpx.stream("GET", f"{daemon.url}/api/v1/runs/{run_id}/stream", timeout=END_SECONDS) as stream:
        next(line for line in stream.iter_lines() if '"message"' in line)


def until_it_ends(daemon: LiveDaemon, run_id: str) -> None:
    """Return when the run has ended, and its stream with it."""
    httpx.get(f"{daemon.url}/api/v1/runs/{run_id}/stream", timeout=END_SECONDS)


def test_a_run_waits_beside_a_daemon_without_a_worker_until_one_comes(idle: LiveDaemon) -> None:
    waiting = launch(idle, "sh", "-c", "echo $STUDIO_URL")
    status = told(idle, waiting)[0].status

    with worker_of(idle):
        followed = idle.manage("run", "launch", "command", "--follow", "--", "sh", "-c", "exit 3")
        until_it_ends(idle, waiting)

    run, execution = told(idle, waiting)
    assert (status, run.status, execution.output_tail) == ("queued", "completed", f"{idle.url}\n")
    assert (followed.returncode, followed.stderr) == (3, "")


def test_a_worker_that_is_stopped_ends_its_children_and_well(idle: LiveDaemon) -> None:
    with worker_of(idle) as worker:
        run_id = launch(idle, *LIVES_ON)
        until_it_speaks(idle, run_id)
        worker.send_signal(signal.SIGTERM)
        code = worker.wait(STOP_SECONDS)

    run, execution = told(idle, run_id)
    assert code == 0
    assert (run.status, run.status_reason_code) == ("cancelled", "run.cancelled.shutdown")
    assert execution.exit_signal == signal.SIGTERM


def test_a_second_signal_stops_at_once_and_the_next_worker_settles_what_is_left(idle: LiveDaemon) -> None:
    with worker_of(idle) as worker:
        run_id = launch(idle, "sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.2; done")
        until_it_speaks(idle, run_id)
        worker.send_signal(signal.SIGINT)
        assert worker.stdout is not None
        assert worker.stdout.readline() == "Stopping; once more to stop at once.\n"
        worker.send_signal(signal.SIGINT)
        code = worker.wait(STOP_SECONDS)
    with worker_of(idle):
        until_it_ends(idle, run_id)

    run, _ = told(idle, run_id)
    assert code == KILLED_BY_HAND
    assert (run.status, run.status_reason_code) == ("failed", "run.failed.worker_lost")


def test_two_workers_share_the_queue(idle: LiveDaemon) -> None:
    with worker_of(idle), worker_of(idle):
        run_ids = [launch(idle, "sh", "-c", f"echo {number}") for number in range(3)]
        for run_id in run_ids:
            until_it_ends(idle, run_id)

    found = [told(idle, run_id) for run_id in run_ids]
    assert [(run.status, execution.attempts, execution.output_tail) for run, execution in found] == [
        ("completed", 1, f"{number}\n") for number in range(3)
    ]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "is behind this code, by "),
        ({"database_url": "postgresql://me:hidden@127.0.0.1:1/studio"}, "127.0.0.1:1/studio cannot be used"),
    ],
    ids=["schema", "away"],
)
def test_a_database_that_is_not_ready_is_refused_in_one_line(
    tmp_path: Path, settings: dict[str, str], why: str
) -> None:
    command = [sys.executable, "manage.py", "worker"]
    environment = isolated_environment(tmp_path, **settings)

    refused = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Cannot work: the database ")
    assert why in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "hidden" not in refused.stderr


def worker_in(home: Path, daemon: LiveDaemon) -> "subprocess.Popen[str]":
    """Start a worker with a home of its own on the database of the daemon."""
    database = {"database_url": daemon.environment.get("STUDIO_DATABASE_URL", f"sqlite:///{daemon.home}/studio.db")}
    environment = isolated_environment(home, **database)
    command = [sys.executable, "manage.py", "worker"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)


def test_a_worker_makes_its_home_before_it_says_that_it_executes(idle: LiveDaemon, tmp_path: Path) -> None:
    with worker_in(tmp_path / "elsewhere", idle) as worker:
        assert worker.stdout is not None
        said = worker.stdout.readline()
        worked = is_worked(tmp_path / "elsewhere")
        worker.send_signal(signal.SIGTERM)
        _, errors = worker.communicate(timeout=END_SECONDS)

    assert said.startswith("Executing the queued runs of ")
    assert (worked, worker.returncode, errors) == (True, 0, "")


def test_a_worker_whose_home_cannot_be_made_says_that_alone(idle: LiveDaemon, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with worker_in(tmp_path / "file" / "home", idle) as worker:
        said, errors = worker.communicate(timeout=END_SECONDS)

    assert (worker.returncode, said) == (1, "")
    assert errors.startswith("Cannot work: the home ")
    assert errors.count("\n") == 1


def test_runs_find_the_daemon_where_it_is_said_to_be_or_listens_or_would_listen(tmp_path: Path) -> None:
    config = config_of(home=str(tmp_path), host="0.0.0.0", port="80")  # noqa: S104 (nothing binds to it)
    alone = daemon_url(config)
    lock = HomeLock(tmp_path).take(pid=7)
    lock.tell(pid=7, port=8771)
    beside = daemon_url(config)
    said = daemon_url(config.model_copy(update={"url": "https://studio.example"}))
    lock.release()

    assert (alone, beside, said) == ("http://127.0.0.1:80", "http://127.0.0.1:8771", "https://studio.example")
