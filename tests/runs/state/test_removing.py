"""Removing runs: what belongs to them goes with them, what is still needed stays. The same over both stores."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.apps import apps
from django.db.models import Model

from artifacts.models import ArtifactRecord
from contract.runs import InvocationQuery
from runs.cursors import ListPosition
from runs.models import RunRecord
from runs.retention import PruneRule
from runs.services.following import run_topic
from runs.services.pruning import Removal
from runs.state.removing import BELONGINGS
from tests.builders import artifact, graph, message, messages, signal, status, usage
from tests.fakes.clocks import START_AT
from tests.runs.state.launches import ending
from tests.runs.state.records import ask
from tests.runs.state.stores import DATABASE, Store

ALL = PruneRule(ended_by=START_AT + 1_000)


async def ended(store: Store, run_id: str, *, end: str = "completed", **fields: Any) -> None:
    await store.start(run_id, **fields)
    await store.record(run_id, status(end))


async def rich(store: Store, run_id: str = "r", **fields: Any) -> None:
    """Make a run with something in every table."""
    await store.start(run_id, tags=("a", "b"), **fields)
    await store.record(
        run_id, *messages(3), message(branch="side", event_id="e"), signal(), usage(1.0), graph(), artifact()
    )
    await store.record(run_id, status("completed"))


async def line(store: Store, rule: PruneRule = ALL, after: ListPosition | None = None, limit: int = 100) -> list[str]:
    return [run.run_id for run in await store.removal.candidates(rule, after=after, limit=limit)]


async def numbers(store: Store, rule: PruneRule = ALL) -> Sequence[int]:
    return [run.number for run in await store.removal.candidates(rule, after=None, limit=100)]


async def removed(store: Store, rule: PruneRule = ALL) -> Removal:
    found = await numbers(store, rule)
    survey = await store.removal.survey(rule, found)
    removal = await store.removal.remove(rule, found)
    assert removal == survey
    return removal


async def invocations(store: Store) -> set[str]:
    page = await store.invocations.list_invocations(InvocationQuery())
    return {found.invocation_id for found in page.items}


async def test_the_line_begins_with_the_oldest_end(store: Store) -> None:
    await store.start("slow")
    for run_id in ("a", "b"):
        await ended(store, run_id)
    store.clock.advance(10)
    await store.record("slow", status("failed"))
    await store.start("open")

    assert await line(store) == ["a", "b", "slow"]
    assert await line(store, limit=2) == ["a", "b"]


async def test_the_line_goes_on_after_a_position_whatever_ended_with_it(store: Store) -> None:
    for run_id in ("a", "b", "c"):
        await ended(store, run_id)
    seen: list[str] = []
    after = None

    while found := await store.removal.candidates(ALL, after=after, limit=1):
        seen += [run.run_id for run in found]
        after = found[-1].position

    assert seen == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (PruneRule(ended_by=START_AT), ["a"]),
        (PruneRule(ended_by=START_AT - 1), []),
        (PruneRule(ended_by=START_AT + 10), ["a", "b"]),
        (PruneRule(ended_by=START_AT + 10, status=("failed",)), ["b"]),
        (PruneRule(ended_by=START_AT + 10, status=("failed", "completed")), ["a", "b"]),
        (PruneRule(ended_by=START_AT + 10, project="p"), ["a"]),
        (PruneRule(ended_by=START_AT + 10, project="p", status=("failed",)), []),
    ],
)
async def test_the_line_has_what_the_rule_means(store: Store, rule: PruneRule, found: list[str]) -> None:
    await ended(store, "a", project="p")
    store.clock.advance(10)
    await ended(store, "b", end="failed")

    assert await line(store, rule) == found


async def test_a_run_goes_with_everything(store: Store) -> None:
    await rich(store)
    await rich(store, "other")
    (first, *_) = await numbers(store)

    removal = await store.removal.remove(ALL, [first])

    assert removal == Removal(run_ids=frozenset({"r"}), messages=4, signals=1, artifacts=1)
    assert await store.reads.get_run("r", message_limit=1, cursor=None) is None
    assert await store.ids() == ["other"]
    assert await store.ids(tags=("a",)) == ["other"]
    detail = await store.detail("other")
    assert (detail.message_count, len(detail.artifacts), detail.graph is not None) == (4, 1, True)


async def test_a_launched_run_goes_and_its_key_is_free_again(store: Store) -> None:
    lease = await store.child("r")
    assert await store.supervised.end(lease, ending(), at=store.clock.now())

    assert (await removed(store)).run_ids == {"r"}
    assert not (await store.queue("r")).repeated


async def test_the_same_id_can_be_registered_again_and_has_nothing_of_the_old_run(store: Store) -> None:
    await rich(store)
    await removed(store)

    await store.start("r")

    detail = await store.detail("r")
    assert (detail.branches, detail.artifacts, detail.tags, detail.totals.usage_reports) == ((), (), (), 0)


async def test_what_has_not_ended_stays_whatever_is_asked(store: Store) -> None:
    await store.start("running")
    await store.queue("queued")
    at = (await store.removal.candidates(ALL, after=None, limit=9), await store.ids())

    removal = await store.removal.remove(PruneRule(ended_by=START_AT * 2), [1, 2, 3])

    assert at == ((), ["queued", "running"])
    assert removal == Removal()
    assert await store.ids() == ["queued", "running"]


async def test_what_the_rule_no_longer_means_stays(store: Store) -> None:
    await ended(store, "r")
    found = await numbers(store)

    assert await store.removal.remove(PruneRule(ended_by=START_AT - 1), found) == Removal()
    assert await store.removal.remove(PruneRule(ended_by=START_AT, project="p"), found) == Removal()
    assert await store.ids() == ["r"]


async def test_runs_of_an_invocation_with_an_open_run_stay(store: Store) -> None:
    await ended(store, "a", invocation_id="i")
    await ended(store, "b", invocation_id="j")
    await ended(store, "c")
    await store.start("running", invocation_id="i")
    await store.queue("queued", invocation_id="j")

    removal = await removed(store)

    assert (set(removal.run_ids), removal.kept) == ({"c"}, 2)
    assert await invocations(store) == {"i", "j"}


async def test_what_something_refers_to_stays(store: Store) -> None:
    await ended(store, "a")
    await ended(store, "b")
    store.kept.run_ids = {"a", "unknown"}

    removal = await removed(store)

    assert (set(removal.run_ids), removal.kept, await store.ids()) == ({"b"}, 1, ["a"])


async def test_an_invocation_goes_with_its_last_run(store: Store) -> None:
    for run_id in ("a", "b"):
        await ended(store, run_id, invocation_id="i")
    await ended(store, "c", invocation_id="j")
    await ended(store, "d", invocation_id="k")
    store.kept.run_ids = {"b"}

    await removed(store)

    assert await invocations(store) == {"i"}
    assert (await store.invocation("i")).run_count == 1


async def test_an_invocation_without_runs_can_be_used_again(store: Store) -> None:
    await ended(store, "a", invocation_id="i")
    await removed(store)

    await store.start("b", invocation_id="i")

    assert [run.run_id for run in (await store.invocation("i")).runs] == ["b"]


async def test_whoever_follows_a_run_is_told(store: Store) -> None:
    await ended(store, "r")
    subscription = store.feed.subscribe(run_topic("r"))

    await removed(store)

    assert await subscription.wait(0)
    subscription.close()


async def test_known_ids_are_told_from_others(store: Store) -> None:
    await store.start("a")
    await ended(store, "b")

    assert await store.removal.known(["a", "b", "c", "A"]) == {"a", "b"}
    assert await store.removal.known([]) == frozenset()


async def test_removing_nothing_changes_nothing(store: Store) -> None:
    assert await store.removal.remove(ALL, []) == Removal()
    assert await store.removal.remove(ALL, [1, 2, 3]) == Removal()


@DATABASE
async def test_no_row_of_any_table_is_left(database: Store) -> None:
    await rich(database, invocation_id="i")
    lease = await database.child("launched")
    assert await database.supervised.end(lease, ending(), at=START_AT)
    before = await ask(_counts)

    await removed(database)

    assert all(before.values())
    assert await ask(_counts) == dict.fromkeys(before, 0)


@DATABASE
async def test_an_invocation_with_artifacts_of_its_own_stays(database: Store) -> None:
    await ended(database, "r", invocation_id="i")
    fields = {"invocation_id": "i", "kind": "k", "name": "n", "content": "null", "created_at": 0, "updated_at": 0}
    await ask(lambda: ArtifactRecord.objects.create(artifact_id="a", **fields))

    assert (await removed(database)).run_ids == {"r"}

    assert await invocations(database) == {"i"}


def test_every_table_that_refers_to_a_run_is_emptied() -> None:
    assert set(BELONGINGS) == {relation.related_model for relation in RunRecord._meta.related_objects}


def _counts() -> dict[type[Model], int]:
    tables: tuple[type[Model], ...] = (*apps.get_app_config("runs").get_models(), ArtifactRecord)
    return {model: model._default_manager.count() for model in tables}
