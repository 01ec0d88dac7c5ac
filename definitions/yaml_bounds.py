"""YAML from anybody, read within bounds: of its depth, and of its values with all that aliases stand for."""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import yaml

from contract.base import FieldFailure
from contract.errors import shown
from contract.limits import YAML_DEPTH_MAX, YAML_VALUES_MAX
from definitions.yaml_faults import DIRECTIVE, TOO_DEEP, Mark, Place, fault_at, place_of, syntax_fault
from definitions.yaml_nodes import NodeReader, YamlNode

Loader = type[yaml.SafeLoader] | type[yaml.CSafeLoader]

# The C parser is some twenty times faster; where PyYAML was built without it, the other one accepts the same.
LOADER: Final[Loader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Everything but `c-printable` (YAML 1.1, section 4.1).
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The line breaks of YAML 1.1 (section 4.2), as its parsers count lines.
_LINE_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_BYTE_ORDER_MARK: Final = "\ufeff"
# Where a directive may be: it begins a line, or is text there.
_PERCENT: Final = re.compile("(?:\\A|[\n\r\x85\u2028\u2029])\ufeff*%")
_STARTS: Final = (
    yaml.BlockMappingStartToken,
    yaml.BlockSequenceStartToken,
    yaml.FlowMappingStartToken,
    yaml.FlowSequenceStartToken,
)
_ENDS: Final = (yaml.BlockEndToken, yaml.FlowMappingEndToken, yaml.FlowSequenceEndToken)


class YamlDocument(NamedTuple):
    """The tree, null for an empty document or one that cannot be read, and all that was refused."""

    root: YamlNode | None
    failures: tuple[FieldFailure, ...]


class _OutOfBounds(Exception):  # control flow of this module: it never leaves it
    """Reading on is useless or dangerous."""

    def __init__(self, mark: Mark | None, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.mark = mark
        self.code = code


class _Size(NamedTuple):
    """How many values a node stands for, and how many levels of containers it has."""

    values: int
    levels: int


@dataclass(slots=True)
class _Open:
    """A container that has begun."""

    anchor: str | None
    is_mapping: bool
    values_before: int
    children: int = 0
    levels: int = 1


class _Bounds:
    """Counts along the events of a document. An alias counts as what it stands for; keys are no values."""

    def __init__(self) -> None:
        self._documents = 0
        self._values = 0
        self._open: list[_Open] = []
        # None: the anchored container has not ended yet.
        self._anchored: dict[str, _Size | None] = {}

    def take(self, event: yaml.Event) -> None:
        """Count one event. Raises _OutOfBounds."""
        if isinstance(event, yaml.ScalarEvent):
            self._add(_Size(1, 0), event)
            self._remember(event.anchor, _Size(1, 0))
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end()
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._meant_by(event), event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise _OutOfBounds(
                    event.start_mark, "documents", "a second document begins here: there must be one only"
                )

    def _begin(self, event: yaml.CollectionStartEvent) -> None:
        before = self._values
        self._add(_Size(1, 1), event)
        self._open.append(_Open(event.anchor, isinstance(event, yaml.MappingStartEvent), before))
        self._remember(event.anchor, None)

    def _end(self) -> None:
        ended = self._open.pop()
        self._remember(ended.anchor, _Size(self._values - ended.values_before, ended.levels))
        if self._open:
            self._open[-1].levels = max(self._open[-1].levels, ended.levels + 1)

    def _add(self, size: _Size, event: yaml.Event) -> None:
        self._values += 0 if self._next_is_key() and not size.levels else size.values
        if self._values > YAML_VALUES_MAX:
            sentence = f"there are more than {YAML_VALUES_MAX} values, what aliases stand for included"
            raise _OutOfBounds(event.start_mark, "too_many_values", sentence)
        if len(self._open) + size.levels > YAML_DEPTH_MAX:
            raise _OutOfBounds(event.start_mark, "too_deep", TOO_DEEP)
        if self._open:
            self._open[-1].levels = max(self._open[-1].levels, size.levels + 1)

    def _next_is_key(self) -> bool:
        """Take the next child of the container at hand; say whether it stands as a key."""
        if not self._open:
            return False
        self._open[-1].children += 1
        return self._open[-1].is_mapping and self._open[-1].children % 2 == 1

    def _remember(self, anchor: str | None, size: _Size | None) -> None:
        if anchor is not None:
            self._anchored[anchor] = size

    def _meant_by(self, event: yaml.AliasEvent) -> _Size:
        name = str(event.anchor)
        if name not in self._anchored:
            sentence = f"`*{shown(name)}` refers to no anchor: quote the text if it is none"
            raise _OutOfBounds(event.start_mark, "alias", sentence)
        size = self._anchored[name]
        if size is None:
            raise _OutOfBounds(event.start_mark, "alias", f"`*{shown(name)}` refers to what it stands in")
        return size


def parse_yaml(text: str, *, first_line: int = 1, loader: Loader = LOADER) -> YamlDocument:
    """Read one YAML document; every fault has its place, the first line of `text` having the number `first_line`.

    A fault of the syntax or of a bound stands alone. No text raises, and none costs more than its bounds allow.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if unprintable := _unprintable(text, first_line):
        return YamlDocument(None, (unprintable,))
    try:
        _refuse_directives(text, loader)
        bounds = _Bounds()
        for event in yaml.parse(text, Loader=loader):
            bounds.take(event)
        root = yaml.compose(text, Loader=loader)
    except _OutOfBounds as fault:
        return YamlDocument(None, (fault_at(place_of(fault.mark, first_line), (), fault.code, str(fault)),))
    except yaml.MarkedYAMLError as error:
        return YamlDocument(None, (syntax_fault(error, text, first_line),))
    reader = NodeReader(first_line)
    tree = reader.read(root) if root is not None else None
    return YamlDocument(tree, tuple(reader.failures))


def _refuse_directives(text: str, loader: Loader) -> None:
    """Raise _OutOfBounds for a directive, YAMLError for what is no YAML before one.

    The C parser compares each `%TAG` with all others, for as long as half a minute, in which no other thread runs. Its
    scanner takes no time for them, and knows them from text. Nesting slows it down: where there is too much of that,
    the parser stops too.
    """
    if _PERCENT.search(text) is None:
        return
    levels = 0
    for token in yaml.scan(text, Loader=loader):
        if isinstance(token, yaml.DirectiveToken):
            raise _OutOfBounds(token.start_mark, "yaml", DIRECTIVE)
        levels = max(0, levels + isinstance(token, _STARTS) - isinstance(token, _ENDS))
        if levels > YAML_DEPTH_MAX:
            return


def _unprintable(text: str, first_line: int) -> FieldFailure | None:
    found = _UNPRINTABLE.search(text)
    if found is None:
        return None
    line, begins = 0, 0
    for line_break in _LINE_BREAK.finditer(text, 0, found.start()):
        line, begins = line + 1, line_break.end()
    place = Place(line + first_line, found.start() - begins + 1)
    return fault_at(place, (), "unprintable", f"the character U+{ord(found[0]):04X} may not stand in YAML")
