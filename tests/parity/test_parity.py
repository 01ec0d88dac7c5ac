"""The same in process and over HTTP: every operation, every result, every error, every frame."""

import pytest

from contract.client import RemoteStudio
from studio_project.composition import Studio
from tests.parity import list_scenarios, reading_scenarios, run_scenarios, stream_scenarios
from tests.parity.catalogue import SCENARIOS, own_word
from tests.parity.witness import Witness

# Naming the modules here is what puts their scenarios into the catalogue.
MODULES = (list_scenarios, reading_scenarios, run_scenarios, stream_scenarios)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
async def test_in_process_and_remote_do_the_same(name: str, local: Studio, remote: RemoteStudio) -> None:
    in_process, over_http = Witness(local), Witness(remote)

    await SCENARIOS[name](in_process.application, own_word(name))
    await SCENARIOS[name](over_http.application, own_word(name))

    assert in_process.steps
    assert over_http.steps == in_process.steps
