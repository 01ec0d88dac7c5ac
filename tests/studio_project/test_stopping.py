"""A signal stops a daemon and its parts, also when nobody reads any more what they say."""

from pathlib import Path

from studio_project.config import StudioConfig, load_config
from studio_project.daemon import Daemon, ServeOptions
from studio_project.scheduling import SchedulerProcess
from studio_project.worker import WorkerProcess


def config_in(home: Path) -> StudioConfig:
    return load_config({"STUDIO_HOME": str(home)})


def unheard(line: str) -> None:
    raise BrokenPipeError(line)


def test_a_daemon_stops_whose_words_nobody_reads(tmp_path: Path) -> None:
    daemon = Daemon(config_in(tmp_path), ServeOptions(), unheard)

    daemon._on_signal()

    assert daemon._stop.is_set()


def test_a_part_stops_whose_words_nobody_reads(tmp_path: Path) -> None:
    for process in (WorkerProcess, SchedulerProcess):
        part = process(config_in(tmp_path), unheard)

        part._on_signal()

        assert part._stop.is_set()
