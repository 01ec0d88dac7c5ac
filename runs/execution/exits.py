"""Notices that a child has exited, without waiting for it: until somebody does, its pid is nobody else's."""

import asyncio
import os
from typing import Final

import psutil

# Where the system tells of no exit: 50 ms are less than anybody notices.
_POLL_SECONDS: Final = 0.05


async def exited(pid: int) -> None:
    """Return when a child of this process, not yet waited for, has exited."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        # Not Linux, or one before 5.3, or a sandbox that forbids it.
        await _exited_by_looking(pid)
        return
    try:
        await _readable(descriptor)
    finally:
        os.close(descriptor)


async def _readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)


async def _exited_by_looking(pid: int) -> None:
    while _runs(pid):  # noqa: ASYNC110 (there is no event to wait for)
        await asyncio.sleep(_POLL_SECONDS)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
