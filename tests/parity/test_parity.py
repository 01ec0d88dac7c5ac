"""The same in process and over HTTP: every operation, every result, every error, every frame."""

from pathlib import Path

import pytest

from contract.client import RemoteStudio
from studio_project.composition import Studio
from tests.live import TOKEN, LiveDaemon, live_daemon
from tests.parity import (
    artifact_scenarios,
    definition_file_scenarios,
    definition_scenarios,
    launch_scenarios,
    list_scenarios,
    project_scenarios,
    reading_scenarios,
    reconciliation_scenarios,
    run_scenarios,
    schedule_firing_scenarios,
    schedule_scenarios,
    schedule_set_scenarios,
    stream_scenarios,
    upkeep_scenarios,
)
from tests.parity.catalogue import LONELY, SCENARIOS, own_word
from tests.parity.conftest import ALLOWED, IDLE
from tests.parity.witness import Witness

# Naming the modules here is what puts their scenarios into the catalogue.
MODULES = (
    artifact_scenarios,
    definition_file_scenarios,
    definition_scenarios,
    launch_scenarios,
    list_scenarios,
    project_scenarios,
    reading_scenarios,
    reconciliation_scenarios,
    run_scenarios,
    schedule_firing_scenarios,
    schedule_scenarios,
    schedule_set_scenarios,
    stream_scenarios,
    upkeep_scenarios,
)


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - LONELY))
async def test_in_process_and_remote_do_the_same(
    name: str, local: Studio, local_home: Path, remote: RemoteStudio, daemon: LiveDaemon
) -> None:
    await _compare(name, (local, local_home), (remote, daemon.home))


@pytest.mark.parametrize("name", sorted(LONELY))
async def test_in_process_and_remote_do_the_same_to_a_whole_home(
    name: str, local: Studio, local_home: Path, tmp_path: Path
) -> None:
    with live_daemon(tmp_path / "remote", *IDLE, auth_token=TOKEN, command_allowlist=",".join(ALLOWED)) as daemon:
        async with RemoteStudio(daemon.url, token=TOKEN) as remote:
            await _compare(name, (local, local_home), (remote, daemon.home))


async def _compare(name: str, in_process: tuple[Studio, Path], remote: tuple[RemoteStudio, Path]) -> None:
    said = []
    for studio, home in (in_process, remote):
        witness = Witness(studio)
        await SCENARIOS[name](witness.application, own_word(name), home)
        said.append(witness.steps)

    assert said[0]
    assert said[1] == said[0]
