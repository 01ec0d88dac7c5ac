"""Rows of the real database, many at once or looked at past every port."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from django.db import connections

from artifacts.models import ArtifactRecord
from runs.models import InvocationRecord, LaunchRecord, RunRecord, RunTagRecord
from runs.naming import search_text
from tests.fakes.clocks import START_AT

T = TypeVar("T")

COUNT = 3_000
_ENDS = ("completed", "failed", "timed_out", "aborted", "cancelled", "completed_empty")
_BATCH = 500


async def ask(work: Callable[[], T]) -> T:
    """Run a function that uses the ORM in a thread, and leave no connection open there."""

    def asked() -> T:
        try:
            return work()
        finally:
            connections.close_all()

    return await asyncio.to_thread(asked)


def insert_runs(count: int = COUNT) -> None:
    """Insert runs as a store in use has them: mostly completed, a few open, and every column filled unevenly."""
    invocations = [
        InvocationRecord(invocation_id=f"i{number}", kind=("agent", "flow")[number % 2], created_at=START_AT + number)
        for number in range(max(count // 10, 1))
    ]
    InvocationRecord.objects.bulk_create(invocations, _BATCH)
    RunRecord.objects.bulk_create((_run(number, len(invocations)) for number in range(count)), _BATCH)
    runs = RunRecord.objects.order_by("id").only("id", "updated_at", "sort_started_at", "sort_cost", "tags")
    RunTagRecord.objects.bulk_create(
        (
            RunTagRecord(
                run=run,
                tag=tag,
                updated_at=run.updated_at,
                sort_started_at=run.sort_started_at,
                sort_cost=run.sort_cost,
            )
            for number, run in enumerate(runs)
            for tag in _tags(number)
        ),
        _BATCH,
    )


def insert_launches() -> None:
    """Make launches of all runs: a few running ones are held, the queued ones wait."""
    LaunchRecord.objects.bulk_create(
        (
            LaunchRecord(
                run_id=number,
                launch_key=run_id,
                action="{}",
                digest="",
                deadline_seconds=60.0,
                queued_at=START_AT,
                owner="{}" if status == "running" and number % 3 == 0 else None,
            )
            for number, run_id, status in RunRecord.objects.values_list("id", "run_id", "status")
        ),
        _BATCH,
    )


def insert_artifacts(run_id: str, count: int) -> None:
    ArtifactRecord.objects.bulk_create(
        (
            ArtifactRecord(
                artifact_id=f"{run_id}.{number}",
                run_id=run_id,
                kind="document",
                name=f"report {number}",
                content="null",
                created_at=START_AT,
                updated_at=START_AT,
            )
            for number in range(count)
        ),
        _BATCH,
    )


def _run(number: int, invocations: int) -> RunRecord:
    status = "running" if number % 40 == 0 else "queued" if number % 40 == 1 else _ENDS[number % 97 % 6]
    name, agent_name = f"run of agent {number}", f"agent-{number % 23}" if number % 3 else None
    cost_micros = None if number % 5 == 0 else number * 7_919 % 10**7
    return RunRecord(
        run_id=f"r{number}",
        kind=("agent", "flow", "play")[number % 3],
        name=name,
        playbook_name=f"playbook-{number % 11}" if number % 4 == 0 else None,
        agent_name=agent_name,
        search_text=search_text(name, agent_name),
        project=f"project-{number % 13}" if number % 2 else None,
        invocation_id=f"i{number % invocations}" if number % 3 == 0 else None,
        status=status,
        status_reason_code="run.running.started",
        created_at=START_AT + number,
        started_at=None if status == "queued" else START_AT + number,
        ended_at=None if status in ("queued", "running") else START_AT + number + 60,
        updated_at=START_AT + number + number * 31 % 1_000,
        last_activity_at=START_AT + number,
        tags='["x"]',
        sort_started_at=START_AT + number,
        cost_micros=cost_micros,
        sort_cost=-1 if cost_micros is None else cost_micros,
    )


def _tags(number: int) -> tuple[str, ...]:
    return (f"tag-{number % 17}", f"group-{number % 5}") if number % 2 else (f"tag-{number % 17}",)
