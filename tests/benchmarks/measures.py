"""What was measured, with what it is compared with in the same run."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Final

from tests.benchmarks.summaries import times_better

# Units of which more is better.
RATES: Final = frozenset({"/s", "events/s", "streams"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number, taken at the daemon with the most runs, `runs`.

    `base` is the least that this can cost, measured in the same minute: an answer of `/health` for times and rates,
    else what `base_is` says. `fewest` is the same number at the daemon with the fewest runs, `peer` at the peer.
    """

    section: str
    subject: str
    quantity: str
    value: float
    unit: str
    runs: int
    base: float | None = None
    base_is: str = "/health"
    fewest: float | None = None
    peer: float | None = None

    @property
    def of_base(self) -> float | None:
        """Value in units of its base."""
        return None if not self.base else self.value / self.base

    @property
    def growth(self) -> float | None:
        """How many times more it costs than with the fewest runs."""
        if not self.fewest:
            return None
        return times_better(self.fewest, self.value, higher_is_better=self.unit in RATES)

    @property
    def better_than_peer(self) -> float | None:
        """How many times better than the peer; below 1 it is worse."""
        if self.peer is None:
            return None
        return times_better(self.value, self.peer, higher_is_better=self.unit in RATES)

    def as_json(self) -> dict[str, Any]:
        """Return every field and the ratios."""
        ratios = {"of_base": self.of_base, "growth": self.growth, "better_than_peer": self.better_than_peer}
        return asdict(self) | ratios


class Results:
    """Everything measured so far, in order."""

    def __init__(self) -> None:
        self._measures: list[Measure] = []

    def __iter__(self) -> Iterator[Measure]:
        return iter(self._measures)

    def add(self, *measures: Measure) -> None:
        """Take what was measured."""
        self._measures.extend(measures)

    def find(self, section: str, subject: str, quantity: str) -> Measure | None:
        """Return the measure, or None when it was not taken."""
        wanted = (section, subject, quantity)
        found = (one for one in self if (one.section, one.subject, one.quantity) == wanted)
        return next(found, None)

    def value(self, section: str, subject: str, quantity: str) -> float | None:
        """Return the value of a measure, or None."""
        found = self.find(section, subject, quantity)
        return None if found is None else found.value

    def advantage(self, section: str, subject: str, quantity: str) -> float | None:
        """Return how many times better than the peer, or None when either was not measured."""
        found = self.find(section, subject, quantity)
        return None if found is None else found.better_than_peer

    def growth(self, section: str, subject: str, quantity: str) -> float | None:
        """Return how many times more it costs with the most runs than with the fewest, or None."""
        found = self.find(section, subject, quantity)
        return None if found is None else found.growth
