"""StudioApplication: every operation of Studio, in process (`Studio`) and over HTTP (`RemoteStudio`) alike.

Every operation raises members of `contract.errors.StudioApplicationError`; the remote one also
`RequestRefused`. Invalid input is a ValidationFailure before anything is read or written.
"""

from typing import Protocol

from contract.artifact_operations import ArtifactOperations
from contract.base import ContractModel
from contract.definition_operations import DefinitionOperations
from contract.project_operations import ProjectOperations
from contract.run_operations import RunOperations
from contract.schedule_operations import ScheduleOperations
from contract.upkeep_operations import UpkeepOperations


class ContractInfo(ContractModel):
    """What a daemon speaks: contract version, capabilities by name, and every published limit."""

    version: str
    capabilities: tuple[str, ...]
    limits: dict[str, int | float]


class StudioApplication(
    RunOperations,
    DefinitionOperations,
    ArtifactOperations,
    ProjectOperations,
    ScheduleOperations,
    UpkeepOperations,
    Protocol,
):
    """Every operation; each capability's are declared in a module of its own."""

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        ...
