"""YAML from anybody as plain values, and where in the text each of them stands."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from pydantic import JsonValue

from contract.base import FieldFailure, Path
from contract.errors import ValidationFailure
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_faults import Place
from definitions.yaml_nodes import YamlNode


@dataclass(frozen=True, slots=True)
class YamlValues:
    """What a document holds; `value` is null for an empty one."""

    value: JsonValue
    _root: YamlNode | None

    def placed(self, failure: ValidationFailure) -> ValidationFailure:
        """Return the same faults, each with the place of what it is about, or of what that is missing in."""
        return ValidationFailure(tuple(self._placed(fault) for fault in failure.field_errors))

    def _placed(self, fault: FieldFailure) -> FieldFailure:
        place = _place_of(self._root, fault.path)
        if fault.line is not None or place is None:
            return fault
        told = f"line {place.line}, column {place.column}: {fault.message}"
        return fault.model_copy(update={"message": told, "line": place.line, "column": place.column})


def read_yaml(text: str, *, zone: tzinfo) -> YamlValues:
    """Read one document within the bounds of definitions. ValidationFailure with every fault and its place.

    An instant (`2026-11-30T10:00:00`) becomes epoch seconds, read in `zone` where it names none.
    """
    document = parse_yaml(text)
    if document.failures:
        raise ValidationFailure(tuple(_without_content(fault) for fault in document.failures))
    return YamlValues(None if document.root is None else _value_of(document.root, zone), document.root)


def _without_content(fault: FieldFailure) -> FieldFailure:
    """Take away the first key, which is that of a definition's text."""
    return fault.model_copy(update={"path": fault.path[1:]})


def _value_of(node: YamlNode, zone: tzinfo) -> JsonValue:
    if node.kind == "mapping":
        return {entry.key: _value_of(entry.node, zone) for entry in node.entries}
    if node.kind == "sequence":
        return [_value_of(item, zone) for item in node.items]
    if isinstance(node.value, datetime):
        at = node.value
        return (at if at.tzinfo else at.replace(tzinfo=zone)).timestamp()
    if node.kind == "timestamp":  # a day, which is no instant
        return str(node.value)
    value: JsonValue = node.value
    return value


def _place_of(root: YamlNode | None, path: Path) -> Place | None:
    """Return where the value at a path begins, or the nearest one above it that is there."""
    place = None if root is None else root.place
    node = root
    for key in path:
        if node is None:
            break
        found = _below(node, key)
        if found is None:
            break
        place, node = found
    return place


def _below(node: YamlNode, key: str | int) -> tuple[Place, YamlNode] | None:
    if isinstance(key, int):
        return (node.items[key].place, node.items[key]) if key < len(node.items) else None
    return next(((entry.place, entry.node) for entry in node.entries if entry.key == key), None)
