"""What differs: between two versions, a version and nothing, a version and the file."""

import asyncio
import threading

import pytest

from contract.diffs import DefinitionDiff, DiffQuery
from contract.errors import NotFound, ValidationFailure
from definitions.content import sha256_of
from definitions.services.reading import diff_definition
from tests.definitions.desk import PATH, Desk


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def diff(desk: Desk, *, start: int | None = None, to: int | None = None, file: bool = False) -> DefinitionDiff:
    query = DiffQuery(from_=start, to=to, file=file)
    return await diff_definition(kind="agent", name="a", query=query, history=desk.history, files=desk.files)


async def test_without_a_choice_the_newest_version_is_compared_with_the_one_before(desk: Desk) -> None:
    await desk.store("same\none\n")
    await desk.store("same\ntwo\n")

    found = await diff(desk)

    assert (found.from_version, found.to_version, found.added, found.removed) == (1, 2, 1, 1)
    assert (found.from_sha256, found.to_sha256) == (sha256_of("same\none\n"), sha256_of("same\ntwo\n"))
    assert found.unified == (f"--- {PATH} (version 1)\n+++ {PATH} (version 2)\n@@ -1,2 +1,2 @@\n same\n-one\n+two\n")


async def test_a_first_version_is_compared_with_nothing(desk: Desk) -> None:
    await desk.store("one\n")

    found = await diff(desk)

    assert (found.from_version, found.to_version, found.from_sha256) == (0, 1, None)
    assert found.unified.startswith(f"--- (nothing)\n+++ {PATH} (version 1)\n")


async def test_any_two_versions_are_compared_in_either_direction(desk: Desk) -> None:
    for content in ("one\n", "two\n", "three\n"):
        await desk.store(content)

    found = await diff(desk, start=3, to=1)

    assert "-three\n+one\n" in found.unified


async def test_a_deletion_is_compared_as_nothing(desk: Desk) -> None:
    await desk.store("one\n")
    await desk.store(None)

    found = await diff(desk)

    assert (found.to_version, found.to_sha256, found.removed) == (2, None, 1)


async def test_the_file_is_compared_with_the_newest_version(desk: Desk) -> None:
    await desk.store("one\n")
    desk.hand("by hand\n")

    found = await diff(desk, file=True)

    assert (found.from_version, found.to_version, found.to_sha256) == (1, None, sha256_of("by hand\n"))
    assert found.unified.startswith(f"--- {PATH} (version 1)\n+++ {PATH} (file)\n")


async def test_a_missing_file_is_compared_as_nothing(desk: Desk) -> None:
    await desk.store("one\n")
    desk.hand(None)

    found = await diff(desk, file=True)

    assert (found.to_sha256, found.removed) == (None, 1)
    assert f"+++ {PATH} (no file)\n" in found.unified


async def test_a_file_without_history_is_compared_with_nothing(desk: Desk) -> None:
    desk.hand("by hand\n")

    found = await diff(desk, file=True)

    assert (found.from_version, found.to_version, found.added) == (0, None, 1)


async def test_equal_texts_have_no_hunks(desk: Desk) -> None:
    await desk.store("one\n")

    found = await diff(desk, file=True)

    assert (found.hunks, found.unified, found.added) == ((), "", 0)


async def test_a_version_and_the_file_exclude_each_other(desk: Desk) -> None:
    await desk.store("one")

    with pytest.raises(ValidationFailure) as failure:
        await diff(desk, to=1, file=True)

    assert failure.value.field_errors[0].path == ("to",)


@pytest.mark.parametrize(("start", "to"), [(None, None), (None, 1), (0, None)])
async def test_what_is_nowhere_has_no_differences_but_is_not_found(
    desk: Desk, start: int | None, to: int | None
) -> None:
    with pytest.raises(NotFound):
        await diff(desk, start=start, to=to)


@pytest.mark.parametrize(("start", "to"), [(None, 2), (2, 1)])
async def test_a_version_to_compare_that_never_was_is_not_found(desk: Desk, start: int | None, to: int | None) -> None:
    await desk.store("one")

    with pytest.raises(NotFound):
        await diff(desk, start=start, to=to)


@pytest.mark.parametrize("start", [None, 0, 1])
async def test_neither_file_nor_history_is_not_found(desk: Desk, start: int | None) -> None:
    with pytest.raises(NotFound):
        await diff(desk, start=start, file=True)


async def test_many_comparisons_at_once_take_one_thread_and_answer_within_two_mebibytes(desk: Desk) -> None:
    await desk.store("".join(f"{number:50}\n" for number in range(4_900)))
    await desk.store("".join(f"{number:40}\n" for number in range(5_000)))

    found = await asyncio.gather(*(diff(desk) for _ in range(8)))

    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("comparison")] == ["comparison_0"]
    assert {(one.added, one.removed) for one in found} == {(5_000, 4_900)}
    assert all(one.hunks and len(one.model_dump_json()) < 2 * 1024 * 1024 for one in found)


async def test_two_large_texts_without_a_common_order_are_answered_in_short(desk: Desk) -> None:
    lines = [f"{number:05}\n" for number in range(50_000)]
    await desk.store("".join(lines))
    await desk.store("".join(lines[::-1]))

    found = await diff(desk)

    assert (found.coarse, found.hunks, found.unified) == (True, (), "")
    assert len(found.model_dump_json()) < 1_000
