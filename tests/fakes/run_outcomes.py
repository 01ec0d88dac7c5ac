"""InMemoryRunOutcomes: how the runs of an InMemoryRuns stand, for those who wait for their ends."""

from collections.abc import Collection

from contract.money import add_known
from runs.transitions import is_terminal
from schedules.services.ports import RunOutcome
from tests.fakes.runs import InMemoryRuns


class InMemoryRunOutcomes:
    """Reads how runs stand."""

    def __init__(self, runs: InMemoryRuns) -> None:
        self._runs = runs

    async def outcomes(self, run_ids: Collection[str]) -> dict[str, RunOutcome]:
        await self._runs.reach("outcomes")
        return {
            run_id: RunOutcome(
                status=run.status,
                is_terminal=is_terminal(run.status),
                cost_micros=run.state.cost_micros,
                tokens=add_known(run.state.input_tokens, run.state.output_tokens),
            )
            for run_id, run in self._runs.runs.items()
            if run_id in run_ids
        }

    async def open_count(self) -> int:
        await self._runs.reach("open_count")
        launched = [run for run in self._runs.runs.values() if run.launch is not None]
        return sum(run.status == "queued" or run.held for run in launched)
