"""Makes the body of an event storable: clean, bounded in structure, and of known size.

Almost every body needs nothing; so the first look is at its JSON text, which the C encoder makes, and only a body
that holds something unfit is walked value by value. What is too rich in structure is kept as its JSON text: a
producer loses nothing, and a reader never has to build hundreds of thousands of values for one message.
"""

import json
import re
from typing import Final, cast

from pydantic import JsonValue
from pydantic_core import PydanticCustomError

from contract.base import is_rich, sanitize_json, sanitize_text
from contract.limits import EVIDENCE_VALUES_MAX, JSON_DEPTH_MAX

# A body with something unfit in it is repaired value by value up to this many values: each costs a microsecond.
_REPAIRED_VALUES_MAX: Final = 500
_UNFIT: Final = re.compile(r"\\u0000|[\ud800-\udfff]")


def fitted_body(value: object) -> tuple[JsonValue, bool, int]:
    """Return the body as it is stored, whether it differs from `value`, and its size in bytes.

    The size is that of a text, or of the JSON text of anything else, in UTF-8.
    """
    if not isinstance(value, dict | list | tuple):
        body, changed = sanitize_json(value)
        return body, changed, size_bytes(body)
    text = _plain_text(value)
    if text is not None and not is_rich(value, EVIDENCE_VALUES_MAX, JSON_DEPTH_MAX):
        return cast("JsonValue", value), False, _utf8_bytes(text)
    if is_rich(value, EVIDENCE_VALUES_MAX if text is not None else _REPAIRED_VALUES_MAX, None):
        body = sanitize_text(_whole_text(value))[0]
        return body, True, _utf8_bytes(body)
    body, _ = sanitize_json(value)
    return body, True, size_bytes(body)


def size_bytes(body: object) -> int:
    """Return the size of a text, or of the JSON text of anything else, in UTF-8."""
    return _utf8_bytes(text_of(body))


def text_of(body: object) -> str:
    """Return a text as it is, and anything else as compact JSON text."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _plain_text(value: object) -> str | None:
    """Return the JSON text of a value that can be stored as it is, or None."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return None
    return None if _UNFIT.search(text) else text


def _whole_text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        raise PydanticCustomError("too_deep", "is nested too deeply") from None


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())
