"""What `definition` says after an error: why, and the command with which a person goes on."""

import os
import pty
from pathlib import Path

import pytest

from contract.definitions import ReconciliationDetail
from contract.errors import Conflict, StateUnavailable, StudioApplicationError
from definitions.errors import WriteFault
from tests.definitions.definition_shell import DefinitionShell
from tests.fakes.studio import InMemoryStudio


@pytest.fixture
def shell(tmp_path: Path) -> DefinitionShell:
    return DefinitionShell(tmp_path)


class ForgetfulStudio(InMemoryStudio):
    """A Studio that cannot be asked about a reconciliation any more."""

    async def get_reconciliation(self, reconciliation_id: str) -> ReconciliationDetail:
        raise StateUnavailable(retryable=True, detail=f"no answer about {reconciliation_id}")


# what did not reach its file --------------------------------------------------------------------------------


def test_a_save_that_does_not_reach_the_file_says_why_and_how_to_settle_it(shell: DefinitionShell) -> None:
    shell.studio.files.fail_next_write(WriteFault("no_space", "No space left on device"))

    shell("save", "agent", "coder", shell.file("one"))

    [found_id] = shell.studio.history.reconciliations
    assert shell.exit_code == 8
    error, *rest = shell.err.splitlines()
    assert error.startswith("error: ")
    assert rest == [
        "why: no_space: the disk is full (No space left on device)",
        f"to settle it: studio definition reconcile {found_id}",
    ]


def test_a_retry_that_fails_again_says_why_this_time(shell: DefinitionShell) -> None:
    shell.studio.files.fail_next_write(WriteFault("no_space"))
    shell("save", "agent", "coder", shell.file("one"))
    [found_id] = shell.studio.history.reconciliations
    shell.studio.files.fail_next_write(WriteFault("read_only"))

    shell("reconcile", found_id, "--action", "retry_write")

    assert "why: read_only: the file system is read-only\n" in shell.err


def test_a_reconciliation_that_cannot_be_read_is_named_all_the_same(shell: DefinitionShell) -> None:
    shell.studio = ForgetfulStudio()
    shell.studio.files.fail_next_write(WriteFault("no_space"))

    shell("save", "agent", "coder", shell.file("one"))

    [found_id] = shell.studio.history.reconciliations
    assert shell.exit_code == 8
    assert shell.err.splitlines()[1:] == [f"to settle it: studio definition reconcile {found_id}"]


def test_an_edit_that_does_not_reach_the_file_is_not_to_be_saved_again(shell: DefinitionShell) -> None:
    shell.edit_with('echo more >> "$1"')
    shell.studio.files.fail_next_write(WriteFault("no_space"))

    shell("edit", "agent", "coder")

    assert "to settle it: studio definition reconcile " in shell.err
    assert shell.err.endswith(f"your text is kept in {shell.kept}\n")


# what is deleted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["show", "delete"])
def test_a_deleted_name_has_its_history_and_a_way_back_named(shell: DefinitionShell, verb: str) -> None:
    shell.saved("one", "two")
    shell("delete", "agent", "coder")

    shell(verb, "agent", "coder")

    assert shell.exit_code == 4
    assert shell.err.splitlines() == [
        "error: no definition agent/coder",
        "its history is there: studio definition history agent coder",
        "to restore it: studio definition rollback agent coder 2",
    ]


def test_a_file_that_was_removed_by_hand_can_be_restored_from_its_newest_version(shell: DefinitionShell) -> None:
    shell.saved("one", "two")
    shell.studio.files.remove("agents/coder.md")

    assert shell("show", "agent", "coder").err.endswith("studio definition rollback agent coder 2\n")
    assert shell("delete", "agent", "coder").exit_code == 0
    assert shell("delete", "agent", "coder").err.endswith("studio definition rollback agent coder 2\n")
    assert shell("rollback", "agent", "coder", "2").exit_code == 0
    assert shell.content() == "two"


def test_what_never_was_has_nothing_to_go_back_to(shell: DefinitionShell) -> None:
    assert shell("show", "agent", "nobody").err == "error: no definition agent/nobody\n"
    assert shell("delete", "agent", "nobody").err == "error: no definition agent/nobody\n"


# what an edit could not save --------------------------------------------------------------------------------


def test_a_text_with_a_fault_can_be_saved_once_it_is_mended(shell: DefinitionShell) -> None:
    shell.saved("prompt: Go.\n", kind="playbook", name="p")
    shell.edit_with('echo "steps: 3" >> "$1"')

    shell("edit", "playbook", "p")

    assert shell.exit_code == 2
    way_on = f"studio definition save playbook p {shell.kept} --expected-version 1"
    assert shell.err.splitlines()[1:] == [
        f"your text is kept in {shell.kept}",
        f"to save it once that is mended: {way_on}",
    ]


def test_a_text_whose_place_is_taken_can_be_saved_once_it_is_free(shell: DefinitionShell) -> None:
    def place_taken() -> str:
        shell.studio.files.make_unreadable("agents/coder.md", folder)
        return editor

    folder: StudioApplicationError = Conflict("definition file", "a regular file", "a folder", "a folder is there")
    shell.edit_with('echo more >> "$1"')
    editor, shell.open_editor = shell.editor, place_taken  # type: ignore[method-assign]  # done in between

    shell("edit", "agent", "coder")

    assert shell.exit_code == 5
    assert "saved meanwhile" not in shell.err
    way_on = f"studio definition save agent coder {shell.kept} --expected-version 0"
    assert shell.err.endswith(f"to save it once that is mended: {way_on}\n")


def test_a_text_that_nobody_refused_is_saved_as_it_would_have_been(shell: DefinitionShell) -> None:
    shell.saved("one\n")
    shell.edit_with('echo more >> "$1"; exit 3')
    shell("edit", "agent", "coder")

    way_on = f"studio definition save agent coder {shell.kept} --expected-version 1"
    assert shell.err.endswith(f"to save it: {way_on}\n")


# what is typed ----------------------------------------------------------------------------------------------


def test_a_save_from_a_terminal_says_that_it_reads_it_and_how_to_end(shell: DefinitionShell) -> None:
    master, shell.standard_input = pty.openpty()
    os.write(master, b"typed\n\x04")

    shell("save", "agent", "coder")

    os.close(master)
    os.close(shell.standard_input)
    assert shell.err == "reading the content from the terminal; Ctrl-D on an empty line ends it\n"
    assert shell.content() == "typed\n"
