"""Many edits by hand get into their histories at once, each as if it had come alone."""

import asyncio
from collections import Counter
from typing import Any

from contract.definitions import DefinitionVersion, DefinitionVersionDraft
from contract.errors import Conflict
from definitions.services.ports import Capture
from tests.definitions.state.stores import DATABASE, WRITER, Store, deletion, draft, hash_of
from tests.fakes.clocks import START_AT


def capture(
    content: str = "by hand", name: str = "scout", *, after: int = 0, at: float = START_AT, **fields: Any
) -> Capture:
    return captured(draft(content, name, origin="external", **fields), after=after, at=at)


def captured(new: DefinitionVersionDraft, *, after: int, at: float = START_AT) -> Capture:
    return Capture(draft=new, after=after, at=at, file_sha256=None if new.deleted else new.content_sha256)


async def test_nothing_is_appended_of_nothing(store: Store) -> None:
    assert await store.history.append_captured([]) == ()


async def test_each_is_stored_as_if_it_had_come_alone(store: Store) -> None:
    await store.append("one", "edited")
    await store.append("one", "edited alone")
    new = capture("two", "edited", after=1, at=START_AT + 5, message="m", actor="ada", relative_path="agents/e/e.md")
    alone = new.draft.model_copy(update={"name": "edited alone"})

    [version] = await store.history.append_captured([new])
    other = await store.history.append_version(alone, after=1, at=START_AT + 5, file_sha256=hash_of("two"))

    assert isinstance(version, DefinitionVersion)
    assert version.model_dump(exclude={"id", "name"}) == other.model_dump(exclude={"id", "name"})
    assert await store.history.find_version("agent", "edited", 2) == version
    head, alone_head = await store.head("edited"), await store.head("edited alone")
    assert (head.version_id, head.version, head.sha256) == (version.id, 2, hash_of("two"))
    assert (head.file_sha256, head.relative_path) == (alone_head.file_sha256, alone_head.relative_path)
    assert (head.created_at, head.updated_at) == (alone_head.created_at, alone_head.updated_at)
    assert head.writer is None


async def test_additions_edits_and_deletions_of_both_kinds_go_together(store: Store) -> None:
    await store.append("one", "edited")
    await store.append("one", "gone")

    outcomes = await store.history.append_captured(
        [
            capture("new", "b"),
            capture("two", "edited", after=1),
            captured(deletion("gone"), after=1),
            capture("new", "b", kind="playbook"),
            capture("new", "a"),
        ]
    )

    versions = [outcome for outcome in outcomes if isinstance(outcome, DefinitionVersion)]
    assert [(version.kind, version.name, version.version, version.deleted) for version in versions] == [
        ("agent", "b", 1, False),
        ("agent", "edited", 2, False),
        ("agent", "gone", 2, True),
        ("playbook", "b", 1, False),
        ("agent", "a", 1, False),
    ]
    assert await store.history.names("agent", deleted=False) == ("a", "b", "edited")
    assert await store.history.names("playbook", deleted=False) == ("b",)
    gone = await store.head("gone")
    assert (gone.sha256, gone.file_sha256) == (None, None)


async def test_what_is_refused_keeps_no_other_out(store: Store) -> None:
    await store.append("one", "moved")
    await store.append("two", "moved", after=1)
    busy = await store.append("one", "busy", writer=WRITER)
    await store.append("one", "Scout")

    outcomes = await store.history.append_captured(
        [
            capture("x", "moved", after=1),
            capture("x", "moved"),
            capture("x", "busy", after=1),
            capture("x", "nowhere", after=1),
            capture("x", "scout", after=1),
            capture("x", "scout"),
            capture("x", "fine"),
        ]
    )

    assert outcomes[:5] == (None,) * 5
    conflict, fine = outcomes[5:]
    assert isinstance(conflict, Conflict)
    assert str(conflict) == "`scout` collides with `Scout`: the names differ only in case or form"
    assert isinstance(fine, DefinitionVersion)
    assert await store.history.names("agent", deleted=True) == ("Scout", "busy", "fine", "moved")
    assert (await store.head("moved")).version == 2
    assert (await store.head("busy")).version_id == busy.id


async def test_two_names_of_one_batch_that_can_be_taken_for_one_are_not_both_stored(store: Store) -> None:
    first, second = await store.history.append_captured([capture("x", "Scout"), capture("x", "scout")])

    assert isinstance(first, DefinitionVersion)
    assert isinstance(second, Conflict)
    assert await store.history.names("agent", deleted=True) == ("Scout",)


async def test_one_that_comes_twice_is_stored_once(store: Store) -> None:
    outcomes = await store.history.append_captured([capture("one"), capture("two"), capture("three", after=1)])

    assert [outcome.content for outcome in outcomes if isinstance(outcome, DefinitionVersion)] == ["one", "three"]
    assert outcomes[1] is None
    assert (await store.head()).version == 2


async def test_what_was_pending_is_overtaken(store: Store) -> None:
    pending = [await store.fail(name) for name in ("a", "b", "c")]

    await store.history.append_captured(
        [capture("x", "a", after=1, actor="ada"), capture("x", "b", after=1, actor="bob")]
    )

    found = [await store.found(entry.id) for entry in pending]
    assert [(entry.resolution, entry.actor, entry.result_version) for entry in found] == [
        ("superseded", "ada", 2),
        ("superseded", "bob", 2),
        (None, None, None),
    ]
    assert await store.statuses("a") == ["superseded", "written"]
    assert await store.statuses("c") == ["failed"]
    assert (await store.head("a")).reconciliation_id is None
    assert [entry[:3] for entry in await store.log(pending[1].id)][-1] == ("superseded", "resolved", "bob")


async def test_a_clock_that_steps_back_takes_no_definition_back(store: Store) -> None:
    await store.append("one", at=START_AT)

    await store.history.append_captured([capture("two", after=1, at=START_AT - 60)])

    head = await store.head()
    assert (head.created_at, head.updated_at) == (START_AT, START_AT)


@DATABASE
async def test_of_many_batches_at_once_each_file_is_stored_once(writers: list[Store]) -> None:
    names = [f"n{number}" for number in range(40)]
    await writers[0].history.append_captured([capture("one", name) for name in names[:20]])
    batch = [capture("two", name, after=1 if number < 20 else 0) for number, name in enumerate(names)]

    outcomes = await asyncio.gather(
        *(store.history.append_captured(batch if number % 2 else batch[::-1]) for number, store in enumerate(writers))
    )

    stored = Counter(
        outcome.name for of_one in outcomes for outcome in of_one if isinstance(outcome, DefinitionVersion)
    )
    assert stored == dict.fromkeys(names, 1)
    assert [(await writers[0].head(name)).version for name in names] == [2] * 20 + [1] * 20
