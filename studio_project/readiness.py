"""How far the start-up of this process has come."""


class Readiness:
    """Phase and progress of the start-up. A process that has none is ready from the beginning.

    Written by the one event loop that starts up, read by the gate and by `/ready`.
    """

    def __init__(self, *, ready: bool = True) -> None:
        """Start ready, or (the daemon) in the phase `starting`."""
        self.phase = "ready" if ready else "starting"
        self.done = 0
        self.total = 0
        self.ready = ready

    def enter(self, phase: str, total: int = 0) -> None:
        """Begin a phase of `total` steps; zero when the number is not known."""
        self.phase, self.done, self.total = phase, 0, total

    def advance(self, steps: int = 1) -> None:
        """Count finished steps of the current phase."""
        self.done += steps

    def mark_ready(self) -> None:
        """Open the gate."""
        self.enter("ready")
        self.ready = True
