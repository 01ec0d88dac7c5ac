"""Versions get into a history one after the other, and nothing is lost or reordered."""

import pytest

from contract.errors import Conflict
from definitions.errors import HeadMoved
from definitions.services.ports import DefinitionHead, Writer
from tests.definitions.state.stores import OTHER_WRITER, WRITER, Store, deletion, draft, hash_of
from tests.fakes.clocks import START_AT
from tests.fakes.turns import outcome_of


async def test_a_definition_without_history_has_no_head(store: Store) -> None:
    assert await store.history.find_head("agent", "scout") is None
    assert await store.history.latest_version("agent", "scout") == 0
    assert await store.history.find_version("agent", "scout", 1) is None


async def test_the_first_version_begins_the_history(store: Store) -> None:
    new = draft("# Größe", message="first", origin="external", actor="ada")

    version = await store.history.append_version(new, after=0, at=START_AT, file_sha256=new.content_sha256)

    assert version.model_dump() == {
        **new.model_dump(),
        "id": version.id,
        "version": 1,
        "created_at": START_AT,
        "write_status": "written",
        "size_bytes": 9,
    }
    assert await store.history.find_version("agent", "scout", 1) == version
    assert await store.history.latest_version("agent", "scout") == 1
    assert await store.head() == DefinitionHead(
        kind="agent",
        name="scout",
        relative_path="agents/scout.md",
        version=1,
        version_id=version.id,
        sha256=new.content_sha256,
        file_sha256=new.content_sha256,
        size_bytes=9,
        created_at=START_AT,
        updated_at=START_AT,
    )


async def test_a_later_version_moves_the_head_and_leaves_the_earlier_ones(store: Store) -> None:
    first = await store.append("one")

    second = await store.append("two", after=1, at=START_AT + 5, relative_path="agents/scout/scout.md")

    head = await store.head()
    assert (second.version, head.version, head.version_id) == (2, 2, second.id)
    assert (head.sha256, head.relative_path) == (hash_of("two"), "agents/scout/scout.md")
    assert (head.created_at, head.updated_at) == (START_AT, START_AT + 5)
    assert await store.history.find_version("agent", "scout", 1) == first


async def test_a_version_with_a_writer_is_pending_and_names_it(store: Store) -> None:
    version = await store.append("one", writer=WRITER, held="by hand")

    head = await store.head()
    assert version.write_status == "pending"
    assert head.writer == Writer(process=WRITER, version_id=version.id, claimed_at=START_AT)
    assert (head.sha256, head.file_sha256) == (hash_of("one"), hash_of("by hand"))


async def test_a_deletion_wants_no_file_and_keeps_what_was(store: Store) -> None:
    await store.append("one")

    version = await store.history.append_version(
        deletion(), after=1, at=START_AT, file_sha256=hash_of("one"), writer=WRITER
    )

    head = await store.head()
    assert (version.deleted, version.content, version.size_bytes) == (True, "", 0)
    assert (head.version, head.sha256, head.file_sha256) == (2, None, hash_of("one"))
    assert await store.history.find_version("agent", "scout", 1) is not None


@pytest.mark.parametrize("after", [0, 1, 3])
async def test_a_version_after_another_than_the_newest_is_refused(store: Store, after: int) -> None:
    await store.append("one")
    await store.append("two", after=1)

    with pytest.raises(HeadMoved):
        await store.append("three", after=after)

    assert (await store.head()).version == 2
    assert await store.statuses() == ["written", "written"]


async def test_a_version_after_a_history_that_is_not_there_is_refused(store: Store) -> None:
    with pytest.raises(HeadMoved):
        await store.append("one", after=1)

    assert await store.history.find_head("agent", "scout") is None


async def test_while_a_writer_is_at_work_nothing_is_appended(store: Store) -> None:
    version = await store.append("one", writer=WRITER)

    with pytest.raises(HeadMoved):
        await store.append("two", after=1, writer=OTHER_WRITER)

    assert (await store.head()).version_id == version.id


@pytest.mark.parametrize("other", ["Scout", "SCOUT", "scouT"])
async def test_a_name_that_can_be_taken_for_another_is_a_conflict_that_names_it(store: Store, other: str) -> None:
    await store.append("one", "scout")

    outcome = await outcome_of(store.append("two", other))

    assert isinstance(outcome, Conflict)
    assert (outcome.resource, outcome.expected, outcome.actual) == ("definition", other, "scout")
    assert str(outcome) == f"`{other}` collides with `scout`: the names differ only in case or form"
    assert await store.history.names("agent", deleted=True) == ("scout",)


async def test_the_same_name_in_another_kind_is_another_definition(store: Store) -> None:
    await store.append("one", "scout")

    await store.append("two", "Scout", kind="playbook")

    assert await store.history.names("agent", deleted=False) == ("scout",)
    assert await store.history.names("playbook", deleted=False) == ("Scout",)


async def test_a_clock_that_steps_back_never_takes_a_definition_back(store: Store) -> None:
    await store.append("one", at=START_AT)

    version = await store.append("two", after=1, at=START_AT - 3_600)

    head = await store.head()
    assert (version.created_at, head.created_at, head.updated_at) == (START_AT - 3_600, START_AT, START_AT)


async def test_any_text_comes_back_as_it_was(store: Store) -> None:
    content = "\ufeffa\r\nb\rc\u2028\U0001f600 \x1b[31m\t'\"; %s {} \\" + "x" * 100_000

    await store.append(content)

    version = await store.history.find_version("agent", "scout", 1)
    assert version is not None
    assert version.content == content
    assert version.size_bytes == len(content.encode())


async def test_what_was_given_out_never_changes(store: Store) -> None:
    version = await store.append("one", writer=WRITER)
    head = await store.head()

    await store.history.mark_written(version.id, at=START_AT + 1)

    assert version.write_status == "pending"
    assert head.writer is not None
