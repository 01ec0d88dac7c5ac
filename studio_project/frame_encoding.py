"""Frames as they go over the wire, encoded once for all viewers that are taking the same one."""

from weakref import WeakValueDictionary

from contract.base import ContractModel
from studio_project.pieces import cut


def encode(cursor: str | None, payload: ContractModel) -> bytes:
    """Return one frame. JSON holds no raw line end, so it is one `data` line; a frame without position has no id."""
    position = f"id: {cursor}\n" if cursor else ""
    return f"{position}data: {payload.model_dump_json()}\n\n".encode()


class EncodedFrame:
    """The pieces of one frame. It holds the payload too: while it lives, no other object has that identity."""

    __slots__ = ("__weakref__", "payload", "pieces")

    def __init__(self, cursor: str, payload: ContractModel) -> None:
        """Encode a payload."""
        self.payload = payload
        self.pieces = cut(encode(cursor, payload))


class FrameEncoder:
    """Shares encoded frames for as long as somebody sends them: viewers of a run share its entries, by identity.

    So a frame that many slow viewers are taking is in memory once, and gone with the last of them.
    """

    def __init__(self) -> None:
        """Share nothing yet."""
        self._in_use: WeakValueDictionary[tuple[int, str], EncodedFrame] = WeakValueDictionary()

    def __len__(self) -> int:
        """How many frames somebody sends."""
        return len(self._in_use)

    def encoded(self, cursor: str, payload: ContractModel) -> EncodedFrame:
        """Return a frame, to be held while it is sent."""
        key = (id(payload), cursor)
        frame = self._in_use.get(key)
        if frame is None:
            frame = self._in_use[key] = EncodedFrame(cursor, payload)
        return frame
