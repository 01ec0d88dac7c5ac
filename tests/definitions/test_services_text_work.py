"""Texts are checked a few at a time, in threads that nothing else waits for."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath

import pytest

from contract.definitions import SaveDefinition
from contract.errors import ValidationFailure
from definitions.services.saving import save_file_definition
from definitions.services.sourcing import PlaybookSources
from definitions.services.text_work import CHECKS, in_turn
from tests.definitions.desk import Desk

PATIENCE_SECONDS = 60.0
HOSTILE = "[" * 300_000


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    gate = threading.Event()
    yield gate
    gate.set()


async def save(desk: Desk, content: str, name: str = "p") -> None:
    command = SaveDefinition(kind="playbook", name=name, content=content)
    await save_file_definition(command=command, writer=desk.writer)


async def test_many_saves_at_once_are_checked_two_at_a_time() -> None:
    desk = Desk()

    outcomes = await asyncio.gather(*(save(desk, HOSTILE, f"p{n}") for n in range(20)), return_exceptions=True)

    assert all(isinstance(outcome, ValidationFailure) for outcome in outcomes)
    checking = {thread.name for thread in threading.enumerate() if thread.name.startswith("text-check")}
    assert checking <= {"text-check_0", "text-check_1"}


async def test_texts_are_checked_when_every_shared_thread_is_taken(gate: threading.Event) -> None:
    desk, loop = Desk(), asyncio.get_running_loop()
    sources = PlaybookSources(desk.files, home=PurePosixPath("/studio"))
    loop.set_default_executor(ThreadPoolExecutor(max_workers=1))
    taken = loop.run_in_executor(None, gate.wait, PATIENCE_SECONDS)

    async with asyncio.timeout(PATIENCE_SECONDS):
        await save(desk, "prompt: go\n")
        failures = await sources.playbook_failures("p", has_prompt=False)

    assert (failures, taken.done()) == ((), False)
    gate.set()
    await taken


async def test_texts_that_are_checked_take_no_shared_thread(gate: threading.Event) -> None:
    checks = [asyncio.create_task(in_turn(CHECKS, gate.wait, PATIENCE_SECONDS)) for _ in range(100)]

    async with asyncio.timeout(PATIENCE_SECONDS):
        other = await asyncio.to_thread(lambda: "done")

    assert (other, [check for check in checks if check.done()]) == ("done", [])
    gate.set()
    await asyncio.gather(*checks)
