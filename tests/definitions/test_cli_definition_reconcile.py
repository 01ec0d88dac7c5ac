"""`definition reconcile`: what is pending, what one is about, and how it is settled."""

from pathlib import Path

import pytest

from contract.base import Page
from contract.definitions import Reconciliation, ReconciliationDetail
from definitions.errors import WriteFault
from tests.definitions.definition_shell import DefinitionShell


@pytest.fixture
def shell(tmp_path: Path) -> DefinitionShell:
    return DefinitionShell(tmp_path)


def pending(shell: DefinitionShell, name: str = "coder") -> str:
    """Leave a version of `name` that did not reach its file; return its reconciliation."""
    shell.saved("old", name=name)
    shell.studio.files.fail_next_write(WriteFault("no_space", "of 3 bytes"))
    assert shell("save", "agent", name, shell.file("new")).exit_code == 8
    return list(shell.studio.history.reconciliations)[-1]


def test_without_an_id_the_pending_ones_are_listed_and_with_all_the_others_too(shell: DefinitionShell) -> None:
    settled, waiting = pending(shell, "a"), pending(shell, "b")
    shell("reconcile", settled, "--action", "dismiss", "--reason", "no use")
    shell("reconcile")

    assert [row[:7] for row in shell.rows] == [
        ["RECONCILIATION", "KIND", "NAME", "VERSION", "STATUS", "ERROR", "TRIED"],
        [waiting, "agent", "b", "2", "pending", "no_space", "1"],
    ]
    assert {row[0]: row[4] for row in shell("reconcile", "--all").rows[1:]} == {settled: "dismiss", waiting: "pending"}
    page = Page[Reconciliation].model_validate_json(shell("reconcile", "--json").out)
    assert [found.id for found in page.items] == [waiting]


def test_nothing_pending_says_so(shell: DefinitionShell) -> None:
    assert shell("reconcile").out == "nothing to reconcile\n"


def test_an_id_alone_shows_the_facts_the_log_and_what_may_be_done(shell: DefinitionShell) -> None:
    found_id = pending(shell)

    shell("reconcile", found_id)

    for piece in (
        f"reconciliation  {found_id}",
        "definition      agent coder, version 2",
        "file            agents/coder.md",
        "status          pending",
        "error           no_space: ",
        "write opened by operator: ",
        "--action retry_write  write the version to the file",
        "--action dismiss      leave both as they are; needs a --reason",
    ):
        assert piece in shell.out
    detail = ReconciliationDetail.model_validate_json(shell("reconcile", found_id, "--json").out)
    assert (detail.id, detail.status) == (found_id, "pending")
    assert shell("reconcile", "nothing").exit_code == 4


def test_a_retry_writes_the_version(shell: DefinitionShell) -> None:
    found_id = pending(shell)

    shell("reconcile", found_id, "--action", "retry_write", "--actor", "me")

    assert shell.out == f"agent/coder: reconciliation {found_id} is settled by retry_write; the newest version is 2\n"
    assert shell.content() == "new"
    assert "resolution      retry_write" in shell("reconcile", found_id).out
    assert "resolved        2023-11-14 22:13:20" in shell.out


def test_accepting_the_file_makes_it_the_newest_version(shell: DefinitionShell) -> None:
    found_id = pending(shell)

    shell("reconcile", found_id, "--action", "accept_file", "--json")

    assert Reconciliation.model_validate_json(shell.out).result_version == 3
    assert shell("show", "agent", "coder", "--version", "3").out == "old"


def test_a_retry_that_fails_again_ends_with_its_own_exit_code(shell: DefinitionShell) -> None:
    found_id = pending(shell)
    shell.studio.files.fail_next_write(WriteFault("no_space"))

    assert shell("reconcile", found_id, "--action", "retry_write").exit_code == 8
    assert found_id in shell.err


def test_a_missing_reason_id_or_action_is_said(shell: DefinitionShell) -> None:
    found_id = pending(shell)

    assert shell("reconcile", found_id, "--action", "dismiss").exit_code == 2
    assert shell.err.startswith("error: reason: ")
    assert shell("reconcile", found_id, "--reason", "because").exit_code == 2
    assert shell.err.startswith("error: action: ")
    assert shell("reconcile", "--action", "dismiss").exit_code == 2
    assert shell.err == "error: id: --action needs the ID of a reconciliation\n"
    assert shell("reconcile", found_id, "--action", "forget").exit_code == 2
