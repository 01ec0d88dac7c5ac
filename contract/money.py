"""Money as integer micro-dollars, so that sums are exact and order does not matter."""

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

_MICROS: Final = Decimal(1_000_000)


def to_micros(cost_usd: float | None) -> int | None:
    """Round US dollars to millionths; unknown stays unknown."""
    if cost_usd is None:
        return None
    return int((Decimal(repr(cost_usd)) * _MICROS).to_integral_value(ROUND_HALF_EVEN))


def to_usd(micros: int | None) -> float | None:
    """Return US dollars; unknown stays unknown."""
    return None if micros is None else micros / 1_000_000


def add_known(total: int | None, more: int | None) -> int | None:
    """Add two amounts of which either may be unknown; unknown only when both are."""
    if more is None:
        return total
    return more if total is None else total + more
