"""A worker's life: beside a daemon that executes nothing itself, alone, or as a part of one."""

from collections.abc import Coroutine, Sequence
from contextlib import AbstractContextManager
from typing import Any

from studio_project.banner import root_url
from studio_project.composition import Studio
from studio_project.config import StudioConfig
from studio_project.home import find_holder, working
from studio_project.part_process import PartProcess


async def work(studio: Studio) -> None:
    """Execute queued runs until cancelled, and let those who launch some see that somebody does."""
    with working(studio.config.home):
        await studio.work()


def daemon_url(config: StudioConfig) -> str:
    """Return where runs find Studio: as configured, else the daemon that serves the home now, wherever it listens."""
    holder = find_holder(config.home)
    return config.url or root_url(config, (holder and holder.port) or config.port)


class WorkerProcess(PartProcess):
    """Executes queued runs, and settles those of lost workers. Its children end with it."""

    def held(self) -> AbstractContextManager[object]:
        """Let those who launch runs see that somebody executes them."""
        return working(self._config.home)

    def parts(self, studio: Studio) -> Sequence[Coroutine[Any, Any, None]]:
        """Return the worker and the reaper."""
        studio.url = daemon_url(self._config)
        return studio.work(), studio.keep_reconciled()

    def introduction(self) -> Sequence[str]:
        """Say what is executed, and how to end it."""
        at_a_time = f"{self._config.max_concurrent} at a time" if self._config.max_concurrent else "all at once"
        return (
            f"Executing the queued runs of {self._config.database.display}, {at_a_time} with all other workers.",
            f"They find Studio at {daemon_url(self._config)}. Ctrl-C or SIGTERM ends them and this worker.",
        )
