"""Runs the suite on SQLite and, where a server answers, on PostgreSQL; says at the end what ran where.

`python -m tests.run [pytest arguments]`. STUDIO_TEST_POSTGRES_URL names the server. A PostgreSQL that does not answer
is reported and is no failure; everything else that keeps a suite from passing is.
"""

import os
import subprocess
import sys

import psycopg

_POSTGRES_URL = "postgresql://postgres@127.0.0.1:5432/postgres"
_CONNECT_SECONDS = 3
# Two: what a small machine has; each worker has its own database.
_WORKERS = "2"
# Some hundred processes start in a run: without bytecode each would compile the whole project again.
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def main(arguments: list[str]) -> int:
    """Run both suites and return the first exit code that is not 0."""
    os.environ.pop(_NO_BYTECODE, None)
    postgres_url = os.environ.pop("STUDIO_TEST_POSTGRES_URL", _POSTGRES_URL)
    results = {"SQLite": _suite("SQLite", {}, arguments)}
    refusal = _why_not(postgres_url)
    if refusal is None:
        # Only what reaches a database (tests/conftest.py); pytest says how many tests that leaves out.
        results["PostgreSQL"] = _suite("PostgreSQL", {"STUDIO_TEST_DATABASE_URL": postgres_url}, arguments)
    print("\n== Summary ==")
    for database, code in results.items():
        print(f"{database}: {'passed' if code == 0 else f'FAILED (pytest exit code {code})'}")
    if refusal is not None:
        print(f"PostgreSQL: NOT RUN: {refusal}")
    return next((code for code in results.values() if code), 0)


def _suite(database: str, environment: dict[str, str], arguments: list[str]) -> int:
    print(f"\n== {database} ==", flush=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", _WORKERS, "--dist=worksteal", *arguments]
    return subprocess.run(command, env=os.environ | environment, check=False).returncode


def _why_not(url: str) -> str | None:
    """Why the PostgreSQL server cannot be used, or None where it can."""
    try:
        psycopg.connect(url, connect_timeout=_CONNECT_SECONDS).close()
    except psycopg.Error as error:
        return f"no server answers at STUDIO_TEST_POSTGRES_URL ({str(error).strip().splitlines()[0]})"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
