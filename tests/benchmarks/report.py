"""The results for people and for programs."""

import platform
from collections.abc import Iterable, Sequence
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from tests.benchmarks.goals import Judgement
from tests.benchmarks.measures import Measure

_COLOURS = {"met": "green", "missed": "red", "not measured": "dim"}


def show(console: Console, measures: Iterable[Measure], judgements: Sequence[Judgement]) -> None:
    """Print both tables."""
    console.print(_measured(measures))
    console.print(_judged(judgements))


def as_json(measures: Iterable[Measure], judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return everything, with the machine it was measured on."""
    return {
        "machine": {"cores": psutil.cpu_count(), "python": platform.python_version(), "system": platform.platform()},
        "measures": [measure.as_json() for measure in measures],
        "goals": [judgement.as_json() for judgement in judgements],
    }


def _measured(measures: Iterable[Measure]) -> Table:
    listed = list(measures)
    runs = f"{max((measure.runs for measure in listed), default=0):,}"
    table = Table(title=f"Measured at {runs} runs; times and rates beside /health, unless another base is named")
    for name in ("work", "what"):
        table.add_column(name)
    for name in ("value", "of base", "growth", "peer", "better by"):
        table.add_column(name, justify="right")
    for measure, following in zip(listed, [*listed[1:], None], strict=True):
        ends = following is not None and following.section != measure.section
        table.add_row(*_row(measure), end_section=ends)
    return table


def _row(measure: Measure) -> tuple[str, ...]:
    of_base = _times(measure.of_base)
    if of_base and measure.base_is != "/health":
        of_base = f"{of_base} {measure.base_is}"
    peer = "" if measure.peer is None else f"{number(measure.peer)} {measure.unit}"
    value = f"{number(measure.value)} {measure.unit}"
    ratios = (of_base, _times(measure.growth), peer, _times(measure.better_than_peer))
    return (f"{measure.section}: {measure.subject}", measure.quantity, value, *ratios)


def _judged(judgements: Sequence[Judgement]) -> Table:
    table = Table(title="Goals")
    for name in ("goal", "bound", "found", "verdict"):
        table.add_column(name)
    for judgement in judgements:
        found = "" if judgement.found is None else f"{number(judgement.found)} {judgement.goal.unit}"
        verdict = f"[{_COLOURS[judgement.verdict]}]{judgement.verdict}"
        table.add_row(judgement.goal.work, judgement.goal.bound, found, verdict)
    return table


def _times(value: float | None) -> str:
    return "" if value is None else f"{number(value)}x"


def number(value: float) -> str:
    """Return three digits that mean something, and no exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
