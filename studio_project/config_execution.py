"""The configuration of execution: deadlines, allow-list, and the `[runtimes.NAME]` tables of studio.toml."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from contract.actions import ActionKind
from contract.base import Path
from contract.limits import DEADLINE_SECONDS_MAX
from runs.runtimes import ACTION_KINDS, RUNTIME_KINDS, SHIPPED, Runtime, Template, is_executable_name, runtime_failures
from studio_project.config_file import suggestion

Runtimes = Mapping[str, Runtime]
Queue = Literal["local", "procrastinate"]
# Where it is in a table, and what is wrong there.
_Fault: TypeAlias = tuple[Path, str]

# Two hours: agents that work longer than that in one go are rare; who has some says so.
DEADLINE_SECONDS_DEFAULT: Final = 7_200.0
# Whoever is told to end and does not within minutes never will.
GRACE_SECONDS_MAX: Final = 300.0
# As a `runtime` of an action is spelled (contract/base.py: Token), so that each can be named.
_NAME: Final = r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$"


def _all_deadlines(value: object) -> object:
    """Make a number for each kind of what was set: one number, a table by kind, or in the environment `kind=number`."""
    if isinstance(value, str):
        value = dict(_pairs(value)) if "=" in value else _seconds(value)
    if not isinstance(value, Mapping):
        return dict.fromkeys(ACTION_KINDS, _seconds(value))
    faults = dict.fromkeys(fault for kind, seconds in value.items() for fault in _deadline_faults(kind, seconds))
    if faults:
        raise PydanticCustomError("deadlines", "{message}", {"message": "; ".join(faults)})
    return {kind: _seconds(value.get(kind, DEADLINE_SECONDS_DEFAULT)) for kind in ACTION_KINDS}


def _deadline_faults(kind: object, seconds: object) -> Iterator[str]:
    if kind not in ACTION_KINDS:
        yield f"{kind} is no kind of action{suggestion(str(kind), ACTION_KINDS)}"
    try:
        _seconds(seconds)
    except PydanticCustomError as fault:
        yield fault.message()


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, map(str.strip, text.split(","))):
        kind, _, seconds = part.partition("=")
        yield kind.strip(), seconds.strip()


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= DEADLINE_SECONDS_MAX:  # false for NaN too
        message = f"must be seconds, more than 0 and at most {DEADLINE_SECONDS_MAX:.0f}"
        raise PydanticCustomError("seconds", "{message}", {"message": message})
    return seconds


def _usable_executables(value: tuple[str, ...]) -> tuple[str, ...]:
    if not all(map(is_executable_name, value)):
        raise PydanticCustomError("executable", "must be bare names or absolute paths")
    return value


Deadlines = Annotated[Mapping[ActionKind, float], NoDecode, BeforeValidator(_all_deadlines)]
ALLOWED_EXECUTABLES: Final = AfterValidator(_usable_executables)


class _RuntimeTable(BaseModel):
    """A `[runtimes.NAME]` table as it is written; what is left out is as the shipped runtime of that name has it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    executable: str | None = None
    reader: str | None = None
    env: dict[str, str] | None = None
    argv: dict[str, Annotated[tuple[str, ...], Field(strict=False)]] = {}
    stdin: dict[str, str] = {}


def default_deadlines() -> Mapping[ActionKind, float]:
    """Return the deadlines of a configuration that sets none, in seconds by kind."""
    return dict.fromkeys(ACTION_KINDS, DEADLINE_SECONDS_DEFAULT)


def default_runtimes() -> Runtimes:
    """Return the runtimes of a configuration that describes none."""
    return SHIPPED


def queue_faults(queue: Queue, engine: str, place: str) -> list[str]:
    """Say at its place what keeps a queue from being bound."""
    if queue == "local" or engine == "postgresql":
        return []
    return [f"{place}: procrastinate works on PostgreSQL only: set database_url to one, or leave the queue local"]


def read_runtimes(tables: Mapping[str, Any]) -> tuple[Runtimes, tuple[str, ...]]:
    """Return the runtimes by name, the shipped ones first, and what is wrong with the tables, as "NAME.key: what".

    They may be used if nothing is.
    """
    runtimes = dict(SHIPPED)
    problems: list[str] = []
    for name, table in tables.items():
        runtime, faults = _read_runtime(name, table)
        problems += (f"{name}{fault}" for fault in faults)
        runtimes[name] = runtime
    return MappingProxyType(runtimes), tuple(problems)


def _read_runtime(name: str, content: object) -> tuple[Runtime, tuple[str, ...]]:
    """Return the runtime, to be used if it has no fault. All are told at once; none that only follows from another."""
    table, faults = _read_table(content)
    faults += _kind_faults(name, table, [path for path, _ in faults])
    torn = _torn_kinds([path for path, _ in faults])
    runtime = _runtime(name, table, torn=torn)
    for fault in runtime_failures(runtime):
        follows = fault.path[0] == "executable" and table.executable is None  # it is the name
        if not follows and fault.path not in {("argv", kind) for kind in torn}:
            faults.append((fault.path, fault.message))
    return runtime, tuple(_told(path, message) for path, message in faults)


def _read_table(content: object) -> tuple[_RuntimeTable, list[_Fault]]:
    """Return what can be read of a table, and what cannot."""
    try:
        return _RuntimeTable.model_validate(content), []
    except ValidationError as error:
        faults = list(_table_faults(error))
        return _RuntimeTable.model_validate(_without(content, {path[:2] for path, _ in faults})), faults


def _without(content: object, paths: Collection[Path]) -> dict[str, object]:
    """Return a table without the entries at paths of one or two parts."""
    kept: dict[str, object] = {}
    for key, value in content.items() if isinstance(content, Mapping) else ():
        if (key,) not in paths:
            inner = isinstance(value, Mapping)
            kept[key] = {part: value[part] for part in value if (key, part) not in paths} if inner else value
    return kept


def _table_faults(error: ValidationError) -> Iterator[_Fault]:
    """One for each; an entry of `env` may be a secret, and no message repeats what was written."""
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        path, message = fault["loc"], fault["msg"]
        if fault["type"] == "extra_forbidden":
            message = f"is not a known key{suggestion(str(path[-1]), _RuntimeTable.model_fields)}"
        yield path, message if path else "must be a table"


def _kind_faults(name: str, table: _RuntimeTable, spoiled: Collection[Path]) -> Iterator[_Fault]:
    """Look at the kinds that a table names; `spoiled` are the paths of what could not be read."""
    if not re.fullmatch(_NAME, name):
        yield (), "must begin with a letter and hold only letters, digits and `.`, `_`, `-`, at most 64"
    argv, stdin = ([*given, *_kinds_in(key, spoiled)] for key, given in (("argv", table.argv), ("stdin", table.stdin)))
    known = {*argv, *(SHIPPED[name].templates if name in SHIPPED else ())}
    unreadable = () in spoiled or ("argv",) in spoiled
    if not known and not unreadable:
        yield ("argv",), "is needed: it says which kinds of action the runtime executes, and how"
    for key, kinds in (("argv", argv), ("stdin", stdin)):
        for kind in kinds:
            if kind not in RUNTIME_KINDS:
                message = f"is no kind of action that a runtime executes{suggestion(kind, RUNTIME_KINDS)}"
                yield (key, kind), message
            elif kind not in known and not unreadable:
                yield (key, kind), f"argv.{kind} is missing"


def _torn_kinds(faulty: Collection[Path]) -> frozenset[str]:
    """Return the kinds whose templates are only known in part."""
    for key in ("argv", "stdin"):
        if (key,) in faulty:
            return frozenset(RUNTIME_KINDS)
    return frozenset({*_kinds_in("argv", faulty), *_kinds_in("stdin", faulty)} & {*RUNTIME_KINDS})


def _kinds_in(key: str, paths: Collection[Path]) -> list[str]:
    return list(dict.fromkeys(str(path[1]) for path in paths if len(path) > 1 and path[0] == key))


def _told(path: Iterable[str | int], message: str) -> str:
    return "".join(f".{part}" for part in path) + f": {message}"


def _runtime(name: str, table: _RuntimeTable, *, torn: Collection[str]) -> Runtime:
    """The shipped runtime of that name, or a new one, with what the table says; of `torn` kinds only that."""
    base = SHIPPED.get(name, Runtime(name=name, executable=name, templates={}))
    named = (kind for kind in RUNTIME_KINDS if kind in {*base.templates, *table.argv, *table.stdin, *torn})
    templates = {kind: _template(None if kind in torn else base.templates.get(kind), kind, table) for kind in named}
    return Runtime(
        name=name,
        executable=base.executable if table.executable is None else table.executable,
        reader=base.reader if table.reader is None else table.reader,
        env=base.env if table.env is None else table.env,
        templates=MappingProxyType(templates),
    )


def _template(base: Template | None, kind: str, table: _RuntimeTable) -> Template:
    stdin = table.stdin.get(kind, None if base is None else base.stdin) or None
    if base is not None and kind not in table.argv:
        return replace(base, stdin=stdin)
    return Template(argv=table.argv.get(kind, ()), stdin=stdin)
