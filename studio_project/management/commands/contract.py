"""manage.py contract: what Studio publishes, written, checked and compared."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, Final, NoReturn

from django_typer.management import command, initialize
from typer import Argument, Exit, Option

from contract.compatibility import breaches
from contract.errors import ValidationFailure
from studio_project import contract_export
from studio_project.application import build_application
from studio_project.commands import StudioCommand
from studio_project.composition import build_studio, get_studio, set_studio
from studio_project.config import current_config
from studio_project.contract_documents import as_text, openapi_document, routes_document
from studio_project.contract_recording import Recording
from studio_project.contract_standins import CountedIds, FaultyProbe, RecordedClock
from studio_project.management.recorded_launch import RecordedWorker
from studio_project.schema import migrate, schema_state

_DIFFERS: Final = 1
_DOCUMENTS: Final = ("openapi.json", "routes.json")

Version = Annotated[Path, Argument(help="A folder with openapi.json and routes.json, or one of these files.")]
Folder = Annotated[Path, Option("--folder", help="Where the contract is kept.")]


class Command(StudioCommand):
    """The published contract: openapi.json, routes.json, examples and recorded streams."""

    help = "The published contract: openapi.json, routes.json, examples and recorded streams."

    @initialize()
    def init(self) -> None:
        """The published contract: openapi.json, routes.json, examples and recorded streams."""

    @command()
    def export(self, *, folder: Folder = contract_export.CHECKED_IN) -> None:
        """Write the contract anew, as the code makes it."""
        changed = contract_export.write(self._made(), folder)
        for line in changed or ["The contract is as it was."]:
            self.terminal.line(line)

    @command("check")  # Django's own `check` is another
    def check_drift(self, *, folder: Folder = contract_export.CHECKED_IN) -> None:
        """Fail when what is checked in differs from what the code makes."""
        found = contract_export.drift(contract_export.read(folder), self._made())
        if found:
            self._end(*found, "`manage.py contract export` writes them anew.")
        self.terminal.line("The contract is as the code makes it.")

    @command()
    def diff(self, old: Version, new: Version) -> None:
        """Fail on every change from OLD to NEW that the additive rule forbids, and say which."""
        try:
            found = [str(breach) for pair in _pairs(old, new) for breach in breaches(*pair)]
        except (OSError, ValueError, LookupError) as error:
            self.fail(ValidationFailure.at(code="unreadable", message=f"these cannot be compared: {error}"))
        if found:
            self._end(*found)
        self.terminal.line("Every change is additive.")

    @command(hidden=True)
    def record(self, folder: Path) -> None:
        """Write into FOLDER what `export` and `check` need. It fills the database, so that must be an empty one."""
        if Path(current_config().database.name).exists() or not schema_state().missing:
            self._end("this fills the database, so it needs an empty home")
        migrate()
        documents = {"openapi.json": as_text(openapi_document()), "routes.json": as_text(routes_document())}
        contract_export.write(documents | asyncio.run(_recorded()), folder)

    def _made(self) -> dict[str, str]:
        if self.terminal.interactive:
            self.terminal.note("Recording the application, which takes some seconds.")
        try:
            return contract_export.make()
        except contract_export.RecordingFailed as error:
            self._end("the application could not be recorded:", str(error))

    def _end(self, *lines: str) -> NoReturn:
        for line in lines:
            self.terminal.note(line)
        raise Exit(_DIFFERS)


def _pairs(old: Path, new: Path) -> list[tuple[Any, Any]]:
    """Return the documents to compare: both of two folders, or two files. Raises OSError, ValueError."""
    names = _DOCUMENTS if old.is_dir() and new.is_dir() else ("",)
    return [(_document(old / name), _document(new / name)) for name in names]


def _document(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_bytes())
    if not isinstance(document, dict):
        raise ValueError(f"{path.name} holds no document")
    return document


async def _recorded() -> dict[str, str]:
    clock, probe = RecordedClock(), FaultyProbe()
    studio = build_studio(current_config(), clock=clock, ids=CountedIds(), probe=probe)
    set_studio(studio)
    try:
        worker = RecordedWorker(studio.queue, studio.supervised, clock)
        return await Recording(build_application(get_studio), studio, clock, probe, execute=worker.execute).files()
    finally:
        studio.stopping()
        await studio.close()
