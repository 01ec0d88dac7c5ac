"""Ends a child with everybody it has started, and nobody else.

Two things say that a process belongs to a run: its session, as long as it is sure that the session's number still is
the child's own; and a mark in its environment, for who left the session, or stayed when the child was gone. A session
is the child's while the child is there, as a zombie too: of our own children the pid stays taken until we wait for
them, so nobody else can have it. For the child of a dead worker its start, or the mark, has to be the recorded one.

Who is out of the session and has wiped the mark from the environment is not found.
"""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import psutil

from contract.events import ProcessIdentity
from runs.processes import boot_id, host_name, started_then

# The variable that marks every process of a run.
RUN_MARK: Final = "STUDIO_RUN_ID"

# The system tells of no process that is not our own child; 50 ms are less than anybody notices.
_POLL_SECONDS: Final = 0.05
# KILL asks for no consent: who is there after this long hangs in the kernel, and waiting on would hold the worker.
_KILL_SECONDS: Final = 5.0

# An exec takes about a millisecond; on a loaded machine it can be interrupted for some more.
_EXEC_LOOK_SECONDS: Final = 0.001
_EXEC_LOOKS: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessGroup:
    """A child that leads a session of its own, and the run whose mark it carries."""

    leader: ProcessIdentity
    run_id: str


async def members(group: ProcessGroup) -> tuple[int, ...]:
    """Return the pids of all who belong to the group and live; zombies do not. ValueError for another host's group."""
    return _pids(await asyncio.to_thread(_Search(group).found))


async def vacated(group: ProcessGroup, *, seconds: float) -> tuple[int, ...]:
    """Return when nobody is left or the time is up, with the pids of those left. ValueError for another host's."""
    return await _until_vacated(_Search(group), seconds=seconds)


async def terminate(group: ProcessGroup, *, grace_seconds: float) -> tuple[int, ...]:
    """Send TERM to all, wait, and after the grace KILL, also to who came later; return the pids of those still left.

    Ends when nobody is left: 5 seconds after the grace at the latest. ValueError for the group of another host.
    """
    search = _Search(group)
    await asyncio.to_thread(search.signal, signal.SIGTERM)
    if not await _until_vacated(search, seconds=grace_seconds):
        return ()
    return await _until_vacated(search, seconds=_KILL_SECONDS, kill=True)


async def _until_vacated(search: "_Search", *, seconds: float, kill: bool = False) -> tuple[int, ...]:
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while True:
        if kill:
            await asyncio.to_thread(search.signal, signal.SIGKILL)
        left = _pids(await asyncio.to_thread(search.found))
        if not left or loop.time() >= until:
            return left
        await asyncio.sleep(_POLL_SECONDS)


class _Search:
    """Looks for the members of a group, repeatedly, for one short operation.

    Who once was a stranger is not looked at again while he is there: reading environments is what a look costs.
    """

    def __init__(self, group: ProcessGroup) -> None:
        if group.leader.host != host_name():
            raise ValueError("a group of another host cannot be seen from here")
        self._leader = group.leader
        self._run_id = group.run_id
        self._is_of_this_boot = None in (group.leader.boot_id, boot_id()) or group.leader.boot_id == boot_id()
        self._strangers: set[int] = set()

    def found(self) -> list[psutil.Process]:
        """Return the members that live."""
        # Twice before it is nobody: one may have been started, by another who then ended, behind the back of one look.
        return self._look() or self._look()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the members, at once to those that share the child's process group."""
        found = self._look()
        if self._leads() and os.getpgrp() != self._leader.pid:
            # In one call, so that nobody is started in between by one who has not got it yet.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader.pid, number)
            found = [process for process in found if _group_of(process.pid) != self._leader.pid]
        for process in found:
            # Checks once more that the pid is still the same process.
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)

    def _look(self) -> list[psutil.Process]:
        if not self._is_of_this_boot:
            return []
        pids = set(psutil.pids()) - {os.getpid()}
        self._strangers &= pids
        leads = self._leads()
        candidates = (self._member(pid, leads=leads) for pid in sorted(pids - self._strangers))
        return [process for process in candidates if process is not None]

    def _member(self, pid: int, *, leads: bool) -> psutil.Process | None:
        try:
            # Named before it is looked at: whoever gets the pid in between is refused the signal.
            process = psutil.Process(pid)
            session = _session_of(pid)
            # No session, or one from outside of this pid namespace: a thread of the kernel, or what started us all.
            if not session:
                self._strangers.add(pid)
                return None
            belongs = (leads and session == self._leader.pid) or self._is_marked(process)
            return process if belongs and _lives(process) else None
        except psutil.Error:
            return None

    def _leads(self) -> bool:
        """Whether the child is there, as a zombie too, and not another process with its pid."""
        if not self._is_of_this_boot:
            return False
        try:
            process = psutil.Process(self._leader.pid)
            if _session_of(process.pid) != process.pid:
                return False
            return started_then(process, self._leader) or self._is_marked(process)
        except psutil.Error:
            return False

    def _is_marked(self, process: psutil.Process) -> bool:
        try:
            environment = _environment_of(process)
        except (psutil.AccessDenied, OSError):
            # Another user's. Of what we started that is only a program which changes its user.
            self._strangers.add(process.pid)
            return False
        if environment is None:
            return False
        marked = environment.get(RUN_MARK) == self._run_id
        if not marked:
            self._strangers.add(process.pid)
        return marked


def _environment_of(process: psutil.Process) -> dict[str, str] | None:
    """Return the environment, None while it cannot be said; raises what psutil raises.

    In the midst of an exec there is neither an environment nor a command line: a moment later there are both.
    """
    for _ in range(_EXEC_LOOKS):
        environment = process.environ()
        if environment or process.cmdline():
            return environment
        time.sleep(_EXEC_LOOK_SECONDS)
    return None


def _lives(process: psutil.Process) -> bool:
    # A program can end its first thread alone: that one is a zombie then, and the others go on.
    return process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _pids(processes: Iterable[psutil.Process]) -> tuple[int, ...]:
    return tuple(process.pid for process in processes)
