"""A launched run is executed to the same end by a worker of this process and by a live daemon's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
import pytest_asyncio

from contract.actions import ExecutionView
from contract.application import StudioApplication
from contract.client import RemoteStudio
from contract.runs import CancelRun, RunReadQuery
from studio_project.composition import Studio
from studio_project.worker import work
from tests.live import TOKEN, LiveDaemon, live_daemon
from tests.parity.conftest import ALLOWED
from tests.parity.launch_scenarios import launch
from tests.parity.run_scenarios import read_panes
from tests.parity.witness import Witness, frames_of

EVENTS = """\
echo '{"studio": 1, "type": "message", "role": "assistant", "content": "on it"}'
echo '{"studio": 1, "type": "usage", "input_tokens": 3, "cost_usd": 0.5}'
echo '{"studio": 1, "type": "artifact", "kind": "report", "name": "r", "content": {"a": 1}}'
echo 'no event'
"""
Meanwhile = Callable[[StudioApplication, str], Awaitable[object]]


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    home = tmp_path_factory.mktemp("worker") / "home"
    with live_daemon(home, auth_token=TOKEN, command_allowlist=",".join(ALLOWED)) as daemon:
        yield daemon


@pytest_asyncio.fixture
async def pair(local: Studio, worker: LiveDaemon) -> AsyncIterator[tuple[StudioApplication, StudioApplication]]:
    working = asyncio.create_task(work(local))
    async with RemoteStudio(worker.url, token=TOKEN) as remote:
        yield local, remote
    working.cancel()
    await asyncio.wait([working])


async def nothing(studio: StudioApplication, run_id: str) -> None:
    """Let the run be."""


async def cancel(studio: StudioApplication, run_id: str) -> None:
    """Ask the run to stop once it has said something."""
    async for frame in studio.stream_messages(run_id, None):
        if frame.payload.type == "message":
            await studio.cancel_run(run_id, CancelRun(reason="enough"))
            return


@pytest.mark.parametrize(
    ("action", "meanwhile", "status", "seen"),
    [
        ({"command": ("sh", "-c", "printf 'a\\nb\\n'")}, nothing, "completed", {"exit_code": 0, "stdout_bytes": 4}),
        ({"command": ("sh", "-c", "echo no >&2; exit 3")}, nothing, "failed", {"exit_code": 3, "stderr_bytes": 3}),
        ({"command": ("sh", "-c", EVENTS)}, nothing, "completed", {"output_tail": "no event\n"}),
        ({"command": ("sh", "-c", "kill -9 $$")}, nothing, "failed", {"exit_code": None, "exit_signal": 9}),
        ({"command": ("sh", "-c", "pwd"), "cwd": "/"}, nothing, "completed", {"output_tail": "/\n", "cwd": "/"}),
        (
            {"command": ("sh", "-c", "exec sleep 60"), "deadline_seconds": 0.3},
            nothing,
            "timed_out",
            {"exit_signal": 15},
        ),
        ({"command": ("sh", "-c", "echo a; exec sleep 60")}, cancel, "cancelled", {"exit_signal": 15}),
        ({"command": ("no-such-program",)}, nothing, "failed", {"exit_code": None, "exit_signal": None}),
    ],
    ids=["output", "errors", "events", "signal", "folder", "deadline", "cancel", "missing"],
)
async def test_a_launched_run_ends_the_same(
    action: dict[str, Any],
    meanwhile: Meanwhile,
    status: str,
    seen: dict[str, Any],
    pair: tuple[StudioApplication, StudioApplication],
) -> None:
    said = []
    for studio in pair:
        witness = Witness(studio)
        execution = await _executed(witness.application, studio, action, meanwhile, status)
        assert {name: getattr(execution, name) for name in seen} == seen
        said.append(witness.steps)

    assert said[1] == said[0]


async def _executed(
    watched: StudioApplication, studio: StudioApplication, action: dict[str, Any], meanwhile: Meanwhile, status: str
) -> ExecutionView:
    """Launch and wait for the end; what is seen on the way depends on the time, what is there at the end does not."""
    run_id = (await launch(watched, kind="command", **action)).run_id
    await meanwhile(studio, run_id)
    await frames_of(studio.stream_messages(run_id, None))
    run = await watched.get_run(run_id, RunReadQuery())
    await read_panes(watched, run_id)
    assert run.status == status
    assert run.execution is not None
    assert run.execution.attempts == 1
    return run.execution
