"""Bodies in pieces, so that a client that does not read costs the server one of them and not the whole."""

from collections.abc import Iterator
from typing import Final

from studio_project.asgi_types import Event

# Above this, Twisted's transports ask a writer to stop (`FileDescriptor.bufferSize`): a piece in its chunk is over.
PIECE_BYTES: Final = 64 * 1024


def cut(body: bytes) -> tuple[bytes, ...]:
    """Return a body in pieces of at most PIECE_BYTES; an empty one is one empty piece."""
    if len(body) <= PIECE_BYTES:
        return (body,)
    return tuple(body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES))


def in_pieces(message: Event) -> Iterator[Event]:
    """Yield a message of an application, a large body of it as several messages. The last says whether more comes."""
    body = message.get("body", b"")
    if len(body) <= PIECE_BYTES:
        yield message
        return
    for start in range(0, len(body), PIECE_BYTES):
        end = start + PIECE_BYTES
        more = end < len(body) or bool(message.get("more_body"))
        yield {**message, "body": body[start:end], "more_body": more}
