"""Reads fields of JSON that nobody vouches for, and makes them fit for events.

What is not of the expected type or beyond the bounds of the contract is None: unknown. Text that goes into names and
ids is made clean and cut, with a digest in place of what was cut, so that two long names stay two.
"""

import hashlib
from datetime import datetime
from typing import Any, Final

from contract.base import sanitize_text
from contract.errors import ValidationFailure
from contract.limits import INSTANT_MAX, NAME_MAX_CHARS, USAGE_COST_USD_MAX, USAGE_TOKENS_MAX
from contract.parsing import strict_json_loads

# A quarter of SHA-256, 64 bits: keeps the lines and names of one stream apart.
_DIGEST_CHARS: Final = 16
_BYTE_ORDER_MARK: Final = "\ufeff"


def json_object(line: str) -> dict[str, Any] | None:
    """Return the JSON object that a line is, or None. Parsed as strictly as any input (`contract/parsing.py`)."""
    try:
        return strict_object(line)
    except ValidationFailure:
        return None


def strict_object(line: str) -> dict[str, Any] | None:
    """Return the JSON object that a line is, None where it is none. ValidationFailure says what is wrong with it."""
    text = bare(line)
    # Most lines are no JSON at all: they need not be parsed to be refused.
    if not text.startswith("{"):
        return None
    data: dict[str, Any] = strict_json_loads(text.encode("utf-8", "surrogatepass"))
    return data


def bare(line: str) -> str:
    """Return a line without blanks around it, and without a byte order mark."""
    return line.removeprefix(_BYTE_ORDER_MARK).strip()


def text_field(value: object) -> str | None:
    """Return a text, None for anything else."""
    return str(value) if isinstance(value, str) else None


def said_field(value: object) -> str | None:
    """Return a text that says something, None for a blank one and for anything else."""
    text = text_field(value)
    return text if text and text.strip() else None


def object_field(value: object) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def name_field(value: object) -> str | None:
    """Return a text fit to be a name (200 characters, printable in JSON), None where there is none."""
    text = said_field(value)
    return None if text is None else bounded(text)


def count_field(value: object) -> int | None:
    """Return a number of tokens within the bound of a usage event; a truth value is no number."""
    return value if type(value) is int and 0 <= value <= USAGE_TOKENS_MAX else None


def cost_field(value: object) -> float | None:
    """Return US dollars within the bound of a usage event."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= USAGE_COST_USD_MAX else None


def instant_field(value: object) -> float | None:
    """Return the epoch seconds of an ISO 8601 instant with its offset from UTC."""
    try:
        instant = datetime.fromisoformat(text_field(value) or "")
        seconds = instant.timestamp() if instant.tzinfo is not None else -1.0
    except (ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds <= INSTANT_MAX else None


def event_key(*parts: object) -> str:
    """Return an event id made of its parts: the same for the same parts, within the bound of an id."""
    return bounded(":".join(str(part) for part in parts))


def bounded(text: str) -> str:
    """Return a text clean and of at most 200 characters."""
    clean = sanitize_text(text)[0]
    if len(clean) <= NAME_MAX_CHARS:
        return clean
    return f"{clean[: NAME_MAX_CHARS - _DIGEST_CHARS - 1]}-{digest(clean)}"


def digest(text: str) -> str:
    """Return 16 characters that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARS]
