"""The configuration of execution: deadlines, allow-list, and the `[runtimes.NAME]` tables of studio.toml."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from contract.actions import ActionKind
from contract.limits import DEADLINE_SECONDS_MAX
from runs.runtimes import ACTION_KINDS, RUNTIME_KINDS, SHIPPED, Runtime, Template, is_executable_name, runtime_failures
from studio_project.config_file import suggestion

Runtimes = Mapping[str, Runtime]

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
    for kind in value:
        if kind not in ACTION_KINDS:
            message = f"{kind} is no kind of action{suggestion(str(kind), ACTION_KINDS)}"
            raise PydanticCustomError("kind", "{message}", {"message": message})
    return {kind: _seconds(value.get(kind, DEADLINE_SECONDS_DEFAULT)) for kind in ACTION_KINDS}


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


def read_runtimes(tables: Mapping[str, Any]) -> tuple[Runtimes, tuple[str, ...]]:
    """Return the runtimes by name, the shipped ones first, and what is wrong with the tables, as "NAME.key: what"."""
    runtimes = dict(SHIPPED)
    problems: list[str] = []
    for name, table in tables.items():
        runtime, faults = _read_runtime(name, table)
        problems += (f"{name}{fault}" for fault in faults)
        if runtime is not None:
            runtimes[name] = runtime
    return MappingProxyType(runtimes), tuple(problems)


def _read_runtime(name: str, content: object) -> tuple[Runtime | None, tuple[str, ...]]:
    try:
        table = _RuntimeTable.model_validate(content)
    except ValidationError as error:
        return None, tuple(_table_faults(error))
    faults = tuple(_kind_faults(name, table))
    if faults:
        return None, faults
    runtime = _runtime(name, table)
    return runtime, tuple(_told(fault.path, fault.message) for fault in runtime_failures(runtime))


def _table_faults(error: ValidationError) -> Iterator[str]:
    """One line per fault; an entry of `env` may be a secret, and no message repeats what was written."""
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        path, message = fault["loc"], fault["msg"]
        if fault["type"] == "extra_forbidden":
            message = f"is not a known key{suggestion(str(path[-1]), _RuntimeTable.model_fields)}"
        yield _told(path, message if path else "must be a table")


def _kind_faults(name: str, table: _RuntimeTable) -> Iterator[str]:
    if not re.fullmatch(_NAME, name):
        yield _told((), "must begin with a letter and hold only letters, digits and `.`, `_`, `-`, at most 64")
    known = {*SHIPPED[name].templates} if name in SHIPPED else set()
    if not known | table.argv.keys():
        yield _told(("argv",), "is needed: it says which kinds of action the runtime executes, and how")
    for key, kinds in (("argv", table.argv), ("stdin", table.stdin)):
        for kind in kinds:
            if kind not in RUNTIME_KINDS:
                message = f"is no kind of action that a runtime executes{suggestion(kind, RUNTIME_KINDS)}"
                yield _told((key, kind), message)
            elif kind not in known | table.argv.keys():
                yield _told((key, kind), f"argv.{kind} is missing")


def _told(path: Iterable[str | int], message: str) -> str:
    return "".join(f".{part}" for part in path) + f": {message}"


def _runtime(name: str, table: _RuntimeTable) -> Runtime:
    """The shipped runtime of that name, or a new one, with what the table says. Every kind in it is a kind."""
    base = SHIPPED.get(name, Runtime(name=name, executable=name, templates={}))
    templates: dict[Any, Template] = dict(base.templates)
    for kind, argv in table.argv.items():
        templates[kind] = Template(argv=argv, stdin=templates[kind].stdin if kind in templates else None)
    for kind, text in table.stdin.items():
        templates[kind] = replace(templates[kind], stdin=text or None)
    return Runtime(
        name=name,
        executable=base.executable if table.executable is None else table.executable,
        reader=base.reader if table.reader is None else table.reader,
        env=base.env if table.env is None else table.env,
        templates=MappingProxyType(templates),
    )
