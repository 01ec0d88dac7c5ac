"""A start with many temporary files: the history is asked about all at once, and each is still judged by itself."""

import pytest

from definitions.services.recovering import recover_definitions
from tests.definitions.desk import LEFTOVER, PATH, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def recovered(desk: Desk) -> tuple[str, ...]:
    return await recover_definitions(writer=desk.writer, progress=lambda _: None)


def leftover_of(name: str) -> str:
    return f"agents/.{name}.md.0123456789abcdef.studio-tmp"


async def test_what_the_history_has_of_many_is_asked_for_at_once(desk: Desk) -> None:
    for number in range(150):
        await desk.store("one", name=f"n{number}")
        desk.hand("one" if number % 2 else "o", leftover_of(f"n{number}"))
    desk.history.calls.clear()

    assert await recovered(desk) == ()
    assert not [path for path in desk.files.contents if path.endswith("tmp")]
    assert desk.history.calls == {"at_work": 1, "heads": 2, "known_contents": 2}


async def test_among_many_each_is_swept_by_what_it_holds(desk: Desk) -> None:
    for name in ("busy", "edited", "known"):
        await desk.store("one", name=name)
        desk.hand("one" if name == "known" else "by hand", leftover_of(name))
    await desk.begin("two", name="busy")
    desk.hand("one", leftover_of("stranger"))

    notes = await recovered(desk)

    assert notes == (
        "edited: what was edited by hand during an interrupted save is version 2",
        f"{leftover_of('stranger')} of an interrupted save was kept as agents/stranger.md.rescued-0123456789abcdef",
    )
    assert [path for path in desk.files.contents if path.endswith("tmp")] == [leftover_of("busy")]


async def test_an_edit_that_two_temporary_files_hold_becomes_one_version(desk: Desk) -> None:
    await desk.store("one")
    desk.hand("by hand", LEFTOVER)
    desk.hand("by hand", LEFTOVER.replace("0123", "4567"))

    notes = await recovered(desk)

    assert len(notes) == 1
    assert [version.content for version in desk.versions()] == ["one", "by hand", "one"]
    assert list(desk.files.contents) == [PATH]
