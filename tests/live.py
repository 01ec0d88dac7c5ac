"""A live daemon for tests: `manage.py serve` in a process of its own, on a home, a port and a database of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from studio_project.config import isolated_environment
from studio_project.home import LOCK_NAME

ROOT = Path(__file__).parents[1]
TOKEN = "token-of-the-live-daemon"
# Far longer than a start takes, migrations on a busy machine included.
_START_SECONDS = 120.0
# A daemon promises to end in three.
_STOP_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True)
class LiveDaemon:
    """A daemon that answers at `url`. `environment` is that of a process that shares its home and database."""

    url: str
    home: Path
    environment: dict[str, str]

    def manage(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run a command beside the daemon, to its end."""
        command = [sys.executable, "manage.py", *arguments]
        together = self.environment | environment
        return subprocess.run(command, cwd=ROOT, env=together, capture_output=True, text=True, check=False)


@contextmanager
def live_daemon(home: Path, *options: str, **settings: str) -> Iterator[LiveDaemon]:
    """Serve, with options of the command, until the end of the block. `settings` are configuration keys."""
    with _database() as database:
        values = {"port": "0", "timezone": "UTC"} | database | settings
        environment = isolated_environment(home, **values)
        with (home.parent / f"{home.name}.log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", *options],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
            with process:
                try:
                    _wait_until_ready(process, Path(log.name))
                    port = json.loads((home / LOCK_NAME).read_text())["port"]
                    yield LiveDaemon(url=f"http://127.0.0.1:{port}", home=home, environment=environment)
                finally:
                    _stop(process)
    assert process.returncode == 0, f"the daemon ended with {process.returncode}"


def _wait_until_ready(process: "subprocess.Popen[str]", log: Path) -> None:
    """Read what the daemon says until it is ready. A daemon that never is gets killed, which ends its output."""
    assert process.stdout is not None
    patience = Timer(_START_SECONDS, process.kill)
    patience.start()
    said = []
    try:
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ready"):
                return
    finally:
        patience.cancel()
    raise RuntimeError(f"the daemon did not get ready:\n{''.join(said)}\n{log.read_text(encoding='utf-8')}")


def _stop(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


@contextmanager
def _database() -> Iterator[dict[str, str]]:
    """Where the suite runs on PostgreSQL, make a database for one daemon; on SQLite its home holds it."""
    server = os.environ.get("STUDIO_TEST_DATABASE_URL")
    if server is None:
        yield {}
        return
    name = f"studio_live_{os.getpid()}_{os.urandom(4).hex()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            yield {"database_url": urlsplit(server)._replace(path=f"/{name}").geturl()}
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
