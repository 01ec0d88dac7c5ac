"""A worker that starts a child and is killed, as by the system, before or after it let the child begin.

`python -m tests.runs.execution.dying_worker COUNT` reads an order, as JSON, and prints the child's identity. It lets
the child begin unless the count is 0, and then waits until so many processes said that they are ready.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import asdict
from pathlib import Path

from contract.events import ProcessIdentity
from runs.execution.child import Child, ChildOrder
from tests.runs.execution.children import PATIENCE_SECONDS, Heard

_ROOT = Path(__file__).parents[3]


async def identity_of_child_left_by_worker(order: ChildOrder, *, ready: int = 0) -> ProcessIdentity:
    """Let a worker start a child, wait until so many processes are ready, and die; return the identity of the child."""
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.runs.execution.dying_worker", str(ready)),
        cwd=_ROOT,
        env={},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        told, _ = await worker.communicate(json.dumps(asdict(order)).encode())
    assert worker.returncode == -signal.SIGKILL
    return ProcessIdentity.model_validate_json(told)


async def _work(ready: int) -> None:
    order = json.load(sys.stdin)
    child = Child.start(ChildOrder(**order | {"argv": tuple(order["argv"])}))
    if ready:
        await child.release()
        heard = Heard()
        reading = asyncio.create_task(child.read(heard.take))
        await heard.line(ready - 1)
        reading.cancel()
    sys.stdout.write(child.identity.model_dump_json())
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(_work(int(sys.argv[1])))
