"""The catalogue leaves nothing out: every operation, and for each every error that the contract says it has."""

import inspect
from pathlib import Path

from contract.application import StudioApplication
from contract.errors import StudioApplicationError
from studio_project.composition import Studio
from studio_project.contract_documents import openapi_document
from studio_project.openapi import ERROR_CODES
from tests.parity.catalogue import SCENARIOS, own_word
from tests.parity.test_failing_writes import WRITES
from tests.parity.test_parity import MODULES
from tests.parity.test_raw_input import REFUSED_OPERATIONS
from tests.parity.witness import Witness

# Whatever the operation, its store may be away: tests/parity/test_every_error.py has that for all of them at once.
_OF_EVERY_OPERATION = {"state_unavailable"}
# HTTP has a route for each kind of its commands.
_MUTATION = "mutate_schedule"
_ROUTES_OF_MUTATION = {"create_schedule", "patch_schedule", "set_schedule_enabled"}


async def test_every_operation_has_a_scenario_for_its_success_and_each_of_its_errors(
    local: Studio, local_home: Path
) -> None:
    met = {(operation, "validation") for operation in REFUSED_OPERATIONS}
    met |= {(operation, "reconciliation_required") for operation in WRITES}

    for name, scenario in SCENARIOS.items():
        witness = Witness(local)
        await scenario(witness.application, own_word(name), local_home)
        met |= witness.met()

    assert _expected() - met == set()


def test_every_operation_of_the_application_is_published() -> None:
    assert _operations() == set(_published())


def test_every_module_of_scenarios_is_named() -> None:
    assert {function.__module__ for function in SCENARIOS.values()} == {module.__name__ for module in MODULES}


def _expected() -> set[tuple[str, str]]:
    expected = {(operation, "ok") for operation in _operations()}
    for operation, codes in _published().items():
        expected |= {(operation, code) for code in codes}
    return expected


def _operations() -> set[str]:
    return {name for name, _ in inspect.getmembers(StudioApplication, inspect.isfunction) if not name.startswith("_")}


def _published() -> dict[str, set[str]]:
    """Operations with the errors of the taxonomy that each can end in by itself."""
    taxonomy = {error.code for error in StudioApplicationError.__subclasses__()} - _OF_EVERY_OPERATION
    found: dict[str, set[str]] = {}
    for item in openapi_document()["paths"].values():
        for operation in item.values():
            takes_input = "requestBody" in operation or any(
                parameter["in"] != "path" for parameter in operation["parameters"]
            )
            impossible = set() if takes_input else {"validation"}
            name = operation["operationId"]
            codes = found.setdefault(_MUTATION if name in _ROUTES_OF_MUTATION else name, set())
            codes |= (taxonomy & set(operation[ERROR_CODES])) - impossible
    return found
