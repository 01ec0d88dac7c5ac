"""What Claude Code's result lines say was spent, as reports of what is new since the last one.

A stream may have several results: a background agent that ends late wakes its parent for another turn. What they say
is of different kinds: `modelUsage` and `total_cost_usd` grow over the process, `usage` is of one turn and leaves out
the sub-agents. `modelUsage` may even be ahead of the total beside it, which the next result then makes good. So tokens
come from `modelUsage`, model by model, and the total adds only what no model has.

Input tokens are all that the model read: fresh ones, those written to the cache and those read from it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from contract.events import UsageEvent
from contract.limits import USAGE_COST_USD_MAX, USAGE_TOKENS_MAX
from runs.line_fields import cost_field, count_field, event_key, name_field, object_field

# Money is stored in millionths of a dollar: a smaller difference is one of rounding.
_ROUNDING_USD: Final = Decimal("0.000001")
_NOTHING: Final = Decimal(0)
# A session uses two or three models; a line that names hundreds is no result of the CLI.
_MODELS_MAX: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spent:
    """Tokens and US dollars; None is unknown."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None


class ClaudeSpending:
    """Remembers what was reported of one stream."""

    def __init__(self) -> None:
        self._told: dict[str, _Spent] = {}
        self._told_usd = _NOTHING
        self._has_told = False

    def report(self, result: dict[str, Any], *, model: str | None, event_id: str, at: float | None) -> list[UsageEvent]:
        """Return one usage event for each model that spent something since the last result.

        `model` is the session's, for a result that names none.
        """
        totals = _by_model(result.get("modelUsage"))
        total_usd = _decimal(cost_field(result.get("total_cost_usd")))
        if totals and any(_is_less(totals.get(name), told) for name, told in self._told.items()):
            # Counts that fall are those of another process: a script that calls the CLI more than once.
            self._told, self._told_usd = {}, _NOTHING
        news = self._news(totals, total_usd) if totals else self._turn(result, model, total_usd)
        self._told = totals or self._told
        self._told_usd += sum((spent.cost_usd or _NOTHING for _, spent in news), _NOTHING)
        self._has_told = True
        return [
            UsageEvent(
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cost_usd=_usd(spent.cost_usd),
                model=name,
                at=at,
                event_id=event_key(event_id, "usage", name or ""),
            )
            for name, spent in news
        ]

    def _news(self, totals: dict[str, _Spent], total_usd: Decimal | None) -> list[tuple[str | None, _Spent]]:
        """Return what is new of each model, and under no name what only the total has."""
        news: dict[str | None, _Spent] = {name: _since(total, self._told.get(name)) for name, total in totals.items()}
        rest = _NOTHING
        if total_usd is not None:
            rest = total_usd - self._told_usd - sum((new.cost_usd or _NOTHING for new in news.values()), _NOTHING)
        if len(news) == 1 and total_usd is not None:
            # Nobody else can have spent it.
            [(name, new)] = news.items()
            news[name] = replace(new, cost_usd=max((new.cost_usd or _NOTHING) + rest, _NOTHING))
        elif rest > _ROUNDING_USD:
            news[None] = _Spent(input_tokens=None, output_tokens=None, cost_usd=rest)
        return [(name, new) for name, new in news.items() if not self._has_told or _is_something(new)]

    def _turn(
        self, result: dict[str, Any], model: str | None, total_usd: Decimal | None
    ) -> list[tuple[str | None, _Spent]]:
        """Return what the turn says of itself, for a result without models."""
        usage = object_field(result.get("usage"))
        spent = _Spent(
            input_tokens=_sum(
                usage.get(key) for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            ),
            output_tokens=count_field(usage.get("output_tokens")),
            cost_usd=None if total_usd is None else max(total_usd - self._told_usd, _NOTHING),
        )
        is_known = (spent.input_tokens, spent.output_tokens, spent.cost_usd) != (None, None, None)
        return [(model, spent)] if _is_something(spent) or (is_known and not self._has_told) else []


def _by_model(value: object) -> dict[str, _Spent]:
    """Return what each model spent so far; nothing unless all of it is understood."""
    models = object_field(value)
    spent = {name_field(name): _of_model(object_field(usage)) for name, usage in models.items()}
    if len(models) > _MODELS_MAX or any(total.input_tokens is None for total in spent.values()):
        return {}
    return {name: total for name, total in spent.items() if name is not None}


def _of_model(usage: dict[str, Any]) -> _Spent:
    return _Spent(
        input_tokens=_sum(
            usage.get(key) for key in ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
        ),
        output_tokens=count_field(usage.get("outputTokens")),
        cost_usd=_decimal(cost_field(usage.get("costUSD"))),
    )


def _sum(counts: Iterable[object]) -> int | None:
    known = [count for count in map(count_field, counts) if count is not None]
    return sum(known) if known and sum(known) <= USAGE_TOKENS_MAX else None


def _since(total: _Spent, told: _Spent | None) -> _Spent:
    if told is None:
        return total
    return _Spent(
        input_tokens=(total.input_tokens or 0) - (told.input_tokens or 0),
        output_tokens=(total.output_tokens or 0) - (told.output_tokens or 0),
        cost_usd=None if total.cost_usd is None else max(total.cost_usd - (told.cost_usd or _NOTHING), _NOTHING),
    )


def _is_less(total: _Spent | None, told: _Spent) -> bool:
    if total is None:
        return True
    new = _since(total, told)
    return (new.input_tokens or 0) < 0 or (new.output_tokens or 0) < 0


def _is_something(spent: _Spent) -> bool:
    return bool(spent.input_tokens or spent.output_tokens or spent.cost_usd)


def _decimal(cost_usd: float | None) -> Decimal | None:
    return None if cost_usd is None else Decimal(repr(cost_usd))


def _usd(cost_usd: Decimal | None) -> float | None:
    return None if cost_usd is None else min(float(cost_usd), USAGE_COST_USD_MAX)
