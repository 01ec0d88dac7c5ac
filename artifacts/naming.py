"""What a file is called that a run left and no artifact names."""

import hashlib
from collections.abc import Container
from typing import Final

from contract.limits import NAME_MAX_CHARS

# Of artifacts that nobody but their file tells of.
FILE_KIND: Final = "file"
_MARK_CHARS: Final = 12


def name_of_file(path: str, taken: Container[str]) -> str:
    """Return the path, or, where it is too long or taken, as much of it as fits with a mark of the whole."""
    if len(path) <= NAME_MAX_CHARS and path not in taken:
        return path
    mark = hashlib.sha256(path.encode()).hexdigest()[:_MARK_CHARS]
    return f"{path[: NAME_MAX_CHARS - _MARK_CHARS - 1]}~{mark}"
