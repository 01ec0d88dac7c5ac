"""The time zone of the configuration: one that cron expressions can have as well."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from contract.errors import ValidationFailure
from schedules.wall_clocks import zone_named


def _usable(value: str) -> str:
    try:
        return zone_named(value).key
    except ValidationFailure:
        raise PydanticCustomError("timezone", "is not an IANA time zone such as Europe/Berlin") from None


ZoneName = Annotated[str, AfterValidator(_usable)]


def machine_zone(localtime: Path) -> str:
    """Return the zone that the machine's clock is set to, where the link names one; UTC otherwise."""
    try:
        _, found, zone = str(localtime.readlink()).partition("zoneinfo/")
        return zone_named(zone.removeprefix("posix/")).key if found else "UTC"
    except (OSError, ValidationFailure):
        return "UTC"
