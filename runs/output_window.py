"""What is taken from a child's output: its lines, of bounded length, and of a flood only the two ends."""

from codecs import getincrementaldecoder
from collections.abc import Sequence
from typing import Final, NamedTuple

from contract.limits import OUTPUT_HEAD_BYTES, OUTPUT_TAIL_BYTES

# Agent CLIs print an event a line, some of several 100 KiB; an event is at most EVENT_MAX_BYTES, 1 MiB.
LINE_MAX_BYTES: Final = 1024 * 1024
# What is longer is handed on in parts that make messages of a size that can be looked at.
PART_BYTES: Final = 64 * 1024

_DECODER = getincrementaldecoder("utf-8")
# Any text can be counted and cut, also one that could not be sent.
_CODED: Final = ("utf-8", "surrogatepass")


class OutputPiece(NamedTuple):
    """A line of a stream, or a part of one that is too long. `text` is without the line's end, which is LF.

    `whole`: the piece is a line by itself. `ended`: a line's end follows; it is missing at the end of a stream, and
    between the parts of a line.
    """

    text: str
    whole: bool
    ended: bool


class OutputLines:
    """Cuts the bytes of one stream into lines, UTF-8 with U+FFFD for what is none; holds at most one line."""

    def __init__(self, *, line_bytes: int = LINE_MAX_BYTES, part_bytes: int = PART_BYTES) -> None:
        self._line_bytes = line_bytes
        self._part_bytes = part_bytes
        self._held = bytearray()
        self._in_parts = False
        self._decoder = _DECODER("replace")

    def feed(self, chunk: bytes) -> Sequence[OutputPiece]:
        """Return the pieces that the next bytes complete."""
        # LF is never a part of another character in UTF-8: lines can be cut before they are decoded.
        *lines, rest = chunk.split(b"\n")
        pieces: list[OutputPiece] = []
        for line in lines:
            if not self._held and not self._in_parts and len(line) <= self._line_bytes:
                pieces.append(OutputPiece(line.decode("utf-8", "replace"), whole=True, ended=True))
            else:
                pieces += self._grown(line)
                pieces.append(self._last(ended=True))
        return [*pieces, *self._grown(rest)]

    def finish(self) -> Sequence[OutputPiece]:
        """Return what the stream ended with, if it did not end with a line's end."""
        return [self._last(ended=False)] if self._held or self._in_parts else []

    def _grown(self, data: bytes) -> list[OutputPiece]:
        self._held += data
        if not self._in_parts and len(self._held) <= self._line_bytes:
            return []
        self._in_parts = True
        long, self._held = self._held, bytearray()
        cuts = range(0, len(long), self._part_bytes)
        texts = [self._decoder.decode(long[at : at + self._part_bytes]) for at in cuts]
        return [OutputPiece(text, whole=False, ended=False) for text in texts if text]

    def _last(self, *, ended: bool) -> OutputPiece:
        text = self._decoder.decode(bytes(self._held), final=True)
        whole = not self._in_parts
        self._held.clear()
        self._in_parts = False
        return OutputPiece(text, whole=whole, ended=ended)


class OutputWindow:
    """Keeps both ends of a text that may have no end: the head as it comes, and the tail when it has ended.

    Sizes are those of the text in UTF-8. A character is kept whole or not at all.
    """

    def __init__(self, *, head_bytes: int = OUTPUT_HEAD_BYTES, tail_bytes: int = OUTPUT_TAIL_BYTES) -> None:
        self._head_left = head_bytes
        self._tail_bytes = tail_bytes
        self._tail = bytearray()
        self._beyond = 0

    def feed(self, text: str) -> str:
        """Return what of the next text belongs to the head: all of it, until the head is full."""
        data = text.encode(*_CODED)
        kept = len(data) if len(data) <= self._head_left else _start_of_character(data, self._head_left)
        # A head that could not take a character takes no later one either: it has no gaps.
        self._head_left = self._head_left - kept if kept == len(data) else 0
        self._beyond += len(data) - kept
        self._remember(data)
        return text if kept == len(data) else data[:kept].decode(*_CODED)

    def rest(self) -> tuple[int, str]:
        """Return the bytes withheld after the head, and the text that comes after those."""
        text = self.end(min(self._beyond, self._tail_bytes))
        return self._beyond - len(text.encode(*_CODED)), text

    def end(self, size_bytes: int) -> str:
        """Return the end of the whole text, head or not: at most this size, and at most the tail's."""
        size = min(size_bytes, self._tail_bytes, len(self._tail))
        data = bytes(self._tail[len(self._tail) - size :])
        return data[_first_character(data) :].decode(*_CODED)

    def _remember(self, data: bytes) -> None:
        self._tail += data[-self._tail_bytes :]
        # Cut at twice the size and not each time: so a byte is moved about once.
        if len(self._tail) > 2 * self._tail_bytes:
            del self._tail[: -self._tail_bytes]


def _start_of_character(data: bytes, at: int) -> int:
    """Return where the character begins that the byte at this place belongs to."""
    while at > 0 and _continues(data[at]):
        at -= 1
    return at


def _first_character(data: bytes) -> int:
    """Return where the first character begins that is whole."""
    return next((at for at, byte in enumerate(data[:4]) if not _continues(byte)), len(data[:4]))


def _continues(byte: int) -> bool:
    # 10xxxxxx: the second to fourth byte of a character (RFC 3629).
    return byte & 0xC0 == 0x80
