"""A daemon under measurement: a process of its own, on a free port, with a home of its own."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from tests.benchmarks.http_client import HOST, Connection, Request, UnexpectedAnswer

ROOT: Final = Path(__file__).parents[2]
_LOG: Final = "daemon.log"
_POLL_SECONDS: Final = 0.01
_LOG_TAIL_CHARS: Final = 2_000


class DaemonFailed(Exception):
    """A daemon did not start, or ended by itself."""


@dataclass(slots=True, kw_only=True)
class LiveDaemon:
    """One running daemon. `runs` is how many it was seeded with, `until` the instant where these end."""

    home: Path
    port: int
    runs: int
    until: float
    process: psutil.Popen
    log: Path = field(init=False)

    def __post_init__(self) -> None:
        self.log = self.home / _LOG

    def cpu_seconds(self) -> float:
        """Return the processor time used so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def resident_mib(self) -> float:
        """Return the resident memory in MiB."""
        return float(self.process.memory_info().rss) / 2**20

    def stop(self, patience_seconds: float = 10.0) -> float | None:
        """Send SIGTERM; return the seconds until the end, or None when it had to be killed."""
        if self.process.poll() is not None:
            return 0.0
        started = time.perf_counter()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(patience_seconds)
        except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
            return None
        return time.perf_counter() - started


def own_environment(home: Path) -> dict[str, str]:
    """Return an environment in which nothing of the developer's configuration is left."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")}
    return kept | {"STUDIO_HOME": str(home), "DJANGO_SETTINGS_MODULE": "studio_project.settings"}


def serve(home: Path, *, runs: int, until: float) -> LiveDaemon:
    """Start `manage.py serve` on a seeded home; it is not ready yet."""
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    return launch(command, own_environment(home), home=home, port=port, runs=runs, until=until)


def launch(
    command: Sequence[str], environment: Mapping[str, str], *, home: Path, port: int, runs: int, until: float
) -> LiveDaemon:
    """Start a process that will listen on `port`; what it prints goes to a file in `home`."""
    with (home / _LOG).open("ab") as log:
        process = psutil.Popen(
            list(command), cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    return LiveDaemon(home=home, port=port, runs=runs, until=until, process=process)


async def until_ready(daemon: LiveDaemon, target: str, *, patience_seconds: float = 60.0) -> None:
    """Return as soon as `target` answers well. Raises DaemonFailed when the process ends or the time is over."""
    end = time.perf_counter() + patience_seconds
    while not await _answers(daemon.port, target):
        if daemon.process.poll() is not None or time.perf_counter() > end:
            said = daemon.log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]
            raise DaemonFailed(f"the daemon of {daemon.home} is not ready; it said:\n{said}")
        await asyncio.sleep(_POLL_SECONDS)


async def _answers(port: int, target: str) -> bool:
    try:
        connection = await Connection.open(port)
    except ConnectionError:
        return False
    try:
        await connection.ask(Request(target))
    except (UnexpectedAnswer, ConnectionError, asyncio.IncompleteReadError):
        return False
    finally:
        connection.close()
    return True


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
