"""Prepared queries answer as the querysets they are made of, whatever the arguments."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runs.models import LaunchRecord, MessageRecord, RunRecord
from studio_project.prepared_query import PreparedQuery
from tests.fakes.clocks import START_AT
from tests.runs.state.records import insert_launches, insert_runs

COLUMNS = ("id", "run_id", "invocation_id", "tags", "cost_micros", "launch__owner", "sort_started_at")


@pytest.fixture
def filled(db: None) -> None:
    insert_runs(60)
    insert_launches()


def test_every_call_fills_in_its_arguments(filled: None) -> None:
    runs = RunRecord.objects.order_by("-id").values(*COLUMNS)
    prepared = PreparedQuery(runs.filter(kind="?", id__range=(-1, -2)), "?", -1, -2)

    for kind, first, last in (("agent", 0, 1_000_000), ("flow", 0, 1_000_000), ("flow", 5, 4), ("%s", 0, 9)):
        assert prepared.all(kind, first, last) == list(runs.filter(kind=kind, id__range=(first, last)))


def test_one_row_is_a_row_or_nothing(filled: None) -> None:
    prepared = PreparedQuery(RunRecord.objects.filter(run_id="?").values(*COLUMNS), "?")

    assert prepared.first("r7") == RunRecord.objects.filter(run_id="r7").values(*COLUMNS).get()
    assert prepared.first("unknown") is None
    assert prepared.first("'; --") is None


@pytest.mark.parametrize("chunk", [1, 7, 1_000])
def test_a_stream_has_every_row_once(filled: None, chunk: int) -> None:
    runs = RunRecord.objects.order_by("id").values(*COLUMNS)

    assert list(PreparedQuery(runs.filter(id__gt=-1), -1).stream(0, chunk=chunk)) == list(runs)


def test_a_stream_can_be_left(filled: None) -> None:
    stream = PreparedQuery(RunRecord.objects.order_by("id").filter(id__gt=-1).values("run_id"), -1).stream(0, chunk=2)

    assert next(stream) == {"run_id": "r0"}
    stream.close()  # type: ignore[attr-defined]  # a generator

    assert RunRecord.objects.count() == 60


def test_values_come_as_python_has_them(filled: None) -> None:
    run = RunRecord.objects.get(run_id="r0")
    branch = run.branches.create(name="main")
    fields = {"role": "user", "content": "{}", "recorded_at": START_AT, "size_bytes": 2}
    for seq, sanitized in ((1, True), (2, False)):
        MessageRecord.objects.create(run=run, branch=branch, seq=seq, position=seq, sanitized=sanitized, **fields)
    messages = MessageRecord.objects.order_by("seq").values("seq", "sanitized", "recorded_at", "branch__name")

    assert PreparedQuery(messages.filter(run=-1), -1).all(run.pk) == [
        {"seq": 1, "sanitized": True, "recorded_at": START_AT, "branch__name": "main"},
        {"seq": 2, "sanitized": False, "recorded_at": START_AT, "branch__name": "main"},
    ]
    assert PreparedQuery(messages.filter(run=-1), -1).all(run.pk)[0]["sanitized"] is True


def test_a_slice_stays_as_it_was_prepared(filled: None) -> None:
    prepared = PreparedQuery(LaunchRecord.objects.filter(run__gt=-1).order_by("run").values("run")[:3], -1)

    assert len(prepared.all(0)) == 3


def test_an_argument_never_gets_into_the_sql(filled: None) -> None:
    prepared = PreparedQuery(RunRecord.objects.filter(run_id="?").values("id"), "?")

    with CaptureQueriesContext(connection) as captured:
        prepared.all("r1")
        prepared.all("r2")

    assert len(captured) == 2


def test_a_slot_that_is_nowhere_is_a_mistake(filled: None) -> None:
    with pytest.raises(ValueError, match="not every slot"):
        PreparedQuery(RunRecord.objects.filter(run_id="?").values("id"), "?", -1).all("r", 1)
