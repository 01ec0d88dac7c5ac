"""A shell for the commands: runs them over an in-memory Studio and keeps what they printed."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command

from contract.errors import StudioError
from contract.projects import DetectProject
from runs.management.commands import invocation, run, stats
from schedules.management.commands import schedule
from studio_project.commands import StudioCommand
from tests.fakes.studio import InMemoryStudio

EVENTS: list[dict[str, Any]] = [
    {"type": "branch", "name": "side", "parent": "main"},
    {"type": "message", "role": "user", "content": "hello\nworld \x1b[31m"},
    {"type": "message", "role": "assistant", "content": {"a": 1}, "branch": "side", "sender": "bob"},
    {"type": "signal", "kind": "NodeStarted", "op_id": "n1", "payload": {"x": 1}},
    {"type": "graph", "nodes": [{"id": "n1"}, {"id": "n2"}], "edges": [{"source": "n1", "target": "n2"}]},
    {"type": "artifact", "kind": "report", "name": "r", "path": "out/r.md"},
    {"type": "usage", "input_tokens": 10, "cost_usd": 0.25},
    {"type": "status", "status": "completed"},
]


class Shell:
    """Runs commands against one Studio and keeps what they printed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.studio = InMemoryStudio()
        self.looked_at: list[str] = []
        self.out = ""
        self.err = ""
        self.exit_code = 0
        self.standard_input = -1
        self.remote_url: str | None = None
        self.disk_fault: StudioError | None = None

    def __call__(self, command: str, *arguments: str) -> "Shell":
        commands: dict[str, type[StudioCommand]] = {
            "run": run.Command,
            "invocation": invocation.Command,
            "stats": stats.Command,
            "schedule": schedule.Command,
        }
        made = commands[command]()
        made.in_process = self.open_studio
        if isinstance(made, run.Command | schedule.Command):
            made.standard_input = self.standard_input
        if isinstance(made, run.Command):
            made.look = self.look
        out, err = StringIO(), StringIO()
        self.exit_code = 0
        try:
            call_command(made, *arguments, stdout=out, stderr=err)
        except CommandError as end:
            self.exit_code = end.returncode
        except KeyboardInterrupt:
            self.exit_code = 130  # django-typer's answer to it in a process
        self.out, self.err = out.getvalue(), err.getvalue()
        return self

    def look(self, folder: str) -> DetectProject:
        """Return what the disk says of the folder that a command is given in: nothing, unless a test wants it to."""
        self.looked_at.append(folder)
        if self.disk_fault is not None:
            raise self.disk_fault
        return DetectProject(folders=(folder,), remote_url=self.remote_url)

    def open_studio(self) -> InMemoryStudio:
        """Return what a command asks, once it runs."""
        return self.studio

    def file(self, *lines: Any) -> str:
        """Write lines, JSON or raw, to a file and return its path."""
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path = self.folder / "events.jsonl"
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return str(path)

    def recorded(self, run_id: str, *events: Any, options: tuple[str, ...] = ()) -> None:
        self("run", "record", self.file(*(events or EVENTS)), "--run", run_id, *options)
        assert self.exit_code == 0, self.err

    @property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]
