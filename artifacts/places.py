"""Where the files of artifacts are: below one root, in a folder for each run. Paths are text here, nothing is read."""

from typing import Final

from contract.artifacts import relative_path_fault
from contract.base import is_identifier, unsafe_text
from contract.errors import PermissionDenied, shown

# The root's name below the home.
ROOT: Final = "artifacts"


def place_of(run_id: str, path: str) -> str:
    """Return the path below the root of a file in a run's folder."""
    return f"{run_id}/{path}"


def display_path(place: str) -> str:
    """Return the path below the home, the only one that people are shown."""
    return f"{ROOT}/{place}"


def parts_of(place: str) -> tuple[str, ...]:
    """Return the names on the way from the root to a file, the run's folder first.

    PermissionDenied for every path that does not stay in the folder of a run, whatever the store may hold.
    """
    run_id, _, path = place.partition("/")
    if not is_identifier(run_id):
        raise PermissionDenied(f"{shown(place)} names no run's folder")
    if unsafe_text(path):
        raise PermissionDenied(f"{shown(place)} is no path of a file")
    if fault := relative_path_fault(path):
        raise PermissionDenied(f"{shown(place)} does not stay in the folder of its run: it {fault}")
    return run_id, *path.split("/")
