"""`definition list|show|save|history|diff|rollback|delete|snapshot`: what is asked, printed, and how it ends."""

import os
from pathlib import Path

import pytest

from contract.base import Page
from contract.definitions import (
    DefinitionDetail,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    SaveResult,
    SnapshotResult,
)
from contract.diffs import DefinitionDiff
from contract.limits import DEFINITION_MAX_BYTES
from definitions.errors import WriteFault
from tests.definitions.definition_shell import AGENT, PLAYBOOK, DefinitionShell

HOSTILE = "tab\tesc\x1b[31m\r\nend \u202e without newline"


@pytest.fixture
def shell(tmp_path: Path) -> DefinitionShell:
    return DefinitionShell(tmp_path)


# list -------------------------------------------------------------------------------------------------------


def test_list_says_how_each_file_stands_to_its_history(shell: DefinitionShell) -> None:
    shell.saved(AGENT, AGENT + "More.\n")
    shell.saved(PLAYBOOK, kind="playbook", name="review")
    shell.hand("agents/coder.md", "by hand")
    shell.hand("agents/new.md", "x" * 3_000)
    shell("list")

    assert shell.rows == [
        ["KIND", "NAME", "VERSION", "DRIFT", "SIZE", "CHANGED"],
        ["agent", "coder", "2", "edited", "7", "B", "2023-11-14", "22:13"],
        ["agent", "new", "-", "untracked", "2.9", "KiB", "-"],
        ["playbook", "review", "1", "-", f"{len(PLAYBOOK)}", "B", "2023-11-14", "22:13"],
    ]


def test_list_names_what_is_deleted_pending_and_not_to_be_read(shell: DefinitionShell) -> None:
    shell.saved(AGENT, name="gone")
    shell("delete", "agent", "gone")
    shell.hand("agents/broken.md", b"\xff")
    shell.studio.files.fail_next_write(WriteFault("no_space"))
    shell("save", "agent", "stuck", shell.file(AGENT))
    shell("list", "--deleted")

    states = {row[1]: row[3:5] for row in shell.rows}
    assert states["broken"][0] == "unreadable"
    assert states["gone"][0] == "deleted"
    assert states["stuck"] == ["reconcile", next(iter(shell.studio.history.reconciliations))]
    assert shell.err == "agents/broken.md is not UTF-8 text: byte 0xff at offset 0\n"


def test_list_takes_filters_and_reads_every_page_for_people_only(shell: DefinitionShell) -> None:
    for number in range(60):
        shell.hand(f"agents/a{number:02}.md", "x")
    shell.hand("playbooks/p.playbook.yaml", "x")

    assert len(shell("list", "--kind", "agent").rows) == 61
    assert [row[1] for row in shell("list", "--search", "A0").rows] == ["NAME", *(f"a0{n}" for n in range(10))]
    assert len(shell("list", "--limit", "2").rows) == 3
    cursor = shell.err.partition("--cursor ")[2].strip()
    assert shell("list", "--limit", "2", "--cursor", cursor).rows[1][1] == "a02"
    page = Page[DefinitionSummary].model_validate_json(shell("list", "--json").out)
    assert (len(page.items), page.has_next) == (page.limit, True)


def test_list_of_nothing_says_so(shell: DefinitionShell) -> None:
    assert shell("list").out == "no definitions\n"


# show -------------------------------------------------------------------------------------------------------


def test_show_prints_a_file_byte_for_byte_to_a_pipe(shell: DefinitionShell) -> None:
    shell.hand("agents/coder.md", HOSTILE)

    shell("show", "agent", "coder")

    assert shell.raw == HOSTILE.encode()
    assert shell.err == "the file has no history yet: studio definition snapshot agent coder\n"


def test_show_prints_no_control_character_to_a_terminal(shell: DefinitionShell) -> None:
    shell.hand("agents/coder.md", HOSTILE)
    shell.tty = True

    assert shell("show", "agent", "coder").out == "tab esc\\x1b[31m\nend \\u202e without newline\n"


def test_an_empty_file_prints_nothing(shell: DefinitionShell) -> None:
    shell.hand("agents/coder.md", "")

    assert shell("show", "agent", "coder").raw == b""
    shell.tty = True
    assert shell("show", "agent", "coder").raw == b""


def test_show_says_what_the_file_has_to_do_with_the_history(shell: DefinitionShell) -> None:
    shell.saved(AGENT)
    shell.hand("agents/coder/coder.md", "second")
    shell.hand("agents/coder.md", "by hand")
    shell("show", "agent", "coder")
    edited = shell.err
    shell.saved(AGENT)
    shell.studio.files.fail_next_write(WriteFault("no_space"))
    shell("save", "agent", "coder", shell.file("never there"))
    shell("show", "agent", "coder")

    assert "the file differs from version 1: studio definition diff agent coder --file\n" in edited
    assert "agents/coder/coder.md has the same name and is not used" in edited
    assert "version 4 did not reach the file: studio definition reconcile " in shell.err
    assert shell.out == AGENT


def test_show_prints_a_version_whatever_the_file_holds(shell: DefinitionShell) -> None:
    shell.saved("one", "two")
    shell("delete", "agent", "coder")

    assert shell("show", "agent", "coder", "--version", "1").raw == b"one"
    shell("show", "agent", "coder", "--version", "3")
    assert (shell.raw, shell.err) == (b"", "version 3 records a deletion\n")


def test_show_as_json_is_the_contract_s_model(shell: DefinitionShell) -> None:
    shell.saved("one")

    assert DefinitionDetail.model_validate_json(shell("show", "agent", "coder", "--json").out).content == "one"
    version = shell("show", "agent", "coder", "--version", "1", "--json").out
    assert DefinitionVersion.model_validate_json(version).version == 1


@pytest.mark.parametrize(
    "arguments",
    [("agent", "nobody"), ("spell", "coder"), ("agent", "../x"), ("agent", "coder", "--version", "-1")],
    ids=" ".join,
)
def test_what_is_not_there_is_not_found(shell: DefinitionShell, arguments: tuple[str, ...]) -> None:
    shell("show", *arguments)

    assert (shell.exit_code, shell.raw) == (4, b"")
    assert shell.err.startswith("error: no definition")


# save -------------------------------------------------------------------------------------------------------


def test_save_stores_the_bytes_of_a_file(shell: DefinitionShell) -> None:
    shell("save", "agent", "coder", shell.file("a\r\nb"), "--message", "why", "--actor", "me")

    assert shell.out == "agent/coder: saved; it is version 1 now\n"
    assert shell.content() == "a\r\nb"
    [version] = shell.studio.history.histories["agent", "coder"]
    assert (version.message, version.actor) == ("why", "me")


def test_save_reads_standard_input_where_no_file_is_named(shell: DefinitionShell) -> None:
    for arguments in ((), ("-",)):
        shell.standard_input = os.open(shell.file("piped"), os.O_RDONLY)
        shell("save", "agent", f"coder{len(arguments)}", *arguments, "--json")
        os.close(shell.standard_input)

        assert SaveResult.model_validate_json(shell.out).version == 1
    assert shell.content("agents/coder0.md") == shell.content("agents/coder1.md") == "piped"


def test_what_cannot_be_a_definition_is_refused_by_its_name(shell: DefinitionShell) -> None:
    binary = shell.file(b"ok\n\xc3\xa4b\xff", "binary.md")
    large = shell.file("x" * (DEFINITION_MAX_BYTES + 1), "large.md")
    unusable = {
        str(shell.folder): ": Is a directory",
        str(shell.folder / "missing"): ": No such file or directory",
        binary: " is not UTF-8: line 2, column 3 has the byte 0xff",
        large: f" is larger than {DEFINITION_MAX_BYTES} bytes",
        "/dev/zero": f" is larger than {DEFINITION_MAX_BYTES} bytes",
    }

    for file, reason in unusable.items():
        shell("save", "agent", "coder", file)

        assert (shell.exit_code, shell.out) == (2, "")
        assert shell.err == f"error: file: {file}{reason}\n"
    assert shell.studio.history.histories == {}


def test_every_fault_of_a_content_is_said_with_its_line_and_column(shell: DefinitionShell) -> None:
    shell("save", "playbook", "p", shell.file("name: p\nsteps: 3\nargs: 4\n"))

    assert shell.exit_code == 2
    assert len(shell.err.splitlines()) > 1
    assert all("line " in line and ", column " in line for line in shell.err.splitlines())


def test_a_stale_expectation_is_a_conflict_that_names_both_versions(shell: DefinitionShell) -> None:
    shell.saved("one", "two")

    shell("save", "agent", "coder", shell.file("three"), "--expected-version", "1")

    assert (shell.exit_code, shell.content()) == (5, "two")
    assert shell.err == "error: coder is at version 2, not 1: read it again\n"


def test_a_save_that_does_not_reach_the_file_ends_with_the_reconciliation(shell: DefinitionShell) -> None:
    shell.studio.files.fail_next_write(WriteFault("read_only"))

    shell("save", "agent", "coder", shell.file("one"))

    assert shell.exit_code == 8
    assert next(iter(shell.studio.history.reconciliations)) in shell.err


def test_an_impossible_name_or_kind_is_refused(shell: DefinitionShell) -> None:
    assert shell("save", "agent", "../x", shell.file("x")).exit_code == 2
    assert shell.err.startswith("error: name: ")
    assert shell("save", "spell", "x", shell.file("x")).exit_code == 2
    assert shell.err.startswith("error: kind: ")


# history and diff -------------------------------------------------------------------------------------------


def test_history_lists_every_version_newest_first(shell: DefinitionShell) -> None:
    shell.saved("one")
    shell.hand("agents/coder.md", "by hand")
    shell("save", "agent", "coder", shell.file("three"), "--message", "on purpose")
    shell("delete", "agent", "coder", "--actor", "me")
    shell("history", "agent", "coder")

    assert [row[:1] + row[3:] for row in shell.rows] == [
        ["VERSION", "BY", "SIZE", "FILE", "MESSAGE"],
        ["4", "delete", "me", "deleted", "written", "-"],
        ["3", "save", "operator", "5", "B", "written", "on", "purpose"],
        ["2", "external", "operator", "7", "B", "written", "-"],
        ["1", "save", "operator", "3", "B", "written", "-"],
    ]


def test_a_history_can_be_read_by_the_page(shell: DefinitionShell) -> None:
    shell.saved("one", "two", "three")

    shell("history", "agent", "coder", "--limit", "2")
    cursor = shell.err.partition("--cursor ")[2].strip()
    page = shell("history", "agent", "coder", "--cursor", cursor, "--json").out

    assert [found.version for found in Page[DefinitionVersionSummary].model_validate_json(page).items] == [1]
    assert shell("history", "agent", "nobody").exit_code == 4


def test_diff_prints_what_patch_reads(shell: DefinitionShell) -> None:
    shell.saved("a\nb\r\n", "a\nc")

    shell("diff", "agent", "coder")

    assert shell.raw == (
        b"--- agents/coder.md (version 1)\n+++ agents/coder.md (version 2)\n"
        b"@@ -1,2 +1,2 @@\n a\n-b\r\n+c\n\\ No newline at end of file\n"
    )
    assert DefinitionDiff.model_validate_json(shell("diff", "agent", "coder", "--json").out).added == 1


def test_diff_takes_both_sides_and_the_file(shell: DefinitionShell) -> None:
    shell.saved("one\n", "two\n", "three\n")
    shell.hand("agents/coder.md", "by hand\n")

    assert shell("diff", "agent", "coder", "--from", "0", "--to", "1").out.splitlines()[-1] == "+one"
    assert shell("diff", "agent", "coder", "--from", "1").out.splitlines()[-2:] == ["-one", "+three"]
    assert shell("diff", "agent", "coder", "--file").out.splitlines()[-2:] == ["-three", "+by hand"]
    assert shell("diff", "agent", "coder", "--from", "7").exit_code == 4
    assert shell("diff", "agent", "coder", "--context", "-1").exit_code == 2


def test_on_a_terminal_a_diff_has_colors_and_shows_what_differs_in_blanks(shell: DefinitionShell) -> None:
    shell.saved("a\r\n", "a\n\t-- b\x1b[0m\n")
    shell.tty = True

    lines = shell("diff", "agent", "coder").out.splitlines()

    assert lines[3:] == ["\x1b[31m-a\\r\x1b[0m", "\x1b[32m+a\x1b[0m", "\x1b[32m+   -- b\\x1b[0m\x1b[0m"]


def test_no_difference_prints_nothing_and_says_so(shell: DefinitionShell) -> None:
    shell.saved("one")

    assert shell("diff", "agent", "coder", "--file").raw == b""
    assert (shell.exit_code, shell.err) == (0, "no difference\n")


def test_a_coarse_diff_is_said_to_be_one(shell: DefinitionShell) -> None:
    shell.saved("a\nb\n" * 2_000, "b\na\n" * 2_000, "x\n" * 110_000)

    assert "too much differs to compare" in shell("diff", "agent", "coder", "--to", "2").err
    shell("diff", "agent", "coder")
    assert (shell.out, shell.err) == ("", "too much differs to be shown: 110000 lines added, 4000 removed\n")


# rollback, delete, snapshot ---------------------------------------------------------------------------------


def test_rollback_restores_a_version_and_what_was_deleted(shell: DefinitionShell) -> None:
    shell.saved("one", "two")
    shell("delete", "agent", "coder", "--message", "no use")

    assert shell("rollback", "agent", "coder", "1").out == "agent/coder: version 1 restored; it is version 4 now\n"
    assert shell.content() == "one"
    assert shell("rollback", "agent", "coder", "3").exit_code == 5
    assert shell("rollback", "agent", "coder", "9").exit_code == 4
    assert shell("rollback", "agent", "coder", "1", "--expected-version", "2").exit_code == 5


def test_delete_records_and_removes(shell: DefinitionShell) -> None:
    shell.saved("one")

    assert shell("delete", "agent", "coder", "--expected-version", "0").exit_code == 5
    assert shell("delete", "agent", "coder").out == "agent/coder: deleted; it is version 2 now\n"
    assert shell.content() is None
    assert shell("delete", "agent", "coder").exit_code == 4


def test_snapshot_tells_what_it_captured_and_what_it_could_not(shell: DefinitionShell) -> None:
    shell.saved("one")
    shell.saved("one", name="lost")
    shell.hand("agents/coder.md", "two")
    shell.studio.files.remove("agents/lost.md")
    shell.hand("agents/broken.md", b"\xff")
    shell("snapshot", "--message", "by hand")

    assert [row[:4] for row in shell.rows] == [
        ["KIND", "NAME", "VERSION", "FILE"],
        ["agent", "coder", "2", "captured"],
        ["agent", "lost", "2", "gone"],
    ]
    assert shell.err.startswith("skipped: agents/broken.md is not UTF-8 text")
    assert shell("snapshot", "agent", "coder").out == "nothing was changed by hand (1 definition looked at)\n"
    assert SnapshotResult.model_validate_json(shell("snapshot", "playbook", "--json").out).unchanged == 0
    assert shell("snapshot", "agent", "nobody").exit_code == 4
