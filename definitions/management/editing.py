"""`definition edit`: a text in the user's editor, and never lost, whatever happens after."""

import shlex
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType
from typing import Final, Literal, NoReturn

import typer

from contract.definitions import SaveResult
from contract.errors import (
    Conflict,
    PermissionDenied,
    ReconciliationRequired,
    StateUnavailable,
    StudioError,
    ValidationFailure,
    shown,
)
from definitions.management.refusals import Refused, command_line
from definitions.management.starting import Start
from definitions.names import EXTENSIONS
from studio_project.commands import EXIT_TERMINATED
from studio_project.terminal import Terminal
from studio_project.text_source import read_private

_EXIT_ABANDONED: Final = 1
# For an editor that is told to end, to put its own copy of the text in order.
_GRACE_SECONDS: Final = 2.0

# What a file can be refused for that has the user's text.
_TEXT_FAULTS: Final = ("too_large", "encoding")

_Handler = Callable[[int, FrameType | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditingSession:
    """Lets the user edit a text and gives the result to `save`.

    `editor` is a command line; `refuse` says an error and ends the command; `options` are those that a command needs to
    reach the same application again; `folder` is where the text lies meanwhile, None for the system's place for that.
    """

    start: Start
    editor: str
    terminal: Terminal
    save: Callable[[str], SaveResult | Refused]
    refuse: Callable[[Refused], NoReturn]
    options: Sequence[str]
    folder: Path | None

    def run(self) -> SaveResult | None:
        """Return what was saved, None for an unchanged text.

        Whatever else ends it, an interrupt included, the user's text stays in a file and stderr says where.
        """
        termination = _Termination()
        with _handled(signal.SIGTERM, termination):
            file = self._file()
            error: StudioError | None = None
            try:
                result = self._edited(file, termination)
                if isinstance(result, Refused):
                    error = result.error
                    self.refuse(result)
            except BaseException:
                self._keep(file, error)
                raise
        _clear(file.parent)
        return result

    def _file(self) -> Path:
        """Write the text into a folder for nobody else; the name tells the editor what it is."""
        try:
            private = Path(mkdtemp(prefix="studio-edit-", dir=self.folder))
            file = private / f"{self.start.name}{EXTENSIONS[self.start.kind]}"
            file.write_bytes(self.start.content.encode())
        except OSError as fault:
            detail = f"no temporary file can be written: {fault.strerror}"
            self.refuse(Refused(error=StateUnavailable(retryable=True, detail=detail)))
        return file

    def _edited(self, file: Path, termination: "_Termination") -> SaveResult | Refused | None:
        try:
            ended = _run_editor(self.editor, file, termination)
            content = read_private(file)
        except ValidationFailure as failure:
            return Refused(error=failure)
        if ended != 0:
            self.terminal.note(f"error: the editor ended with {ended}; nothing was saved")
            raise typer.Exit(_EXIT_ABANDONED)
        return None if content == self.start.content else self.save(content)

    def _keep(self, file: Path, error: StudioError | None) -> None:
        """Say where the text is and how to go on; clear away what is no work of the user's."""
        left = self._left(file)
        if left == "nothing":
            _clear(file.parent)
            return
        if left == "something":
            self.terminal.note(f"what the editor left is in {file.parent}")
            return
        self.terminal.note(f"your text is kept in {file}")
        for what, verb, *rest in self._ways_on(str(file), error):
            command = command_line(verb, self.start.kind, self.start.name, *rest, options=self.options)
            self.terminal.note(f"{what}: {command}")

    def _ways_on(self, file: str, error: StudioError | None) -> Iterator[tuple[str, ...]]:
        """Yield what may be done, with the verb of its command and what follows the name."""
        seen = str(self.start.version)
        match error:
            case ReconciliationRequired():
                return  # the history has the text, and what is to be done about the file was said
            case Conflict(expected=expected) if expected == seen:
                yield "to see what was saved meanwhile", "diff", "--from", seen
                yield "to save it all the same", "save", file
            case ValidationFailure() | Conflict() | PermissionDenied():
                yield "to save it once that is mended", "save", file, "--expected-version", seen
            case _:
                yield "to save it", "save", file, "--expected-version", seen

    def _left(self, file: Path) -> Literal["text", "something", "nothing"]:
        """Say what there is of the user's: the text, something else (saved under another name, perhaps), or nothing."""
        try:
            return "nothing" if read_private(file) == self.start.content else "text"
        except ValidationFailure as failure:
            if failure.field_errors[0].code in _TEXT_FAULTS:
                return "text"
        try:
            return "something" if any(file.parent.iterdir()) else "nothing"
        except (FileNotFoundError, NotADirectoryError):
            return "nothing"
        except OSError:
            return "something"


def _clear(folder: Path) -> None:
    """Remove the folder of a text that nobody needs any more, as far as its editor has left that to do."""
    shutil.rmtree(folder, ignore_errors=True)


class _Termination:
    """A signal handler that ends the command by an exception, so that what has to be said is said."""

    def __init__(self) -> None:
        self._deferred = False
        self._came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        self._came = True
        if not self._deferred:
            raise typer.Exit(EXIT_TERMINATED)

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Let the signal wait for the end of the block."""
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False
        if self._came:
            raise typer.Exit(EXIT_TERMINATED)


def _run_editor(command: str, file: Path, termination: _Termination) -> int:
    """Return what the editor ended with. ValidationFailure when it cannot be started."""
    try:
        arguments = [*shlex.split(command), str(file)]
        with _handled(signal.SIGINT, _leave_to_editor), _ended_with_us() as started:
            with termination.deferred():  # an editor that is half started would be nobody's
                editor = subprocess.Popen(arguments)  # noqa: S603 (the user's own choice, and no shell)
                started.append(editor)
            return editor.wait()
    except (ValueError, OSError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        message = f"{shown(command)} cannot be started: {reason}; set VISUAL or EDITOR"
        raise ValidationFailure.at("editor", code="editor", message=message) from None


@contextmanager
def _ended_with_us() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Tell the processes in the list to end when the block is left before they did."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield started
    finally:
        for process in started:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_SECONDS)


@contextmanager
def _handled(number: signal.Signals, handler: _Handler) -> Iterator[None]:
    """Let `handler` have a signal meanwhile. Only the main thread of a process is told of signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before or signal.SIG_DFL)


def _leave_to_editor(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: Ctrl-C is a key of the editor. It would ignore it as well if this process just ignored it."""
