"""The daemon as a process: what it refuses before it changes anything, and how it ends."""

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from contract.errors import StateUnavailable
from studio_project.config import isolated_environment
from studio_project.daemon import FLUSH_SECONDS, ServeRefused, bind, refuse_open_door, watched
from studio_project.home import LOCK_NAME
from tests.live import ROOT, LiveDaemon, live_daemon
from tests.studio_project.scripted import config_of

STOP_SECONDS = 3.0
# Far longer than anything here takes.
PATIENCE_SECONDS = 60.0


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveDaemon]:
    with live_daemon(tmp_path_factory.mktemp("daemon") / "home") as daemon:
        yield daemon


def serve(home: Path, *options: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run `serve` when it is expected to refuse."""
    command = [sys.executable, "manage.py", "serve", *options]
    environment = isolated_environment(home, **({"port": "0"} | settings))
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)


# ---- what is refused


def test_a_second_daemon_is_told_of_the_first_and_touches_nothing(daemon: LiveDaemon) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in daemon.home.iterdir()}

    refused = daemon.manage("serve")

    assert refused.returncode == 1
    assert f"port {urlsplit(daemon.url).port}" in refused.stderr
    assert str(json.loads((daemon.home / LOCK_NAME).read_text())["pid"]) in refused.stderr
    assert refused.stdout == ""
    assert {path.name: path.stat().st_mtime_ns for path in daemon.home.iterdir()} == before


def test_a_port_in_use_is_said_before_anything_is_made(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = serve(tmp_path / "home", port=str(taken.getsockname()[1]))

    assert refused.returncode == 1
    assert "cannot listen on 127.0.0.1" in refused.stderr
    assert "in use" in refused.stderr
    assert [path.name for path in (tmp_path / "home").iterdir()] == [LOCK_NAME]


def test_an_open_door_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    refused = serve(tmp_path / "home", "--host", "0.0.0.0")  # noqa: S104 (it is refused)

    assert refused.returncode == 1
    assert "--insecure" in refused.stderr
    assert list(tmp_path.glob("home/*")) == []


@pytest.mark.parametrize(
    "settings",
    [{"host": "127.0.0.1"}, {"host": "192.168.0.7", "auth_token": "t"}, {"host": "192.168.0.7", "insecure": "true"}],
)
def test_a_door_is_closed_by_loopback_or_a_token_or_opened_on_purpose(settings: dict[str, str]) -> None:
    refuse_open_door(config_of(**settings), insecure=False)


def test_the_option_opens_the_door_too() -> None:
    with pytest.raises(ServeRefused):
        refuse_open_door(config_of(host="192.168.0.7"), insecure=False)

    refuse_open_door(config_of(host="192.168.0.7"), insecure=True)


def test_an_address_of_another_machine_cannot_be_bound() -> None:
    with pytest.raises(ServeRefused, match=r"cannot listen on 192\.0\.2\.1"):
        bind(config_of(host="192.0.2.1", port="0"))


@pytest.mark.parametrize("home", ["file", "file/below", "/proc/nope"])
def test_a_home_that_cannot_be_made_is_said_in_one_line(tmp_path: Path, home: str) -> None:
    (tmp_path / "file").touch()

    refused = serve(tmp_path / home)

    assert refused.returncode == 1
    assert refused.stderr.startswith("Cannot serve: the home ")
    assert refused.stderr.count("\n") == 1
    assert refused.stdout == ""


def test_a_database_without_schema_is_refused_when_it_may_not_be_changed(tmp_path: Path) -> None:
    refused = serve(tmp_path / "home", "--no-migrate")

    assert refused.returncode == 1
    assert "behind this code" in refused.stderr


def test_a_database_that_cannot_be_reached_is_said_without_its_password(tmp_path: Path) -> None:
    refused = serve(tmp_path / "home", database_url="postgresql://me:hidden@127.0.0.1:1/studio")

    assert refused.returncode == 1
    assert "127.0.0.1:1/studio cannot be used" in refused.stderr
    assert "hidden" not in refused.stderr + refused.stdout


# ---- a life


def test_a_started_daemon_is_ready(daemon: LiveDaemon) -> None:
    assert httpx.get(f"{daemon.url}/ready").json()["phase"] == "ready"
    assert httpx.get(f"{daemon.url}/api/v1/runs/").json()["items"] == []


def test_a_daemon_that_starts_again_has_its_port_at_once_and_tells_no_password(tmp_path: Path) -> None:
    home = tmp_path / "home"
    port = str(port_that_nobody_is_given())
    with Served(home, "--port", port) as first:
        page = logged_in(first.url, first.said)
        code = first.end(signal.SIGINT)
    with Served(home, "--port", port) as second:
        answer = httpx.get(f"{first.url}/health", timeout=PATIENCE_SECONDS)

    assert "Log out" in page
    assert code == 0
    assert answer.status_code == 200
    assert "password" not in second.said


def test_a_stop_takes_three_seconds_whatever_the_clients_do(tmp_path: Path) -> None:
    message = {"type": "message", "role": "user", "content": "x" * 1_000_000}

    with Served(tmp_path / "home") as served, ExitStack() as clients:
        with httpx.Client(base_url=served.url, timeout=PATIENCE_SECONDS) as producer:
            for run in ("watched", "large"):
                producer.post("/api/v1/runs/", json={"run_id": run})
            for _ in range(8):
                producer.post("/api/v1/runs/large/events", json={"events": [message]})
        viewers = fifty_viewers(clients, f"{served.url}/api/v1/runs/watched/stream")
        clients.enter_context(never_reads(served.url, "/api/v1/runs/large/stream"))
        clients.enter_context(never_ends_its_upload(served.url))
        code = served.end()
        rests = [b"".join(viewer) for viewer in viewers]

    assert code == 0
    assert all(b'"shutdown"' in rest for rest in rests)


def logged_in(url: str, said: str) -> str:
    """Log in to the admin as the daemon said, and return the page behind."""
    found = re.search(r"user (\w+), password (\w+)", said)
    assert found is not None
    with httpx.Client(base_url=url, follow_redirects=True, timeout=PATIENCE_SECONDS) as browser:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get("/admin/login/").text)
        assert token is not None
        form = {"username": found[1], "password": found[2], "csrfmiddlewaretoken": token[1], "next": "/admin/"}
        return browser.post("/admin/login/", data=form).text


def fifty_viewers(clients: ExitStack, address: str) -> list[Iterator[bytes]]:
    """Open fifty streams and read their first frames."""
    client = clients.enter_context(httpx.Client(limits=httpx.Limits(max_connections=None), timeout=PATIENCE_SECONDS))
    viewers = [clients.enter_context(client.stream("GET", address)).iter_bytes() for _ in range(50)]
    for viewer in viewers:
        next(viewer)
    return viewers


def never_reads(url: str, target: str) -> socket.socket:
    """Ask for a long stream, and take its first byte alone."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.connect(("127.0.0.1", urlsplit(url).port))
    client.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    client.recv(1)
    return client


def never_ends_its_upload(url: str) -> socket.socket:
    """Send a request whose body stops in the middle."""
    client = socket.create_connection(("127.0.0.1", urlsplit(url).port or 0))
    client.sendall(b"POST /api/v1/runs/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
    return client


# ---- starting and ending


class Served:
    """A daemon from its start until it is ready, and to its end: that of the block at the latest."""

    def __init__(self, home: Path, *options: str) -> None:
        command = [sys.executable, "manage.py", "serve", *options]
        environment = isolated_environment(home, port="0")
        began = time.perf_counter()
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
        self.said = self._until_ready()
        self.url = f"http://127.0.0.1:{json.loads((home / LOCK_NAME).read_text())['port']}"
        # A start does little but compute: how much longer it takes than it computes is how busy the machine is.
        computed = sum(psutil.Process(self.process.pid).cpu_times()[:2])
        self.slowness = max((time.perf_counter() - began) / computed, 1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop and return the exit code. A stop that takes too long fails: what of it is computed may take longer on a
        busy machine, but not what is waited.
        """
        self.process.send_signal(number)
        return self.process.wait(FLUSH_SECONDS + (STOP_SECONDS - FLUSH_SECONDS) * self.slowness)

    def _until_ready(self) -> str:
        """Return what the daemon says until it is ready."""
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith("Ready"):
                return "".join(said)
        raise AssertionError(f"the daemon ended: {''.join(said)}")


def port_that_nobody_is_given() -> int:
    """Return a free port below those that the system hands out: between two daemons it would be somebody else's."""
    for port in range(20_000 + os.getpid() % 10_000, 32_768):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("there is no free port")


@pytest.mark.parametrize(
    ("fault", "level", "traced"),
    [(StateUnavailable(retryable=True, detail="gone"), logging.WARNING, False), (KeyError("x"), logging.ERROR, True)],
)
async def test_a_part_that_ends_is_told_of_and_only_the_unforeseen_is_traced(
    caplog: pytest.LogCaptureFixture, fault: Exception, level: int, traced: bool
) -> None:
    async def part() -> None:
        raise fault

    await watched(part)

    [record] = caplog.records
    assert (record.levelno, bool(record.exc_info)) == (level, traced)
