"""What of a JSON schema may change without breaking those who speak it, seen from the wire.

Pure: two schemas in, breaches out. References are followed, so that what a component is called does not matter,
and each pair of components is looked into once for each direction.

    in requests and answers    a field is removed, a type or nullability changes, an enum or bound is narrowed
    in requests                something becomes required
    in answers                 what was always there may be missing

New optional fields, new members of a union that a field tells apart, and wider enums and bounds are additive.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

Json = Mapping[str, Any]

_NULL: Final = "null"
_ANY: Final = "any"
_OBJECT: Final = "object"

_IS_STRICTER: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "minimum": operator.gt,
    "exclusiveMinimum": operator.gt,
    "minLength": operator.gt,
    "minItems": operator.gt,
    "minProperties": operator.gt,
    "maximum": operator.lt,
    "exclusiveMaximum": operator.lt,
    "maxLength": operator.lt,
    "maxItems": operator.lt,
    "maxProperties": operator.lt,
}
# Whether another value of these is narrower cannot be told; that it is there and new is enough.
_OPAQUE_BOUNDS: Final = ("pattern", "multipleOf", "uniqueItems")
_KINDS: Final = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: _OBJECT}


class Rule(Enum):
    """What the additive rule forbids."""

    PATH_REMOVED = "a path was removed or renamed"
    METHOD_REMOVED = "a method was removed"
    SLASH_CHANGED = "the canonical form of a path changed"
    AUTH_CHANGED = "the auth class changed"
    SUCCESS_CHANGED = "the success status changed"
    ERROR_STATUS_CHANGED = "an error code answers with another status"
    MEDIA_TYPE_REMOVED = "a media type was removed"
    FIELD_REMOVED = "a field was removed or renamed"
    TYPE_CHANGED = "a type changed"
    NULLABILITY_CHANGED = "nullability changed"
    MEMBER_REMOVED = "a member of a union was removed"
    NOW_REQUIRED = "a request needs something it did not need"
    NO_LONGER_CERTAIN = "an answer may leave out what it always had"
    ENUM_NARROWED = "an enum was narrowed"
    BOUND_NARROWED = "a bound was narrowed"
    STREAM_CHANGED = "a stream became something else"
    TERMINAL_CHANGED = "the frames that end a stream changed"
    RECONNECT_CHANGED = "the rule for reconnecting changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One forbidden change: which rule, where in the contract, and from what to what."""

    rule: Rule
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.rule.value}: {self.what}"


class Direction(Enum):
    """Who has to understand the value."""

    REQUEST = "what clients send"
    ANSWER = "what clients read"


class SchemaComparison:
    """Compares schemas of two documents, whose components by name it is given."""

    def __init__(self, old_components: Json, new_components: Json) -> None:
        self._old_components = old_components
        self._new_components = new_components
        self._seen: set[tuple[str, str, Direction]] = set()

    def breaches(self, old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
        """Yield what changed from `old` to `new` that may not; `where` names the place for people."""
        if "$ref" in old and "$ref" in new:
            pair = (old["$ref"], new["$ref"], direction)
            if pair in self._seen:
                return
            self._seen.add(pair)
            where = _name_of(new["$ref"])
        olds = _alternatives(old, self._old_components)
        news = _alternatives(new, self._new_components)
        yield from _kind_breaches(olds, news, where)
        for kind in olds.keys() & news.keys():
            place = f"{where}<{kind}>" if _is_tagged(kind) and len(olds) > 1 else where
            yield from self._same_kind(olds[kind], news[kind], place, direction)

    def _same_kind(self, old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
        yield from _enum_breaches(old, new, where)
        yield from _bound_breaches(old, new, where)
        if old.get("format") != new.get("format"):
            yield _breach(Rule.TYPE_CHANGED, where, old.get("format"), new.get("format"))
        yield from self._inner(old.get("items"), new.get("items"), f"{where}[]", direction)
        yield from self._positions(old, new, where, direction)
        yield from self._properties(old, new, where, direction)
        yield from self._other_properties(old, new, where, direction)

    def _inner(self, old: object, new: object, where: str, direction: Direction) -> Iterator[Breach]:
        """Compare what is inside; saying nothing about it allows anything."""
        if old is not None or new is not None:
            yield from self.breaches(_schema(old), _schema(new), where, direction)

    def _positions(self, old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
        olds, news = old.get("prefixItems", ()), new.get("prefixItems", ())
        if len(olds) != len(news):
            yield _breach(Rule.TYPE_CHANGED, where, f"{len(olds)} positions", f"{len(news)} positions")
        for index, (before, after) in enumerate(zip(olds, news, strict=False)):
            yield from self.breaches(before, after, f"{where}[{index}]", direction)

    def _properties(self, old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
        olds, news = old.get("properties", {}), new.get("properties", {})
        for name in sorted(olds.keys() - news.keys()):
            yield _removed(name, olds, news, where)
        yield from _required_breaches(old, new, where, direction)
        for name in sorted(olds.keys() & news.keys()):
            yield from self.breaches(olds[name], news[name], f"{where}.{name}", direction)

    def _other_properties(self, old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
        before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
        if before is not False and after is False:
            yield Breach(rule=Rule.BOUND_NARROWED, where=where, what="other keys are no longer allowed")
        elif isinstance(before, Mapping) or (before is not False and isinstance(after, Mapping)):
            yield from self.breaches(_schema(before), _schema(after), f"{where}.*", direction)


def _schema(value: object) -> Json:
    """Return a schema for what may stand in its place: true, or nothing at all, allows anything."""
    return value if isinstance(value, Mapping) else {}


def _name_of(reference: str) -> str:
    return reference.rpartition("/")[2]


def _resolved(schema: Json, components: Json) -> Json:
    while "$ref" in schema:
        schema = components[_name_of(schema["$ref"])]
    return schema


def _alternatives(schema: Json, components: Json) -> dict[str, Json]:
    """Return the members of a union by a name of their kind; a plain schema is a union of one."""
    members = list(_members(schema, components))
    objects = sum(_kind(member) == _OBJECT for member in members)
    return {_member_name(member, among=objects): member for member in members}


def _members(schema: Json, components: Json) -> Iterator[Json]:
    bare = _resolved(schema, components)
    for word in ("anyOf", "oneOf"):
        if word in bare:
            for member in bare[word]:
                yield from _members(member, components)
            return
    kinds = bare.get("type")
    for kind in kinds if isinstance(kinds, list) else (kinds,):
        yield bare if kind is None else {**bare, "type": kind}


def _kind(schema: Json) -> str:
    if "type" in schema:
        return str(schema["type"])
    values = _values(schema)
    if values:
        return _KINDS.get(type(next(iter(values))), _NULL)
    return _OBJECT if "properties" in schema else _ANY


def _member_name(schema: Json, *, among: int) -> str:
    """Name a member by its kind; objects by the fields with one possible value, which tell them apart."""
    kind = _kind(schema)
    if kind != _OBJECT:
        return kind
    tags = [f"{name}={value['const']}" for name, value in schema.get("properties", {}).items() if "const" in value]
    if tags:
        return f"{_OBJECT} {','.join(sorted(tags))}"
    return f"{_OBJECT} {schema.get('title', '')}" if among > 1 else _OBJECT


def _is_tagged(kind: str) -> bool:
    return kind.startswith(f"{_OBJECT} ")


def _kind_breaches(olds: Json, news: Json, where: str) -> Iterator[Breach]:
    if (_NULL in olds) != (_NULL in news):
        before, after = (("may be null" if _NULL in kinds else "is never null") for kinds in (olds, news))
        yield _breach(Rule.NULLABILITY_CHANGED, where, before, after)
    lost, gained = olds.keys() - news.keys() - {_NULL}, news.keys() - olds.keys() - {_NULL}
    if lost and all(map(_is_tagged, lost)) and any(map(_is_tagged, news)):
        yield Breach(rule=Rule.MEMBER_REMOVED, where=where, what=", ".join(sorted(lost)))
        lost = set()
    if any(map(_is_tagged, olds)):
        gained = {kind for kind in gained if not _is_tagged(kind)}
    if lost or gained:
        yield _breach(Rule.TYPE_CHANGED, where, " | ".join(sorted(olds)), " | ".join(sorted(news)))


def _values(schema: Json) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _enum_breaches(old: Json, new: Json, where: str) -> Iterator[Breach]:
    before, after = _values(old), _values(new)
    if after is None or (before is not None and all(value in after for value in before)):
        return
    yield _breach(Rule.ENUM_NARROWED, where, "any" if before is None else before, after)


def _bound_breaches(old: Json, new: Json, where: str) -> Iterator[Breach]:
    for word, is_stricter in _IS_STRICTER.items():
        if word in new and (word not in old or is_stricter(new[word], old[word])):
            yield _breach(Rule.BOUND_NARROWED, where, *(f"{word} {each.get(word, 'none')}" for each in (old, new)))
    for word in _OPAQUE_BOUNDS:
        if new.get(word) and new[word] != old.get(word):
            yield _breach(Rule.BOUND_NARROWED, where, *(f"{word} {each.get(word, 'none')}" for each in (old, new)))


def _required_breaches(old: Json, new: Json, where: str, direction: Direction) -> Iterator[Breach]:
    before, after = set(old.get("required", ())), set(new.get("required", ()))
    if direction is Direction.REQUEST:
        for name in sorted(after - before):
            yield Breach(rule=Rule.NOW_REQUIRED, where=f"{where}.{name}", what="is required")
    else:
        for name in sorted((before - after) & new.get("properties", {}).keys()):
            yield Breach(rule=Rule.NO_LONGER_CERTAIN, where=f"{where}.{name}", what="is optional")


def _removed(name: str, olds: Json, news: Json, where: str) -> Breach:
    """Say that a field is gone, and which new one looks like it under another name."""
    alike = [new for new in sorted(news.keys() - olds.keys()) if _untitled(news[new]) == _untitled(olds[name])]
    what = f"now {' or '.join(alike)}?" if alike else "is gone"
    return Breach(rule=Rule.FIELD_REMOVED, where=f"{where}.{name}", what=what)


def _untitled(schema: Json) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


def _breach(rule: Rule, where: str, before: object, after: object) -> Breach:
    return Breach(rule=rule, where=where, what=f"was {before}, is {after}")
