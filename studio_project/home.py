"""The home of a daemon: its lock, which says who serves it, and the one that says whether anybody works for it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

LOCK_NAME: Final = "daemon.lock"
# Held, in common, by whoever executes queued runs.
WORKERS_NAME: Final = "workers.lock"


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The daemon that holds a home; fields are None until it has told them."""

    pid: int | None
    port: int | None


class HomeTaken(Exception):
    """Another daemon serves this home."""

    def __init__(self, home: Path, holder: Holder) -> None:
        who = f"pid {holder.pid}" if holder.pid else "a process that is just starting"
        where = f", port {holder.port}" if holder.port else ""
        super().__init__(f"{home} is already served by {who}{where}")
        self.holder = holder


class HomeUnusable(Exception):
    """The home cannot be made or written."""


@contextmanager
def _usable(home: Path) -> Iterator[None]:
    """Turn what the operating system says into HomeUnusable."""
    try:
        yield
    except OSError as error:
        raise HomeUnusable(f"the home {home} cannot be used: {error.strerror or error}") from error


def _make(home: Path) -> None:
    """Make the home, for its owner alone. Whoever is first does: a worker may be, whose database is elsewhere."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)


class HomeLock:
    """Holds a home for this process. The kernel drops the lock when the process ends, however it ends.

    An advisory lock and not a pid file: a file that outlives a killed daemon would need somebody's judgement.
    """

    def __init__(self, home: Path) -> None:
        """Name the home; nothing is touched before `take`."""
        self._home = home
        self._descriptor: int | None = None

    def take(self, *, pid: int) -> Self:
        """Take the lock, making the home if there is none.

        Raises HomeUnusable, and HomeTaken, which then has changed nothing.
        """
        with _usable(self._home):
            self._descriptor = self._locked()
            try:
                self._write(Holder(pid=pid, port=None))
            except OSError:
                self.release()
                raise
        return self

    def _locked(self) -> int:
        _make(self._home)
        descriptor = os.open(self._home / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read(descriptor)
            os.close(descriptor)
            raise HomeTaken(self._home, holder) from None
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def tell(self, *, pid: int, port: int) -> None:
        """Say who serves, for those who are refused and those who look for the daemon. Raises HomeUnusable."""
        with _usable(self._home):
            self._write(Holder(pid=pid, port=port))

    def release(self) -> None:
        """Let the home go. Idempotent. The file stays: removing it would race with the next to take it."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def _write(self, holder: Holder) -> None:
        if self._descriptor is None:
            raise RuntimeError("the lock is not held")
        text = json.dumps({"pid": holder.pid, "port": holder.port}) + "\n"
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode("ascii"), 0)


def _read(descriptor: int) -> Holder:
    """Return what the holder has told; a file caught between two writes tells nothing."""
    try:
        told = json.loads(os.pread(descriptor, 200, 0))
        return Holder(pid=told["pid"], port=told["port"])
    except (ValueError, KeyError, TypeError):
        return Holder(pid=None, port=None)


def find_holder(home: Path) -> Holder | None:
    """Return the daemon that serves a home, or None. Changes nothing.

    What a killed daemon left in the file is told from a living one by the lock alone. An empty file is not tried:
    the try would be in the way of a daemon that starts at this moment.
    """
    try:
        descriptor = os.open(home / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        holder = _read(descriptor)
        return holder if holder.pid is not None and _is_locked(descriptor, fcntl.LOCK_SH) else None
    finally:
        os.close(descriptor)


@contextmanager
def working(home: Path) -> Iterator[None]:
    """Let `is_worked` see that somebody executes the queued runs of a home; makes one if there is none.

    Raises HomeUnusable.
    """
    with _usable(home):
        _make(home)
        descriptor = os.open(home / WORKERS_NAME, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Waits only for the moment in which somebody looks.
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    try:
        yield
    finally:
        os.close(descriptor)


def is_worked(home: Path) -> bool:
    """Say whether anybody on this machine executes the queued runs of a home. Changes nothing."""
    try:
        descriptor = os.open(home / WORKERS_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _is_locked(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _is_locked(descriptor: int, tried: int) -> bool:
    try:
        fcntl.flock(descriptor, tried | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
