"""The processes of a machine that exists only here."""

from contract.events import ProcessIdentity

HOST = "this-host"
BOOT = "this-boot"
_OWN_PID = 1


class FakeProcesses:
    """A ProcessProbe and WriterProbe over a table of pids. A pid can be reused; a pid with its start time cannot."""

    def __init__(self) -> None:
        self._started_at: dict[int, float] = {}

    def start(self, pid: int, started_at: float = 100.0) -> ProcessIdentity:
        """Let a process begin, and name it for good."""
        self._started_at[pid] = started_at
        return ProcessIdentity(host=HOST, pid=pid, started_at=started_at, boot_id=BOOT)

    def own(self) -> ProcessIdentity:
        """Name the process that asks: the first one."""
        return self.start(_OWN_PID)

    def end(self, pid: int) -> None:
        """Let a process end."""
        del self._started_at[pid]

    def alive(self, process: ProcessIdentity) -> bool | None:
        if self.elsewhere(process):
            return None
        started_at = self._started_at.get(process.pid)
        if started_at is None or process.boot_id not in (None, BOOT):
            return False
        return None if process.started_at is None else process.started_at == started_at

    def elsewhere(self, process: ProcessIdentity) -> bool:
        return process.host != HOST
