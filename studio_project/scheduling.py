"""A scheduler's life: beside a daemon that fires nothing itself, or alone."""

from collections.abc import Coroutine, Sequence
from typing import Any

from studio_project.composition import Studio
from studio_project.part_process import PartProcess


class SchedulerProcess(PartProcess):
    """Fires due schedules. Any number of them on one database fire each instant once."""

    def parts(self, studio: Studio) -> Sequence[Coroutine[Any, Any, None]]:
        """Return the scheduler."""
        return (studio.schedule(),)

    def introduction(self) -> Sequence[str]:
        """Say what is fired, and who executes it."""
        return (
            f"Firing the schedules of {self._config.database.display}, each instant once with all other schedulers.",
            "Their runs are executed by a daemon or `studio worker`. Ctrl-C or SIGTERM ends this scheduler.",
        )
