"""The one home of the wall clock and of randomness."""

import secrets
import time


class SystemClock:
    """The clocks of this machine."""

    def now(self) -> float:
        """Return the current instant in epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds that only grow."""
        return time.monotonic()


class RandomIds:
    """Identifiers of 64 random bits: new on every host without asking anyone."""

    def new_id(self) -> str:
        """Return 16 lower-case hexadecimal characters."""
        return secrets.token_hex(8)
