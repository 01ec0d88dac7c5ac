"""The parts of a playbook that have a form of their own: arguments, expected artifacts, and links between steps."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from contract.artifacts import relative_path_fault
from contract.base import FieldFailure, Path
from contract.errors import shown
from definitions.field_rules import (
    Rule,
    closed_entries,
    entry_of,
    flag,
    is_set,
    of_kind,
    required,
    suggestion,
    text,
)
from definitions.yaml_faults import fault_at
from definitions.yaml_nodes import Kind, YamlNode

# The types of an argument, and the kinds of YAML values that fit each: a whole number is a number too.
_TYPES: Final[Mapping[str, tuple[Kind, ...]]] = {
    "str": ("str",),
    "int": ("int",),
    "float": ("float", "int"),
    "bool": ("bool",),
}
_ARTIFACT_ID: Final = re.compile(r"[A-Za-z0-9_-]+")
_GLOB: Final = re.compile(r"[*?\[\]]")

_list: Rule = of_kind("sequence")
_mapping: Rule = of_kind("mapping")
_required_mapping: Rule = required("mapping")
_required_text: Rule = required("str")


def args(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    """Take a mapping from an argument's name to its `type`, its `default` and whatever else describes it."""
    yield from _mapping(node, keys)
    for entry in node.entries:
        yield from _required_mapping(entry.node, (*keys, entry.key))
        yield from _argument(entry.node, (*keys, entry.key))


def _argument(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    given, default = entry_of(node, "type"), entry_of(node, "default")
    if given is None or given.node.kind == "refused":
        return
    kinds = _TYPES.get(given.node.value) if given.node.kind == "str" else None
    if kinds is None:
        yield fault_at(given.node.place, (*keys, given.key), "type", f"must be one of {', '.join(_TYPES)}")
    elif default is not None:
        yield from of_kind(*kinds)(default.node, (*keys, default.key))


def artifacts(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    """Take a mapping with the one key `expected`: the list of what a run has to produce."""
    yield from _mapping(node, keys)
    yield from closed_entries(node, keys, {"expected": _expected}, "artifacts")


def _expected(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    yield from _list(node, keys)
    seen: set[str] = set()
    for index, item in enumerate(node.items):
        path = (*keys, index)
        yield from _required_mapping(item, path)
        yield from closed_entries(item, path, _ARTIFACT, "an expected artifact")
        yield from _missing(item, path, ("id", "path"))
        identifier = entry_of(item, "id")
        if identifier is None or identifier.node.kind != "str":
            continue
        if identifier.node.value in seen:
            sentence = f"`{shown(identifier.node.value)}` is the id of another artifact already"
            yield fault_at(identifier.node.place, (*path, "id"), "duplicate", sentence)
        seen.add(identifier.node.value)


def _artifact_id(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    yield from text(node, keys)
    if node.kind == "str" and not _ARTIFACT_ID.fullmatch(node.value):
        yield fault_at(node.place, keys, "pattern", "must hold letters, digits, `_` and `-` only, and at least one")


def _artifact_path(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
    yield from text(node, keys)
    if node.kind != "str":
        return
    fault = relative_path_fault(node.value)
    if fault is None and _GLOB.search(node.value):
        fault = "must name one file: `*`, `?`, `[` and `]` are not possible"
    if fault is not None:
        yield fault_at(node.place, keys, "path", fault)


_ARTIFACT: Final[Mapping[str, Rule]] = {
    "id": _artifact_id,
    "path": _artifact_path,
    "required": flag,
    "description": text,
}


def links(node: YamlNode, keys: Path, steps: YamlNode | None) -> Iterator[FieldFailure]:
    """Take a list of mappings whose `from` and `to` are names of steps."""
    yield from _list(node, keys)
    names = _step_names(steps)
    for index, link in enumerate(node.items):
        path = (*keys, index)
        yield from _required_mapping(link, path)
        yield from _missing(link, path, ("from", "to"))
        for key in ("from", "to"):
            end = entry_of(link, key)
            if end is not None:
                yield from _link_end(end.node, (*path, key), names)


def _link_end(node: YamlNode, keys: Path, names: frozenset[str] | None) -> Iterator[FieldFailure]:
    yield from _required_text(node, keys)
    if node.kind == "str" and names is not None and node.value not in names:
        sentence = f"`{shown(node.value)}` is not a step{suggestion(node.value, names)}"
        yield fault_at(node.place, keys, "unknown_step", sentence)


def _step_names(steps: YamlNode | None) -> frozenset[str] | None:
    """Return the keys of a mapping, the `id` or `name` of each item of a list; None where steps are neither."""
    if steps is None or not is_set(steps):
        return frozenset()
    if steps.kind == "mapping":
        return frozenset(entry.key for entry in steps.entries)
    if steps.kind != "sequence":
        return None
    named = [entry_of(item, "id") or entry_of(item, "name") for item in steps.items]
    return frozenset(entry.node.value for entry in named if entry is not None and entry.node.kind == "str")


def _missing(node: YamlNode, keys: Path, needed: tuple[str, ...]) -> Iterator[FieldFailure]:
    for key in needed:
        if node.kind == "mapping" and entry_of(node, key) is None:
            yield fault_at(node.place, (*keys, key), "required", f"`{key}` is missing here")
