"""Which runs are asked for, and what goes together."""

import pytest

from contract.errors import ValidationFailure
from contract.retention import PruneRuns
from runs.retention import BATCH_ROWS, BATCH_RUNS, Candidate, batches, rule_of


def candidates(*rows: int) -> list[Candidate]:
    return [Candidate(number=at, run_id=f"r{at}", ended_at=float(at), rows=count) for at, count in enumerate(rows)]


def sizes(*rows: int) -> list[int]:
    return [len(batch) for batch in batches(candidates(*rows))]


def test_age_is_counted_from_the_instant_of_the_command() -> None:
    rule = rule_of(PruneRuns(older_than_seconds=60.0, project="p", status=("failed",)), at=1_000.0)

    assert (rule.ended_by, rule.project, rule.status) == (940.0, "p", ("failed",))


@pytest.mark.parametrize("status", ["running", "queued", "done", ""])
def test_a_status_in_which_no_run_has_ended_is_refused(status: str) -> None:
    with pytest.raises(ValidationFailure) as refused:
        rule_of(PruneRuns(older_than_seconds=0, status=("failed", status)), at=0)

    assert [(failure.path, failure.code) for failure in refused.value.field_errors] == [
        (("status", 1), "unknown_status")
    ]


def test_nothing_makes_no_batch() -> None:
    assert sizes() == []


def test_a_batch_has_so_many_runs() -> None:
    assert sizes(*[0] * (2 * BATCH_RUNS + 1)) == [BATCH_RUNS, BATCH_RUNS, 1]


def test_a_batch_has_so_many_rows() -> None:
    assert sizes(BATCH_ROWS - 1, 1, 1, BATCH_ROWS) == [2, 1, 1]


def test_a_run_that_is_larger_than_a_batch_goes_alone() -> None:
    assert sizes(1, 10 * BATCH_ROWS, 10 * BATCH_ROWS, 1) == [1, 1, 1, 1]


def test_batches_keep_the_order_and_lose_nothing() -> None:
    found = candidates(*[BATCH_ROWS // 3] * 100)

    assert [run for batch in batches(found) for run in batch] == found
