"""`python -m tests.benchmarks.seeding N UNTIL`: fills the database of STUDIO_HOME with N runs, past every service.

A process of its own, so that the measuring one never loads Django. UNTIL is where the runs end, in epoch seconds.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio_project.settings")
django.setup()

from django.core.management import call_command  # noqa: E402 (Django has to be set up first; so below)
from django.db import models, transaction  # noqa: E402

from contract.events import ProcessIdentity  # noqa: E402
from runs.models import (  # noqa: E402
    BranchRecord,
    InvocationRecord,
    MessageRecord,
    RunRecord,
    RunTagRecord,
    TransitionRecord,
)
from runs.naming import search_text  # noqa: E402
from runs.processes import identify  # noqa: E402
from runs.reasons import default_reason  # noqa: E402
from tests.benchmarks.population import SeededRun, message_text, seeded_runs  # noqa: E402

_AT_ONCE: Final = 5_000


def seed(count: int, until: float) -> None:
    """Migrate, then store the runs. Raises IntegrityError on a home that has them already."""
    call_command("migrate", verbosity=0)
    gone = gone_process()
    runs = seeded_runs(count, until=until)
    while chunk := list(islice(runs, _AT_ONCE)):
        with transaction.atomic():
            _store(chunk, gone)


def gone_process() -> ProcessIdentity:
    """Name a process of this host and boot that no longer lives: this one, as if it had started long before."""
    own = identify(os.getpid())
    return own.model_copy(update={"started_at": (own.started_at or 0.0) - 3_600})


def _store(runs: Sequence[SeededRun], gone: ProcessIdentity) -> None:
    invocations = {run.invocation_id: run for run in reversed(runs)}
    InvocationRecord.objects.bulk_create(
        (
            InvocationRecord(invocation_id=key, kind=run.kind, created_at=run.started_at)
            for key, run in invocations.items()
        ),
        ignore_conflicts=True,
    )
    _insert(RunRecord, (_run_record(run, gone) for run in runs))
    branches = {run.number: _branch(run) for run in runs if run.message_count}
    _insert(BranchRecord, branches.values())
    _insert(
        MessageRecord,
        (message for run in runs if run.message_count for message in _messages(run, branches[run.number])),
    )
    _insert(RunTagRecord, (tag for run in runs for tag in _tags(run)))
    _insert(TransitionRecord, (transition for run in runs for transition in _transitions(run)))


def _insert(model: type[models.Model], records: Iterable[Any]) -> None:
    model._default_manager.bulk_create(records)


def _key(run: SeededRun) -> int:
    """Return the row number, so that children can name it before it is stored."""
    return run.number + 1


def _run_record(run: SeededRun, gone: ProcessIdentity) -> RunRecord:
    return RunRecord(
        id=_key(run),
        run_id=run.run_id,
        kind=run.kind,
        name=run.name,
        playbook_name=run.playbook_name,
        agent_name=run.agent_name,
        search_text=search_text(run.name, run.agent_name),
        project=run.project,
        model=run.model,
        provider=run.provider,
        invocation_id=run.invocation_id,
        status=run.status,
        status_reason_code=default_reason(run.status),
        created_at=run.started_at,
        started_at=run.started_at,
        ended_at=run.ended_at,
        updated_at=run.updated_at,
        last_activity_at=run.updated_at,
        last_seq=run.message_count,
        branch_count=1 if run.message_count else 0,
        message_count=run.message_count,
        messages_by_role=json.dumps({"assistant": run.message_count} if run.message_count else {}),
        cost_micros=run.cost_micros,
        tags=json.dumps(run.tags),
        sort_started_at=run.started_at,
        sort_cost=-1 if run.cost_micros is None else run.cost_micros,
        **(_process(gone) if run.is_orphan else {}),
    )


def _process(gone: ProcessIdentity) -> dict[str, Any]:
    return {
        "process_host": gone.host,
        "process_pid": gone.pid,
        "process_started_at": gone.started_at,
        "process_boot_id": gone.boot_id,
    }


def _branch(run: SeededRun) -> BranchRecord:
    return BranchRecord(
        run_id=_key(run),
        name="main",
        message_count=run.message_count,
        first_message_at=run.started_at,
        last_message_at=run.updated_at,
    )


def _messages(run: SeededRun, branch: BranchRecord) -> Iterator[MessageRecord]:
    for place in range(run.message_count):
        content = json.dumps(message_text(run.number, place))
        yield MessageRecord(
            run_id=_key(run),
            branch=branch,
            seq=place + 1,
            position=place + 1,
            role="assistant",
            content=content,
            at=run.started_at + place,
            recorded_at=run.started_at + place,
            size_bytes=len(content),
        )


def _tags(run: SeededRun) -> Iterator[RunTagRecord]:
    sort_cost = -1 if run.cost_micros is None else run.cost_micros
    for tag in run.tags:
        yield RunTagRecord(
            run_id=_key(run), tag=tag, updated_at=run.updated_at, sort_started_at=run.started_at, sort_cost=sort_cost
        )


def _transitions(run: SeededRun) -> Iterator[TransitionRecord]:
    yield _transition(run, None, "running", run.started_at)
    if run.ended_at is not None:
        yield _transition(run, "running", run.status, run.ended_at)


def _transition(run: SeededRun, from_status: str | None, to_status: str, at: float) -> TransitionRecord:
    return TransitionRecord(
        run_id=_key(run),
        from_status=from_status,
        to_status=to_status,
        reason_code=default_reason(to_status),
        actor="producer",
        at=at,
    )


if __name__ == "__main__":
    seed(int(sys.argv[1]), float(sys.argv[2]))
