"""The base of every contract model, and the field types that keep hostile text and numbers out.

Two kinds of data meet here. *Commands* say what to do: in them a NUL, a lone surrogate or an integer that a
JavaScript client cannot hold is a fault of the sender and refused with the field's path. *Evidence* says what
happened: it is never refused for what it holds, but made printable and marked (`sanitize_json`).
"""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar, Final, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from contract.limits import (
    CURSOR_MAX_CHARS,
    IDENTIFIER_MAX_CHARS,
    INSTANT_MAX,
    JSON_DEPTH_MAX,
    NAME_MAX_CHARS,
    SAFE_INTEGER_MAX,
    SUMMARY_MAX_CHARS,
    TAG_MAX_CHARS,
)

T = TypeVar("T")
Path = tuple[str | int, ...]

_IDENTIFIER = r"^[A-Za-z0-9][A-Za-z0-9._:-]*$"
_WORD = r"^[A-Za-z][A-Za-z0-9_.-]*$"
_TAG = r"^[^\s,\x00-\x1f\x7f]+$"
SHA256_PATTERN: Final = r"^[0-9A-Fa-f]{64}$"
ABSOLUTE_PATTERN: Final = r"^/"
# What a text that does not match a pattern is told.
PATTERN_RULES: Final[dict[str, str]] = {
    _IDENTIFIER: "must begin with a letter or digit and hold only letters, digits and `.`, `_`, `:`, `-`",
    _WORD: "must begin with a letter and hold only letters, digits and `.`, `_`, `-`",
    _TAG: "must not hold blanks, commas or control characters",
    ABSOLUTE_PATTERN: "must be an absolute path",
    SHA256_PATTERN: "must be 64 hexadecimal digits",
}
_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = "�"


class ContractModel(BaseModel):
    """A frozen value with exactly its declared fields.

    Strict: no coercion between types, no NaN or Infinity. `bytes` travel as base64 in JSON.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )


class ContractPatch(ContractModel):
    """What to change of something: a field that is left out stays as it is, and null clears it.

    `NEEDED` are the fields that cannot be cleared. On the wire, too, what is left out is left out.
    """

    NEEDED: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _what_is_said(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in whole(self).items() if name in self.model_fields_set}

    @model_validator(mode="after")
    def _needed_is_not_cleared(self) -> Self:
        for field in self.NEEDED:
            if field in self.model_fields_set and getattr(self, field) is None:
                raise PydanticCustomError("null", "cannot be cleared", {"path": (field,)})
        return self


# A tuple that also takes the list a JSON parser makes; its items stay strict.
Tup = Annotated[tuple[T, ...], Field(strict=False)]


class HugeNumber(str):
    """An integer literal of more digits than Python will convert (4,300): kept as its digits."""

    __slots__ = ()


def unsafe_text(text: str) -> str | None:
    """Name the first character of `text` that may not stand in a command, or None."""
    found = _UNSAFE.search(text)
    if found is None:
        return None
    return "NUL" if found[0] == "\x00" else f"lone surrogate U+{ord(found[0]):04X}"


def _refuse_unsafe_text(text: str) -> str:
    fault = unsafe_text(text)
    if fault is not None:
        raise PydanticCustomError("unsafe_text", "must not contain a {fault}", {"fault": fault})
    return text


def _json_faults(value: object, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    if depth > JSON_DEPTH_MAX:
        yield path, f"is nested deeper than {JSON_DEPTH_MAX} levels"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _json_faults(key, path, depth)
            yield from _json_faults(item, (*path, key), depth + 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _json_faults(item, (*path, index), depth + 1)
    elif fault := _scalar_fault(value):
        yield path, fault


def _scalar_fault(value: object) -> str | None:
    if isinstance(value, HugeNumber) or (isinstance(value, int) and abs(value) > SAFE_INTEGER_MAX):
        return "is an integer beyond 2^53"
    if isinstance(value, str) and (fault := unsafe_text(value)):
        return f"must not contain a {fault}"
    return None


def is_rich(value: object, values: int, depth: int | None, *, apart: frozenset[str] = frozenset()) -> bool:
    """Whether a JSON value holds more than so many values, or is nested deeper than `depth` levels.

    What stands under the keys in `apart` is not counted. Level by level, so that no depth exhausts the stack.
    """
    level: list[Any] = [value]
    count, levels = 1, 0
    while level:
        containers = [item for item in level if isinstance(item, dict | list | tuple)]
        level = [item for container in containers for item in _items(container, apart)]
        count += len(level)
        levels += 1
        if count > values or (depth is not None and levels > depth and containers):
            return True
    return False


def _items(container: Any, apart: frozenset[str]) -> Iterable[Any]:
    if not isinstance(container, dict):
        return container  # type: ignore[no-any-return]  # a list or a tuple
    return (item for key, item in container.items() if key not in apart) if apart else container.values()


def _refuse_unsafe_json(value: JsonValue) -> JsonValue:
    for path, message in _json_faults(value, (), 0):
        raise PydanticCustomError("unsafe_json", "{message}", {"message": message, "path": path})
    return value


def sanitize_text(text: str) -> tuple[str, bool]:
    """Replace NUL and lone surrogates by U+FFFD; say whether anything was replaced."""
    if _UNSAFE.search(text) is None:
        return text, False
    return _UNSAFE.sub(_REPLACEMENT, text), True


def sanitize_json(value: object, depth: int = 0) -> tuple[JsonValue, bool]:
    """Make evidence storable: NUL and lone surrogates become U+FFFD, the unrepresentable becomes text.

    Returns the clean value and whether it differs from what came in. Big numbers stay. Levels below the depth
    bound are kept as their JSON text, so nothing is lost.
    """
    if isinstance(value, str):
        text, changed = sanitize_text(str(value))
        return text, changed or isinstance(value, HugeNumber)
    if value is None or isinstance(value, bool | int):
        return value, False
    if isinstance(value, float):
        return (value, False) if math.isfinite(value) else (str(value), True)
    if depth >= JSON_DEPTH_MAX and isinstance(value, dict | list | tuple):
        return _deep_text(value), True
    if isinstance(value, dict):
        return _sanitize_mapping(value, depth)
    if isinstance(value, list | tuple):
        items = [sanitize_json(item, depth + 1) for item in value]
        return [item for item, _ in items], any(changed for _, changed in items)
    raise PydanticCustomError("json_type", "must be a JSON value, not {kind}", {"kind": type(value).__name__})


def _deep_text(value: object) -> str:
    try:
        return sanitize_text(json.dumps(value, ensure_ascii=False, default=str))[0]
    except RecursionError:
        raise PydanticCustomError("too_deep", "is nested too deeply") from None


def _sanitize_mapping(value: dict[Any, object], depth: int) -> tuple[JsonValue, bool]:
    clean: dict[str, JsonValue] = {}
    changed = False
    for key, item in value.items():
        name, name_changed = sanitize_text(str(key))
        while name in clean:  # two keys that became one: both stay
            name, name_changed = name + _REPLACEMENT, True
        clean[name], item_changed = sanitize_json(item, depth + 1)
        changed = changed or name_changed or item_changed
    return clean, changed


def is_identifier(text: str) -> bool:
    """Whether anything can have this identifier: one that cannot exist need not be looked up."""
    return len(text) <= IDENTIFIER_MAX_CHARS and re.fullmatch(_IDENTIFIER[1:-1], text) is not None


def _identity(value: Any) -> Any:
    return value


def _is_none(value: object) -> bool:
    return value is None


# Text of a command: any Unicode but NUL and lone surrogates.
# Bounds stand before this check, or pydantic would count the items of "anything with a length" instead of characters.
SAFE = AfterValidator(_refuse_unsafe_text)
Text = Annotated[str, SAFE]
Name = Annotated[str, Field(min_length=1, max_length=NAME_MAX_CHARS), SAFE]
Summary = Annotated[str, Field(max_length=SUMMARY_MAX_CHARS), SAFE]
# An identifier a caller may choose: it stands in URLs, file names and argv, so it cannot start with `-` or `.`.
Identifier = Annotated[str, Field(min_length=1, max_length=IDENTIFIER_MAX_CHARS, pattern=_IDENTIFIER)]
# A lower-case token of a closed or growing vocabulary (kinds, signal kinds take CamelCase as well).
Token = Annotated[str, Field(min_length=1, max_length=64, pattern=_WORD)]
Tag = Annotated[str, Field(min_length=1, max_length=TAG_MAX_CHARS, pattern=_TAG), SAFE]
Cursor = Annotated[str, Field(max_length=CURSOR_MAX_CHARS), SAFE]
Instant = Annotated[float, Field(ge=0, le=INSTANT_MAX)]
# Before pydantic's own validation, which makes a plain string of a HugeNumber.
CommandJson = Annotated[JsonValue, BeforeValidator(_refuse_unsafe_json)]
# Already made clean by `sanitize_json` (evidence coming in) or read back from the store.
EvidenceJson = Annotated[JsonValue, PlainValidator(_identity), WithJsonSchema({})]


class Page(ContractModel, Generic[T]):
    """One page of a list. Offset paging as asked for, and a cursor that goes on exactly after the last item.

    A cursor neither repeats nor skips rows while others are inserted; an offset drifts by them.
    """

    items: Tup[T]
    offset: int = Field(ge=0)
    limit: int = Field(ge=1)
    has_next: bool
    next_cursor: str | None = None

    @classmethod
    def model_parametrized_name(cls, params: tuple[Any, ...]) -> str:
        """Name `Page[RunSummary]` `RunSummaryPage` in the published schema."""
        return "".join(getattr(param, "__name__", str(param)) for param in params) + "Page"


class FieldFailure(ContractModel):
    """One fault of an input: where (keys and indexes from the top), what kind, and a sentence.

    A fault within a text also has its line and column there, both from 1; the path then goes on into what the text
    holds, such as ("content", "args", "depth").
    """

    path: Tup[str | int]
    code: str
    message: str
    line: int | None = Field(default=None, exclude_if=_is_none)
    column: int | None = Field(default=None, exclude_if=_is_none)
