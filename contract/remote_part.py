"""What every part of RemoteStudio has: the exchange with one daemon."""

import asyncio

from contract.http_exchange import HttpExchange
from contract.stream_following import Sleep


class RemotePart:
    """Operations at the other end of an exchange."""

    def __init__(self, exchange: HttpExchange, *, sleep: Sleep = asyncio.sleep) -> None:
        """Take the exchange; `sleep` waits between reconnects of streams."""
        self._exchange = exchange
        self._sleep = sleep
