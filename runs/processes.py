"""Looks at the processes of this machine."""

import os
import socket
from functools import cache
from pathlib import Path
from typing import Final

import psutil

from contract.events import ProcessIdentity

# A start in epoch seconds comes from clock ticks after the boot; the instant of that is known to about a second.
_START_TOLERANCE_SECONDS: Final = 2.0
# Field 22, counted from the third on.
_START_FIELD: Final = 22 - 3
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
            return started_then(found, process)
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return None

    def own(self) -> ProcessIdentity:
        """Name this process. Not kept: a fork would be taken for its parent."""
        return identify(os.getpid())

    def elsewhere(self, process: ProcessIdentity) -> bool:
        """Whether the process belongs to another host."""
        return process.host != host_name()


def identify(pid: int) -> ProcessIdentity:
    """Name a living process of this machine for good."""
    started_at = psutil.Process(pid).create_time()
    return ProcessIdentity(
        host=host_name(), pid=pid, started_at=started_at, started_ticks=_started_ticks(pid), boot_id=boot_id()
    )


def started_then(process: psutil.Process, recorded: ProcessIdentity) -> bool | None:
    """Whether a process that has this pid started when the recorded one did; None when that was not recorded.

    Ticks are compared exactly, within one boot; a wall clock only where there are none, for setting it moves the
    starts of all. Raises what psutil raises.
    """
    if recorded.started_ticks is not None and recorded.boot_id is not None and recorded.boot_id == boot_id():
        ticks = _started_ticks(process.pid)
        if ticks is not None:
            return ticks == recorded.started_ticks
    if recorded.started_at is None:
        return None
    return abs(process.create_time() - recorded.started_at) <= _START_TOLERANCE_SECONDS


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


def _started_ticks(pid: int) -> int | None:
    """Read the start in clock ticks after the boot (Linux, proc(5): field 22 of stat); None where that is not told."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The second field is the program's name, in brackets, and may itself hold blanks and brackets.
    return int(stat[stat.rindex(b")") + 1 :].split()[_START_FIELD])
