"""Following runs live: every viewer of a run shares one reader, and an idle viewer costs no query.

A viewer pulls: it asks for the next page only when it has handed over the last, so a slow one holds no buffer here.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from contract.errors import NotFound
from contract.events import (
    DoneFrame,
    FramePayload,
    HeartbeatFrame,
    ShutdownFrame,
    StreamFrame,
)
from contract.limits import HEARTBEAT_SECONDS
from contract.lookup import require_possible
from contract.parsing import parse_model
from contract.ports import ChangeFeed
from contract.stream_query import StreamQuery
from runs.cursors import ahead_of_run, decode_stream, encode_stream
from runs.services.ports import Entries, EntryPage, RunHead, RunTailPort
from runs.transitions import is_terminal

# Pages kept for viewers that come to the same place a moment later.
_SHARED_PAGES: Final = 2


def run_topic(run_id: str) -> str:
    """Return the change feed's topic of one run."""
    return f"run:{run_id}"


class RunFollower:
    """Hands out the frames of runs. One per process and event loop."""

    def __init__(self, *, tail: RunTailPort, feed: ChangeFeed, heartbeat_seconds: float = HEARTBEAT_SECONDS) -> None:
        """Watch nothing yet: a run is watched while somebody follows it."""
        self._tail = tail
        self._feed = feed
        self._heartbeat_seconds = heartbeat_seconds
        self._heads = _HeadLoader(tail)
        self._watched: dict[str, _WatchedRun] = {}
        self._stopping = False

    async def follow(self, run_id: str, cursor: str | None, kind: Entries) -> AsyncGenerator[StreamFrame, None]:
        """Yield entries after `cursor` in `seq` order, each once, then `done` when the run has ended.

        The first frame comes at once. Raises NotFound, ValidationFailure, and StateUnavailable whenever it occurs.
        """
        require_possible("run", run_id)
        query = parse_model(StreamQuery, {"cursor": cursor})
        position = decode_stream(query.cursor, run_id)
        watched = await self._enter(run_id)
        try:
            if position > watched.head.last_seq:
                raise ahead_of_run()
            async with aclosing(self._frames(watched, position, kind)) as frames:
                async for payload, reached in frames:
                    yield StreamFrame(cursor=encode_stream(run_id, reached), payload=payload)
        finally:
            self._leave(watched)

    def stop(self) -> None:
        """End every stream with a shutdown frame; new ones end at once."""
        self._stopping = True
        for watched in self._watched.values():
            watched.wake()

    async def _frames(
        self, watched: "_WatchedRun", position: int, kind: Entries
    ) -> AsyncGenerator[tuple[FramePayload, int], None]:
        greeted = False
        while not self._stopping:
            head = watched.head_or_fault()
            if position < head.last_seq:
                page = await watched.page(kind, position, head.last_seq)
                for item in page.items:
                    yield item, item.seq
                    greeted = True
                position = page.through
            elif is_terminal(head.status):
                yield DoneFrame(status=head.status, reason_code=head.reason_code), position
                return
            elif not greeted or not await watched.change_after(head, self._heartbeat_seconds):
                greeted = True
                yield HeartbeatFrame(), position
        yield ShutdownFrame(), position

    async def _enter(self, run_id: str) -> "_WatchedRun":
        watched = self._watched.get(run_id)
        # A reader that failed may still be held by a slow viewer; whoever comes now reads afresh.
        if watched is None or watched.failed:
            watched = self._watched[run_id] = _WatchedRun(run_id, self._tail, self._heads, self._feed)
        watched.viewers += 1
        try:
            await watched.started()
        except BaseException:
            self._leave(watched)
            raise
        return watched

    def _leave(self, watched: "_WatchedRun") -> None:
        watched.viewers -= 1
        if watched.viewers == 0:
            watched.close()
            if self._watched.get(watched.run_id) is watched:
                del self._watched[watched.run_id]


class _HeadLoader:
    """Gathers the heads that are asked for in one turn of the loop into one query."""

    def __init__(self, tail: RunTailPort) -> None:
        self._tail = tail
        self._wanted: set[str] = set()
        self._loading: asyncio.Task[dict[str, RunHead]] | None = None

    async def load(self, run_id: str) -> RunHead:
        self._wanted.add(run_id)
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        heads = await asyncio.shield(self._loading)
        if run_id not in heads:
            raise NotFound("run", run_id)
        return heads[run_id]

    async def _load(self) -> dict[str, RunHead]:
        await asyncio.sleep(0)
        wanted, self._wanted, self._loading = self._wanted, set(), None
        return await self._tail.heads(sorted(wanted))


class _WatchedRun:
    """One run that somebody follows: its head, kept fresh by one task, and the newest pages."""

    head: RunHead

    def __init__(self, run_id: str, tail: RunTailPort, heads: _HeadLoader, feed: ChangeFeed) -> None:
        self.run_id = run_id
        self.viewers = 0
        self._tail = tail
        self._heads = heads
        self._fault: Exception | None = None
        self._change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pages: dict[tuple[Entries, int], asyncio.Task[EntryPage]] = {}
        # Subscribed before the first head is read, so that no commit falls between the two.
        self._subscription = feed.subscribe(run_topic(run_id))
        self._first = asyncio.create_task(self._refresh())
        self._watching: asyncio.Task[None] | None = None

    async def started(self) -> None:
        """Wait for the first head. Raises NotFound, StateUnavailable."""
        await asyncio.shield(self._first)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    @property
    def failed(self) -> bool:
        """Whether the head is no longer kept fresh."""
        return self._fault is not None

    def head_or_fault(self) -> RunHead:
        """Return the newest head, or raise what keeps it from being read."""
        if self._fault is not None:
            raise self._fault
        return self.head

    async def change_after(self, head: RunHead, timeout_seconds: float) -> bool:
        """Wait until the head is another than this, a fault occurred or `wake` was called; False on time-out."""
        change = self._change
        if self.head is not head or self._fault is not None:
            return True
        done, _ = await asyncio.wait({change}, timeout=timeout_seconds)
        return bool(done)

    async def page(self, kind: Entries, after: int, up_to: int) -> EntryPage:
        """Read entries after a position once for all viewers that stand there.

        A page read when the run was shorter is still right: entries never change, and the viewer goes on from it.
        """
        key = (kind, after)
        task = self._pages.get(key)
        if task is None or _failed(task):
            task = asyncio.create_task(self._tail.entries(self.run_id, kind, after=after, up_to=up_to))
            self._pages.pop(key, None)
            self._pages[key] = task
            while len(self._pages) > _SHARED_PAGES:
                self._pages.pop(next(iter(self._pages)))
        return await asyncio.shield(task)

    def wake(self) -> None:
        """Let every waiting viewer look again."""
        change, self._change = self._change, asyncio.get_running_loop().create_future()
        if not change.done():
            change.set_result(None)

    def close(self) -> None:
        """Stop watching."""
        self._subscription.close()
        for task in (self._first, self._watching):
            if task is not None and not task.done():
                task.cancel()
        self._pages.clear()

    async def _refresh(self) -> None:
        self.head = await self._heads.load(self.run_id)

    async def _watch(self) -> None:
        while True:
            await self._subscription.wait(None)
            try:
                fresh = await self._heads.load(self.run_id)
            except Exception as fault:  # noqa: BLE001 (whatever ended the watching, its viewers must hear of it)
                self._fault = fault
                self.wake()
                return
            if fresh != self.head:
                self.head = fresh
                self.wake()


def _failed(task: asyncio.Task[EntryPage]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
