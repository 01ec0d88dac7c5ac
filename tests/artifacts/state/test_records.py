"""ArtifactRecordPort, in memory and on both databases alike."""

from typing import Any

import pytest

from artifacts.services.ports import MeasuredFile, Owner
from contract.artifacts import ArtifactListQuery
from tests.artifacts.state.stores import INVOCATION, RUN, Shop
from tests.builders import artifact

ONE, TWO = "1" * 64, "2" * 64


def measured(path: str, sha256: str | None = ONE, **fields: Any) -> MeasuredFile:
    return MeasuredFile(**{"path": path, "sha256": sha256, "size_bytes": 7, "media_type": "text/plain", **fields})


async def test_what_is_saved_is_read(shop: Shop) -> None:
    saved = await shop.save(
        "n", content={"ü": [1, None]}, path="a/b", media_type="text/x", sha256=ONE, size_bytes=2**40, at=5.0
    )

    found = await shop.artifacts.get(saved.id)

    assert found == saved
    assert (saved.relative_path, saved.content, saved.size_bytes) == ("r/a/b", {"ü": [1, None]}, 2**40)
    assert (saved.run_id, saved.invocation_id, saved.created_at, saved.updated_at) == ("r", None, 5.0, 5.0)
    assert await shop.artifacts.get("none") is None


async def test_the_natural_key_is_owner_kind_and_name(shop: Shop) -> None:
    first = await shop.save("n", content=1, path="a", sha256=ONE, size_bytes=1)
    others = [
        await shop.save("n", kind="other"),
        await shop.save("N"),
        await shop.save("n", owner=INVOCATION),
        await shop.save("n", owner=Owner("invocation", "j")),
    ]

    again = await shop.save("n", content=[2], at=9.0)

    assert (again.id, again.created_at, again.updated_at) == (first.id, 1.0, 9.0)
    assert (again.content, again.relative_path, again.sha256, again.size_bytes) == ({"value": [2]}, None, None, None)
    assert len({first.id, *(other.id for other in others)}) == 5


async def test_events_and_saves_meet_in_one_artifact(shop: Shop) -> None:
    saved = await shop.save("n", path="a", sha256=ONE, size_bytes=1)

    await shop.runs.record("r", artifact("n", kind="k", path="b", sha256=TWO, content={"x": 1}))

    found = await shop.artifacts.get(saved.id)
    [view] = (await shop.runs.detail("r")).artifacts
    assert found is not None
    assert (found.relative_path, found.sha256, found.size_bytes, found.content) == ("r/b", TWO, None, {"x": 1})
    assert (view.artifact_id, view.sha256, view.size_bytes) == (saved.id, TWO, None)


async def test_a_measured_file_is_shown_with_its_run(shop: Shop) -> None:
    await shop.save("n", path="a", sha256=ONE, size_bytes=3)

    [in_detail] = (await shop.runs.detail("r")).artifacts
    [in_pane] = (await shop.runs.pane("r", "artifacts")).items

    assert (in_detail.sha256, in_detail.size_bytes) == (ONE, 3)
    assert in_pane == in_detail


async def test_lists_go_on_and_are_filtered(shop: Shop) -> None:
    for number in range(5):
        await shop.save(f"n{number}", kind="even" if number % 2 == 0 else "odd")
    await shop.save("own", owner=INVOCATION)

    query = ArtifactListQuery(limit=2)
    first = await shop.artifacts.list_artifacts(RUN, query, after=0)

    assert [found.name for found in first.items] == ["n0", "n1"]
    assert first.has_next
    assert first.next_cursor
    assert await shop.names(offset=3, limit=5) == ["n3", "n4"]
    assert await shop.names(kind="odd") == ["n1", "n3"]
    assert await shop.names(kind="none") == []
    assert await shop.names(INVOCATION) == ["own"]
    assert await shop.names(Owner("run", "none")) == []


async def test_files_are_those_that_name_one(shop: Shop) -> None:
    await shop.save("none")
    for name in ("b", "a", "c"):
        await shop.save(name, path=f"{name}.md")

    assert [found.path for found in await shop.artifacts.files_of("r", limit=2)] == ["b.md", "a.md"]


async def test_files_are_measured_once(shop: Shop) -> None:
    await shop.runs.record(
        "r", artifact("a", path="a"), artifact("twin", path="a"), artifact("b", path="b"), artifact("none")
    )

    waiting = await shop.artifacts.unmeasured("r", paths=None, limit=9)
    some = await shop.artifacts.unmeasured("r", paths=["b", "x"], limit=9)
    await shop.artifacts.measure("r", [measured("a"), measured("x")])
    await shop.artifacts.measure("r", [measured("a", TWO)])

    found = {file.name: (file.sha256, file.size_bytes) for file in await shop.artifacts.files_of("r", limit=9)}
    assert (waiting, some) == (("a", "b"), ("b",))
    assert found == {"a": (ONE, 7), "twin": (ONE, 7), "b": (None, None)}
    assert await shop.artifacts.unmeasured("r", paths=None, limit=9) == ("b",)


async def test_what_its_producer_told_of_a_file_stays(shop: Shop) -> None:
    await shop.runs.record(
        "r",
        artifact("wrong", path="a", sha256=TWO, media_type="text/x"),
        artifact("right", path="a", sha256=ONE, media_type="text/x"),
    )

    await shop.artifacts.measure("r", [measured("a")])

    found = {file.name: file for file in await shop.artifacts.files_of("r", limit=9)}
    assert (found["wrong"].sha256, found["wrong"].size_bytes) == (TWO, None)
    assert (found["right"].sha256, found["right"].size_bytes, found["right"].media_type) == (ONE, 7, "text/x")


async def test_files_that_nobody_named_are_added_and_replace_nothing(shop: Shop) -> None:
    taken = await shop.save("taken", kind="file", content=1)
    files = [measured("taken"), measured("a/b"), measured("unhashed", None, size_bytes=None, media_type=None)]

    await shop.artifacts.add_files("r", files, at=3.0)
    await shop.artifacts.add_files("r", [measured("a/b", TWO)], at=4.0)

    found = {file.path: file for file in await shop.artifacts.files_of("r", limit=9)}
    assert set(found) == {"taken", "a/b", "unhashed"}
    assert (found["a/b"].kind, found["a/b"].name, found["a/b"].sha256) == ("file", "a/b", ONE)
    assert found["taken"].name.startswith("taken~")
    assert (await shop.artifacts.get(taken.id)) == taken


@pytest.mark.parametrize(
    ("owner", "there"),
    [(RUN, True), (INVOCATION, True), (Owner("run", "i"), False), (Owner("invocation", "r"), False)],
)
async def test_owners_are_known(shop: Shop, owner: Owner, there: bool) -> None:
    assert await shop.owners.exists(owner) is there
