"""The base of every command: where the application is, what its errors look like, and how the process ends.

A command parses, makes one call, and prints. The call goes to the Studio of this process, or over HTTP to a daemon:

    --remote URL, else STUDIO_URL        a daemon there; --token, else STUDIO_AUTH_TOKEN or auth_token of studio.toml
    neither                              in process, on the configured database

Exit codes are in `EXIT_CODES`; 130 is an interrupt, 143 is SIGTERM. A command line that cannot be read ends
like any other input that fails validation.
"""

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Annotated, Final, NoReturn, TypeVar

import typer
from django_typer.management import TyperCommand
from pydantic import SecretStr

from contract.application import StudioApplication
from contract.client import RemoteStudio
from contract.errors import RequestRefused, StudioError, ValidationFailure
from studio_project.composition import get_studio
from studio_project.config import StudioConfig, current_config
from studio_project.home import is_worked
from studio_project.terminal import OutputLost, Terminal

T = TypeVar("T")

# DESIGN of the contract: the exit code of each error code; every other code a transport can say ends in 1.
EXIT_CODES: Final[dict[str, int]] = {
    "validation": 2,
    "not_found": 4,
    "conflict": 5,
    "permission_denied": 6,
    "state_unavailable": 7,
    "reconciliation_required": 8,
    "unauthorized": 9,
    **dict.fromkeys(RequestRefused.TRANSPORT_CODES.keys() - {"unauthorized"}, 1),
}
EXIT_UNFORESEEN: Final = 1
# What a shell says of a process that the signal ended.
EXIT_TERMINATED: Final = 128 + signal.SIGTERM

AsJson = Annotated[bool, typer.Option("--json", help="Print the contract's model as JSON.")]
Remote = Annotated[
    str | None, typer.Option("--remote", metavar="URL", help="Ask the daemon at URL (default: $STUDIO_URL).")
]
Token = Annotated[
    str | None,
    typer.Option("--token", help="Bearer for it (default: $STUDIO_AUTH_TOKEN). Process lists show an option."),
]
# Of lists. They stay texts: the query's model says what is wrong with one.
Limit = Annotated[str | None, typer.Option(metavar="N", help="Rows of a page.")]
Offset = Annotated[str | None, typer.Option(metavar="N", help="Rows to leave out.")]
Cursor = Annotated[str | None, typer.Option(help="Go on after an earlier page.")]


@dataclass(frozen=True, kw_only=True)
class Target:
    """Which application a command asks: the daemon at `url`, or this process where there is none."""

    url: str | None = None
    token: SecretStr | None = None


def choose_target(remote: str | None, token: str | None, config: StudioConfig) -> Target:
    """Return what the options and the configuration say. ValidationFailure for a token that would go nowhere."""
    url = remote if remote is not None else config.url
    if url is None:
        if token is not None:
            raise ValidationFailure.at("token", code="unused", message="needs --remote or STUDIO_URL")
        return Target()
    configured = config.auth_token or config.auth_read_token
    return Target(url=url, token=configured if token is None else SecretStr(token))


def nobody_works(remote: str | None, token: str | None) -> bool:
    """Say whether nobody executes what is queued, as far as this process can see."""
    config = current_config()
    return choose_target(remote, token, config).url is None and not is_worked(config.home)


@asynccontextmanager
async def open_application(
    target: Target, in_process: Callable[[], StudioApplication]
) -> AsyncIterator[StudioApplication]:
    """Yield the application; a connection to a daemon is closed after use, the process's own Studio stays."""
    if target.url is None:
        yield in_process()
        return
    token = None if target.token is None else target.token.get_secret_value()
    async with RemoteStudio(target.url, token=token) as studio:
        yield studio


@contextmanager
def cancelled_by_sigterm() -> Iterator[None]:
    """Let SIGTERM cancel the running task, as Ctrl-C does (asyncio.run): what it has to say or to end is done.

    Only the main thread of a process is told of signals; elsewhere nothing changes.
    """
    task = asyncio.current_task()
    if task is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def error_lines(error: StudioError) -> list[str]:
    """Return what people are told of an error: one line, or one for each field that is wrong."""
    if isinstance(error, ValidationFailure):
        return [_field_line(failure.path, failure.message) for failure in error.field_errors]
    return [str(error)]


def _field_line(path: tuple[str | int, ...], message: str) -> str:
    return f"{'.'.join(str(part) for part in path)}: {message}" if path else message


class StudioCommand(TyperCommand):
    """A command that asks a StudioApplication. `in_process` gives the one of this process."""

    requires_system_checks = []  # noqa: RUF012 (Django's declaration; checks would load every URL for a listing)

    in_process: Callable[[], StudioApplication] = staticmethod(get_studio)

    @property
    def terminal(self) -> Terminal:
        """Where this invocation prints."""
        color = False if self.no_color else True if self.force_color else None
        return Terminal(self.stdout, self.stderr, color=color)

    def ask(
        self, operation: Callable[[StudioApplication], Awaitable[T]], *, remote: str | None, token: str | None
    ) -> T:
        """Run one operation to its end. An error is said on stderr and ends the command with its exit code."""

        async def asked() -> T:
            target = choose_target(remote, token, current_config())
            with cancelled_by_sigterm():
                async with open_application(target, self.in_process) as studio:
                    return await operation(studio)

        try:
            return asyncio.run(asked())
        except StudioError as error:
            self.fail(error)
        except asyncio.CancelledError:
            raise typer.Exit(EXIT_TERMINATED) from None
        except (BrokenPipeError, OutputLost):
            raise  # of stdout: `cli.main` ends every command alike
        except Exception as error:
            if self._traceback:
                raise
            # The text of a foreign error may hold anything, secrets included; its type may not.
            self.terminal.note(f"error: unforeseen {type(error).__name__}; --traceback shows where")
            raise typer.Exit(EXIT_UNFORESEEN) from error

    def fail(self, error: StudioError) -> NoReturn:
        """Say an error and end with its exit code."""
        for line in error_lines(error):
            self.terminal.note(f"error: {line}")
        raise typer.Exit(EXIT_CODES[error.code]) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """End as django-typer does, but what cannot be read ends like any other invalid input."""
        try:
            ended: bool | None = super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]  # theirs
            return ended
        except SystemExit:
            if isinstance(error, typer.TyperException):
                raise SystemExit(EXIT_CODES["validation"]) from None
            raise
