"""manage.py serve: the daemon."""

from pathlib import Path
from typing import Annotated, Final

from django_typer.management import TyperCommand
from typer import Exit, Option

from contract.errors import StudioError
from runs.demo import demo_agent, launch_once
from studio_project.composition import get_studio
from studio_project.config import current_config
from studio_project.daemon import Daemon, ServeOptions, ServeRefused
from studio_project.home import HomeTaken, HomeUnusable
from studio_project.run_operations import allow_demo
from studio_project.schema import DatabaseUnusable, SchemaMismatch

_REFUSED: Final = 1


async def demo_once() -> None:
    """Launch the demo on the daemon's folder, unless there is a run already."""
    await launch_once(get_studio(), Path.cwd(), agent=demo_agent())


class Command(TyperCommand):
    """Serve the API, the streams and the admin until SIGTERM or Ctrl-C."""

    help = "Serve the API, the streams and the admin until SIGTERM or Ctrl-C."
    # The daemon does these itself, in its own order and behind the lock.
    requires_migrations_checks = False
    requires_system_checks = ()

    def handle(
        self,
        *,
        host: Annotated[str | None, Option(help="Address to listen on.")] = None,
        port: Annotated[int | None, Option(min=0, max=65_535, help="Port to listen on; 0 picks a free one.")] = None,
        no_migrate: Annotated[
            bool, Option("--no-migrate", help="Refuse to start instead of changing the database's schema.")
        ] = False,
        no_worker: Annotated[
            bool, Option("--no-worker", help="Execute no queued runs: they wait for `studio worker`.")
        ] = False,
        no_scheduler: Annotated[
            bool, Option("--no-scheduler", help="Fire no schedules: they wait for `studio scheduler`.")
        ] = False,
        insecure: Annotated[
            bool, Option("--insecure", help="Allow other machines in without a token. Everybody may do everything.")
        ] = False,
        demo: Annotated[bool, Option("--demo", help="Launch the demo if there is no run yet.")] = False,
    ) -> None:
        """Serve until a signal; exits with 1 when it cannot start as asked."""
        asked = {"host": host, "port": port}
        config = current_config().model_copy(update={key: value for key, value in asked.items() if value is not None})
        options = ServeOptions(
            migrate=not no_migrate,
            insecure=insecure,
            work=not no_worker,
            schedule=not no_scheduler,
            once_ready=(demo_once,) if demo else (),
        )
        if demo:
            config = allow_demo(config)
        try:
            Daemon(config, options, self._say).run()
        except (ServeRefused, HomeTaken, HomeUnusable, SchemaMismatch, DatabaseUnusable, StudioError) as error:
            self.stderr.write(f"Cannot serve: {error}")
            raise Exit(_REFUSED) from None

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
