"""YAML as a tree of values that remember their places; everything a reader of the file could stumble over is refused.

Values are what PyYAML's safe loader makes of them (YAML 1.1: a plain `yes` is true), as for the readers of these files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import yaml

from contract.base import FieldFailure, Path, unsafe_text
from contract.errors import shown
from contract.limits import FIELD_FAILURES_MAX
from definitions.yaml_faults import Place, fault_at, place_of

Kind = Literal["null", "bool", "int", "float", "str", "timestamp", "sequence", "mapping", "refused"]

# What people call the kinds.
KIND_WORDS: Final[Mapping[Kind, str]] = {
    "null": "nothing",
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "timestamp": "a date",
    "sequence": "a list",
    "mapping": "a mapping",
}

_CORE: Final = "tag:yaml.org,2002:"
_TEXT: Final = f"{_CORE}str"
_SCALARS: Final[Mapping[str, Kind]] = {
    f"{_CORE}null": "null",
    f"{_CORE}bool": "bool",
    f"{_CORE}int": "int",
    f"{_CORE}float": "float",
    _TEXT: "str",
    f"{_CORE}timestamp": "timestamp",
}
_MAPPING: Final = f"{_CORE}map"
_SEQUENCE: Final = f"{_CORE}seq"
_MERGE: Final = f"{_CORE}merge"
# A plain `=`: YAML 1.1 gives it a tag of its own, which no loader can read.
_VALUE: Final = f"{_CORE}value"
# No number written by hand is longer. Python converts at most 4,300 digits (sys.int_info.default_max_str_digits), and
# PyYAML needs quadratic time for base 60 (`1:30`).
_NUMBER_MAX_CHARS: Final = 1_000
# What PyYAML's constructors raise for a scalar that does not fit its tag, such as `2024-13-45` or `!!int ""`.
_MISFITS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, slots=True, eq=False)
class YamlNode:
    """A value and where it begins. One that was refused has the kind `refused`, and its failure is told already."""

    kind: Kind
    place: Place
    value: Any = None
    items: tuple["YamlNode", ...] = ()
    entries: tuple["YamlEntry", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class YamlEntry:
    """One key of a mapping, where it stands, and its value."""

    key: str
    place: Place
    node: YamlNode


class NodeReader:
    """Makes the tree of a composed document and keeps what it refuses. What an alias repeats is one node, read once.

    Recursive: the caller has bounded the depth.
    """

    def __init__(self, first_line: int) -> None:
        """Take the number of the text's first line."""
        self.failures: list[FieldFailure] = []
        self._first_line = first_line
        self._constructor = yaml.constructor.SafeConstructor()
        self._read: dict[int, YamlNode] = {}

    def read(self, node: yaml.Node, keys: Path = ()) -> YamlNode:
        """Return the value of a node and of all below it."""
        if len(self.failures) >= FIELD_FAILURES_MAX:  # nobody will be told more
            return YamlNode("refused", place_of(node.start_mark, self._first_line))
        if id(node) not in self._read:
            self._read[id(node)] = self._node(node, keys)
        return self._read[id(node)]

    def _node(self, node: yaml.Node, keys: Path) -> YamlNode:
        place = place_of(node.start_mark, self._first_line)
        if isinstance(node, yaml.MappingNode) and node.tag == _MAPPING:
            return YamlNode("mapping", place, entries=self._entries(node, keys))
        if isinstance(node, yaml.SequenceNode) and node.tag == _SEQUENCE:
            items = (self.read(item, (*keys, index)) for index, item in enumerate(node.value))
            return YamlNode("sequence", place, items=tuple(items))
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self._scalar(node, _SCALARS[node.tag], place, keys)
        return self._refused(place, keys, "tag", _tag_sentence(node.tag))

    def _scalar(self, node: yaml.ScalarNode, kind: Kind, place: Place, keys: Path) -> YamlNode:
        if fault := unsafe_text(node.value):
            return self._refused(place, keys, "unsafe_text", f"must not contain a {fault}")
        if kind == "str":
            return YamlNode(kind, place, node.value)
        if len(node.value) > _NUMBER_MAX_CHARS:
            return self._refused(
                place, keys, "too_long", f"is {KIND_WORDS[kind]} of more than {_NUMBER_MAX_CHARS} characters"
            )
        try:
            return YamlNode(kind, place, self._constructor.construct_object(node))
        except _MISFITS:
            sentence = f"`{shown(node.value)}` is not {KIND_WORDS[kind]}: quote it if it is text"
            return self._refused(place, keys, "scalar", sentence)

    def _entries(self, node: yaml.MappingNode, keys: Path) -> tuple[YamlEntry, ...]:
        entries: dict[str, YamlEntry] = {}
        for key_node, value_node in node.value:
            place = place_of(key_node.start_mark, self._first_line)
            key = self._key(key_node, place, keys)
            if key is None:
                continue
            path = (*keys, key)
            value = self.read(value_node, path)
            if first := entries.get(key):
                self._refuse(
                    place, path, "duplicate", f"`{shown(key)}` stands here already, in line {first.place.line}"
                )
            else:
                entries[key] = YamlEntry(key, place, value)
        return tuple(entries.values())

    def _key(self, node: yaml.Node, place: Place, keys: Path) -> str | None:
        """Return the key's text, or None for one that is refused."""
        if isinstance(node, yaml.ScalarNode) and node.tag == _TEXT and unsafe_text(node.value) is None:
            return str(node.value)
        if node.tag == _MERGE:
            self._refuse(place, keys, "merge_key", "merge keys (`<<`) are not supported: write the keys out")
        elif (kind := self.read(node, keys).kind) != "refused":
            self._refuse(place, keys, "key", _key_sentence(node, kind))
        return None

    def _refused(self, place: Place, keys: Path, code: str, sentence: str) -> YamlNode:
        self._refuse(place, keys, code, sentence)
        return YamlNode("refused", place)

    def _refuse(self, place: Place, keys: Path, code: str, sentence: str) -> None:
        if len(self.failures) < FIELD_FAILURES_MAX:
            self.failures.append(fault_at(place, keys, code, sentence))


def _key_sentence(node: yaml.Node, kind: Kind) -> str:
    if isinstance(node, yaml.ScalarNode) and node.value:
        return f"a key must be text, and `{shown(node.value)}` is read as {KIND_WORDS[kind]}: quote it"
    return f"a key must be text, not {KIND_WORDS[kind]}"


def _tag_sentence(tag: str) -> str:
    if tag in (_MERGE, _VALUE):
        return f"a plain `{'<<' if tag == _MERGE else '='}` is no value: quote it"
    name = f"!!{tag.removeprefix(_CORE)}" if tag.startswith(_CORE) else tag
    if tag in _SCALARS or tag in (_MAPPING, _SEQUENCE):
        return f"the tag `{name}` does not fit this value"
    return f"the tag `{shown(name)}` is not supported here: write plain values"
