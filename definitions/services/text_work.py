"""Where texts of definitions are compared and checked, a few at a time.

A text of a mebibyte takes up to half a second of the interpreter, and a comparison hundreds of megabytes. In the
threads that everybody shares, many at once would keep all other work waiting; here they wait for each other.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

COMPARISONS: Final = ThreadPoolExecutor(max_workers=1, thread_name_prefix="comparison")
# Apart from comparisons, so that a save waits for none; two, so that a small one may pass a large one.
CHECKS: Final = ThreadPoolExecutor(max_workers=2, thread_name_prefix="text-check")


async def in_turn(pool: ThreadPoolExecutor, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `work` returns, or raise what it raises, when its turn in the pool has come."""
    return await asyncio.get_running_loop().run_in_executor(pool, partial(work, *args, **kwargs))
