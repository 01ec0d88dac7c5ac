"""From what a command line gave to what the contract parses: nothing is judged here, only named."""

import os
import re
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from contract.errors import ValidationFailure
from studio_project.config import current_config

_DURATION: Final = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([smhdw]?)", re.ASCII)
_UNIT_SECONDS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}


def given(**options: str | Sequence[str] | None) -> dict[str, list[str]]:
    """Return the options that were given as parameters, the way a query string has them."""
    return {
        name: [value] if isinstance(value, str) else list(value) for name, value in options.items() if value is not None
    }


def named(**fields: str | float | bool | Sequence[str] | None) -> dict[str, object]:
    """Return the fields that were given."""
    return {name: value for name, value in fields.items() if value is not None}


def absolute(folder: str) -> str:
    """Return a folder from the root on, links not followed. ValidationFailure where the current one is gone."""
    try:
        return os.path.abspath(folder)  # noqa: PTH100 (follows no link)
    except OSError as fault:
        message = f"the current folder cannot be told: {fault.strerror}"
        raise ValidationFailure.at("folder", code="folder", message=message) from None


def instant_text(text: str | None, zone: tzinfo) -> str | None:
    """Return an ISO 8601 date or time as epoch seconds, in `zone` where it names none; anything else as it is."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return repr((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp())


def duration_seconds(text: str, *, field: str) -> float:
    """Return a duration such as `90m`, `12h`, `30d`, `2w` or a number of seconds. ValidationFailure for any other."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        message = "must be a number of seconds, or of minutes, hours, days or weeks, such as 90m, 12h, 30d or 2w"
        raise ValidationFailure.at(field, code="duration", message=message)
    return float(found[1]) * _UNIT_SECONDS[found[2]]


def reader_zone() -> tzinfo:
    """Return the zone in which people read instants: the configured one."""
    return ZoneInfo(current_config().timezone)
