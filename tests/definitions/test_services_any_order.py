"""Whatever Studio, editors and dying processes do to one definition, in any order: no text is lost, nothing disagrees
unsaid."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from contract.definitions import ReconcileAction, SnapshotDefinitions
from contract.errors import StudioApplicationError
from definitions.errors import WRITE_FAULTS, WriteFault
from definitions.services.capturing import snapshot_definitions
from definitions.services.recovering import recover_definitions
from tests.definitions.desk import PATH, Desk
from tests.definitions.resolving import ACTIONS, resolved
from tests.fakes.turns import outcome_of

CONTENTS = st.sampled_from(["a", "b", "c", "d"])
MAYBE = st.none() | CONTENTS


class AnyOrder(RuleBasedStateMachine):
    """One definition. `owed` are the texts that only Studio can lose; a hand may throw away what no version holds."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.owed: set[str] = set()
        # Whether a hand did something that Studio was not asked to look at since.
        self.touched = False
        self.deaths = 0
        self._runner = asyncio.Runner()

    def teardown(self) -> None:
        self._runner.close()

    def do(self, work: Awaitable[Any]) -> Any:
        """Let Studio do something; it answers with a result or with an error of the taxonomy."""
        outcome = self._runner.run(outcome_of(work))
        assert isinstance(outcome, StudioApplicationError) or not isinstance(outcome, BaseException), repr(outcome)
        return outcome

    def snapshot(self) -> None:
        self.do(snapshot_definitions(command=SnapshotDefinitions(), writer=self.desk.writer))
        self.touched = False

    def hand_does(self, content: str | None) -> None:
        text = self.desk.text()
        if text is not None and text not in self.kept():
            self.owed.discard(text)
        self.desk.hand(content)
        self.owed |= {content} - {None}  # type: ignore[arg-type]  # None is taken out
        self.touched = True

    def kept(self) -> set[str]:
        return {version.content for version in self.desk.versions() if not version.deleted}

    # ------------------------------------------------------------------------------------------------- hands

    @rule(content=MAYBE)
    def a_hand_edits_or_removes(self, content: str | None) -> None:
        self.hand_does(content)

    @rule(content=MAYBE)
    def a_hand_will_come_in_the_middle(self, content: str | None) -> None:
        self.desk.files.meanwhile(lambda: self.hand_does(content))

    @rule(code=st.sampled_from(sorted(WRITE_FAULTS)), landed=st.booleans())
    def the_next_write_will_fail(self, code: str, landed: bool) -> None:
        self.desk.files.fail_next_write(WriteFault(code), landed=landed)

    @rule()
    def time_passes(self) -> None:
        self.desk.clock.advance(60)

    # ------------------------------------------------------------------------------------------------ Studio

    @rule(content=MAYBE, stale=st.none() | st.booleans())
    def studio_stores(self, content: str | None, stale: bool | None) -> None:
        newest = len(self.desk.versions())
        expected = None if stale is None else newest + stale
        outcome = self.do(self.desk.store(content, expected=expected))
        if not isinstance(outcome, StudioApplicationError):
            assert self.desk.text() == content
            assert self.desk.is_in_step()
            self.touched = False
            self.owed |= set() if content is None else {content}

    @rule(contents=st.lists(MAYBE, min_size=2, max_size=2))
    def several_store_at_once(self, contents: list[str | None]) -> None:
        self.do(self.all_at_once([self.desk.store(content) for content in contents]))

    @rule(content=MAYBE, action=st.sampled_from(ACTIONS))
    def one_stores_while_another_resolves(self, content: str | None, action: ReconcileAction) -> None:
        works: list[Awaitable[object]] = [self.desk.store(content), self.desk.store(content)]
        pending = self.pending()
        if pending is not None:
            works.append(resolved(self.desk, self.desk.history.reconciliations[pending], action))
        self.do(self.all_at_once(works))

    async def all_at_once(self, works: list[Awaitable[Any]]) -> None:
        for outcome in await asyncio.gather(*map(outcome_of, works)):
            assert isinstance(outcome, StudioApplicationError) or not isinstance(outcome, BaseException), repr(outcome)

    @rule()
    def studio_takes_a_snapshot(self) -> None:
        self.snapshot()

    @precondition(lambda self: self.pending() is not None)
    @rule(action=st.sampled_from(ACTIONS))
    def studio_resolves(self, action: ReconcileAction) -> None:
        pending = self.pending()
        assert pending is not None
        outcome = self.do(resolved(self.desk, self.desk.history.reconciliations[pending], action))
        if not isinstance(outcome, StudioApplicationError):
            assert outcome.resolution == action
            assert action == "dismiss" or self.desk.is_in_step()

    # --------------------------------------------------------------------------------------- dying processes

    @rule(content=MAYBE, landed=st.booleans(), displaced=st.none() | CONTENTS)
    def a_process_dies_while_it_writes(self, content: str | None, landed: bool, displaced: str | None) -> None:
        head = self.desk.head()
        if head is not None and head.writer is not None:
            return
        self.snapshot()
        self._runner.run(self.desk.die_writing(content))
        if landed:
            self.desk.hand(content)
        if displaced is not None:
            self.deaths += 1
            self.desk.hand(displaced, f"agents/.a.md.{self.deaths:016x}.studio-tmp")
            self.owed.add(displaced)

    @rule()
    def studio_starts(self) -> None:
        self.do(recover_definitions(writer=self.desk.writer, progress=lambda _: None))
        assert set(self.desk.files.contents) <= {PATH}
        assert not self._runner.run(self.desk.history.at_work())

    # -------------------------------------------------------------------------------------------- what holds

    def pending(self) -> str | None:
        head = self.desk.head()
        return None if head is None else head.reconciliation_id

    @invariant()
    def versions_are_numbered_without_a_gap(self) -> None:
        assert [version.version for version in self.desk.versions()] == list(range(1, len(self.desk.versions()) + 1))

    @invariant()
    def no_text_is_lost(self) -> None:
        assert self.owed <= self.kept() | {data.decode() for data in self.desk.files.contents.values()}

    @invariant()
    def history_and_file_disagree_only_where_somebody_knows_why(self) -> None:
        head = self.desk.head()
        if head is None or head.sha256 == self.desk.hash() or self.touched:
            return
        dismissed = self.desk.versions()[-1].write_status == "dismissed"
        assert dismissed or head.writer is not None or head.reconciliation_id is not None

    @invariant()
    def a_pending_reconciliation_is_of_the_newest_version(self) -> None:
        pending = [entry for entry in self.desk.history.reconciliations.values() if entry.status == "pending"]
        assert [entry.id for entry in pending] == ([] if self.pending() is None else [self.pending()])
        assert all(entry.version == len(self.desk.versions()) for entry in pending)

    @invariant()
    def only_the_newest_version_is_unsettled(self) -> None:
        statuses = [version.write_status for version in self.desk.versions()]
        assert not {"pending", "failed"} & set(statuses[:-1])


# Each waits for others once in a while, for milliseconds.
AnyOrder.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)
test_no_order_of_events_loses_a_text = AnyOrder.TestCase
