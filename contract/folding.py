"""Text as a search compares it, folded the same way on every database and by every capability."""

import unicodedata


def fold(text: str) -> str:
    """Return the form in which two texts that differ by case or composition only are equal: up to thrice as long."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
