"""What the design wants reached (its section on speed and memory), and whether a benchmark reached it.

Judged and shown, never asserted: a number says nothing about a change unless the machine did nothing else meanwhile.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from tests.benchmarks import (
    section_definitions,
    section_delays,
    section_life,
    section_list,
    section_prune,
    section_reading,
    section_recording,
    section_stats,
    section_viewers,
)
from tests.benchmarks.comparing import LATENCY, OF_FIRST, THROUGHPUT
from tests.benchmarks.list_cases import DEEP_CURSOR, DEEP_OFFSET, FILTERS, SEARCH_HIT, SEARCH_MISS, UNFILTERED
from tests.benchmarks.measures import Results

Verdict = Literal["met", "missed", "not measured"]
Reading = Callable[[Results], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One line of the design. Exactly one bound is set; `unit` stands behind both numbers."""

    work: str
    reading: Reading
    unit: str = "x"
    at_least: float | None = None
    at_most: float | None = None

    def judge(self, results: Results) -> "Judgement":
        """Compare what was measured with the bound."""
        found = self.reading(results)
        if found is None:
            return Judgement(goal=self, found=None, verdict="not measured")
        is_met = found >= self.at_least if self.at_least is not None else found <= self._limit
        return Judgement(goal=self, found=found, verdict="met" if is_met else "missed")

    @property
    def bound(self) -> str:
        """The bound in words."""
        sign, number = ("<=", self._limit) if self.at_least is None else (">=", self.at_least)
        return f"{sign} {number:g} {self.unit}"

    @property
    def _limit(self) -> float:
        if self.at_most is None:
            raise ValueError(f"{self.work}: no bound")
        return self.at_most


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A goal, what was found (None: nothing), and the verdict."""

    goal: Goal
    found: float | None
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"work": self.goal.work, "bound": self.goal.bound, "found": self.found, "verdict": self.verdict}


def judge(results: Results) -> tuple[Judgement, ...]:
    """Judge every goal."""
    return tuple(goal.judge(results) for goal in GOALS)


def worst(values: Iterable[float | None], pick: Callable[[Iterable[float]], float]) -> float | None:
    """Return the worst of those that were measured, or None when none was; `pick` is min or max."""
    found = [value for value in values if value is not None]
    return pick(found) if found else None


def _value(section: str, subject: str, quantity: str) -> Reading:
    return lambda results: results.value(section, subject, quantity)


def _advantage(section: str, subject: str, quantity: str) -> Reading:
    return lambda results: results.advantage(section, subject, quantity)


def _least_advantage(section: str, subjects: Iterable[str], quantity: str) -> Reading:
    return lambda results: worst((results.advantage(section, subject, quantity) for subject in subjects), min)


def _most(section: str, subjects: Iterable[str], quantity: str) -> Reading:
    return lambda results: worst((results.value(section, subject, quantity) for subject in subjects), max)


def _least(section: str, subjects: Iterable[str], quantity: str) -> Reading:
    return lambda results: worst((results.value(section, subject, quantity) for subject in subjects), min)


def _most_growth(section: str, subjects: Iterable[str], quantity: str) -> Reading:
    return lambda results: worst((results.growth(section, subject, quantity) for subject in subjects), max)


def _unmeasured(results: Results) -> None:
    """Stand for what no section measures yet, because the work does not exist yet."""


_LIST: Final = section_list.SECTION
_RUN: Final = section_reading.SECTION
_RECORDING: Final = section_recording.SECTION
_DEFINITIONS: Final = section_definitions.SECTION
_DELAYS: Final = section_delays.SECTION
_VIEWERS: Final = section_viewers.SECTION
_DAEMON: Final = section_life.SECTION
_DETAILS: Final = (section_reading.SHORT_DETAIL, section_reading.LONG_DETAIL)
_SEARCHES: Final = (SEARCH_HIT, SEARCH_MISS)
_WAYS: Final = (section_delays.OVER_HTTP, section_delays.FROM_PROCESS)
_PRODUCERS: Final = (section_recording.ONE, section_recording.MANY)
_IDLE: Final = (section_viewers.IDLE_ONE_RUN, section_viewers.IDLE_MANY_RUNS)

GOALS: Final = (
    Goal(work="run list: faster than the peer", reading=_advantage(_LIST, UNFILTERED, LATENCY), at_least=15),
    Goal(work="run list: throughput over the peer's", reading=_advantage(_LIST, UNFILTERED, THROUGHPUT), at_least=10),
    Goal(
        work="run list, worst filter: faster than the peer",
        reading=_least_advantage(_LIST, FILTERS, LATENCY),
        at_least=8,
    ),
    Goal(
        work="run list, worst filter: throughput over the peer's",
        reading=_least_advantage(_LIST, FILTERS, THROUGHPUT),
        at_least=6,
    ),
    Goal(work="run list: p50, most runs over fewest", reading=_most_growth(_LIST, (UNFILTERED,), LATENCY), at_most=1.5),
    Goal(
        work="run list, worst filter: p50, most runs over fewest",
        reading=_most_growth(_LIST, FILTERS, LATENCY),
        at_most=1.5,
    ),
    Goal(work="deep page by cursor over the first", reading=_value(_LIST, DEEP_CURSOR, OF_FIRST), at_most=1.2),
    Goal(work="deep page by offset over the first", reading=_value(_LIST, DEEP_OFFSET, OF_FIRST), at_most=3),
    Goal(work="name search: faster than the peer", reading=_least_advantage(_LIST, _SEARCHES, LATENCY), at_least=5),
    Goal(work="run detail: faster than the peer", reading=_least_advantage(_RUN, _DETAILS, LATENCY), at_least=4),
    Goal(work="artifact metadata: faster than the peer", reading=_unmeasured, at_least=15),
    Goal(work="schedule create and patch: faster than the peer", reading=_unmeasured, at_least=10),
    Goal(work="list of 1,000 schedules: faster than the peer", reading=_unmeasured, at_least=4),
    Goal(
        work="stats: faster than the peer",
        reading=_advantage(section_stats.SECTION, section_stats.LAST_DAY, LATENCY),
        at_least=20,
    ),
    Goal(
        work="slowest list while 90 % of all runs are removed",
        reading=_value(section_prune.SECTION, section_prune.LISTS, section_prune.WORST),
        unit="ms",
        at_most=250,
    ),
    Goal(
        work="definition save, 4 KiB: faster than the peer",
        reading=_advantage(_DEFINITIONS, section_definitions.SAVE, LATENCY),
        at_least=5,
    ),
    Goal(
        work="start to ready, 10,000 definitions, 100 of them or all pending",
        reading=_most(
            _DEFINITIONS,
            (section_definitions.START_FEW, section_definitions.START_ALL),
            section_definitions.TO_READY,
        ),
        unit="s",
        at_most=5,
    ),
    Goal(
        work="recording in batches of 100",
        reading=_least(_RECORDING, _PRODUCERS, section_recording.RATE),
        unit="events/s",
        at_least=3_000,
    ),
    Goal(
        # "Flat" with the room that two measurements of the same need on a machine that does other things as well.
        work="recording: time of a batch, most runs over fewest",
        reading=_most_growth(_RECORDING, (section_recording.ONE,), section_recording.TIME),
        at_most=1.2,
    ),
    Goal(work="new message to viewer, p95", reading=_most(_DELAYS, _WAYS, "p95"), unit="ms", at_most=100),
    Goal(
        work="200 idle viewers",
        reading=_most(_VIEWERS, _IDLE, section_viewers.SHARE),
        unit="% of a core",
        at_most=3,
    ),
    Goal(
        work="connected viewers served",
        reading=_value(_VIEWERS, section_viewers.CROWD, section_viewers.SERVED),
        unit="viewers",
        at_least=1_000,
    ),
    Goal(
        work="start to ready, 1,000 of 100,000 runs orphaned",
        reading=_value(_DAEMON, section_life.START, section_life.TO_READY),
        unit="s",
        at_most=4,
    ),
    Goal(
        work="memory after the benchmark",
        reading=_value(_DAEMON, section_life.MEMORY, section_life.RESIDENT),
        unit="MiB",
        at_most=180,
    ),
    Goal(
        work="stop with 50 open streams",
        reading=_value(_DAEMON, section_life.STOP, section_life.TO_THE_END),
        unit="s",
        at_most=3,
    ),
    Goal(work="10,000 enabled schedules, idle", reading=_unmeasured, unit="% of a core", at_most=1),
    Goal(work="50 schedules due in one second: p99 lateness", reading=_unmeasured, unit="ms", at_most=250),
)
