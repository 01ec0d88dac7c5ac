"""How the admin shows values: instants as local date-times, JSON pretty-printed, long text cut, money in dollars."""

import json
from datetime import UTC, datetime, tzinfo
from typing import Final

# What stands in one cell of a list: about two lines of it.
CELL_MAX_CHARS: Final = 160
# What one field of a page shows: some 200 lines, which a browser lays out at once. Stored text can be 1 MiB.
FIELD_MAX_CHARS: Final = 20_000
NOTHING: Final = "-"
_MICROS: Final = 1_000_000


def instant_text(at: float | None, zone: tzinfo) -> str:
    """Return epoch seconds as date, time and offset in `zone`; the bare number where no calendar reaches."""
    if at is None:
        return NOTHING
    try:
        local = datetime.fromtimestamp(at, tz=UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return str(at)
    return local.isoformat(sep=" ", timespec="milliseconds")


def json_text(stored: str | None) -> str:
    """Return JSON text pretty-printed and cut; a JSON string as its text; what is not JSON as it is."""
    if stored is None:
        return NOTHING
    try:
        value = json.loads(stored)
    except (ValueError, RecursionError):
        return cut(stored, FIELD_MAX_CHARS)
    if isinstance(value, str):
        return cut(value, FIELD_MAX_CHARS)
    return cut(json.dumps(value, ensure_ascii=False, indent=2), FIELD_MAX_CHARS)


def excerpt(head: str | None) -> str:
    """Return the beginning of a stored text on one line, fit for a cell."""
    return NOTHING if head is None else cut(" ".join(head.split()), CELL_MAX_CHARS, told=False)


def cut(text: str, max_chars: int, *, told: bool = True) -> str:
    """Return at most `max_chars` of `text`, and where it was cut how much is missing (`told`) or an ellipsis."""
    if len(text) <= max_chars:
        return text
    missing = f"\n… {len(text) - max_chars:,} more characters" if told else "…"
    return text[:max_chars] + missing


def usd_text(micros: int | None) -> str:
    """Return millionths of a dollar as dollars; unknown is not zero."""
    return NOTHING if micros is None else f"${micros / _MICROS:,.6f}"
