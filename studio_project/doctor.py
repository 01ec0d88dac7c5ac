"""What is well and what is not with this Studio: facts in, findings with remedies out.

The facts are gathered by studio_project/doctor_facts.py. A `fail` keeps a daemon from working, a `warn` does not; a
`note` says what is not there and need not be.
"""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pydantic import SecretStr

from contract.base import ContractModel, Tup
from studio_project.config import PREFIX, StudioConfig
from studio_project.home import Holder
from studio_project.schema import SchemaState

Level = Literal["ok", "note", "warn", "fail"]

_MIB: Final = 1024 * 1024
# SQLite needs room for the write-ahead log beside the database; under the first bound writing is about to end.
FREE_FAIL_BYTES: Final = 100 * _MIB
FREE_WARN_BYTES: Final = 1024 * _MIB
# A log that is checkpointed stays near 4 MiB (sqlite.org/wal.html: 1,000 pages); this one is held by a reader.
WAL_WARN_BYTES: Final = 256 * _MIB
_OTHERS: Final = 0o077
_HIDDEN: Final = "set (hidden)"
_UNSET: Final = "-"
_SCRIPT: Final = "studio"
# Name and password in front of a URL's host (RFC 3986, 3.2.1).
_USER_INFO: Final = re.compile(r"//[^/?#]*@")


class Setting(ContractModel):
    """One effective setting; a secret's value is never shown."""

    key: str
    value: str
    origin: str
    meaning: str


class Finding(ContractModel):
    """One thing that was looked at; `remedy` says what to do about it, where something is to be done."""

    level: Level
    subject: str
    detail: str
    remedy: str | None = None


class Diagnosis(ContractModel):
    """Everything the doctor has to say. `healthy` means that nothing fails."""

    healthy: bool
    settings: Tup[Setting]
    findings: Tup[Finding]


@dataclass(frozen=True, kw_only=True)
class HomeFacts:
    """The home as it is. `mode` is None where there is none; `free_bytes` are those of its file system."""

    path: Path
    is_folder: bool
    is_writable: bool
    mode: int | None
    file_mode: int | None
    free_bytes: int


@dataclass(frozen=True, kw_only=True)
class DatabaseFacts:
    """The database as it answers; `fault` says why it does not, `absent` that it is yet to be made.

    `reconciliations` are pending; None where the schema does not tell yet. `shrinks` says that room can be given back.
    """

    absent: bool = False
    fault: str | None = None
    schema: SchemaState | None = None
    version: str = ""
    journal_mode: str | None = None
    size_bytes: int = 0
    wal_bytes: int = 0
    shrinks: bool = True
    reconciliations: int | None = None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What was found. `port_fault` says why the port cannot be bound; `script` is where the command would be found.

    `executables` has for each runtime where its executable was found; `root_fault` says why the configured folder of
    runs cannot be used.
    """

    home: HomeFacts
    database: DatabaseFacts
    holder: Holder | None
    port_fault: str | None
    script: str | None
    executables: Mapping[str, str | None]
    root_fault: str | None
    now: datetime
    software: str


def diagnose(config: StudioConfig, facts: Facts) -> Diagnosis:
    """Judge the facts."""
    findings = (
        Finding(level="ok", subject="software", detail=facts.software),
        *_home(facts.home),
        _disk(facts.home),
        *_database(config, facts.database),
        _queue(config, facts.database.schema),
        _port(config, facts),
        _access(config),
        Finding(level="ok", subject="timezone", detail=f"{config.timezone}, where it is {_clock(facts.now)}"),
        _script(facts.script),
        *_runtimes(config, facts.executables),
        *_root(config, facts.root_fault),
    )
    healthy = all(finding.level != "fail" for finding in findings)
    return Diagnosis(healthy=healthy, settings=effective_settings(config), findings=findings)


def effective_settings(config: StudioConfig) -> tuple[Setting, ...]:
    """Return every setting with its value and where that came from, secrets hidden."""
    return tuple(
        Setting(
            key=PREFIX + name.upper(),
            value=_shown(config, name),
            origin=config.origins.get(name, "default"),
            meaning=field.description or "",
        )
        for name, field in StudioConfig.model_fields.items()
    )


def _shown(config: StudioConfig, name: str) -> str:
    value = getattr(config, name)
    if name == "database_url":
        return config.database.display
    if name == "url" and value:
        return _USER_INFO.sub("//", value)
    if isinstance(value, SecretStr):
        return _HIDDEN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return _shown_by_kind(value)
    if isinstance(value, tuple):
        return ", ".join(value) or _UNSET
    return _UNSET if value is None else str(value)


def _shown_by_kind(values: Mapping[str, float]) -> str:
    if len(set(values.values())) == 1:
        return f"{min(values.values()):g}"
    return ", ".join(f"{kind}={value:g}" for kind, value in values.items())


def _clock(now: datetime) -> str:
    return now.isoformat(sep=" ", timespec="seconds")


def _home(home: HomeFacts) -> Iterator[Finding]:
    if home.mode is None:
        if home.is_writable:
            yield _warn("home", f"{home.path} does not exist yet", "the first `manage.py serve` makes it")
        else:
            yield _fail("home", f"{home.path} does not exist and cannot be made", "choose another STUDIO_HOME")
        return
    if not home.is_folder:
        yield _fail("home", f"{home.path} is not a folder", "choose another STUDIO_HOME")
    elif not home.is_writable:
        yield _fail(
            "home", f"{home.path} cannot be written", f"chown it to the user that serves, or chmod u+rwx {home.path}"
        )
    elif home.mode & _OTHERS:
        yield _warn("home", f"{home.path} can be read by others (mode {home.mode:03o})", f"chmod 700 {home.path}")
    else:
        yield _ok("home", f"{home.path}, writable, and the owner's alone")
    if home.file_mode is not None and home.file_mode & _OTHERS:
        remedy = f"chmod 600 {home.path / 'studio.toml'}"
        yield _warn("studio.toml", f"can be read by others (mode {home.file_mode:03o})", remedy)


def _disk(home: HomeFacts) -> Finding:
    free = f"{home.free_bytes // _MIB:,} MiB free"
    if home.free_bytes < FREE_FAIL_BYTES:
        return _fail("disk", free, "make room: writing is about to fail")
    if home.free_bytes < FREE_WARN_BYTES:
        return _warn("disk", free, "make room soon")
    return _ok("disk", free)


def _database(config: StudioConfig, database: DatabaseFacts) -> Iterator[Finding]:
    display = config.database.display
    if database.absent:
        yield _warn("database", f"{display} does not exist yet", "the first `manage.py serve` makes it")
        return
    if database.fault is not None:
        yield _fail("database", f"{display} does not answer: {database.fault}", "check database_url and the server")
        return
    yield _ok("database", f"{display} answers: {database.version}, {database.size_bytes / _MIB:,.1f} MiB")
    if database.schema is not None:
        yield _schema(database.schema)
    if database.journal_mode is not None:
        yield _journal(database, database.journal_mode)
    if not database.shrinks:
        yield _unshrinkable(config)
    if database.reconciliations is not None:
        yield _definitions(database.reconciliations)


def _schema(schema: SchemaState) -> Finding:
    if schema.unknown:
        detail = f"migrated by a newer Studio: {', '.join(schema.unknown)}"
        return _fail("schema", detail, "use that Studio, or another database")
    if schema.missing:
        detail = f"{len(schema.missing)} migrations are missing, from {schema.missing[0]} on"
        return _warn("schema", detail, "`manage.py serve` applies them, or `manage.py migrate`")
    return _ok("schema", "up to date")


def _queue(config: StudioConfig, schema: SchemaState | None) -> Finding:
    if config.queue == "local":
        return _ok("queue", "local: workers look into the database themselves")
    if schema is not None and any(step.startswith(f"{config.queue}.") for step in schema.missing):
        remedy = "`manage.py serve` makes them, or `manage.py migrate`"
        return _warn("queue", f"{config.queue}, and its tables are missing", remedy)
    there = "" if schema is None else "; its tables are there"
    return _ok("queue", f"{config.queue}: it calls workers for what waits{there}")


def _journal(database: DatabaseFacts, mode: str) -> Finding:
    if mode != "wal":
        detail = f"{mode} instead of wal: readers and the writer stand in each other's way"
        return _warn("journal", detail, "move the database to a local file system")
    if database.wal_bytes > WAL_WARN_BYTES:
        detail = f"wal, but its log has {database.wal_bytes // _MIB:,} MiB"
        return _warn("journal", detail, "a reader holds it open: restart the daemon and whatever else reads the file")
    return _ok("journal", f"wal, its log has {database.wal_bytes / _MIB:,.1f} MiB")


def _unshrinkable(config: StudioConfig) -> Finding:
    statement = "PRAGMA auto_vacuum = INCREMENTAL; VACUUM"
    return _warn(
        "room",
        "the file never gets smaller: it was made before old runs could be removed, and their room is only used again",
        f"stop the daemon, then once: sqlite3 {shlex.quote(config.database.name)} '{statement}'",
    )


def _definitions(pending: int) -> Finding:
    if pending == 0:
        return _ok("definitions", "no reconciliation is pending")
    told = "1 reconciliation is" if pending == 1 else f"{pending:,} reconciliations are"
    detail = f"{told} pending: saved to the history, and not in the file"
    return _warn("definitions", detail, "`studio definition reconcile` lists what is pending")


def _port(config: StudioConfig, facts: Facts) -> Finding:
    if facts.holder is not None:
        return _ok("daemon", f"serves this home: pid {facts.holder.pid}, port {facts.holder.port or 'not told yet'}")
    if facts.port_fault is not None:
        detail = f"{config.host} port {config.port} cannot be used: {facts.port_fault}"
        return _fail("port", detail, "end what holds it, or choose another with STUDIO_PORT")
    free = "any free one" if config.port == 0 else f"{config.port} is free"
    return _ok("port", f"{config.host}, {free}; no daemon serves this home")


def _access(config: StudioConfig) -> Finding:
    if config.auth_token is not None:
        return _ok(
            "access", "a bearer token is needed" + (", a second one only reads" if config.auth_read_token else "")
        )
    if config.auth_read_token is not None:
        return _warn("access", "a token may read, and nothing may write", "set STUDIO_AUTH_TOKEN as well")
    if config.is_loopback:
        return _ok("access", f"no token: every program on this machine may use {config.host}")
    detail = f"{config.host} can be reached from other machines, and there is no token"
    if config.insecure:
        return _warn("access", detail + " (insecure)", "set STUDIO_AUTH_TOKEN")
    return _fail("access", detail + ": the daemon refuses to start", "set STUDIO_AUTH_TOKEN")


def _script(script: str | None) -> Finding:
    if script is None:
        return _warn(
            "command",
            f"`{_SCRIPT}` is not on PATH",
            "call it by its path, such as `.venv/bin/studio`, or activate the environment",
        )
    return _ok("command", script)


def _runtimes(config: StudioConfig, executables: Mapping[str, str | None]) -> Iterator[Finding]:
    for name, runtime in config.runtimes.items():
        kinds = ", ".join(runtime.templates)
        found = executables.get(name)
        missing = f"{name} cannot be used for {kinds}: there is no executable {runtime.executable}"
        if found is not None:
            yield _ok("runtime", f"{name} is {found}, for {kinds}")
        elif runtime.shipped and name != config.default_runtime:
            yield Finding(level="note", subject="runtime", detail=missing)
        else:
            yield _warn("runtime", missing, f"install it, or set executable in [runtimes.{name}] to its path")


def _root(config: StudioConfig, fault: str | None) -> Iterator[Finding]:
    if config.execution_root is None:
        return
    if fault is None:
        yield _ok("root", str(config.execution_root))
    else:
        yield _warn("root", f"{config.execution_root}: {fault}", "make it usable, or set another root in [execution]")


def _ok(subject: str, detail: str) -> Finding:
    return Finding(level="ok", subject=subject, detail=detail)


def _warn(subject: str, detail: str, remedy: str) -> Finding:
    return Finding(level="warn", subject=subject, detail=detail, remedy=remedy)


def _fail(subject: str, detail: str, remedy: str) -> Finding:
    return Finding(level="fail", subject=subject, detail=detail, remedy=remedy)
