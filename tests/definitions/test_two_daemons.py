"""Two daemons on one database and one folder, and many writers of one definition."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest

from contract.client import RemoteStudio
from contract.definitions import SaveDefinition, SaveResult, VersionQuery
from contract.errors import Conflict
from studio_project.config import DATABASE_NAME
from tests.live import LiveDaemon, live_daemon

WRITERS, SAVES = 8, 5
Saved = list[tuple[SaveResult, str]]


@contextmanager
def _two_daemons(folder: Path) -> Iterator[list[LiveDaemon]]:
    homes = [folder / "one", folder / "two"]
    for home in homes:
        home.mkdir()
    (homes[0] / "agents").mkdir()
    (homes[1] / "agents").symlink_to(homes[0] / "agents")
    with live_daemon(homes[0]) as one:
        shared = one.environment.get("STUDIO_DATABASE_URL", f"sqlite://{homes[0] / DATABASE_NAME}")
        with live_daemon(homes[1], database_url=shared) as two:
            yield [one, two]


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LiveDaemon]]:
    with _two_daemons(tmp_path_factory.mktemp("daemons")) as both:
        yield both


@pytest.fixture
async def studios(daemons: list[LiveDaemon]) -> AsyncIterator[list[RemoteStudio]]:
    """Eight clients of each daemon."""
    async with AsyncExitStack() as clients:
        yield [
            await clients.enter_async_context(RemoteStudio(daemon.url)) for daemon in daemons for _ in range(WRITERS)
        ]


async def _save(studio: RemoteStudio, name: str, content: str, expected: int | None) -> SaveResult:
    return await studio.save_file_definition(
        SaveDefinition(kind="agent", name=name, content=content, expected_version=expected)
    )


async def _history(studio: RemoteStudio, name: str) -> dict[int, str]:
    page = await studio.list_definition_versions("agent", name, VersionQuery(limit=1000))
    found = [await studio.get_definition_version("agent", name, item.version) for item in page.items]
    return {version.version: version.content for version in found}


async def test_writers_that_expect_nothing_make_versions_without_gaps(
    studios: list[RemoteStudio], daemons: list[LiveDaemon]
) -> None:
    async def write(number: int) -> Saved:
        texts = [f"writer {number}, save {save}\n" for save in range(SAVES)]
        return [(await _save(studios[number], "many", text, None), text) for text in texts]

    saved = [pair for pairs in await asyncio.gather(*map(write, range(len(studios)))) for pair in pairs]

    history = await _history(studios[0], "many")
    assert {result.version: text for result, text in saved} == history
    assert sorted(history) == list(range(1, len(saved) + 1))
    assert (daemons[0].home / "agents" / "many.md").read_text() == history[len(saved)]


async def test_of_writers_that_expect_a_version_one_wins_and_the_others_learn_which_there_is(
    studios: list[RemoteStudio], daemons: list[LiveDaemon]
) -> None:
    async def race(round_: int) -> None:
        results = await asyncio.gather(
            *(_save(studio, "raced", f"{round_} {number}", round_) for number, studio in enumerate(studios)),
            return_exceptions=True,
        )

        won = [result for result in results if isinstance(result, SaveResult)]
        lost = [result for result in results if isinstance(result, Conflict)]
        assert [result.version for result in won] == [round_ + 1]
        assert len(won) + len(lost) == len(results)
        assert {(conflict.expected, conflict.actual) for conflict in lost} == {(str(round_), str(round_ + 1))}

    for round_ in range(SAVES):
        await race(round_)

    history = await _history(studios[0], "raced")
    assert sorted(history) == list(range(1, SAVES + 1))
    assert (daemons[0].home / "agents" / "raced.md").read_text() == history[SAVES]
