"""Runtimes: the programs that execute actions, and how each of them is told what to do.

A runtime says for each kind of action which arguments its program gets: a *template*, whose elements may hold one
placeholder each, such as `--model={model}`. `runs/arguments.py` fills it in. What a template must keep to, so that no
value of an action can ever be read as a flag, is checked here (`template_failures`), for those that people write.
"""

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, get_args

from contract.actions import ActionFields, ActionKind
from contract.base import FieldFailure, Path, unsafe_text
from runs.output_reading import READER_NAMES

ACTION_KINDS: Final[tuple[ActionKind, ...]] = get_args(ActionKind)
# The kind that names its executable itself, and so needs no runtime.
COMMAND: Final[ActionKind] = "command"
RUNTIME_KINDS: Final = tuple(kind for kind in ACTION_KINDS if kind != COMMAND)

END_OF_FLAGS: Final = "--"
EXTRA_ARGUMENTS: Final = "extra_args"
# What each placeholder stands for: a field of the action, or for files the path of what the field names or holds.
PLACEHOLDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "agent": "agent",
        "extra_args": "extra_args",
        "flow_file": "flow_yaml",
        "model": "model",
        "playbook": "playbook",
        "playbook_file": "playbook",
        "project": "project",
        "prompt": "prompt",
    }
)

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
# What may stand before a value where flags are read: no flag at all, one that is complete (`--model=`), or a short one
# (`-m`), whose value follows it without a blank (POSIX, Utility Argument Syntax). After `--mod` a value would decide
# which flag it is.
_FLAG_BEFORE_VALUE = re.compile(r"[^-].*|-.*=.*|-[A-Za-z0-9]", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFields:
    """Which field a kind of action needs, and which it takes besides."""

    needed: str
    optional: frozenset[str]

    @property
    def taken(self) -> frozenset[str]:
        """Every field that the kind takes."""
        return self.optional | {self.needed}


def _kind(needed: str, *optional: str) -> KindFields:
    return KindFields(needed=needed, optional=frozenset({*optional, "cwd", "project"}))


FIELDS_OF_KINDS: Final[Mapping[ActionKind, KindFields]] = MappingProxyType(
    {
        "agent": _kind("prompt", "agent", "extra_args", "model", "runtime"),
        "flow": _kind("prompt", "agent", "extra_args", "model", "runtime"),
        "fanout": _kind("prompt", "agent", "extra_args", "model", "runtime"),
        "play": _kind("playbook", "extra_args", "model", "prompt", "runtime"),
        "flow_yaml": _kind("flow_yaml", "extra_args", "model", "prompt", "runtime"),
        "command": _kind("command"),
    }
)


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a template: text around a placeholder, or text alone (in `before`, with no placeholder)."""

    before: str
    placeholder: str | None = None
    after: str = ""

    @classmethod
    def parse(cls, text: str) -> "Element":
        """Take an element apart at its first placeholder."""
        found = _PLACEHOLDER.search(text)
        return cls(text) if found is None else cls(text[: found.start()], found[1], text[found.end() :])

    @property
    def is_bare(self) -> bool:
        """Whether it is a placeholder and nothing else."""
        return self.placeholder is not None and not self.before and not self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """How a program is told of one kind of action.

    `argv` comes after the executable; `stdin` is what the program reads on its standard input, None for nothing.
    Of the fields in `any_of`, where there are some, the program needs at least one.
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    any_of: tuple[str, ...] = ()

    @property
    def elements(self) -> tuple[Element, ...]:
        """`argv` taken apart."""
        return tuple(map(Element.parse, self.argv))

    @property
    def placeholders(self) -> frozenset[str]:
        """The names of the placeholders in it."""
        return frozenset(name for text in (*self.argv, self.stdin or "") for name in _PLACEHOLDER.findall(text))

    @property
    def fields(self) -> frozenset[str]:
        """The fields of an action that it has a place for."""
        return frozenset(PLACEHOLDERS[name] for name in self.placeholders if name in PLACEHOLDERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A program that executes actions of some kinds.

    `executable` is a bare name, looked for on PATH, or an absolute path. `reader` names what reads its output
    (`runs/output_reading.py`). `env` is added to its environment and may hold secrets. `shipped`: as Studio brings it.
    """

    name: str
    executable: str
    templates: Mapping[ActionKind, Template]
    reader: str = "events"
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    shipped: bool = False


def _agent_only(name: str, template: Template) -> Runtime:
    return Runtime(name=name, executable=name, reader=name, templates={"agent": template}, shipped=True)


# lionagi 0.36: up to two positionals, [MODEL] PROMPT, of which a lone one is the prompt. Only `li agent` reads a prompt
# from its standard input. `-p NAME` would look for a playbook in lionagi's own home: Studio's are told by their path.
_LI: Final = Runtime(
    name="li",
    executable="li",
    reader="events",
    shipped=True,
    templates={
        "agent": Template(
            argv=("agent", "--agent={agent}", "--project={project}", "--prompt-file=-", "--", "{model}"),
            stdin="{prompt}",
            any_of=("model", "agent"),
        ),
        "flow": Template(argv=("o", "flow", "--agent={agent}", "--project={project}", "--", "{model}", "{prompt}")),
        "fanout": Template(argv=("o", "fanout", "--agent={agent}", "--project={project}", "--", "{model}", "{prompt}")),
        "play": Template(
            argv=("o", "flow", "--file={playbook_file}", "--project={project}", "--", "{model}", "{prompt}")
        ),
        "flow_yaml": Template(
            argv=("o", "flow", "--file={flow_file}", "--project={project}", "--", "{model}", "{prompt}")
        ),
    },
)
# Claude Code 2.1: streams JSON only with --verbose.
_CLAUDE: Final = _agent_only(
    "claude",
    Template(
        argv=("-p", "--output-format", "stream-json", "--verbose", "--model={model}", "--agent={agent}"),
        stdin="{prompt}",
    ),
)
# Codex CLI 0.171: `-` is the prompt on the standard input; it knows no agents.
_CODEX: Final = _agent_only("codex", Template(argv=("exec", "--json", "--model={model}", "-"), stdin="{prompt}"))

SHIPPED: Final[Mapping[str, Runtime]] = MappingProxyType({runtime.name: runtime for runtime in (_LI, _CLAUDE, _CODEX)})


def choose_runtime(
    action: ActionFields, *, runtimes: Mapping[str, Runtime], default: str | None, usable: Container[str]
) -> Runtime | None:
    """Return the runtime that executes an action; None where it needs none, or none of that name or kind is known.

    The one that the action names; else the default, if it knows the kind; else the first that knows it and is in
    `usable`, the names of those whose executable was found; else the first that knows it: another machine may have it.
    """
    if action.kind == COMMAND:
        return None
    if action.runtime is not None:
        return runtimes.get(action.runtime)
    able = {name: runtime for name, runtime in runtimes.items() if action.kind in runtime.templates}
    if default in able:
        return able[default]
    ready = (runtime for name, runtime in able.items() if name in usable)
    return next(ready, next(iter(able.values()), None))


def runtime_failures(runtime: Runtime) -> tuple[FieldFailure, ...]:
    """Return what keeps a runtime from being used, with paths into `executable`, `reader`, `env`, `argv`, `stdin`."""
    return (
        *_executable_failures(runtime.executable),
        *_reader_failures(runtime.reader),
        *_env_failures(runtime.env),
        *(fault for kind, template in runtime.templates.items() for fault in template_failures(kind, template)),
    )


def template_failures(kind: ActionKind, template: Template) -> tuple[FieldFailure, ...]:
    """Return what is wrong with a template for actions of a kind; without any, no value of an action is a flag."""
    taken = FIELDS_OF_KINDS[kind].taken
    failures: list[FieldFailure] = []
    flags_end = next((index for index, text in enumerate(template.argv) if text == END_OF_FLAGS), len(template.argv))
    for index, text in enumerate(template.argv):
        message = _text_fault(text, taken) or _element_fault(text, reads_flags=index < flags_end)
        failures += _failure(("argv", kind, index), message)
    failures += _failure(("stdin", kind), _stdin_fault(template, taken))
    return (*failures, *_failure(("argv", kind), _place_fault(kind, template)))


def is_executable_name(text: str) -> bool:
    """Whether it names a program the same way in every folder: a bare name, or an absolute path."""
    bare = "/" not in text and text not in {".", ".."}
    return bool(text.strip()) and not unsafe_text(text) and (bare or text.startswith("/"))


def _text_fault(text: str, taken: Container[str]) -> str | None:
    if fault := unsafe_text(text):
        return f"must not contain a {fault}"
    names = _PLACEHOLDER.findall(text)
    for name in names:
        if name not in PLACEHOLDERS:
            return f"{{{name}}} is no placeholder; there are {', '.join(f'{{{known}}}' for known in PLACEHOLDERS)}"
        if PLACEHOLDERS[name] not in taken:
            return f"{{{name}}} never has a value for this kind"
    return "holds more than one placeholder" if len(names) > 1 else None


def _element_fault(text: str, *, reads_flags: bool) -> str | None:
    element = Element.parse(text)
    if element.placeholder == EXTRA_ARGUMENTS and not element.is_bare:
        return "{extra_args} must stand alone: it becomes several arguments"
    if element.placeholder is None or not reads_flags or _FLAG_BEFORE_VALUE.fullmatch(element.before):
        return None
    if not element.before:
        return f"its value could be read as a flag: put it after `{END_OF_FLAGS}`, or write --name={text}"
    return "its value could become part of a flag: end what stands before it with `=`"


def _stdin_fault(template: Template, taken: Container[str]) -> str | None:
    text = template.stdin
    if text is None:
        return None
    if fault := _text_fault(text, taken):
        return fault
    name = Element.parse(text).placeholder
    if name == EXTRA_ARGUMENTS:
        return "{extra_args} are arguments"
    if name is not None and any(element.placeholder == name for element in template.elements):
        return f"{{{name}}} is in argv already"
    return None


def _place_fault(kind: ActionKind, template: Template) -> str | None:
    needed = FIELDS_OF_KINDS[kind].needed
    if needed in template.fields:
        return None
    names = " or ".join(f"{{{name}}}" for name, meant in PLACEHOLDERS.items() if meant == needed)
    return f"has no place for what this kind needs: {names}"


def _executable_failures(executable: str) -> Iterator[FieldFailure]:
    if not is_executable_name(executable):
        yield from _failure(("executable",), "must be a bare name or an absolute path")


def _reader_failures(reader: str) -> Iterator[FieldFailure]:
    if reader not in READER_NAMES:
        yield from _failure(("reader",), f"must be one of {', '.join(READER_NAMES)}")


def _env_failures(env: Mapping[str, str]) -> Iterator[FieldFailure]:
    for name, value in env.items():
        if not name or "=" in name or unsafe_text(name):
            yield from _failure(("env", name), "is no name of a variable")
        elif name.startswith("STUDIO_"):
            yield from _failure(("env", name), "is Studio's own to set")
        elif fault := unsafe_text(value):
            yield from _failure(("env", name), f"must not contain a {fault}")


def _failure(path: Path, message: str | None) -> Iterator[FieldFailure]:
    if message is not None:
        yield FieldFailure(path=path, code=str(path[0]), message=message)
