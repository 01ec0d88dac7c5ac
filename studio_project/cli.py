"""The entry point of every command, and how a process ends whose output is lost."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from django.core.management import BaseCommand, ManagementUtility

from studio_project.config import ConfigError, current_config
from studio_project.terminal import OutputLost, checked_output

_EXIT_INVALID: Final = 2  # as for any other input that fails validation
_EXIT_LOST: Final = 1
_EXIT_INTERRUPTED: Final = 130  # what a shell says of a process that SIGINT ended


class _Commands(ManagementUtility):
    def fetch_command(self, subcommand: str) -> BaseCommand:
        """Return the command; Django says it is unknown, and which is near, and would end with 1."""
        try:
            return super().fetch_command(subcommand)
        except SystemExit:
            sys.exit(_EXIT_INVALID)


def main() -> None:
    """Run the command that the arguments name. Output that nobody takes ends any of them in the same way."""
    _open_streams()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(_EXIT_INTERRUPTED)
    except BrokenPipeError:  # a reader that left, such as `| head`: no fault, and nothing to say
        _discard_output()
        sys.exit(_EXIT_LOST)
    except OutputLost as fault:
        _discard_output()
        _end_without_output(fault.strerror or type(fault).__name__)


def _run() -> None:
    """Run the command; a configuration that cannot be used is said in words."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio_project.settings")
    try:
        current_config()
    except ConfigError as error:
        print("The configuration cannot be used:", *error.problems, sep="\n  ", file=sys.stderr)
        sys.exit(_EXIT_INVALID)
    _Commands(sys.argv).execute()


def _open_streams() -> None:
    """Check stdout before any file is opened: that would get the free descriptor, and what is printed with it."""
    if sys.__stderr__ is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (open as long as the process lives)
    if sys.__stdout__ is None:
        _end_without_output("it is closed")
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout = checked_output(sys.stdout)


def _end_without_output(why: str) -> None:
    print(f"error: standard output cannot be written: {why}", file=sys.stderr)
    sys.exit(_EXIT_LOST)


def _discard_output() -> None:
    """Send what is left to nowhere, so that the interpreter's own last flush meets no fault again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
