"""The text that a search looks in, folded the same way on every database."""

from contract import folding

# Stands between name and agent, and in no folded text: a match never spans both.
_BETWEEN = "\n"


def search_text(name: str | None, agent_name: str | None) -> str:
    """Return name and agent folded, one a line."""
    return _BETWEEN.join(fold(part) for part in (name, agent_name) if part)


def fold(text: str) -> str:
    """Return the form in which two texts that differ by case or composition only are equal, on one line."""
    return folding.fold(text).replace(_BETWEEN, " ")
