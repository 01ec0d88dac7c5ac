"""The folders of runs, as runs see them."""

from collections.abc import Sequence


class FakeRunFiles:
    """RunFilesPort that remembers what was asked of it; `fault` is raised by every call, if set."""

    def __init__(self) -> None:
        self.prepared: list[str] = []
        self.measured: list[tuple[str, tuple[str, ...]]] = []
        self.collected: list[str] = []
        self.fault: Exception | None = None

    async def prepare(self, run_id: str) -> str:
        self._fail()
        self.prepared.append(run_id)
        return f"/artifacts/{run_id}"

    async def measure(self, run_id: str, paths: Sequence[str]) -> None:
        self._fail()
        self.measured.append((run_id, tuple(paths)))

    async def collect(self, run_id: str) -> None:
        self._fail()
        self.collected.append(run_id)

    def _fail(self) -> None:
        if self.fault is not None:
            raise self.fault
