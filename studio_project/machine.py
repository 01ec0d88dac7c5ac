"""What this machine has for runs: executables and folders. Looked at, never waited for."""

import os
import shutil
import stat
from pathlib import Path

from studio_project.config_execution import Runtimes


def executables(runtimes: Runtimes) -> dict[str, str | None]:
    """Look for the executable of each runtime, on the PATH that its processes get."""
    return {name: shutil.which(runtime.executable, path=runtime.env.get("PATH")) for name, runtime in runtimes.items()}


def folder_fault(folder: Path | None) -> str | None:
    """Say why no process can be started in a folder, or None; None too for no folder."""
    if folder is None:
        return None
    try:
        mode = folder.stat().st_mode
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(mode):
        return "is not a folder"
    return None if os.access(folder, os.R_OK | os.X_OK) else "cannot be entered"


class LocalMachine:
    """This machine, as the check of a launch looks at it."""

    def __init__(self, runtimes: Runtimes) -> None:
        """Take the configured runtimes."""
        self._runtimes = runtimes

    def folder_fault(self, path: str) -> str | None:
        """Say why no process can be started in a folder, or None."""
        return folder_fault(Path(path))

    def usable_runtimes(self) -> frozenset[str]:
        """Return the names of the runtimes whose executable is found."""
        return frozenset(name for name, found in executables(self._runtimes).items() if found)
