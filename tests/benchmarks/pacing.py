"""What every producer of messages does, whoever it records for."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

# As often as a lively agent speaks; far apart enough that no message waits for the one before.
PAUSE_SECONDS: Final = 0.05
# Key of a message's content: when it was sent, on the clock that all processes of a machine share.
SENT: Final = "sent"

Send = Callable[[int, dict[str, float]], Awaitable[None]]


async def produce(send: Send, count: int) -> None:
    """Send `count` messages, each a pause after the one before; `send` gets its number and its content."""
    for number in range(count):
        await asyncio.sleep(PAUSE_SECONDS)
        await send(number, {SENT: time.perf_counter()})
