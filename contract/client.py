"""RemoteStudio: every operation of StudioApplication over HTTP and server-sent events.

Requests carry the same models as in process, answers are validated against the same models, and errors
come back as the errors they were (`contract.http_exchange`). Streams follow `contract.stream_following`:

    done, error not retryable                                  yielded; the end
    heartbeat, message, signal                                 yielded
    end without done, network error, four silent heartbeats,
    shutdown, truncated, error retryable, status >= 500        connect again from the last cursor
    any other status                                           its error is raised
"""

import asyncio
from types import TracebackType
from typing import Self

import httpx

from contract.application import ContractInfo
from contract.http_exchange import HttpExchange
from contract.remote_artifacts import RemoteArtifacts
from contract.remote_definitions import RemoteDefinitions
from contract.remote_projects import RemoteProjects
from contract.remote_runs import RemoteRuns
from contract.remote_schedules import RemoteSchedules
from contract.remote_upkeep import RemoteUpkeep
from contract.stream_following import Sleep

# Longer than the slowest answer to be expected, short enough that a script notices a hung daemon.
TIMEOUT_SECONDS = 30.0


class RemoteStudio(RemoteRuns, RemoteDefinitions, RemoteArtifacts, RemoteProjects, RemoteSchedules, RemoteUpkeep):
    """A StudioApplication at a URL. Use as an async context manager, or call `close`.

    `url` is the daemon's root, such as http://127.0.0.1:8765. `token` is the bearer; it is never logged,
    shown, or sent anywhere else. `transport` replaces the network, `sleep` the waiting between reconnects,
    for tests. Raises ValidationFailure for a URL or token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        exchange = HttpExchange(url, token=token, transport=transport, timeout_seconds=timeout_seconds)
        super().__init__(exchange, sleep=sleep)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; open streams end with an error."""
        await self._exchange.close()

    async def describe_contract(self) -> ContractInfo:
        """Return version, capabilities and limits."""
        return await self._exchange.get(ContractInfo, "/api/v1/contract")
