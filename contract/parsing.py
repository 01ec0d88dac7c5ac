"""From raw input to a contract model, with every fault named by its path. Used by every door.

JSON is parsed more strictly than the standard library does: UTF-8 only, no duplicate keys, no NaN or Infinity,
no number that overflows to one (RFC 8259, sections 4, 6 and 8.1).
"""

import json
import math
import re
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from contract.base import PATTERN_RULES, FieldFailure, HugeNumber, Path, is_rich
from contract.errors import ValidationFailure, shown
from contract.limits import COMMAND_VALUES_MAX, FIELD_FAILURES_MAX

M = TypeVar("M", bound=BaseModel)

# Python converts at most 4,300 digits (sys.int_info.default_max_str_digits).
_INT_DIGITS_MAX = 4_300
_INTEGER = re.compile(r"-?[0-9]{1,19}\Z")
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?\Z")


# Bodies of evidence, which have bounds of their own (contract/evidence.py).
_EVIDENCE = frozenset({"content", "payload"})


class _JsonFault(ValueError):
    """A fault of the JSON text itself."""


def strict_json_loads(raw: bytes) -> Any:
    """Parse one JSON document. Raises ValidationFailure (path empty, code `json`) saying what is wrong."""
    try:
        return json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_bounded_int,
        )
    except UnicodeDecodeError as fault:
        message = f"is not UTF-8 (byte {fault.start})"
    except json.JSONDecodeError as fault:
        message = f"is not JSON: {fault.msg} (line {fault.lineno}, column {fault.colno})"
    except _JsonFault as fault:
        message = str(fault)
    except RecursionError:
        message = "is nested too deeply"
    raise ValidationFailure.at(code="json", message=message)


def parse_model(model: type[M], data: object) -> M:
    """Validate parsed data. Raises ValidationFailure with a FieldFailure per fault, up to a hundred."""
    if is_rich(data, COMMAND_VALUES_MAX, None, apart=_EVIDENCE):
        message = f"holds more than {COMMAND_VALUES_MAX} values"
        raise ValidationFailure.at(code="too_large", message=message)
    try:
        return model.model_validate(data)
    except ValidationError as fault:
        raise ValidationFailure(failures_of(fault, data)) from None


def parse_query(model: type[M], query: Mapping[str, Sequence[str]], **fixed: object) -> M:
    """Validate a query string: repeated keys become tuples, numbers and booleans are read from their text.

    `fixed` are fields given by the path. Unknown keys, and a repeated key of a single-valued field, are faults.
    """
    data: dict[str, object] = dict(fixed)
    repeated: list[FieldFailure] = []
    # A field that is called like a word of Python goes by its alias.
    fields = {field.alias or name: field for name, field in model.model_fields.items() if name not in fixed}
    for key, values in query.items():
        field = fields.get(key)
        if field is None:
            repeated.append(_unknown(key, list(fields)))
        elif get_origin(kind := _bare(field.annotation)) is tuple:
            data[key] = list(values)
        elif len(values) > 1:
            repeated.append(FieldFailure(path=(key,), code="repeated", message="may be given once only"))
        else:
            data[key] = _scalar(kind, values[0])
    try:
        parsed = parse_model(model, data)
    except ValidationFailure as failure:
        raise ValidationFailure((*repeated, *failure.field_errors)) from None
    if repeated:
        raise ValidationFailure(tuple(repeated))
    return parsed


def failures_of(fault: ValidationError, data: object) -> tuple[FieldFailure, ...]:
    """Turn pydantic's errors into FieldFailures whose paths follow `data`, not the schema's unions."""
    failures: dict[tuple[Path, str], FieldFailure] = {}
    for error in fault.errors(include_url=False, include_input=False):
        context = error.get("ctx", {})
        code = error["type"]
        place = _data_path(error["loc"], data, missing=code == "missing")
        path = (*place, *context.get("path", ()))
        code, message = _in_our_words(code, error["msg"], context)
        failures[path, code] = FieldFailure(path=path, code=code, message=message)
        if len(failures) == FIELD_FAILURES_MAX:
            break
    return tuple(failures.values())


def _in_our_words(code: str, message: str, context: Mapping[str, Any]) -> tuple[str, str]:
    """Say in words what pydantic says by a pattern, a union or an option."""
    if code == "extra_forbidden":
        return "unknown_field", "is not a field here"
    if code == "string_pattern_mismatch":
        return code, PATTERN_RULES.get(context["pattern"], message)
    if code == "string_unicode":
        return "unsafe_text", "must not contain a lone surrogate"
    if code == "tuple_type":
        return code, "must be a list"
    if code in ("model_attributes_type", "model_type", "dict_type"):
        return code, "must be an object"
    if code == "union_tag_not_found":
        return code, f"needs {context['discriminator']}"
    if code == "union_tag_invalid":
        return code, f"{context['discriminator']} must be one of {context['expected_tags']}"
    return code, message


def _data_path(loc: Path, data: object, *, missing: bool) -> Path:
    """Drop the parts of pydantic's location that name a union member and not a place in the data.

    `missing`: the last part is a key that the data has not.
    """
    path: list[str | int] = []
    place: object = data
    for position, part in enumerate(loc):
        rest = loc[position + 1 :]
        if isinstance(place, Mapping):
            if _names_member(part, place, rest, missing=missing) or not (part in place or (missing and not rest)):
                continue
            place = place.get(part)
        elif isinstance(place, Sequence) and not isinstance(place, str) and isinstance(part, int):
            place = place[part] if part < len(place) else None
        else:
            continue
        path.append(shown(part) if isinstance(part, str) else part)
    return tuple(path)


def _names_member(part: str | int, place: Mapping[Any, Any], rest: Path, *, missing: bool) -> bool:
    """Whether `part` is the discriminator's value and not a key that happens to have the same name."""
    if part not in (place.get("type"), place.get("kind")) or not rest:
        return False
    return rest[0] in place or (missing and len(rest) == 1)


def _unknown(key: str, known: list[str]) -> FieldFailure:
    message = f"is not a parameter here; known: {', '.join(known)}" if known else "no parameters are taken here"
    return FieldFailure(path=(shown(key),), code="unknown_field", message=message)


def _bare(annotation: Any) -> Any:
    """Strip Annotated and Optional from a field's annotation."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        (annotation,) = [arg for arg in get_args(annotation) if arg is not types.NoneType][:1]
        return _bare(annotation)
    return annotation


def _scalar(kind: Any, text: str) -> object:
    """Read a number or boolean from its text; what cannot be read stays text and is refused by the model."""
    if kind is bool:
        return {"true": True, "1": True, "false": False, "0": False}.get(text, text)
    if kind is int and _INTEGER.match(text):
        return int(text)
    if kind is float and _NUMBER.match(text):
        return float(text)
    return text


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _JsonFault(f"the key {shown(key)!r} stands twice in one object")
            seen.add(key)
    return mapping


def _refuse_constant(name: str) -> float:
    raise _JsonFault(f"{name} is not JSON")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _JsonFault(f"the number {shown(text[:40])} is too large")
    return number


def _bounded_int(text: str) -> int | HugeNumber:
    return int(text) if len(text) <= _INT_DIGITS_MAX else HugeNumber(text)
