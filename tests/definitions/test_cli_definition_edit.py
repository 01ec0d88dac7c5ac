"""`definition edit`: what the editor gets, what is saved, and that no text is ever lost."""

import asyncio
import os
import re
import shutil
import signal
import stat
from pathlib import Path

import pytest

from contract.definitions import SaveDefinition, SaveResult
from contract.errors import StateUnavailable
from definitions.errors import WriteFault
from tests.definitions.definition_shell import AGENT, DefinitionShell
from tests.fakes.studio import InMemoryStudio

ADD = 'printf "more\\n" >> "$1"\n'


@pytest.fixture
def shell(tmp_path: Path) -> DefinitionShell:
    shell = DefinitionShell(tmp_path)
    shell.edit_with(ADD)
    return shell


def seen_by_the_editor(shell: DefinitionShell, script: str = "") -> Path:
    """Let the editor note its file's path, and do `script`; return where the note is."""
    note = shell.folder / "seen"
    shell.edit_with(f'printf %s "$1" > {note}; cp -p "$1" {note}.copy\n{script}')
    return note


def names_in(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir()]


# what is edited ---------------------------------------------------------------------------------------------


def test_what_the_editor_leaves_is_the_next_version(shell: DefinitionShell) -> None:
    shell.saved(AGENT)

    shell("edit", "agent", "coder", "--message", "why", "--actor", "me")

    assert (shell.out, shell.err) == ("agent/coder: saved; it is version 2 now\n", "")
    assert shell.content() == AGENT + "more\n"
    newest = shell.studio.history.histories["agent", "coder"][-1]
    assert (newest.message, newest.actor) == ("why", "me")


def test_the_editor_gets_the_bytes_in_a_private_file_with_the_right_name_that_is_cleared_away(
    shell: DefinitionShell,
) -> None:
    shell.saved("name: p\r\n# no newline", kind="playbook", name="p")
    note = seen_by_the_editor(shell)

    shell("edit", "playbook", "p")

    file = Path(note.read_text())
    assert file.name == "p.playbook.yaml"
    assert Path(f"{note}.copy").read_bytes() == b"name: p\r\n# no newline"
    assert not file.parent.exists()


def test_the_folder_of_the_text_is_for_nobody_else(shell: DefinitionShell) -> None:
    shell.edit_with(f"{ADD}exit 1\n")

    shell("edit", "agent", "coder")

    assert stat.S_IMODE(shell.kept.parent.stat().st_mode) == 0o700


def test_an_unchanged_text_saves_nothing(shell: DefinitionShell) -> None:
    shell.saved(AGENT)
    note = seen_by_the_editor(shell)

    shell("edit", "agent", "coder")

    assert (shell.exit_code, shell.out, shell.err) == (0, "", "unchanged: nothing was saved\n")
    assert len(shell.studio.history.histories["agent", "coder"]) == 1
    assert not Path(note.read_text()).exists()


def test_a_new_definition_begins_empty(shell: DefinitionShell) -> None:
    shell("edit", "agent", "coder")

    assert shell.content() == "more\n"
    assert shell.err == "agent/coder is new\n"
    assert shell("edit", "agent", "../x").exit_code == 2
    assert shell("edit", "spell", "x").exit_code == 2


def test_what_was_done_by_hand_is_a_version_before_it_is_edited(shell: DefinitionShell) -> None:
    shell.saved("one\n")
    shell.hand("agents/coder.md", "by hand\n")

    shell("edit", "agent", "coder")

    assert shell.err == "agent/coder was changed by hand; that is version 2 now\n"
    contents = [version.content for version in shell.studio.history.histories["agent", "coder"]]
    assert contents == ["one\n", "by hand\n", "by hand\nmore\n"]


def test_what_was_deleted_or_removed_by_hand_begins_empty_and_keeps_its_history(shell: DefinitionShell) -> None:
    shell.saved("one\n")
    shell("delete", "agent", "coder")
    shell("edit", "agent", "coder")
    deleted = shell.err
    shell.studio.files.remove("agents/coder.md")
    shell("edit", "agent", "coder")

    assert deleted == "agent/coder has no file any more; `rollback` restores an earlier version\n"
    assert shell.err == f"agent/coder was removed by hand; that is version 4 now\n{deleted}"
    assert (shell.content(), len(shell.studio.history.histories["agent", "coder"])) == ("more\n", 5)


def test_a_pending_reconciliation_is_said_before(shell: DefinitionShell) -> None:
    shell.saved("old\n")
    shell.studio.files.fail_next_write(WriteFault("no_space"))
    shell("save", "agent", "coder", shell.file("new\n"))

    shell("edit", "agent", "coder")

    assert "is pending: the file does not hold version 2" in shell.err
    assert (shell.exit_code, shell.content()) == (0, "old\nmore\n")


# what is kept -----------------------------------------------------------------------------------------------


def test_a_conflict_keeps_the_text_and_says_how_to_go_on(shell: DefinitionShell) -> None:
    shell.saved("one\n")

    def another_saves() -> str:
        other = DefinitionShell(shell.folder)
        other.studio = shell.studio
        other.saved("two\n")
        return editor

    editor, shell.open_editor = shell.editor, another_saves  # type: ignore[method-assign]  # done in between
    shell("edit", "agent", "coder")

    assert (shell.exit_code, shell.content()) == (5, "two\n")
    assert shell.kept.read_text() == "one\nmore\n"
    assert shell.err.splitlines() == [
        "error: coder is at version 2, not 1: read it again",
        f"your text is kept in {shell.kept}",
        "to see what was saved meanwhile: studio definition diff agent coder --from 1",
        f"to save it all the same: studio definition save agent coder {shell.kept}",
    ]


def test_a_text_that_is_refused_is_kept(shell: DefinitionShell) -> None:
    for script in ('echo "a: [" > "$1"', 'printf "\\377" > "$1"', 'head -c 2000000 /dev/zero > "$1"'):
        shell.edit_with(script)
        shell("edit", "playbook", "p")

        assert shell.exit_code == 2
        assert "error: " in shell.err
        assert shell.kept.stat().st_size > 0


def test_a_text_that_is_in_the_history_and_not_in_the_file_is_kept(shell: DefinitionShell) -> None:
    shell.studio.files.fail_next_write(WriteFault("no_space"))

    assert shell("edit", "agent", "coder").exit_code == 8
    assert shell.kept.read_text() == "more\n"


def test_an_editor_that_fails_saves_nothing_and_its_text_is_kept(shell: DefinitionShell) -> None:
    shell.edit_with(f"{ADD}exit 3\n")
    shell("edit", "agent", "coder")
    kept = shell.kept
    shell.edit_with("exit 3\n")
    shell("edit", "agent", "coder")

    assert kept.read_text() == "more\n"
    assert (shell.exit_code, shell.err.splitlines()[1:]) == (
        1,
        ["error: the editor ended with 3; nothing was saved"],
    )
    assert shell.content() is None


@pytest.mark.parametrize("editor", ["no-such-editor-anywhere --wait", "'", "/"])
def test_an_editor_that_cannot_be_started_is_an_error(shell: DefinitionShell, editor: str) -> None:
    shell.editor = editor

    shell("edit", "agent", "coder")

    assert shell.exit_code == 2
    assert f"error: editor: {editor} cannot be started: " in shell.err
    assert "kept" not in shell.err


@pytest.mark.parametrize("script", ['rm "$1"', 'rm -r "$(dirname "$1")"', 'd=$(dirname "$1"); rm -r "$d"; : > "$d"'])
def test_a_text_that_the_editor_took_away_saves_nothing(shell: DefinitionShell, script: str) -> None:
    shell.saved(AGENT)
    shell.edit_with(script)

    assert shell("edit", "agent", "coder").exit_code == 2
    assert re.fullmatch(r"error: file: /\S+/coder\.md is gone; nothing was saved\n", shell.err)
    assert shell.content() == AGENT


@pytest.mark.parametrize(
    "put",
    ['mkfifo "$1"', 'ln -s "$0" "$1"', 'ln -s "$1.not" "$1"', 'mkdir "$1"'],
    ids=["pipe", "link", "loose", "folder"],
)
def test_what_the_editor_put_in_the_text_s_place_is_not_read(shell: DefinitionShell, put: str) -> None:
    shell.saved(AGENT)
    shell.edit_with(f'rm "$1"; {put}')

    assert shell("edit", "agent", "coder").exit_code == 2
    error, left = shell.err.splitlines()
    assert error.endswith("/coder.md is no regular file any more; it was not read; nothing was saved")
    assert names_in(left.removeprefix("what the editor left is in ")) == ["coder.md"]
    assert shell.content() == AGENT


@pytest.mark.parametrize("end", ["kill -TERM $PPID; exec tail -f /dev/null", "exit 3"])
def test_a_pipe_in_the_text_s_place_hinders_no_end(shell: DefinitionShell, end: str) -> None:
    shell.edit_with(f'rm "$1"; mkfifo "$1"; {end}')

    assert shell("edit", "agent", "coder").exit_code in (1, 2, 143)
    assert shell.err.count("\n") <= 3
    assert shell.content() is None


def test_a_text_that_was_saved_under_another_name_is_not_cleared_away(shell: DefinitionShell) -> None:
    shell.edit_with('mv "$1" "$1.new"')

    assert shell("edit", "agent", "coder").exit_code == 2
    left = shell.err.partition("what the editor left is in ")[2].strip()
    assert names_in(left) == ["coder.md.new"]


class FolderlessStudio(InMemoryStudio):
    """A Studio in whose time to save somebody clears the folder for temporary files."""

    def __init__(self, drafts: Path) -> None:
        super().__init__()
        self._drafts = drafts

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        for folder in self._drafts.glob("studio-edit-*"):
            shutil.rmtree(folder)
        return await super().save_file_definition(command)


def test_a_folder_that_goes_away_after_the_text_was_read_is_no_error(shell: DefinitionShell) -> None:
    shell.studio = FolderlessStudio(shell.drafts)

    assert shell("edit", "agent", "coder").exit_code == 0
    assert shell.content() == "more\n"


def test_without_room_for_the_text_nothing_is_begun(shell: DefinitionShell) -> None:
    shell.drafts = shell.folder / "missing"

    assert shell("edit", "agent", "coder").exit_code == 7
    assert shell.err.endswith("error: no temporary file can be written: No such file or directory\n")


class LostStudio(InMemoryStudio):
    """A Studio that cannot be reached any more once something is to be saved."""

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        raise StateUnavailable(retryable=True, detail=f"the daemon does not answer for {command.name}")


class InterruptedStudio(InMemoryStudio):
    """A Studio that hangs when something is to be saved, until a signal comes."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__()
        self._number = number

    async def save_file_definition(self, command: SaveDefinition) -> SaveResult:
        os.kill(os.getpid(), self._number)
        await asyncio.Event().wait()
        raise AssertionError(f"{command.name} was saved")


@pytest.mark.parametrize(
    ("studio", "exit_code"),
    [(LostStudio(), 7), (InterruptedStudio(signal.SIGINT), 130), (InterruptedStudio(signal.SIGTERM), 143)],
    ids=["lost", "SIGINT", "SIGTERM"],
)
def test_whatever_ends_a_save_keeps_the_text(shell: DefinitionShell, studio: InMemoryStudio, exit_code: int) -> None:
    shell.studio = studio

    shell("edit", "agent", "coder")

    assert shell.exit_code == exit_code
    assert shell.kept.read_text() == "more\n"


def test_ctrl_c_in_the_editor_is_the_editor_s_own(shell: DefinitionShell) -> None:
    shell.edit_with(f"kill -INT $PPID\n{ADD}")

    assert shell("edit", "agent", "coder").exit_code == 0
    assert shell.content() == "more\n"


def test_sigterm_while_the_editor_runs_ends_both_and_keeps_the_text(shell: DefinitionShell) -> None:
    shell.edit_with(f"{ADD}kill -TERM $PPID\nexec tail -f /dev/null\n")

    assert shell("edit", "agent", "coder").exit_code == 143
    assert shell.kept.read_text() == "more\n"
    assert shell.content() is None


def test_signals_mean_afterwards_what_they_meant_before(shell: DefinitionShell) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    shell("edit", "agent", "coder")

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
