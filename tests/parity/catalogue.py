"""The list of scenarios. A scenario is an async function of an application and of a word that is its own.

It uses the word in every name it chooses (run ids, projects, kinds), so that scenarios that share a store never see
each other, and it asserts what matters by itself; that both applications do the same is asserted for it.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Final

from contract.application import StudioApplication

Scenario = Callable[[StudioApplication, str], Awaitable[None]]
# It also gets the home of the application, to do by hand what people do to files.
HomeScenario = Callable[[StudioApplication, str, Path], Awaitable[None]]

SCENARIOS: Final[dict[str, HomeScenario]] = {}
# Those that look at everything in a home, and so need one where no other scenario has been.
LONELY: Final[set[str]] = set()


def scenario(function: Scenario) -> Scenario:
    """Add a scenario under its name."""

    @wraps(function)
    async def without_home(studio: StudioApplication, own: str, _: Path) -> None:
        await function(studio, own)

    _add(without_home)
    return function


def home_scenario(function: HomeScenario) -> HomeScenario:
    """Add a scenario that also works on files by hand."""
    _add(function)
    return function


def lonely_scenario(function: HomeScenario) -> HomeScenario:
    """Add a scenario that needs a home where nothing is but its own."""
    _add(function)
    LONELY.add(_name(function))
    return function


def own_word(name: str) -> str:
    """Return the word of a scenario, fit for every kind of name."""
    return name.replace("_", "-")


def _add(function: HomeScenario) -> None:
    name = _name(function)
    if name in SCENARIOS:
        raise ValueError(f"two scenarios are called {name}")
    SCENARIOS[name] = function


def _name(function: HomeScenario) -> str:
    return str(getattr(function, "__name__"))  # noqa: B009 (callables in general have none)
