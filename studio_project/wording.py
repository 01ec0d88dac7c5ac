"""Words for people that the commands of every app share. Values in, text out; `zone` is where the reader lives."""

from collections.abc import Iterable, Iterator
from datetime import datetime, tzinfo

from studio_project.terminal import UNKNOWN, Line, Styled


def instant(at: float | None, zone: tzinfo) -> str:
    """Return an instant as date and time in the reader's zone."""
    return UNKNOWN if at is None else f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M:%S}"


def minute(at: float | None, zone: tzinfo) -> str:
    """Return an instant to the minute, for lists."""
    return UNKNOWN if at is None else f"{datetime.fromtimestamp(at, zone):%Y-%m-%d %H:%M}"


def clock_time(at: float, zone: tzinfo) -> str:
    """Return the time of day of an instant."""
    return f"{datetime.fromtimestamp(at, zone):%H:%M:%S}"


def size(size_bytes: int | None) -> str:
    """Return a number of bytes in its largest unit."""
    if size_bytes is None:
        return UNKNOWN
    if size_bytes < 1024:
        return f"{size_bytes} B"
    return f"{size_bytes / 1024:.1f} KiB" if size_bytes < 1024 * 1024 else f"{size_bytes / (1024 * 1024):.1f} MiB"


def pairs(facts: Iterable[tuple[str, str | None]]) -> list[Line]:
    """Return the known facts as lines: the names, then the values below each other."""
    known = [(name, value) for name, value in facts if value]
    width = max((len(name) for name, _ in known), default=0)
    return [[Styled(f"{name:<{width}}  ", "bold"), Styled(value)] for name, value in known]


def titled(title: str, lines: Iterable[str]) -> Iterator[Line]:
    """Yield lines set in under a title, and nothing at all where there are none."""
    for number, line in enumerate(lines):
        if number == 0:
            yield ()
            yield (Styled(title, "bold"),)
        yield (Styled(f"  {line}"),)
