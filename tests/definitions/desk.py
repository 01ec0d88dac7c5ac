"""A writer over in-memory files and history, and short verbs for what its tests do again and again."""

from contract.definitions import (
    DefinitionKind,
    DefinitionOrigin,
    DefinitionVersion,
    DefinitionVersionDraft,
    Reconciliation,
    WriteStatus,
)
from contract.errors import ReconciliationRequired
from contract.events import ProcessIdentity
from definitions.content import sha256_of
from definitions.errors import WriteFault
from definitions.names import flat_place
from definitions.services.ports import DefinitionHead
from definitions.services.writing import Change, DefinitionWriter
from tests.fakes.clocks import FixedClock
from tests.fakes.definition_files import InMemoryDefinitionFiles
from tests.fakes.definition_history import InMemoryDefinitionHistory
from tests.fakes.processes import FakeProcesses
from tests.fakes.turns import turns

PATH = "agents/a.md"
LEFTOVER = "agents/.a.md.0123456789abcdef.studio-tmp"
# More than any chain of ready callbacks of one operation takes.
_TURNS_MAX = 200


class HurriedClock(FixedClock):
    """A clock whose monotonic side runs on at each look, so that patience ends after a few."""

    def monotonic(self) -> float:
        self._monotonic += 15.0
        return self._monotonic


class Desk:
    """Studio's side and, with `files` and the verbs below, everybody else's. The definition is agent `a`."""

    def __init__(self, clock: FixedClock | None = None) -> None:
        self.clock = clock or FixedClock()
        self.processes = FakeProcesses()
        self.files = InMemoryDefinitionFiles()
        self.history = InMemoryDefinitionHistory()
        self.writer = DefinitionWriter(history=self.history, files=self.files, writers=self.processes, clock=self.clock)

    # ---------------------------------------------------------------------------------------- what Studio does

    async def store(
        self,
        content: str | None,
        *,
        expected: int | None = None,
        name: str = "a",
        kind: DefinitionKind = "agent",
        actor: str | None = None,
    ) -> DefinitionVersion:
        """Store a content, or for None a deletion."""
        change = Change(
            kind=kind,
            name=name,
            content=content or "",
            deleted=content is None,
            origin="save" if content is not None else "delete",
            message=None,
            actor=actor,
            expected_version=expected,
        )
        return await self.writer.store(change)

    async def fail(self, content: str | None, code: str = "no_space", *, landed: bool = False) -> Reconciliation:
        """Store a content, or a deletion, that does not reach the file; return its reconciliation."""
        self.files.fail_next_write(WriteFault(code), landed=landed)
        try:
            await self.store(content)
        except ReconciliationRequired as required:
            return self.history.reconciliations[required.reconciliation_id]
        raise AssertionError("the write did not fail")

    # ------------------------------------------------------------------------------------ what somebody else does

    async def begin(
        self,
        content: str | None,
        *,
        writer: ProcessIdentity | None = None,
        name: str = "a",
        kind: DefinitionKind = "agent",
    ) -> DefinitionVersion:
        """Let another process (by default a living one, 7) append a version and get no further."""
        head = self.head(name, kind)
        path = flat_place(kind, name)
        draft = DefinitionVersionDraft(
            kind=kind,
            name=name,
            relative_path=path,
            content=content or "",
            content_sha256=sha256_of(content or ""),
            deleted=content is None,
        )
        return await self.history.append_version(
            draft,
            after=0 if head is None else head.version,
            at=self.clock.now(),
            file_sha256=self.hash(path),
            writer=writer or self.processes.start(7),
        )

    async def die_writing(
        self, content: str | None, *, name: str = "a", kind: DefinitionKind = "agent"
    ) -> DefinitionVersion:
        """Let another process append a version and die before it touches the file."""
        version = await self.begin(content, name=name, kind=kind)
        self.processes.end(7)
        return version

    def hand(self, content: str | bytes | None, path: str = PATH) -> None:
        """Edit a file by hand; remove it for None."""
        if content is None:
            self.files.remove(path)
        else:
            self.files.edit(path, content)

    def hand_meanwhile(self, content: str | None) -> None:
        """Let a hand edit or remove the file in the middle of the next write."""
        self.files.meanwhile(lambda: self.hand(content))

    # --------------------------------------------------------------------------------------------- what there is

    def text(self, path: str = PATH) -> str | None:
        """Return what the file holds."""
        data = self.files.contents.get(path)
        return None if data is None else data.decode()

    def hash(self, path: str = PATH) -> str | None:
        """Return the hash of what the file holds."""
        text = self.text(path)
        return None if text is None else sha256_of(text)

    def head(self, name: str = "a", kind: DefinitionKind = "agent") -> DefinitionHead | None:
        """Return the head of a history."""
        return self.history.records.get((kind, name))

    def versions(self, name: str = "a", kind: DefinitionKind = "agent") -> list[DefinitionVersion]:
        """Return the history, oldest first."""
        return self.history.histories.get((kind, name), [])

    def story(self) -> list[tuple[str | None, DefinitionOrigin, WriteStatus]]:
        """Return content (None: deleted), origin and status of each version, oldest first."""
        return [
            (None if version.deleted else version.content, version.origin, version.write_status)
            for version in self.versions()
        ]

    def only_reconciliation(self) -> Reconciliation:
        """Return the one that there is."""
        [found] = self.history.reconciliations.values()
        return found

    def is_in_step(self) -> bool:
        """Whether the file is what the newest version wants it to be, and nobody waits for anything."""
        head = self.head()
        assert head is not None
        return head.sha256 == self.hash() and head.writer is None and head.reconciliation_id is None

    async def reached(self, port_call: str, times: int = 1) -> None:
        """Let others run until a call of the history was begun so many times."""
        for _ in range(_TURNS_MAX):
            if self.history.calls[port_call] >= times:
                return
            await turns()
        raise AssertionError(f"{port_call} was not called")
