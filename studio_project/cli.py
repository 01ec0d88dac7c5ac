"""The entry point of every command."""

import os
import sys
from io import TextIOWrapper

from django.core.management import execute_from_command_line

from studio_project.config import ConfigError, current_config

_EXIT_UNUSABLE_CONFIG = 2  # as for any other input that fails validation


def main() -> None:
    """Run the command that the arguments name; a configuration that cannot be used is said in words."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that this terminal cannot write ends no listing
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio_project.settings")
    try:
        current_config()
    except ConfigError as error:
        print("The configuration cannot be used:", *error.problems, sep="\n  ", file=sys.stderr)
        sys.exit(_EXIT_UNUSABLE_CONFIG)
    execute_from_command_line(sys.argv)
