"""What a daemon says of itself: a part of Studio."""

from typing import Final

from contract import limits
from contract.application import ContractInfo

CAPABILITIES: Final = (
    "runs",
    "run-events/1",
    "run-streams",
    "invocations",
    "definitions",
    "execution",
    "artifacts",
    "projects",
    "schedules",
    "upkeep",
)


class ContractOperations:
    """The operation that describes all others."""

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        return ContractInfo(version=limits.CONTRACT_VERSION, capabilities=CAPABILITIES, limits=limits.PUBLISHED)
