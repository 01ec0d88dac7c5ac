"""Removal and statistics over the in-memory runs, and the folders of their files."""

from collections.abc import Collection, Sequence

from contract.money import add_known
from contract.stats import QueueStats, StoreStats
from runs.cursors import ListPosition
from runs.retention import Candidate, PruneRule
from runs.services.following import run_topic
from runs.services.pruning import ClearedFolders, Removal, RunReferences
from runs.services.statistics import Figures
from runs.spending import Spend
from runs.transitions import is_terminal
from tests.fakes.run_records import StoredRun
from tests.fakes.run_writes import InMemoryRunWrites


class InMemoryRunRemoval:
    """RunRemovalPort. `owned_invocations` have artifacts of their own; `room` is how often it can be given back."""

    def __init__(self, runs: InMemoryRunWrites, references: Sequence[RunReferences] = ()) -> None:
        self.room = 0
        self.finished: list[bool] = []
        self.owned_invocations: set[str] = set()
        self._store = runs
        self._references = references

    async def candidates(self, rule: PruneRule, *, after: ListPosition | None, limit: int) -> tuple[Candidate, ...]:
        await self._store.reach("candidates")
        begin = (-1.0, 0) if after is None else (after.key, after.number)
        found = sorted(
            (
                Candidate(
                    number=run.number,
                    run_id=run.run_id,
                    ended_at=run.ended_at,
                    rows=len(run.messages) + len(run.signals),
                )
                for run in self._store.runs.values()
                if run.ended_at is not None and _is_meant(run, rule)
            ),
            key=lambda run: (run.ended_at, run.number),
        )
        return tuple(run for run in found if (run.ended_at, run.number) > begin)[:limit]

    async def survey(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        await self._store.reach("survey")
        found = self._found(rule, numbers)
        return _removal(found, self._free(found))

    async def remove(self, rule: PruneRule, numbers: Sequence[int]) -> Removal:
        await self._store.reach("remove")
        found = self._found(rule, numbers)
        free = self._free(found)
        for run in free:
            del self._store.runs[run.run_id]
        left = {run.command.invocation_id for run in self._store.runs.values()} | self.owned_invocations
        for cause in {run.command.invocation_id for run in free} - left:
            self._store.invocations.pop(cause or "", None)
        self._store.feed.publish(run_topic(run.run_id) for run in free)
        return _removal(found, free)

    async def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        await self._store.reach("known")
        return frozenset(run_ids) & self._store.runs.keys()

    async def give_back(self, *, finished: bool) -> bool:
        await self._store.reach("give_back")
        self.finished.append(finished)
        self.room = max(self.room - 1, 0)
        return self.room > 0

    def _found(self, rule: PruneRule, numbers: Sequence[int]) -> list[StoredRun]:
        return [run for run in self._store.runs.values() if run.number in numbers and _is_meant(run, rule)]

    def _free(self, found: Sequence[StoredRun]) -> list[StoredRun]:
        opened = [run for run in self._store.runs.values() if not is_terminal(run.status)]
        busy = {run.command.invocation_id for run in opened} - {None}
        run_ids = [run.run_id for run in found]
        referenced = frozenset[str]().union(*(port.referenced(run_ids) for port in self._references))
        return [run for run in found if run.command.invocation_id not in busy and run.run_id not in referenced]


def _is_meant(run: StoredRun, rule: PruneRule) -> bool:
    return (
        run.ended_at is not None
        and run.ended_at <= rule.ended_by
        and (not rule.status or run.status in rule.status)
        and rule.project in (None, run.command.project)
    )


def _removal(found: Sequence[StoredRun], free: Sequence[StoredRun]) -> Removal:
    return Removal(
        run_ids=frozenset(run.run_id for run in free),
        messages=sum(len(run.messages) for run in free),
        signals=sum(len(run.signals) for run in free),
        artifacts=sum(len(run.artifacts) for run in free),
        kept=len(found) - len(free),
    )


class InMemoryRunFolders:
    """RunFolders: bytes by id, and when a folder changed last. `stuck` ones cannot be removed; `fault` is raised."""

    def __init__(self) -> None:
        self.folders: dict[str, int] = {}
        self.changed_at: dict[str, float] = {}
        self.stuck: set[str] = set()
        self.fault: BaseException | None = None

    async def names(self, *, untouched_since: float | None) -> tuple[str, ...]:
        return tuple(
            name for name in self.folders if untouched_since is None or self.changed_at.get(name, 0.0) < untouched_since
        )

    async def size(self, run_ids: Collection[str]) -> int:
        return sum(self.folders.get(name, 0) for name in run_ids)

    async def clear(self, run_ids: Collection[str]) -> ClearedFolders:
        if self.fault is not None:
            raise self.fault
        failed = self.stuck.intersection(run_ids)
        gone = [self.folders.pop(name, 0) for name in run_ids if name not in failed]
        return ClearedFolders(file_bytes=sum(gone), failed=tuple(failed))


class KeptRuns:
    """RunReferences to the runs in `run_ids`, made only after it was asked `silent` times; `fault` is raised."""

    def __init__(self, *run_ids: str) -> None:
        self.run_ids = set(run_ids)
        self.silent = 0
        self.fault: Exception | None = None

    def referenced(self, run_ids: Collection[str]) -> frozenset[str]:
        if self.fault is not None:
            raise self.fault
        self.silent -= 1
        if self.silent >= 0:
            return frozenset()
        return frozenset(self.run_ids.intersection(run_ids))


class InMemoryStats:
    """StatsPort over the in-memory runs."""

    def __init__(self, runs: InMemoryRunWrites) -> None:
        self._store = runs

    async def figures(self, *, since: float, until: float, project: str | None) -> Figures:
        await self._store.reach("figures")
        counts: dict[str, int] = {}
        spends: dict[str | None, Spend] = {}
        for run in self._store.runs.values():
            counts[run.status] = counts.get(run.status, 0) + 1
            started = run.started_at is not None and since <= run.started_at < until
            if started and project in (None, run.command.project):
                spends[run.command.project] = _spent(spends.get(run.command.project), run)
        return Figures(
            runs_by_status=counts,
            spends=tuple(spends.values()),
            queue=self._queue(),
            store=StoreStats(vendor="memory", database_bytes=0, wal_bytes=None, free_bytes=None),
        )

    def _queue(self) -> QueueStats:
        launched = [run for run in self._store.runs.values() if run.launch is not None]
        waiting = [run.launch.queued_at for run in launched if run.launch and run.status == "queued" and not run.held]
        return QueueStats(
            queued=len(waiting),
            held=sum(run.held for run in launched),
            oldest_queued_at=min(waiting, default=None),
        )


def _spent(before: Spend | None, run: StoredRun) -> Spend:
    before = before or Spend(project=run.command.project)
    state = run.state
    return Spend(
        project=before.project,
        runs=before.runs + 1,
        cost_micros=add_known(before.cost_micros, state.cost_micros),
        input_tokens=add_known(before.input_tokens, state.input_tokens),
        output_tokens=add_known(before.output_tokens, state.output_tokens),
        runs_without_cost=before.runs_without_cost + (state.cost_micros is None),
        runs_without_tokens=before.runs_without_tokens + (state.input_tokens is None and state.output_tokens is None),
    )
