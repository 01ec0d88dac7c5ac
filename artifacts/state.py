"""The artifact tables behind other capabilities' ports."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from django.db.models import QuerySet

from artifacts.models import ArtifactRecord
from contract.artifacts import ArtifactView
from contract.events import ArtifactEvent
from contract.ports import IdGenerator

# Built once: naming its columns is half the work of such a query.
_ARTIFACTS: Final[QuerySet[Any, Any]] = ArtifactRecord.objects.order_by("id").values(
    "id", "artifact_id", "kind", "name", "relative_path", "media_type", "content", "created_at", "updated_at"
)
# Contents read ahead: each may have a mebibyte.
_CHUNK: Final = 8


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

    def of_run(self, run_id: str, *, after: int, limit: int) -> Iterator[tuple[int, ArtifactView]]:
        """Read artifacts one by one, oldest first, with their row number."""
        for row in _ARTIFACTS.filter(run_id=run_id, id__gt=after)[:limit].iterator(chunk_size=_CHUNK):
            yield row.pop("id"), _view(row)

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


def _view(row: dict[str, Any]) -> ArtifactView:
    content = row.pop("content")
    size = len(content) if content.isascii() else len(content.encode())
    return ArtifactView(path=row.pop("relative_path"), content=json.loads(content), content_bytes=size, **row)
