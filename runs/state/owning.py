"""DjangoRunOwners: whether there is a run or an invocation, for those whose records belong to one."""

from typing import Protocol

from runs.models import InvocationRecord, RunRecord
from studio_project.statedb import StateDB


class OwnerName(Protocol):
    """A run or an invocation, by its public identifier."""

    @property
    def kind(self) -> str:
        """`run` or `invocation`."""
        ...

    @property
    def identifier(self) -> str:
        """Its id."""
        ...


class DjangoRunOwners:
    """Looks owners up."""

    def __init__(self, db: StateDB) -> None:
        """Take the executor."""
        self._db = db

    async def exists(self, owner: OwnerName) -> bool:
        """Ask the index of the ids: one query."""
        if owner.kind == "run":
            found = RunRecord.objects.filter(run_id=owner.identifier)
            return await self._db.read(found.exists)
        causes = InvocationRecord.objects.filter(invocation_id=owner.identifier)
        return await self._db.read(causes.exists)
