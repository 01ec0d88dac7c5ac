"""The argument list of a child: a runtime's template filled in with an action, or the action's own command.

No shell sees it, and no value in it can be read as a flag: templates keep to the rules of `runs/runtimes.py`, and what
is built is checked once more against what the operating system takes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from contract.actions import ActionFields
from contract.base import FieldFailure, Path, unsafe_text
from contract.errors import ValidationFailure
from contract.limits import ARGUMENT_MAX_CHARS
from runs.runtimes import COMMAND, END_OF_FLAGS, EXTRA_ARGUMENTS, PLACEHOLDERS, Element, Runtime

# Linux, execve(2): MAX_ARG_STRLEN is 131,072 bytes with the NUL that ends each argument.
ARGUMENT_MAX_BYTES: Final = ARGUMENT_MAX_CHARS
# Linux takes a quarter of the stack's limit, usually 2 MiB, for arguments and environment together; half is left for
# the environment.
ARGUMENTS_MAX_BYTES: Final = 1024 * 1024
# What each argument costs besides its bytes: the NUL that ends it, and a pointer to it.
_OVERHEAD_BYTES: Final = 1 + 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFiles:
    """Absolute paths of what an action refers to: its playbook's file, and the file its inline flow was written to."""

    playbook_file: str | None = None
    flow_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildArguments:
    """What a child is started with: its arguments, the executable first, and what it reads on its standard input."""

    argv: tuple[str, ...]
    stdin: str = ""


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument, and the field of the action that its value came from; None for the template's own text.

    `is_lost`: the value is `--`, behind a flag, where older argparse drops it (python/cpython issue 109475).
    """

    text: str
    path: Path | None = None
    is_lost: bool = False

    @property
    def bytes(self) -> int:
        return len(self.text.encode())


def child_arguments(
    action: ActionFields, *, runtime: Runtime | None, files: ActionFiles = ActionFiles()
) -> ChildArguments:
    """Return how a child for a checked action is started. `runtime` is None for the kind `command`.

    Raises ValidationFailure for what no process can be started with: a kind that the runtime does not know, a value
    that the system refuses, or a file that the template needs and `files` has not.
    """
    failures = argument_failures(action, runtime=runtime, files=files) or tuple(_file_failures(action, runtime, files))
    if failures:
        raise ValidationFailure(failures)
    argv = tuple(argument.text for argument in _arguments(action, runtime, files))
    if runtime is None:
        return ChildArguments(argv=argv)
    return ChildArguments(argv=argv, stdin=_filled(runtime.templates[action.kind].stdin, _values(action, files)))


def argument_failures(
    action: ActionFields, *, runtime: Runtime | None, files: ActionFiles = ActionFiles()
) -> tuple[FieldFailure, ...]:
    """Return what the operating system would refuse, at the fields it came from. Needs no files to be there yet."""
    if runtime is not None and action.kind not in runtime.templates:
        message = f"runtime {runtime.name} does not know it; it knows {', '.join(runtime.templates)}"
        return (FieldFailure(path=("kind",), code="unknown_kind", message=message),)
    arguments = tuple(_arguments(action, runtime, files))
    failures = tuple(fault for argument in arguments for fault in _failures_of(argument))
    return failures or tuple(_sum_failures(arguments))


def _arguments(action: ActionFields, runtime: Runtime | None, files: ActionFiles) -> Iterator[_Argument]:
    if runtime is None:
        yield from _each(COMMAND, action.command)
        return
    yield _Argument(runtime.executable)
    yield from _expanded(runtime.templates[action.kind].elements, _values(action, files))


def _expanded(elements: Iterable[Element], values: Mapping[str, tuple[_Argument, ...]]) -> Iterator[_Argument]:
    """Fill in every element. One without a value is left out, except for a bare one whose place is counted.

    After `--` it is the place that tells a program what a value is: behind one that has a value, an empty argument
    keeps the place of one that has none, so that no value is taken for another.
    """
    ended = placed = False
    for element in elements:
        if element.placeholder is None:
            ended = ended or element.before == END_OF_FLAGS
            yield _Argument(element.before)
            continue
        found = values[element.placeholder]
        flagged = not ended and element.before.startswith("-")
        for value in found:
            text = f"{element.before}{value.text}{element.after}"
            yield _Argument(text, value.path, is_lost=flagged and value.text == END_OF_FLAGS)
        if placed and not found and element.is_bare and element.placeholder != EXTRA_ARGUMENTS:
            yield _Argument("")
        placed = placed or (ended and bool(found))


def _values(action: ActionFields, files: ActionFiles) -> Mapping[str, tuple[_Argument, ...]]:
    """What each placeholder stands for: nothing, one value, or for `extra_args` any number of them."""
    single = {
        "agent": action.agent,
        "flow_file": files.flow_file,
        "model": action.model,
        "playbook": action.playbook,
        "playbook_file": files.playbook_file,
        "project": action.project,
        "prompt": action.prompt,
    }
    values = {name: () if text is None else (_Argument(text, (PLACEHOLDERS[name],)),) for name, text in single.items()}
    return values | {EXTRA_ARGUMENTS: tuple(_each(EXTRA_ARGUMENTS, action.extra_args))}


def _each(field: str, texts: Iterable[str]) -> Iterator[_Argument]:
    return (_Argument(text, (field, index)) for index, text in enumerate(texts))


def _filled(text: str | None, values: Mapping[str, tuple[_Argument, ...]]) -> str:
    element = Element.parse(text or "")
    if element.placeholder is None:
        return element.before
    return "".join(f"{element.before}{value.text}{element.after}" for value in values[element.placeholder])


def _file_failures(action: ActionFields, runtime: Runtime | None, files: ActionFiles) -> Iterator[FieldFailure]:
    """A template without the file it needs would make the program do something else: nothing is left out here."""
    names = set() if runtime is None else runtime.templates[action.kind].placeholders
    given = {"flow_file": files.flow_file, "playbook_file": files.playbook_file}
    for name, path in given.items():
        if name in names and path is None:
            yield FieldFailure(path=(PLACEHOLDERS[name],), code="missing", message="has no file")


def _failures_of(argument: _Argument) -> Iterator[FieldFailure]:
    path = argument.path or ()
    if fault := unsafe_text(argument.text):
        yield FieldFailure(path=path, code="unsafe_text", message=f"must not contain a {fault}")
    elif argument.is_lost:
        message = f"must not be `{END_OF_FLAGS}`, which programs take for the end of their flags"
        yield FieldFailure(path=path, code="end_of_flags", message=message)
    elif argument.bytes > ARGUMENT_MAX_BYTES:
        message = f"makes an argument of {argument.bytes:,} bytes; the system takes {ARGUMENT_MAX_BYTES:,}"
        yield FieldFailure(path=path, code="too_long", message=message)


def _sum_failures(arguments: tuple[_Argument, ...]) -> Iterator[FieldFailure]:
    total = sum(argument.bytes + _OVERHEAD_BYTES for argument in arguments)
    if total > ARGUMENTS_MAX_BYTES:
        longest = max(arguments, key=lambda argument: argument.bytes)
        message = f"makes arguments of {total:,} bytes in all; they may have {ARGUMENTS_MAX_BYTES:,}"
        yield FieldFailure(path=(longest.path or ())[:1], code="too_long", message=message)
