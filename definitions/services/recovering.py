"""What a start does about saves that did not end, before anything is served."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from contract.definitions import DefinitionKind, DefinitionVersionDraft
from contract.errors import Conflict, PermissionDenied
from definitions.content import sha256_of
from definitions.errors import FileChanged, HeadMoved, WriteFault
from definitions.names import KINDS
from definitions.services.ports import DefinitionHead, Leftover
from definitions.services.writing import SYSTEM, DefinitionWriter

# A temporary file is of the save that died; so many others may have been made since, by a process that lives.
_VERSIONS_LOOKED_AT: Final = 20
# Settled in one transaction: short enough to let others write in between.
_SETTLED_AT_ONCE: Final = 1_000
# Asked about together: briefly enough for the answer to hold when the files are removed.
_SWEPT_AT_ONCE: Final = 100


async def recover_definitions(*, writer: DefinitionWriter, progress: Callable[[int], None]) -> tuple[str, ...]:
    """Settle every version whose writer is gone, then what its temporary file still holds.

    Returns a sentence for each file that people should look at. Idempotent; a living writer's work is left alone.
    """
    gone = [head for head in await writer.history.at_work() if writer.is_abandoned(head)]
    for first in range(0, len(gone), _SETTLED_AT_ONCE):
        batch = gone[first : first + _SETTLED_AT_ONCE]
        await writer.settle(batch)
        progress(len(batch))
    leftovers = await writer.files.leftovers()
    notes: list[str | None] = []
    for kind in KINDS:
        of_kind = [leftover for leftover in leftovers if leftover.kind == kind]
        for first in range(0, len(of_kind), _SWEPT_AT_ONCE):
            notes += await _swept_together(kind, of_kind[first : first + _SWEPT_AT_ONCE], writer)
    return tuple(note for note in notes if note is not None)


async def _swept_together(
    kind: DefinitionKind, leftovers: Sequence[Leftover], writer: DefinitionWriter
) -> list[str | None]:
    """Ask the history about all of them at once.

    Whatever it does not know is looked at again by itself: what is kept of one may be what another holds.
    """
    heads = await writer.history.heads(kind, sorted({leftover.name for leftover in leftovers}))
    at_work = {name for name, head in heads.items() if head.writer is not None}
    free = [leftover for leftover in leftovers if leftover.name not in at_work]
    asked = [leftover for leftover in free if leftover.name in heads]
    known = await _known(kind, asked, writer)
    return [await _swept(leftover, writer, is_known=leftover in known) for leftover in free]


async def _swept(leftover: Leftover, writer: DefinitionWriter, *, is_known: bool) -> str | None:
    """Sweep, but let no temporary file keep anybody from starting."""
    try:
        if not is_known:
            return await _sweep(leftover, writer)
        await writer.files.discard(leftover)
        return None
    except FileChanged:  # somebody has taken it away
        return None
    except WriteFault as fault:
        return f"{leftover.relative_path} of an interrupted save was left there: {fault}"


async def _sweep(leftover: Leftover, writer: DefinitionWriter) -> str | None:
    """Remove a leftover whose content the history has; keep any other content in the history, or beside the file."""
    head = await writer.history.find_head(leftover.kind, leftover.name)
    if head is not None and head.writer is not None:
        return None
    text = _text(leftover.content)
    if head is not None and await _known(leftover.kind, [leftover], writer):
        await writer.files.discard(leftover)
        return None
    if head is None or text is None:
        return f"{leftover.relative_path} of an interrupted save was kept as {await writer.files.rescue(leftover)}"
    if not await _keep(text, head, writer):
        return None
    await writer.files.discard(leftover)
    return f"{leftover.name}: what was edited by hand during an interrupted save is version {head.version + 1}"


def _text(content: bytes | None) -> str | None:
    try:
        text = None if content is None else content.decode()
    except UnicodeDecodeError:
        return None
    return None if text is None or "\x00" in text else text


async def _known(kind: DefinitionKind, leftovers: Sequence[Leftover], writer: DefinitionWriter) -> frozenset[Leftover]:
    """Return those that the history has, or that are what was written so far of one of the last versions."""
    readable = [(leftover, leftover.content) for leftover in leftovers if leftover.content is not None]
    contents = [(leftover.name, content) for leftover, content in readable]
    answers = await writer.history.known_contents(kind, contents, last=_VERSIONS_LOOKED_AT) if contents else ()
    return frozenset(leftover for (leftover, _), is_known in zip(readable, answers, strict=True) if is_known)


async def _keep(text: str, head: DefinitionHead, writer: DefinitionWriter) -> bool:
    """Append the leftover's content, then what the file holds, so that the newest version is the file again."""
    draft = DefinitionVersionDraft(
        kind=head.kind,
        name=head.name,
        relative_path=head.relative_path,
        content=text,
        content_sha256=sha256_of(text),
        message="edited by hand during a save that did not end",
        origin="external",
        actor=SYSTEM,
    )
    try:
        await writer.history.append_version(
            draft, after=head.version, at=writer.clock.now(), file_sha256=head.file_sha256
        )
    except HeadMoved:
        return False
    kept = await writer.history.find_head(head.kind, head.name)
    with suppress(Conflict, PermissionDenied):  # what stands there is no text; the list of definitions says why
        await writer.capture(head.kind, head.name, kept, actor=SYSTEM, message="the file after a save that did not end")
    return True
