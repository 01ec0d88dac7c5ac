"""From the options of a command line to the trigger they mean; the contract and the operation judge it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Final

from contract.errors import ValidationFailure, shown
from contract.triggers import Trigger
from studio_project.command_input import instant_text, named

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART: Final = re.compile(r"([0-9]{1,10})([smhdw])")
_DURATION: Final = re.compile(rf"({_PART.pattern})+")
_WORDS: Final = {"true": True, "false": False}
_ONE_OF: Final = "one of --cron, --every, --at and --github"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerOptions:
    """What was said of when, as it was said."""

    cron: str | None = None
    timezone: str | None = None
    every: str | None = None
    at: str | None = None
    github: str | None = None
    poll_every: str | None = None
    filters: Sequence[str] | None = None

    def fields(self, zone: tzinfo, before: Trigger | None = None) -> dict[str, object] | None:
        """Return the trigger; None where nothing was said of it. ValidationFailure for what cannot be read.

        What is not said stays as in `before`, if that is of the same kind. Instants without a zone are read in `zone`.
        """
        told = self._told(zone)
        kind = self._kind(before)
        if kind is None:
            if told:
                raise ValidationFailure.at("trigger", code="missing", message=f"needs {_ONE_OF}")
            return None
        if before is None or before.kind != kind:
            return {"kind": kind, **told}
        return {**before.model_dump(mode="json"), **told} if told else None

    def required(self, zone: tzinfo) -> dict[str, object]:
        """Return the trigger. ValidationFailure where nothing was said of it."""
        found = self.fields(zone)
        if found is None:
            raise ValidationFailure.at("trigger", code="missing", message=f"needs {_ONE_OF}")
        return found

    def _kind(self, before: Trigger | None) -> str | None:
        given = {"cron": self.cron, "interval": self.every, "at": self.at, "github_poll": self.github}
        kinds = [kind for kind, text in given.items() if text is not None]
        if len(kinds) > 1:
            raise ValidationFailure.at("trigger", code="exclusive", message=f"takes only {_ONE_OF}")
        return kinds[0] if kinds else None if before is None else before.kind

    def _told(self, zone: tzinfo) -> dict[str, object]:
        return named(
            expression=self.cron,
            timezone=self.timezone,
            seconds=_seconds(self.every, "seconds"),
            at=_instant(self.at, zone),
            repository=self.github,
            poll_interval_seconds=_seconds(self.poll_every, "poll_interval_seconds"),
        ) | ({} if self.filters is None else {"filters": dict(map(_filter, self.filters))})


def _seconds(text: str | None, field: str) -> int | None:
    """Return the seconds of `90`, `90s`, `15m`, `1h30m`, `2d` or `1w`."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,10}", text):
        return int(text)
    if _DURATION.fullmatch(text) is None:
        message = f"{shown(text)} is no duration: write it as 90s, 15m, 1h30m, 2d or 1w"
        raise ValidationFailure.at("trigger", field, code="duration", message=message)
    return sum(int(count) * _UNITS[unit] for count, unit in _PART.findall(text))


def _instant(text: str | None, zone: tzinfo) -> float | None:
    said = instant_text(text, zone)
    if said is None:
        return None
    try:
        return float(said)
    except ValueError:
        message = f"{shown(said)} is no instant: write it as 2026-11-30T10:00, or in epoch seconds"
        raise ValidationFailure.at("trigger", "at", code="instant", message=message) from None


def _filter(text: str) -> tuple[str, object]:
    key, equals, value = text.partition("=")
    if not equals:
        message = f"{shown(text)} has no value: write it as KEY=VALUE"
        raise ValidationFailure.at("trigger", "filters", code="filter", message=message)
    return key, _WORDS.get(value, value)
