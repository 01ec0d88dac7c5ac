"""The artifact tables behind other capabilities' ports."""

import json
from collections.abc import Sequence
from typing import Any

from artifacts.models import ArtifactRecord
from contract.artifacts import ArtifactView
from contract.events import ArtifactEvent
from contract.ports import IdGenerator


class DjangoRunArtifactRows:
    """A run's artifacts, read and written inside the transaction of whoever asks."""

    def __init__(self, ids: IdGenerator) -> None:
        """Take what names new artifacts."""
        self._ids = ids

    def upsert(self, run_id: str, events: Sequence[ArtifactEvent], *, at: float) -> None:
        """Insert or replace by (run, kind, name); the unique constraint settles races."""
        for event in events:
            ArtifactRecord.objects.update_or_create(
                run_id=run_id,
                kind=event.kind,
                name=event.name,
                defaults=(described := _described(event, at)),
                create_defaults={**described, "artifact_id": self._ids.new_id(), "created_at": at},
            )

    def of_run(self, run_id: str, *, after: int, limit: int) -> tuple[tuple[int, ArtifactView], ...]:
        """Return artifacts with their row number, oldest first."""
        found = ArtifactRecord.objects.filter(run_id=run_id, id__gt=after).order_by("id")[:limit]
        return tuple((record.pk, _view(record)) for record in found)

    def count(self, run_id: str) -> int:
        """Count the run's artifacts."""
        return ArtifactRecord.objects.filter(run_id=run_id).count()


def _described(event: ArtifactEvent, at: float) -> dict[str, Any]:
    return {
        "content": json.dumps(event.content, ensure_ascii=False),
        "relative_path": event.path,
        "media_type": event.media_type,
        "updated_at": at,
    }


def _view(record: ArtifactRecord) -> ArtifactView:
    return ArtifactView(
        artifact_id=record.artifact_id,
        kind=record.kind,
        name=record.name,
        path=record.relative_path,
        media_type=record.media_type,
        content=json.loads(record.content),
        created_at=record.created_at,
        updated_at=record.updated_at,
    )
