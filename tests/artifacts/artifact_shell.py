"""A shell for `artifact`: runs it over an in-memory Studio and keeps what it said."""

import asyncio
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command

from artifacts.management.commands.artifact import Command
from contract.artifacts import ArtifactResult, SaveArtifact
from contract.runs import StartRun
from tests.definitions.definition_shell import Output
from tests.fakes.studio import InMemoryStudio


class ArtifactShell:
    """Runs `artifact` against one Studio, which has a run `r` that an invocation `i` caused."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.studio = InMemoryStudio()
        self.standard_input = -1
        self.tty = False
        self.raw = b""
        self.err = ""
        self.exit_code = 0
        asyncio.run(self._start())

    async def _start(self) -> None:
        await self.studio.start_run(StartRun(run_id="r", invocation_id="i"))

    def __call__(self, *arguments: str) -> "ArtifactShell":
        made = Command()
        made.in_process = self.open_studio
        made.standard_input = self.standard_input
        out, err = Output(tty=self.tty), StringIO()
        self.exit_code = 0
        try:
            call_command(made, *arguments, stdout=out, stderr=err)
        except CommandError as end:
            self.exit_code = end.returncode
        except SystemExit as end:
            self.exit_code = int(end.code or 0)
        out.flush()
        self.raw, self.err = out.buffer.getvalue(), err.getvalue()  # type: ignore[attr-defined]  # a BytesIO
        return self

    def open_studio(self) -> InMemoryStudio:
        """Return what a command asks, once it runs."""
        return self.studio

    def saved(self, name: str = "n", **fields: Any) -> ArtifactResult:
        command = SaveArtifact(**{"run_id": "r", "kind": "k", "name": name, **fields})
        return asyncio.run(self.studio.save_artifact(command))

    def file(self, content: bytes, name: str = "given.md") -> str:
        """Write a file and return its path."""
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]
