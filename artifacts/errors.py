"""Errors that more than one room of this app raises; all are members of the taxonomy."""

from contract.errors import Conflict


def other_hash(path: str, expected: str | None, actual: str) -> Conflict:
    """Return the conflict of a file that is not the expected one; `path` is below the home."""
    detail = f"{path} is not the file that was recorded: its SHA-256 is {actual}, not {expected}"
    return Conflict("artifact file", expected, actual, detail)
