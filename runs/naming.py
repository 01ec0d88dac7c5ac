"""The text that a search looks in, folded the same way on every database."""

import unicodedata


def search_text(name: str | None, agent_name: str | None) -> str:
    """Return name and agent folded, one a line: a match never spans both."""
    return "\n".join(fold(part) for part in (name, agent_name) if part)


def fold(text: str) -> str:
    """Return the form in which two texts that differ by case or composition only are equal."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
