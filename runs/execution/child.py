"""One child: held at the gate until it is recorded, then executed, read, and ended with all that it started.

In this order: `start`; its identity is recorded; `release` (or `abandon`); `read`, as a task of its own; `exited`, or a
deadline or a request before that; after an exit `linger`; `end`; the read is awaited; in any case `close`.
"""

import asyncio
import errno
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final, Literal, cast

from contract.events import ProcessIdentity
from runs.execution import gate
from runs.execution.exits import exited
from runs.execution.groups import RUN_MARK, ProcessGroup, terminate, vacated
from runs.execution.pipes import OutputPipes, Stream, TakeOutput
from runs.processes import identify

Stage = Literal["gate", "cwd", "exec"]

_TOLD_STAGES: Final[Mapping[bytes, Stage]] = {b"cwd": "cwd", b"exec": "exec"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildOrder:
    """What to execute for a run, without a shell.

    `argv` begins with the executable: a path, relative to `cwd` if it is relative, or a name to be found in `PATH` of
    `env`. `env` is the whole environment; the run's mark is added to it. Without `stdin_text` the child reads nothing.
    """

    run_id: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """How a child exited: its code, or the number of the signal that ended it. Neither when it has not."""

    code: int | None
    signal: int | None


class NotExecuted(Exception):
    """Nothing of the order was executed, and nothing of it is left.

    `stage` is where it failed: `gate`, before the order was received; `cwd`, the folder; `exec`, the executable.
    `number` is the errno.
    """

    def __init__(self, stage: Stage, number: int) -> None:
        super().__init__(f"{stage}: {errno.errorcode.get(number, number)}")
        self.stage: Final = stage
        self.number: Final = number


class Child:
    """A child of this process. `identity` names it from its start to its end, `group` everybody it starts."""

    def __init__(self, process: "subprocess.Popen[bytes]", channel: socket.socket, order: bytes, run_id: str) -> None:
        """Own the process at the gate; `start` makes it."""
        self.identity: Final[ProcessIdentity] = identify(process.pid)
        self.group: Final = ProcessGroup(leader=self.identity, run_id=run_id)
        self._process = process
        self._channel = channel
        self._order = order
        printed = {"stdout": process.stdout, "stderr": process.stderr}
        self._pipes = OutputPipes(cast("Mapping[Stream, IO[bytes]]", printed))

    @classmethod
    def start(cls, order: ChildOrder) -> "Child":
        """Start a process that waits at the gate. NotExecuted; ValueError for an order that no process can be given.

        Takes the few milliseconds of a spawn without giving way, so that nobody can be cancelled between it and the
        hold of it.
        """
        packed = gate.packed_order(argv=order.argv, env={**order.env, RUN_MARK: order.run_id}, cwd=order.cwd)
        with ExitStack() as undo:
            try:
                ours, theirs = socket.socketpair()
                undo.callback(ours.close)
                with theirs:
                    process = _process_at_gate(theirs, order.stdin_text)
            except OSError as error:
                raise NotExecuted("gate", error.errno or 0) from error
            child = cls(process, ours, packed, order.run_id)
            undo.pop_all()
            return child

    async def release(self) -> None:
        """Let the child begin; returns when it has. NotExecuted, with the child closed.

        When this is cancelled, the child may have begun: it has to be ended.
        """
        reader, writer = await asyncio.open_connection(sock=self._channel)
        order, self._order = self._order, b""
        report = b""
        try:
            writer.write(order)
            with suppress(ConnectionError):
                report = await reader.read()
        finally:
            # And not closed, which would wait for a gate that takes nothing.
            writer.transport.abort()
        failure = _failure_in(report)
        if failure is not None:
            await self.abandon()
            raise failure

    async def abandon(self) -> None:
        """End a child that was not released, and close it. Nothing was executed."""
        self._channel.close()
        self._process.kill()
        await self.exited()
        await self.close()

    async def read(self, take: TakeOutput) -> None:
        """Hand on what the child prints, until it and all who hold its pipes have ended, or `end` was called.

        Once, from the release on: nobody else drains the pipes. As `OutputPipes.read` in all else.
        """
        await self._pipes.read(take)

    async def exited(self) -> None:
        """Return when the child itself has exited. Others of its group may live, and its pipes be open."""
        # Once it was waited for, its pid may be somebody else's.
        if self._process.returncode is None:
            await exited(self._process.pid)

    async def linger(self, *, seconds: float) -> None:
        """After the exit, let who was left behind go on printing: until the output ends, nobody is left, or time is up.

        For a read that is under way.
        """
        waits = [asyncio.create_task(self._pipes.ended()), asyncio.create_task(self._vacated(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def end(self, *, grace_seconds: float) -> tuple[int, ...]:
        """End all who are left of the group, then the reading; return the pids of those who could not be ended."""
        left = await terminate(self.group, grace_seconds=grace_seconds)
        self._pipes.finish()
        return left

    async def close(self) -> Exit:
        """Let go of the pipes, after what was printed is read, and of the pid; return how the child exited."""
        await self._pipes.close()
        self._channel.close()
        code = self._process.poll()
        if code is None:
            return Exit(code=None, signal=None)
        return Exit(code=code, signal=None) if code >= 0 else Exit(code=None, signal=-code)

    def size_bytes(self, stream: Stream) -> int:
        """Return how many bytes of a stream were read."""
        return self._pipes.size_bytes(stream)

    async def _vacated(self, seconds: float) -> None:
        await vacated(self.group, seconds=seconds)


def _process_at_gate(channel: socket.socket, stdin_text: str | None) -> "subprocess.Popen[bytes]":
    number = channel.fileno()
    with ExitStack() as files:
        # A file and no pipe: it takes everything at once, whether the child reads it or not, and if we die the child
        # has the whole of it. It has no name, and is gone with the last who has it open.
        stdin = None if stdin_text is None else files.enter_context(TemporaryFile())
        if stdin is not None and stdin_text is not None:
            stdin.write(stdin_text.encode())
            stdin.seek(0)
        return subprocess.Popen(  # noqa: S603 (our own script)
            [sys.executable, "-I", "-S", str(Path(gate.__file__)), str(number)],
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(number,),
            start_new_session=True,
        )


def _failure_in(report: bytes) -> NotExecuted | None:
    if not report.startswith(gate.RELEASED):
        return NotExecuted("gate", errno.EPIPE)
    told = report.removeprefix(gate.RELEASED).split()
    if not told:
        return None
    stage, number = told
    return NotExecuted(_TOLD_STAGES[stage], int(number))
