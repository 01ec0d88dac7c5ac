"""A clock that stands still, and identifiers that count."""

START_AT = 1_700_000_000.0


class FixedClock:
    """A Clock that moves only when told."""

    def __init__(self, now: float = START_AT) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> float:
        """Let time pass and return the new instant."""
        self._monotonic += seconds
        return self.step(seconds)

    def step(self, seconds: float) -> float:
        """Set the wall clock alone, back or forth, as an administrator does."""
        self._now += seconds
        return self._now


class SequentialIds:
    """An IdGenerator that counts: 16 hexadecimal characters as the real one's."""

    def __init__(self) -> None:
        self._made = 0

    def new_id(self) -> str:
        self._made += 1
        return f"{self._made:016x}"
