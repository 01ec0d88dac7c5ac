"""What becomes of an edit by hand in the history."""

from contract.definitions import DefinitionKind, DefinitionVersionDraft, FileDefinition
from definitions.content import sha256_of
from definitions.names import flat_place
from definitions.services.ports import Capture, DefinitionHead


def capture_of(
    kind: DefinitionKind,
    name: str,
    head: DefinitionHead | None,
    current: FileDefinition | None,
    *,
    at: float,
    actor: str,
    message: str | None,
) -> Capture | None:
    """Return what the file holds, or that it is gone, as a version to be; None when there is nothing to keep."""
    if current is None and head is None:  # it went as it came
        return None
    path = flat_place(kind, name) if head is None else head.relative_path
    draft = DefinitionVersionDraft(
        kind=kind,
        name=name,
        relative_path=path if current is None else current.relative_path,
        content="" if current is None else current.content,
        content_sha256=sha256_of("") if current is None else current.sha256,
        message=message,
        origin="external",
        deleted=current is None,
        actor=actor,
    )
    after = 0 if head is None else head.version
    return Capture(draft=draft, after=after, at=at, file_sha256=None if current is None else current.sha256)
