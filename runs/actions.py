"""Checks of what is to be executed: has it what its kind needs, may it be executed, and which runtime does it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from contract.actions import ActionFields
from contract.base import FieldFailure
from contract.errors import shown
from runs.arguments import argument_failures
from runs.runtimes import COMMAND, FIELDS_OF_KINDS, Runtime, choose_runtime, is_executable_name

_ALLOW_LIST: Final = "command_allowlist in [execution] of studio.toml, or STUDIO_COMMAND_ALLOWLIST"
_NEVER_BLANK: Final = frozenset({"agent", "model", "playbook", "project"})
# What Studio itself goes by: a program need not be told. A project names the run and its folder.
_NOT_TOLD: Final = frozenset({"cwd", "project", "runtime"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRules:
    """What the configuration says of launching: the runtimes by name, the default one, and the allowed executables."""

    runtimes: Mapping[str, Runtime]
    default_runtime: str | None = None
    command_allowlist: Collection[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAction:
    """What came of the check: the runtime that would execute the action (None: it needs none), or why none may."""

    runtime: Runtime | None
    failures: tuple[FieldFailure, ...]


def check_action(action: ActionFields, *, rules: LaunchRules, usable: Collection[str]) -> CheckedAction:
    """Check an action and choose its runtime; every fault is told at once.

    `usable` are the names of the runtimes whose executable was found. What other capabilities own, such as whether
    there is such a playbook, and whether the folder is there, is asked elsewhere.
    """
    runtime = choose_runtime(action, runtimes=rules.runtimes, default=rules.default_runtime, usable=usable)
    executor = _executor_failures(action, rules, runtime)
    if runtime is not None and not _is_chosen(runtime, action, rules, usable):
        # What it has no place for may be right for the runtime that somebody installs.
        executor = (_none_usable(action, rules.runtimes),) if executor else ()
    failures = (*_kind_failures(action), *_cwd_failures(action), *executor)
    return CheckedAction(runtime=runtime, failures=failures)


def _kind_failures(action: ActionFields) -> Iterator[FieldFailure]:
    fields = FIELDS_OF_KINDS[action.kind]
    for name in _given(action):
        if name not in fields.taken:
            yield _failure(name, "not_taken", f"is not taken by kind {action.kind}")
        elif name in {*_NEVER_BLANK, fields.needed} and not str(getattr(action, name)).strip():
            yield _failure(name, "blank", "must not be blank")
    if fields.needed not in _given(action):
        yield _failure(fields.needed, "missing", f"is needed by kind {action.kind}")


def _given(action: ActionFields) -> tuple[str, ...]:
    """The names of the fields that have a value, `kind` left out, in the order of the model."""
    values = {name: getattr(action, name) for name in ActionFields.model_fields if name != "kind"}
    return tuple(name for name, value in values.items() if value is not None and value != ())


def _cwd_failures(action: ActionFields) -> Iterator[FieldFailure]:
    if action.cwd is not None and not action.cwd.startswith("/"):
        yield _failure("cwd", "not_absolute", "must be an absolute path")


def _executor_failures(action: ActionFields, rules: LaunchRules, runtime: Runtime | None) -> tuple[FieldFailure, ...]:
    if action.kind == COMMAND:
        return tuple(_command_failures(action, rules.command_allowlist))
    if runtime is None:
        return (_no_runtime(action, rules.runtimes),)
    if action.kind not in runtime.templates:
        message = f"{runtime.name} executes {', '.join(runtime.templates)} only"
        return (_failure("runtime", "unknown_kind", message),)
    return tuple(_template_failures(action, runtime))


def _is_chosen(runtime: Runtime, action: ActionFields, rules: LaunchRules, usable: Collection[str]) -> bool:
    """Whether somebody meant this runtime, or it is here; any other is only the first that knows the kind."""
    return action.runtime is not None or runtime.name == rules.default_runtime or runtime.name in usable


def _none_usable(action: ActionFields, runtimes: Mapping[str, Runtime]) -> FieldFailure:
    able = ", ".join(name for name, runtime in runtimes.items() if action.kind in runtime.templates)
    message = (
        f"no runtime that executes {action.kind} is usable here: install one of {able}, or describe your own in "
        "studio.toml; `studio doctor` says what was found"
    )
    return _failure("runtime", "none_usable", message)


def _command_failures(action: ActionFields, allowed: Collection[str]) -> Iterator[FieldFailure]:
    message = _executable_fault(action.command[0], allowed) if action.command else None
    if message is not None:
        yield FieldFailure(path=(COMMAND, 0), code="not_allowed", message=message)
    yield from argument_failures(action, runtime=None)


def _executable_fault(executable: str, allowed: Collection[str]) -> str | None:
    if not is_executable_name(executable):
        return "must be a bare name or an absolute path"
    if not allowed:
        return f"no executable is allowed: set {_ALLOW_LIST}"
    return None if executable in allowed else f"{shown(executable)} is not on the allow-list: {_ALLOW_LIST}"


def _no_runtime(action: ActionFields, runtimes: Mapping[str, Runtime]) -> FieldFailure:
    if action.runtime is None:
        return _failure("kind", "unknown_kind", f"no runtime executes {action.kind}")
    return _failure("runtime", "unknown_runtime", f"there is no such runtime; there are {', '.join(runtimes)}")


def _template_failures(action: ActionFields, runtime: Runtime) -> Iterator[FieldFailure]:
    template = runtime.templates[action.kind]
    fields = FIELDS_OF_KINDS[action.kind]
    given = _given(action)
    for name in given:
        if name in fields.taken - _NOT_TOLD - template.fields:
            takes = ", ".join(sorted(template.fields))
            yield _failure(name, "not_taken", f"runtime {runtime.name} has no place for it; it takes {takes}")
    if template.any_of and not set(template.any_of) & set(given):
        names = " or ".join(template.any_of)
        yield _failure(template.any_of[0], "missing", f"runtime {runtime.name} needs {names} for {action.kind}")
    yield from argument_failures(action, runtime=runtime)


def _failure(field: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(path=(field,), code=code, message=message)
