"""Names for the shapes of ASGI (asgi.readthedocs.io, HTTP specification 2.x) as plain as the servers pass them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
RawHeaders = list[tuple[bytes, bytes]]

# Where a request's scope keeps what tells of its sender's leaving, once its body was read.
RECEIVE: Final = "studio.receive"
