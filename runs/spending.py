"""Spend of many runs: exact sums of what was reported, and counts of the runs that reported nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

from contract.money import add_known, to_usd
from contract.stats import ProjectSpend


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """What the runs of one project spent. Money in integer micro-dollars; None where no run reported any."""

    project: str | None
    runs: int = 0
    cost_micros: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    runs_without_cost: int = 0
    runs_without_tokens: int = 0


def total_of(spends: Iterable[Spend]) -> Spend:
    """Sum up; the unknown stays unknown only where everything is."""
    total = Spend(project=None)
    for spend in spends:
        total = Spend(
            project=None,
            runs=total.runs + spend.runs,
            cost_micros=add_known(total.cost_micros, spend.cost_micros),
            input_tokens=add_known(total.input_tokens, spend.input_tokens),
            output_tokens=add_known(total.output_tokens, spend.output_tokens),
            runs_without_cost=total.runs_without_cost + spend.runs_without_cost,
            runs_without_tokens=total.runs_without_tokens + spend.runs_without_tokens,
        )
    return total


def by_dearest(spends: Iterable[Spend]) -> list[Spend]:
    """Sort: dearest first, unknown cost last, then by name; runs of no project stand first among equals."""
    return sorted(spends, key=lambda spend: (-1 * _known(spend.cost_micros), spend.project or ""))


def spend_view(spend: Spend) -> ProjectSpend:
    """Return a spend as the contract shows it."""
    return ProjectSpend(
        project=spend.project,
        runs=spend.runs,
        cost_usd=to_usd(spend.cost_micros),
        input_tokens=spend.input_tokens,
        output_tokens=spend.output_tokens,
        runs_without_cost=spend.runs_without_cost,
        runs_without_tokens=spend.runs_without_tokens,
    )


def _known(cost_micros: int | None) -> int:
    return -1 if cost_micros is None else cost_micros
