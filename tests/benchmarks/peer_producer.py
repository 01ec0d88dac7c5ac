"""`python -m tests.benchmarks.peer_producer RUN COUNT DATABASE`: writes messages into the peer's database."""

import asyncio
import sys
from pathlib import Path

from tests.benchmarks import peer_store
from tests.benchmarks.pacing import produce


async def main(run_id: str, count: int, database: Path) -> None:
    """Write one message at a time, as the peer's command line does."""

    async def send(number: int, content: dict[str, float]) -> None:
        peer_store.add_message(database, run_id, number, content)

    await produce(send, count)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
