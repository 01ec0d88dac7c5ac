"""manage.py scheduler: fires due schedules, beside a daemon or alone."""

from typing import Final

from django_typer.management import TyperCommand
from typer import Exit

from studio_project.config import current_config
from studio_project.home import HomeUnusable
from studio_project.scheduling import SchedulerProcess
from studio_project.schema import DatabaseUnusable, SchemaMismatch

_REFUSED: Final = 1


class Command(TyperCommand):
    """Fire due schedules until SIGTERM or Ctrl-C."""

    help = "Fire due schedules until SIGTERM or Ctrl-C, beside `serve --no-scheduler` or alone."
    # The scheduler looks at the schema itself, and says what to do about it.
    requires_migrations_checks = False
    requires_system_checks = ()

    def handle(self) -> None:
        """Fire until a signal; exits with 1 when it cannot start."""
        try:
            SchedulerProcess(current_config(), self._say).run()
        except (SchemaMismatch, DatabaseUnusable, HomeUnusable) as error:
            self.stderr.write(f"Cannot schedule: {error}")
            raise Exit(_REFUSED) from None

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
