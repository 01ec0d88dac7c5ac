from tests.benchmarks.population import ORPHAN_EVERY, TERMINAL, seeded_runs

_COUNT = 2_000
_UNTIL = 1_800_000_000.0


def test_population_is_the_same_every_time() -> None:
    assert list(seeded_runs(50, until=_UNTIL)) == list(seeded_runs(50, until=_UNTIL))


def test_one_run_in_a_hundred_is_an_orphan_and_every_other_has_ended() -> None:
    runs = list(seeded_runs(_COUNT, until=_UNTIL))

    assert sum(run.is_orphan for run in runs) == _COUNT // ORPHAN_EVERY
    assert all((run.status in TERMINAL) == (run.ended_at is not None) == (not run.is_orphan) for run in runs)


def test_every_status_and_kind_occurs() -> None:
    runs = list(seeded_runs(_COUNT, until=_UNTIL))

    assert {run.status for run in runs} == {"running", *TERMINAL}
    assert {run.kind for run in runs} == {"agent", "play", "flow", "fanout"}
