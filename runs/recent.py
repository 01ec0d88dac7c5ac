"""Memory of bounded size: a stream may be endless, what its reader keeps of it may not."""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

V = TypeVar("V")

# More tool calls, items or blocks than an agent ever has open at a time; a few megabytes at the very most.
RECENT_MAX: Final = 10_000


class Recent(Generic[V]):
    """The newest values by key; with one too many, the oldest is forgotten."""

    def __init__(self, entries_max: int = RECENT_MAX) -> None:
        self._entries: OrderedDict[str, V] = OrderedDict()
        self._entries_max = entries_max

    def find(self, key: str | None) -> V | None:
        """Return the value of a key, or None."""
        return None if key is None else self._entries.get(key)

    def keep(self, key: str, value: V) -> bool:
        """Keep a value, in place of an older one; say whether the key is new."""
        is_new = key not in self._entries
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)
        return is_new
