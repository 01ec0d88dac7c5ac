"""The list of scenarios. A scenario is an async function of an application and of a word that is its own.

It uses the word in every name it chooses (run ids, projects, kinds), so that scenarios that share a store never see
each other, and it asserts what matters by itself; that both applications do the same is asserted for it.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from contract.application import StudioApplication

Scenario = Callable[[StudioApplication, str], Awaitable[None]]

SCENARIOS: Final[dict[str, Scenario]] = {}


def scenario(function: Scenario) -> Scenario:
    """Add a scenario under its name."""
    name = getattr(function, "__name__")  # noqa: B009 (callables in general have none)
    if name in SCENARIOS:
        raise ValueError(f"two scenarios are called {name}")
    SCENARIOS[name] = function
    return function


def own_word(name: str) -> str:
    """Return the word of a scenario, fit for every kind of name."""
    return name.replace("_", "-")
