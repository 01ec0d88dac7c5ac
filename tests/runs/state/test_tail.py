"""The newest of runs, for those who follow them."""

from contract.limits import STREAM_PAGE_BYTES, STREAM_PAGE_ENTRIES
from runs.services.ports import EntryPage, RunHead
from tests.builders import message, messages, signal, status
from tests.runs.state.stores import Store

_MEGABYTE = "x" * 1_000_000


def seqs(page: EntryPage) -> list[int]:
    return [item.seq for item in page.items]


async def test_heads_are_of_the_runs_that_exist(store: Store) -> None:
    await store.start("a")
    await store.start("b")
    await store.record("a", message(), signal(), status("failed"))

    heads = await store.tail.heads(["a", "b", "unknown"])

    assert heads == {
        "a": RunHead(last_seq=2, status="failed", reason_code="run.failed.error"),
        "b": RunHead(last_seq=0, status="running", reason_code="run.running.registered"),
    }
    assert await store.tail.heads([]) == {}


async def test_entries_are_of_one_kind_between_exclusive_and_inclusive_bounds(store: Store) -> None:
    await store.start("r")
    await store.record("r", message(), signal(), message(), signal(), message())

    told = await store.tail.entries("r", "messages", after=1, up_to=4)
    signalled = await store.tail.entries("r", "signals", after=0, up_to=5)

    assert (seqs(told), told.through) == ([3], 4)
    assert (seqs(signalled), signalled.through) == ([2, 4], 5)


async def test_a_page_is_bounded_in_entries(store: Store) -> None:
    await store.start("r")
    await store.record("r", *messages(STREAM_PAGE_ENTRIES))
    await store.record("r", *messages(3))

    first = await store.tail.entries("r", "messages", after=0, up_to=STREAM_PAGE_ENTRIES + 3)
    rest = await store.tail.entries("r", "messages", after=first.through, up_to=STREAM_PAGE_ENTRIES + 3)

    assert (len(first.items), first.through) == (STREAM_PAGE_ENTRIES, STREAM_PAGE_ENTRIES)
    assert (len(rest.items), rest.through) == (3, STREAM_PAGE_ENTRIES + 3)


async def test_a_page_is_bounded_in_bytes_but_never_empty(store: Store) -> None:
    await store.start("r")
    for _ in range(4):
        await store.record("r", message(_MEGABYTE))

    first = await store.tail.entries("r", "messages", after=0, up_to=4)
    rest = await store.tail.entries("r", "messages", after=first.through, up_to=4)

    assert 0 < sum(item.size_bytes for item in first.items) < STREAM_PAGE_BYTES + 1_000_000
    assert seqs(first) + seqs(rest) == [1, 2, 3, 4]


async def test_no_entries_of_a_kind_are_through_all(store: Store) -> None:
    await store.start("r")
    await store.record("r", signal(), signal())

    page = await store.tail.entries("r", "messages", after=0, up_to=2)

    assert (page.items, page.through) == ((), 2)


async def test_entries_of_an_unknown_run_are_none(store: Store) -> None:
    assert (await store.tail.entries("unknown", "messages", after=0, up_to=5)).items == ()
