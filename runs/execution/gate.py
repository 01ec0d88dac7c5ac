"""Holds a child back until it is recorded. Run as a script of its own: `python -I -S gate.py <channel>`.

The channel is a socket whose other end only the worker holds. Over it comes the order: what to execute. As long as it
has not come whole, nothing was executed and nothing will be when the worker dies: the channel then ends, and so does
this process. With the order, it becomes the child: pid, start and group stay the same through exec(2).

The answer is RELEASED, and then the channel ends, by exec; before that, `<stage> <errno>` says why it did not happen.
This module needs nothing of the project and as little as possible of the library, so that it starts quickly.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Final

RELEASED: Final = b"+"

_SIZE_BYTES: Final = 8
_CHUNK_BYTES: Final = 64 * 1024
# What shells return for a command that cannot be executed; nobody waits for it here.
_NOT_EXECUTED: Final = 127


def packed_order(*, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> bytes:
    """Return the order as it goes over the channel: its size, then folder, number of arguments, arguments, variables.

    ValueError for what no process can be given: no argument, a NUL, a name of a variable with `=`.
    """
    if not argv or any(not name or "=" in name for name in env):
        raise ValueError("an order has an executable, and variables have names without =")
    fields = [cwd, str(len(argv)), *argv, *(f"{name}={value}" for name, value in env.items())]
    if any("\0" in field for field in fields):
        raise ValueError("no part of an order holds a NUL")
    body = b"\0".join(os.fsencode(field) for field in fields)
    return len(body).to_bytes(_SIZE_BYTES, "big") + body


def main(channel: int) -> int:
    """Wait for the order and become what it says. Returns the exit code when that did not happen."""
    os.set_inheritable(channel, False)  # noqa: FBT003 (takes it by position only)
    try:
        order = _received_order(channel)
        if order is None:
            return 0
        os.write(channel, RELEASED)
    except OSError:
        # The worker died, so nobody would read what the child prints.
        return 0
    _execute(channel, *order)
    return _NOT_EXECUTED


def _execute(channel: int, cwd: bytes, argv: list[bytes], env: dict[bytes, bytes]) -> None:
    stage = "cwd"
    try:
        os.chdir(cwd)
        stage = "exec"
        _restore_signals()
        os.execvpe(argv[0], argv, env)  # noqa: S606 (no shell is the point)
    except OSError as error:
        os.write(channel, f"{stage} {error.errno}".encode())


def _received_order(channel: int) -> tuple[bytes, list[bytes], dict[bytes, bytes]] | None:
    size = _received(channel, _SIZE_BYTES)
    body = None if size is None else _received(channel, int.from_bytes(size, "big"))
    if body is None:
        return None
    cwd, count, *fields = body.split(b"\0")
    variables = (field.split(b"=", 1) for field in fields[int(count) :])
    return cwd, fields[: int(count)], {name: value for name, value in variables}  # noqa: C416 (a split is a list)


def _received(channel: int, size: int) -> bytes | None:
    """Return the next `size` bytes, None when the channel ends before."""
    data = bytearray()
    while len(data) < size:
        chunk = os.read(channel, min(size - len(data), _CHUNK_BYTES))
        if not chunk:
            return None
        data += chunk
    return bytes(data)


def _restore_signals() -> None:
    """Undo what Python ignores for itself: exec(2) would hand that on, and `yes | head` would not end quietly."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
