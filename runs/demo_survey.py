"""The demo's survey of a folder, told as run events, step by step. It reads, and keeps nothing but what it tells.

    list ──┬── languages ──┬── report
           └── largest ────┘

Two branches talk: the scout tells what it finds, folder by folder; the analyst tells what it makes of it.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, Final

from contract.events import (
    ArtifactEvent,
    BranchEvent,
    GraphEdge,
    GraphEvent,
    GraphNode,
    MessageEvent,
    RunEvent,
    SignalEvent,
    StatusEvent,
    UsageEvent,
)
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

# Events that belong together: whoever watches gets time after them.
Step = Sequence[RunEvent]

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


def survey(root: Path) -> Iterator[Step]:
    """Yield the steps of a survey of `root`, each when it is done; the last one says how it ended.

    Raises ValidationFailure when `root` is no folder, before any step.
    """
    return _Survey(root, folder_name(root)).steps()


def folders_at_once() -> Iterator[int]:
    """Yield how many folders each step tells of: one by one first, then ever more, so that any walk ends soon."""
    for step in count(1):
        yield 1 if step <= _SINGLE_FOLDERS else 2 ** (step - _SINGLE_FOLDERS)


class _Survey:
    """The four nodes of the graph, one after the other."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self._name = name
        self._found: list[FoundFolder] = []
        self._reading = Reading()

    def steps(self) -> Iterator[Step]:
        """Do the survey; a folder without a file ends it early."""
        yield self._beginning()
        yield from self._list()
        if not self._files:
            skipped = (_signal("NodeSkipped", node.id) for node in _NODES[1:])
            yield _analyst("There is no file to look at."), *skipped
            yield (StatusEvent(status="completed_empty"),)
            return
        yield from self._count_languages()
        yield from self._find_largest()
        yield from self._write_report()
        yield (StatusEvent(status="completed"),)

    @property
    def _files(self) -> list[FoundFile]:
        return [file for folder in self._found for file in folder.files]

    def _beginning(self) -> Step:
        request = f"Find out what is in the folder {self._name}, and report what matters."
        return (
            GraphEvent(nodes=_NODES, edges=_EDGES),
            BranchEvent(name=_SCOUT, agent_name=_SCOUT),
            BranchEvent(name=_ANALYST, parent=_SCOUT, agent_name=_ANALYST),
            MessageEvent(branch=_SCOUT, role="user", content=request, sender="user", recipient=_SCOUT),
            *(_signal("NodeSpawned", node.id) for node in _NODES),
        )

    def _list(self) -> Iterator[Step]:
        yield (_signal("NodeStarted", "list"),)
        walking = walk(self._root)
        for size in folders_at_once():
            found = list(islice(walking, size))
            if not found:
                break
            self._found += found
            listing = MessageEvent(
                branch=_SCOUT, role="tool", content=folders_text(found), sender="walk", recipient=_SCOUT
            )
            yield listing, *_faults("list", [fault for each in found for fault in each.faults])
        files, size_bytes = len(self._files), sum(file.size_bytes for file in self._files)
        summary = f"Found {counted(files, 'file')} in {counted(len(self._found), 'folder')}, {size_text(size_bytes)}."
        payload = {"files": files, "folders": len(self._found), "size_bytes": size_bytes}
        yield (
            MessageEvent(branch=_SCOUT, role="assistant", content=summary, sender=_SCOUT, recipient=_ANALYST),
            _signal("NodeCompleted", "list", payload),
        )

    def _count_languages(self) -> Iterator[Step]:
        files = files_to_read(self._files)
        brief = f"Read {counted(len(files), 'file')} and count lines by language."
        asked = MessageEvent(branch=_ANALYST, role="user", content=brief, sender=_SCOUT, recipient=_ANALYST)
        yield asked, _signal("NodeStarted", "languages")
        size = max(1, -(-len(files) // _READING_STEPS))
        for start in range(0, len(files), size):
            more = read_texts(self._root, files[start : start + size])
            self._reading.add(more)
            done = f"Read {min(start + size, len(files)):,} of {len(files):,}: {self._reading.lines:,} lines of text."
            usage = UsageEvent(branch=_ANALYST, input_tokens=more.words)
            yield _analyst(done), usage, *_faults("languages", more.faults)
        found = languages(self._files, self._reading)
        text = "\n".join(["Lines by language:", *map(language_line, found)])
        payload = {language.name: language.lines for language in found}
        yield _analyst(text), _signal("NodeCompleted", "languages", payload)

    def _find_largest(self) -> Iterator[Step]:
        yield (_signal("NodeStarted", "largest"),)
        found = largest(self._files)
        text = "\n".join(["The largest files:", *map(size_line, found)])
        payload = {"path": found[0].path, "size_bytes": found[0].size_bytes}
        yield _analyst(text), _signal("NodeCompleted", "largest", payload)

    def _write_report(self) -> Iterator[Step]:
        yield (_signal("NodeStarted", "report"),)
        report = build_report(self._name, self._found, self._reading)
        text = report_text(report)
        yield (
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
