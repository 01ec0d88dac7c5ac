"""DjangoLaunches: LaunchPort over the ORM."""

from functools import partial
from typing import Final

from django.db import IntegrityError

from contract.actions import ActionFields, LaunchResult
from contract.errors import Conflict
from contract.ports import ChangeFeed
from runs.models import LaunchRecord, RunRecord
from runs.naming import search_text
from runs.services.execution_ports import LAUNCHES_TOPIC, Announce, LaunchDraft
from runs.services.following import run_topic
from runs.services.ports import RunProjectRows
from runs.state.registering import ensure_invocation, insert_run
from studio_project import publishing
from studio_project.statedb import StateDB

_PRODUCER: Final = "producer"
# What an action may hold. A LaunchRun is one as well, with more: that is kept in columns of its own.
_ACTION_FIELDS: Final = set(ActionFields.model_fields)


class DjangoLaunches:
    """Queues launches; publishes each after its commit."""

    def __init__(self, db: StateDB, *, feed: ChangeFeed, announce: Announce, projects: RunProjectRows) -> None:
        """Take the executor, who is told, who calls for what waits, and what a launch touches beside its own tables."""
        self._db = db
        self._feed = feed
        self._announce = announce
        self._projects = projects

    async def find_launch(self, launch_key: str, *, digest: str) -> LaunchResult | None:
        """Look for the run that a key made before: one query."""
        return await self._db.read(partial(_find_launch, launch_key, digest))

    async def launch(self, draft: LaunchDraft, *, at: float) -> LaunchResult:
        """Insert a queued run with its launch; the unique key settles races and finds the run there is."""
        try:
            return await publishing.write(self._db, self._feed, partial(self._launch, draft, at))
        except IntegrityError:
            found = await self.find_launch(draft.launch_key, digest=draft.digest)
            if found is None:
                detail = f"a run {draft.run_id} exists already"
                raise Conflict("run", None, draft.run_id, detail) from None
            return found

    def queue(self, draft: LaunchDraft, at: float) -> publishing.Topics:
        """Insert a checked launch inside the caller's transaction; return the topics that changed."""
        return self._launch(draft, at)[1]

    def _launch(self, draft: LaunchDraft, at: float) -> tuple[LaunchResult, publishing.Topics]:
        if draft.action.project is not None:
            self._projects.ensure(draft.action.project, at=at)
        run = _queued_run(draft, at)
        insert_run(run, tags=draft.tags, actor=_PRODUCER)
        LaunchRecord.objects.create(
            run=run,
            launch_key=draft.launch_key,
            action=draft.action.model_dump_json(include=_ACTION_FIELDS, exclude_defaults=True),
            digest=draft.digest,
            runtime=draft.runtime,
            cwd=draft.cwd,
            deadline_seconds=draft.deadline_seconds,
            queued_at=at,
        )
        self._announce(draft.run_id)
        result = LaunchResult(run_id=draft.run_id, status=run.status, launch_key=draft.launch_key, created_at=at)
        return result, (run_topic(draft.run_id), LAUNCHES_TOPIC)


def _queued_run(draft: LaunchDraft, at: float) -> RunRecord:
    action = draft.action
    return RunRecord(
        run_id=draft.run_id,
        kind=action.kind,
        name=draft.name,
        playbook_name=action.playbook,
        agent_name=action.agent,
        search_text=search_text(draft.name, action.agent),
        project=action.project,
        model=action.model,
        invocation_id=ensure_invocation(draft.invocation_id, kind=action.kind, at=at),
        status="queued",
        status_reason_code="run.queued.launched",
        created_at=at,
        updated_at=at,
        last_activity_at=at,
        sort_started_at=at,
    )


def _find_launch(launch_key: str, digest: str) -> LaunchResult | None:
    found = LaunchRecord.objects.select_related("run").filter(launch_key=launch_key).first()
    if found is None:
        return None
    run = found.run
    if found.digest != digest:
        detail = f"launch key {launch_key} stands for another action, launched as run {run.run_id}"
        raise Conflict("launch", digest, found.digest, detail)
    return LaunchResult(
        run_id=run.run_id,
        status=run.status,
        launch_key=found.launch_key,
        created_at=run.created_at,
        repeated=True,
    )
