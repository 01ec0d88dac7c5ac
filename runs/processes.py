"""Looks at the processes of this machine."""

import os
import socket
from functools import cache
from pathlib import Path
from typing import Final

import psutil

from contract.events import ProcessIdentity

# Start times come from clock ticks since boot; the boot instant itself is known to about a second.
_START_TOLERANCE_SECONDS: Final = 2.0
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class LocalProcesses:
    """Tells living processes from gone ones by pid, start time and boot, so that a reused pid is never mistaken."""

    def alive(self, process: ProcessIdentity) -> bool | None:
        """Whether this very process lives; None on another host, or when only its pid was recorded and is in use."""
        if self.elsewhere(process):
            return None
        if process.boot_id is not None and boot_id() not in (None, process.boot_id):
            return False
        try:
            found = psutil.Process(process.pid)
            if found.status() == psutil.STATUS_ZOMBIE:
                return False
            started_at = found.create_time()
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return None
        if process.started_at is None:
            return None
        return abs(started_at - process.started_at) <= _START_TOLERANCE_SECONDS

    def own(self) -> ProcessIdentity:
        """Name this process. Not kept: a fork would be taken for its parent."""
        return identify(os.getpid())

    def elsewhere(self, process: ProcessIdentity) -> bool:
        """Whether the process belongs to another host."""
        return process.host != host_name()


def identify(pid: int) -> ProcessIdentity:
    """Name a living process of this machine for good."""
    return ProcessIdentity(host=host_name(), pid=pid, started_at=psutil.Process(pid).create_time(), boot_id=boot_id())


@cache
def host_name() -> str:
    """Return the name under which this machine records its processes."""
    return socket.gethostname()


@cache
def boot_id() -> str | None:
    """Return the kernel's id of this boot, where it has one."""
    try:
        return _BOOT_ID.read_text().strip() or None
    except OSError:
        return None
