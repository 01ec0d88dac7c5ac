"""DjangoRunRemoval: RunRemovalPort over the ORM."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from django.db.models import Exists, F, Model, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from contract.ports import ChangeFeed
from runs.cursors import ListPosition
from runs.models import (
    BranchRecord,
    EventReceiptRecord,
    GraphRecord,
    InvocationRecord,
    LaunchRecord,
    MessageRecord,
    RunRecord,
    RunTagRecord,
    SignalRecord,
    TransitionRecord,
    UsageRecord,
)
from runs.retention import Candidate, PruneRule
from runs.services.following import run_topic
from runs.services.pruning import ArtifactRemoval, Removal, RunReferences
from runs.state import room
from runs.state.rows import Row
from runs.transitions import TERMINAL
from studio_project import publishing
from studio_project.statedb import StateDB

# Everything that refers to a run, in an order in which nothing is left that refers to what went before.
BELONGINGS: Final[tuple[type[Model], ...]] = (
    MessageRecord,
    SignalRecord,
    EventReceiptRecord,
    UsageRecord,
    GraphRecord,
    RunTagRecord,
    TransitionRecord,
    LaunchRecord,
    BranchRecord,
)
_DELETED_FROM: Final[tuple[type[Model], ...]] = (*BELONGINGS, RunRecord, InvocationRecord)
_TABLES: Final = tuple(model._meta.db_table for model in _DELETED_FROM)  # noqa: SLF001 (Django's own name for it)
_OPEN: Final = ("queued", "running")


class DjangoRunRemoval:
    """Removes runs with sets of rows at a time: no record is ever loaded to be deleted."""

    def __init__(
        self,
        db: StateDB,
        *,
        feed: ChangeFeed,
        artifacts: ArtifactRemoval,
        references: Sequence[RunReferences] = (),
    ) -> None:
        """Take the executor, who is told, and what takes part in the transaction of a removal."""
        self._db = db
        self._feed = feed
        self._artifacts = artifacts
        self._references = references
        self._removed = False

    async def candidates(self, rule: PruneRule, *, after: ListPosition | None, limit: int) -> tuple[Candidate, ...]:
        """Walk the index of ends from its oldest: one query."""
        return await self._db.read(partial(_candidates, rule, after, limit))

    async def survey(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        """Judge them in one snapshot."""
        return await self._db.read(partial(self._survey, rule, numbers), snapshot=True)

    async def remove(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        """Remove what the rule still means, while the rows of these runs and their invocations are locked."""
        removal = await publishing.write(self._db, self._feed, partial(self._remove, rule, numbers))
        self._removed = self._removed or bool(removal.run_ids)
        return removal

    async def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Look the ids up in their own index."""
        found = RunRecord.objects.filter(run_id__in=run_ids).values_list("run_id", flat=True)
        return await self._db.read(lambda: frozenset(found.all()))

    async def give_back(self, *, finished: bool) -> bool:
        """Do the next step on SQLite; on PostgreSQL all at once when it is worth the reading of whole tables."""
        if self._db.vendor == "sqlite":
            return await room.give_back(self._db)
        if finished and self._removed:
            await room.vacuum(self._db, [*_TABLES, *self._artifacts.tables])
            self._removed = False
        return False

    def _survey(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        found = list(_runs_to_judge(rule, numbers))
        return self._removal(found, self._free(found))

    def _remove(self, rule: PruneRule, numbers: Sequence[int]) -> tuple[Removal, publishing.Topics]:
        found = list(_runs_to_judge(rule, numbers).select_for_update())
        # A run that is being started in one of them holds its invocation, and is seen when it lets go.
        causes = _causes(found)
        held = InvocationRecord.objects.filter(invocation_id__in=causes).order_by("id").select_for_update()
        list(held.values_list("id", flat=True))
        free = self._free(found)
        removal = self._removal(found, free)
        going = [row["id"] for row in free]
        for model in BELONGINGS:
            _delete(model._default_manager.filter(run__in=going))  # noqa: SLF001 (Django's own name for it)
        self._artifacts.remove_of_runs(removal.run_ids)
        _delete(RunRecord.objects.filter(id__in=going, status__in=TERMINAL))
        self._remove_invocations(_causes(free))
        return removal, [run_topic(run_id) for run_id in removal.run_ids]

    def _free(self, found: Sequence[Row]) -> list[Row]:
        """Return those of the runs that nothing holds back."""
        busy = frozenset(map(str, with_open_runs(_causes(found))))
        run_ids = [row["run_id"] for row in found]
        referenced = frozenset[str]().union(*(port.referenced(run_ids) for port in self._references))
        return [row for row in found if row["invocation_id"] not in busy and row["run_id"] not in referenced]

    def _removal(self, found: Sequence[Row], free: Sequence[Row]) -> Removal:
        run_ids = frozenset(row["run_id"] for row in free)
        return Removal(
            run_ids=run_ids,
            messages=sum(row["message_count"] for row in free),
            signals=sum(row["signal_count"] for row in free),
            artifacts=self._artifacts.count_of_runs(run_ids),
            kept=len(found) - len(free),
        )

    def _remove_invocations(self, causes: Iterable[str]) -> None:
        """Remove those that have no run left, unless they have artifacts."""
        left = RunRecord.objects.filter(invocation_id=OuterRef("invocation_id"))
        empty = InvocationRecord.objects.filter(~Exists(left), invocation_id__in=causes)
        empty_ids = frozenset(empty.values_list("invocation_id", flat=True))
        if going := empty_ids - self._artifacts.owning_invocations(empty_ids):
            _delete(InvocationRecord.objects.filter(invocation_id__in=going))


def line(rule: PruneRule, after: ListPosition | None = None) -> QuerySet[RunRecord, Row]:
    """Return the runs that a rule means, by the end of each, the oldest first."""
    found: QuerySet[RunRecord, Any] = _meant(rule).order_by("ended_at", "id")
    if after is not None:
        # The first condition alone bounds the index walk; the second settles ties.
        found = found.filter(Q(ended_at__gte=after.key) & (Q(ended_at__gt=after.key) | Q(id__gt=after.number)))
    return found.annotate(rows=F("message_count") + F("signal_count")).values("id", "run_id", "ended_at", "rows")


def with_open_runs(causes: Iterable[str]) -> QuerySet[RunRecord, Any]:
    """Return those of the invocations in which a run has not ended.

    As an expression: few runs are open, but a database may rather walk every run that an invocation ever had.
    """
    found = RunRecord.objects.alias(cause=Coalesce("invocation_id", Value(""))).filter(cause__in=causes)
    return found.filter(status__in=_OPEN).values_list("invocation_id", flat=True)


def _candidates(rule: PruneRule, after: ListPosition | None, limit: int) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(number=row["id"], run_id=row["run_id"], ended_at=row["ended_at"], rows=row["rows"])
        for row in line(rule, after)[:limit]
    )


def _meant(rule: PruneRule) -> QuerySet[RunRecord]:
    given: Mapping[str, Any] = {"status__in": rule.status or None, "project": rule.project}
    return RunRecord.objects.filter(
        ended_at__lte=rule.ended_by, **{name: value for name, value in given.items() if value is not None}
    )


def _runs_to_judge(rule: PruneRule, numbers: Sequence[int]) -> QuerySet[Any, Row]:
    """Return those of the runs that the rule still means. In one order, so that removals never wait in a circle."""
    found: QuerySet[Any, Any] = _meant(rule).filter(id__in=numbers).order_by("id")
    return found.values("id", "run_id", "invocation_id", "message_count", "signal_count")


def _causes(found: Iterable[Row]) -> set[str]:
    return {row["invocation_id"] for row in found} - {None}


def _delete(rows: QuerySet[Any, Any]) -> None:
    """Delete in one statement. Django's own way loads every row first, to look for what refers to it."""
    rows._raw_delete(rows.db)  # noqa: SLF001 (there is no public name)
