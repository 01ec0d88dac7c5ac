"""From what a command line gave to what the contract parses: nothing is judged here, only named."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from studio_project.config import current_config


def given(**options: str | Sequence[str] | None) -> dict[str, list[str]]:
    """Return the options that were given as parameters, the way a query string has them."""
    return {
        name: [value] if isinstance(value, str) else list(value) for name, value in options.items() if value is not None
    }


def named(**fields: str | float | Sequence[str] | None) -> dict[str, object]:
    """Return the fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def instant_text(text: str | None, zone: tzinfo) -> str | None:
    """Return an ISO 8601 date or time as epoch seconds, in `zone` where it names none; anything else as it is."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return repr((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp())


def reader_zone() -> tzinfo:
    """Return the zone in which people read instants: the configured one."""
    return ZoneInfo(current_config().timezone)
