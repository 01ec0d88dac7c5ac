"""A shell for `definition`: runs it over an in-memory Studio, with a script as editor, and keeps what it said."""

import shlex
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

from django.core.management import CommandError, call_command

from definitions.management.commands.definition import Command
from tests.fakes.studio import InMemoryStudio

AGENT = "---\nname: coder\n---\nYou write code.\n"
PLAYBOOK = "name: review\nsteps:\n  - id: look\n    prompt: Look at it.\n"


class Output(TextIOWrapper):
    """A pipe, or a terminal."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__(BytesIO(), encoding="utf-8", newline="")
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


class DefinitionShell:
    """Runs `definition` against one Studio."""

    def __init__(self, folder: Path) -> None:
        self.folder = self.drafts = folder
        self.studio = InMemoryStudio()
        self.standard_input = -1
        self.editor = "true"
        self.tty = False
        self.raw = b""
        self.err = ""
        self.exit_code = 0

    def __call__(self, *arguments: str) -> "DefinitionShell":
        made = Command()
        made.in_process = self.open_studio
        made.standard_input = self.standard_input
        made.editor = self.open_editor
        made.drafts = self.drafts
        out, err = Output(tty=self.tty), StringIO()
        self.exit_code = 0
        try:
            call_command(made, *arguments, stdout=out, stderr=err)
        except CommandError as end:
            self.exit_code = end.returncode
        except KeyboardInterrupt:
            self.exit_code = 130  # django-typer's answer to it in a process
        out.flush()
        assert isinstance(out.buffer, BytesIO)
        self.raw, self.err = out.buffer.getvalue(), err.getvalue()
        return self

    def open_studio(self) -> InMemoryStudio:
        """Return what a command asks, once it runs."""
        return self.studio

    def open_editor(self) -> str:
        """Return the editor, once the text has been read."""
        return self.editor

    def edit_with(self, script: str) -> None:
        """Let the editor be a shell script; `$1` is the file."""
        path = self.folder / "an editor.sh"
        path.write_text(script)
        self.editor = shlex.join(["sh", str(path)])

    def file(self, content: str | bytes, name: str = "given.md") -> str:
        """Write a file and return its path."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def saved(self, *contents: str, kind: str = "agent", name: str = "coder") -> None:
        """Save contents one after the other."""
        for content in contents:
            self("save", kind, name, self.file(content))
            assert self.exit_code == 0, self.err

    def hand(self, path: str, content: str | bytes) -> None:
        """Edit a definition's file by hand."""
        self.studio.files.edit(path, content)

    @property
    def out(self) -> str:
        return self.raw.decode()

    @property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.out.splitlines()]

    @property
    def kept(self) -> Path:
        """The file in which the last edit kept the user's text."""
        return Path(self.err.partition("your text is kept in ")[2].partition("\n")[0])

    def content(self, path: str = "agents/coder.md") -> str | None:
        """Return what a definition's file holds."""
        data = self.studio.files.contents.get(path)
        return None if data is None else data.decode()
