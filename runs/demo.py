"""The demo: an offline producer that surveys a folder and records what it does as a run, as it goes.

    list ──┬── languages ──┬── report
           └── largest ────┘

Two branches talk: the scout tells what it finds, folder by folder; the analyst tells what it makes of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Any, Final, Literal

from contract.application import StudioApplication
from contract.errors import StudioError, shown
from contract.events import (
    ArtifactEvent,
    BranchEvent,
    GraphEdge,
    GraphEvent,
    GraphNode,
    MessageEvent,
    ProcessIdentity,
    RecordEvents,
    RunEvent,
    SignalEvent,
    StatusEvent,
    TerminalStatus,
    UsageEvent,
)
from contract.ports import Clock
from contract.runs import StartRun
from runs.demo_files import folder_name, read_texts, walk
from runs.demo_report import (
    NAMED_FAULTS,
    Fault,
    FoundFile,
    FoundFolder,
    Reading,
    build_report,
    files_to_read,
    languages,
    largest,
    report_json,
    shown_fault,
)
from runs.demo_wording import counted, faults_lines, folders_text, language_line, report_text, size_line, size_text

Pause = Callable[[float], Awaitable[object]]
Watch = Callable[[str, str], None]

# Folders told one by one, before they are told in growing numbers: half a minute at most at half a second each.
_SINGLE_FOLDERS: Final = 16
_READING_STEPS: Final = 6
_SCOUT: Final = "scout"
_ANALYST: Final = "analyst"
_NODES: Final = (
    GraphNode(id="list", label="List the folders", kind=_SCOUT),
    GraphNode(id="languages", label="Count lines by language", kind=_ANALYST),
    GraphNode(id="largest", label="Find the largest files", kind=_ANALYST),
    GraphNode(id="report", label="Write the report", kind=_ANALYST),
)
_EDGES: Final = (
    GraphEdge(source="list", target="languages"),
    GraphEdge(source="list", target="largest"),
    GraphEdge(source="languages", target="report"),
    GraphEdge(source="largest", target="report"),
)


def _unwatched(run_id: str, text: str) -> None:
    """Take no notice."""


async def play_demo(
    studio: StudioApplication,
    root: Path,
    *,
    pace_seconds: float,
    clock: Clock,
    pause: Pause = asyncio.sleep,
    process: ProcessIdentity | None = None,
    watch: Watch = _unwatched,
) -> str:
    """Survey `root` and record it as a run; return the run's id when it has ended, also by a request to cancel.

    `pause` is awaited for `pace_seconds` after each step; `watch` is told the run's id and each message's text.
    Raises ValidationFailure when `root` is no folder, and then registers nothing; whatever else is raised later is
    the run's reason as well: failed, or aborted for an interrupt.
    """
    name = folder_name(root)
    run = await studio.start_run(
        StartRun(kind="flow", name=f"survey of {name}"[:200], agent_name=_SCOUT, tags=("demo",), process=process)
    )
    telling = _Telling(studio, run.run_id, clock=clock, pause=lambda: pause(pace_seconds), watch=watch)
    try:
        await telling.end(await _Survey(telling, root, name).make())
    except _CancelRequested:
        await telling.end("cancelled", "stopped as it was asked to")
    except (asyncio.CancelledError, KeyboardInterrupt):
        with suppress(StudioError):
            await telling.end("aborted", "was interrupted")
        raise
    except Exception as error:
        with suppress(StudioError):
            await telling.end("failed", shown(f"{type(error).__name__}: {error}"))
        raise
    return run.run_id


def folders_at_once() -> Iterator[int]:
    """Yield how many folders each step tells of: one by one first, then ever more, so that any walk ends soon."""
    for step in count(1):
        yield 1 if step <= _SINGLE_FOLDERS else 2 ** (step - _SINGLE_FOLDERS)


class _CancelRequested(Exception):
    """Somebody asked the run to stop."""


class _Telling:
    """Records events of one run; each has an id, so that one sent twice is stored once."""

    def __init__(
        self,
        studio: StudioApplication,
        run_id: str,
        *,
        clock: Clock,
        pause: Callable[[], Awaitable[object]],
        watch: Watch,
    ) -> None:
        self._studio = studio
        self._run_id = run_id
        self._clock = clock
        self._pause = pause
        self._watch = watch
        self._numbers = count(1)

    async def step(self, *events: RunEvent) -> None:
        """Record events that belong together, then leave time to watch. Raises _CancelRequested."""
        result = await self._studio.record_events(self._run_id, self._command(events))
        for event in events:
            if isinstance(event, MessageEvent):
                self._watch(self._run_id, str(event.content))
        if result.cancel_requested:
            raise _CancelRequested
        await self._pause()

    async def end(self, status: TerminalStatus, summary: str | None = None) -> None:
        """Record the end."""
        await self._studio.record_events(
            self._run_id, self._command((StatusEvent(status=status, reason_summary=summary),))
        )

    def _command(self, events: Sequence[RunEvent]) -> RecordEvents:
        at = self._clock.now()
        marked = (event.model_copy(update={"at": at, "event_id": f"demo-{next(self._numbers)}"}) for event in events)
        return RecordEvents(events=tuple(marked))


class _Survey:
    """The four nodes of the graph, one after the other."""

    def __init__(self, telling: _Telling, root: Path, name: str) -> None:
        self._telling = telling
        self._root = root
        self._name = name
        self._found: list[FoundFolder] = []
        self._reading = Reading()

    async def make(self) -> Literal["completed", "completed_empty"]:
        """Do the survey; a folder without a file ends it early."""
        await self._begin()
        await self._list()
        if not self._files:
            skipped = (_signal("NodeSkipped", node.id) for node in _NODES[1:])
            await self._telling.step(_analyst("There is no file to look at."), *skipped)
            return "completed_empty"
        await self._count_languages()
        await self._find_largest()
        await self._write_report()
        return "completed"

    @property
    def _files(self) -> list[FoundFile]:
        return [file for folder in self._found for file in folder.files]

    async def _begin(self) -> None:
        request = f"Find out what is in the folder {self._name}, and report what matters."
        await self._telling.step(
            GraphEvent(nodes=_NODES, edges=_EDGES),
            BranchEvent(name=_SCOUT, agent_name=_SCOUT),
            BranchEvent(name=_ANALYST, parent=_SCOUT, agent_name=_ANALYST),
            MessageEvent(branch=_SCOUT, role="user", content=request, sender="user", recipient=_SCOUT),
            *(_signal("NodeSpawned", node.id) for node in _NODES),
        )

    async def _list(self) -> None:
        await self._telling.step(_signal("NodeStarted", "list"))
        walking = walk(self._root)
        for size in folders_at_once():
            found = await asyncio.to_thread(_take, walking, size)
            if not found:
                break
            self._found += found
            listing = MessageEvent(
                branch=_SCOUT, role="tool", content=folders_text(found), sender="walk", recipient=_SCOUT
            )
            await self._telling.step(listing, *_faults("list", [fault for each in found for fault in each.faults]))
        files, size_bytes = len(self._files), sum(file.size_bytes for file in self._files)
        summary = f"Found {counted(files, 'file')} in {counted(len(self._found), 'folder')}, {size_text(size_bytes)}."
        payload = {"files": files, "folders": len(self._found), "size_bytes": size_bytes}
        await self._telling.step(
            MessageEvent(branch=_SCOUT, role="assistant", content=summary, sender=_SCOUT, recipient=_ANALYST),
            _signal("NodeCompleted", "list", payload),
        )

    async def _count_languages(self) -> None:
        files = files_to_read(self._files)
        brief = f"Read {counted(len(files), 'file')} and count lines by language."
        asked = MessageEvent(branch=_ANALYST, role="user", content=brief, sender=_SCOUT, recipient=_ANALYST)
        await self._telling.step(asked, _signal("NodeStarted", "languages"))
        size = max(1, -(-len(files) // _READING_STEPS))
        for start in range(0, len(files), size):
            more = await asyncio.to_thread(read_texts, self._root, files[start : start + size])
            self._reading.add(more)
            done = f"Read {min(start + size, len(files)):,} of {len(files):,}: {self._reading.lines:,} lines of text."
            usage = UsageEvent(branch=_ANALYST, input_tokens=more.words)
            await self._telling.step(_analyst(done), usage, *_faults("languages", more.faults))
        found = languages(self._files, self._reading)
        text = "\n".join(["Lines by language:", *map(language_line, found)])
        payload = {language.name: language.lines for language in found}
        await self._telling.step(_analyst(text), _signal("NodeCompleted", "languages", payload))

    async def _find_largest(self) -> None:
        await self._telling.step(_signal("NodeStarted", "largest"))
        found = largest(self._files)
        text = "\n".join(["The largest files:", *map(size_line, found)])
        payload = {"path": found[0].path, "size_bytes": found[0].size_bytes}
        await self._telling.step(_analyst(text), _signal("NodeCompleted", "largest", payload))

    async def _write_report(self) -> None:
        await self._telling.step(_signal("NodeStarted", "report"))
        report = build_report(self._name, self._found, self._reading)
        text = report_text(report)
        await self._telling.step(
            ArtifactEvent(
                branch=_ANALYST,
                kind="report",
                name="survey",
                content=report_json(report),
                media_type="application/json",
            ),
            _analyst(text, recipient="user"),
            UsageEvent(branch=_ANALYST, output_tokens=len(text.split())),
            _signal("NodeCompleted", "report", {"artifact": "survey"}),
        )


def _take(walking: Iterator[FoundFolder], size: int) -> list[FoundFolder]:
    return list(islice(walking, size))


def _analyst(text: str, recipient: str = _SCOUT) -> MessageEvent:
    return MessageEvent(branch=_ANALYST, role="assistant", content=text, sender=_ANALYST, recipient=recipient)


def _signal(kind: str, node: str, payload: Any = None) -> SignalEvent:
    return SignalEvent(kind=kind, op_id=node, branch=_SCOUT if node == "list" else _ANALYST, payload=payload)


def _faults(node: str, faults: Sequence[Fault]) -> list[RunEvent]:
    """Tell what could not be read: once in words, and a signal for each of the first ones."""
    if not faults:
        return []
    named = [shown_fault(fault) for fault in faults[:NAMED_FAULTS]]
    text = "\n".join(["Could not be read:", *faults_lines(named, len(faults))])
    branch = _SCOUT if node == "list" else _ANALYST
    told = MessageEvent(branch=branch, role="tool", content=text, sender="walk", recipient=branch)
    failed = (_signal("NodeFailed", node, {"path": fault.path, "reason": fault.reason}) for fault in named)
    return [told, *failed]
