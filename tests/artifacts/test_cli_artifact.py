"""`artifact list|show|preview|save|verify` over an in-memory Studio: what is asked, printed, and how it ends."""

import json
import os
from pathlib import Path

import pytest

from contract.artifacts import ArtifactResult, ArtifactSummary, ArtifactVerification
from contract.base import Page
from contract.limits import ARTIFACT_UPLOAD_MAX_BYTES
from tests.artifacts.artifact_shell import ArtifactShell
from tests.fakes.artifact_files import LINK

PNG = b"\x89PNG\r\n\x1a\n" + bytes(2_000)


@pytest.fixture
def shell(tmp_path: Path) -> ArtifactShell:
    return ArtifactShell(tmp_path)


# list and show ----------------------------------------------------------------------------------------------


def test_list_prints_the_artifacts_of_a_run(shell: ArtifactShell) -> None:
    saved = shell.saved("report", path="out/a.md", data=b"text")
    shell.saved("bare", kind="note")

    header, first, second = shell("list", "r").rows

    assert header == ["ARTIFACT", "KIND", "NAME", "FILE", "TYPE", "SIZE", "CHANGED"]
    assert first[:7] == [saved.id, "k", "report", "out/a.md", "text/markdown", "4", "B"]
    assert second[1:6] == ["note", "bare", "-", "-", "-"]
    assert shell("list", "r", "--kind", "note", "--json").exit_code == 0
    assert [item.name for item in Page[ArtifactSummary].model_validate_json(shell.out).items] == ["bare"]


def test_list_reads_every_page_or_one(shell: ArtifactShell) -> None:
    for number in range(3):
        shell.saved(f"n{number}")

    assert len(shell("list", "r").rows) == 4
    shell("list", "r", "--limit", "2")
    cursor = shell.err.rpartition("--cursor ")[2].strip()

    assert [row[2] for row in shell("list", "r", "--limit", "2", "--cursor", cursor).rows] == ["NAME", "n2"]


def test_list_of_nothing_says_so_and_of_nobody_is_not_found(shell: ArtifactShell) -> None:
    assert shell("list", "r").out == "no artifacts\n"
    assert shell("list", "i", "--invocation").out == "no artifacts\n"
    assert (shell("list", "none").exit_code, shell.err) == (4, "error: no run none\n")
    assert (shell("list", "r", "--limit", "0").exit_code, shell.out) == (2, "")


def test_show_tells_what_is_recorded(shell: ArtifactShell) -> None:
    saved = shell.saved("n", path="a.md", data=b"text", content={"x": "\x1b[31m"})

    out = shell("show", saved.id).out

    for piece in (f"artifact  {saved.id}", "file      artifacts/r/a.md", "size      4 B", f"sha256    {saved.sha256}"):
        assert piece in out
    assert "\x1b" not in out
    assert ArtifactResult.model_validate_json(shell("show", saved.id, "--json").out) == saved
    assert shell("show", "none").exit_code == 4


# preview ----------------------------------------------------------------------------------------------------


def test_preview_prints_a_text_as_it_is(shell: ArtifactShell) -> None:
    saved = shell.saved(path="a.md", data="Grüße\r\n".encode())

    assert shell("preview", saved.id).raw == "Grüße\r\n".encode()


def test_preview_marks_where_a_text_is_cut(shell: ArtifactShell) -> None:
    saved = shell.saved(path="a.md", data="Grüße\n".encode() * 10)

    assert shell("preview", saved.id, "--limit", "3").out == "Gr\n[truncated: 2 B of 80 B are shown]\n"
    assert shell("preview", saved.id, "--limit", "8").out == "Grüße\n[truncated: 8 B of 80 B are shown]\n"
    assert shell("preview", saved.id, "--limit", "0").exit_code == 2


def test_preview_names_an_image_and_does_not_print_it(shell: ArtifactShell) -> None:
    picture = shell.saved(path="a.png", data=PNG)
    binary = shell.saved("b", path="b", data=b"\x00\xff")

    assert shell("preview", picture.id).out == "artifacts/r/a.png: image, image/png, 2.0 KiB\n"
    assert shell("preview", binary.id).out == "artifacts/r/b: binary, application/octet-stream, 2 B\n"


def test_preview_on_a_terminal_is_printable(shell: ArtifactShell) -> None:
    saved = shell.saved(path="a", data=b"\x1b[31mred\x07")
    shell.tty = True

    assert shell("preview", saved.id).out == "\\x1b[31mred\\x07\n"
    assert shell("preview", saved.id, "--raw").out == "\\x1b[31mred\\x07\n"


def test_raw_prints_the_bytes_as_they_are(shell: ArtifactShell) -> None:
    saved = shell.saved(path="a.png", data=PNG)

    assert shell("preview", saved.id, "--raw").raw == PNG
    assert shell.err == ""


def test_raw_says_when_it_is_not_all(shell: ArtifactShell) -> None:
    size = ARTIFACT_UPLOAD_MAX_BYTES + 3
    shell.studio.run_files.contents["r/big"] = b"x" * size
    saved = shell.saved(path="big")

    assert len(shell("preview", saved.id, "--raw").raw) == ARTIFACT_UPLOAD_MAX_BYTES
    assert shell.err == f"truncated: {ARTIFACT_UPLOAD_MAX_BYTES} of {size} bytes are printed\n"


def test_a_preview_of_what_is_not_there_or_not_the_same_is_refused(shell: ArtifactShell) -> None:
    gone, other, odd, bare = (shell.saved(name, path=name, data=b"x") for name in ("gone", "other", "odd", "bare"))
    bare = shell.saved("bare")
    del shell.studio.run_files.contents["r/gone"]
    shell.studio.run_files.contents["r/other"] = b"y"
    shell.studio.run_files.odd["r/odd"] = LINK

    assert (shell("preview", gone.id).exit_code, shell.err) == (4, "error: no artifact file artifacts/r/gone\n")
    assert (shell("preview", bare.id).exit_code, shell.raw) == (4, b"")
    assert (shell("preview", other.id).exit_code, shell.raw) == (5, b"")
    assert (shell("preview", odd.id).exit_code, shell.raw) == (6, b"")
    assert shell("preview", gone.id, "--json").exit_code == 0
    assert json.loads(shell.out)["file_missing"] is True


# save -------------------------------------------------------------------------------------------------------


def test_save_makes_a_file_of_the_run(shell: ArtifactShell) -> None:
    given = shell.file(b"text")

    shell("save", "r", given, "--content", '{"a": [1]}')

    assert shell.exit_code == 0, shell.err
    assert shell.studio.run_files.contents == {"r/given.md": b"text"}
    assert shell.out.endswith(": file given.md is recorded, artifacts/r/given.md (4 B)\n")


def test_save_reads_a_pipe(shell: ArtifactShell) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"\x00piped")
    os.close(writing)
    shell.standard_input = reading

    shell("save", "r", "-", "--path", "out/a.bin", "--kind", "data", "--name", "x", "--media-type", "application/x")
    os.close(reading)

    assert shell.studio.run_files.contents == {"r/out/a.bin": b"\x00piped"}
    assert shell("list", "r", "--json").exit_code == 0
    [item] = Page[ArtifactSummary].model_validate_json(shell.out).items
    assert (item.kind, item.name, item.media_type) == ("data", "x", "application/x")


def test_save_registers_what_is_there(shell: ArtifactShell) -> None:
    shell.studio.run_files.contents["r/a.md"] = b"text"

    found = ArtifactResult.model_validate_json(shell("save", "r", "--path", "a.md", "--json").out)

    assert (found.name, found.size_bytes, found.kind) == ("a.md", 4, "file")


def test_save_records_for_an_invocation(shell: ArtifactShell) -> None:
    assert shell("save", "i", "--invocation", "--name", "n", "--kind", "note").exit_code == 0
    assert len(shell("list", "i", "--invocation").rows) == 2


@pytest.mark.parametrize(
    ("options", "exit_code", "told"),
    [
        (["--path", "../x"], 2, "path: "),
        (["--path", "none"], 4, "no artifact file"),
        (["--path", "there", "--sha256", "0" * 64], 5, "is not the file that was recorded"),
        (["--path", "link"], 6, "symbolic link"),
        ([], 2, "name: "),
        (["--name", "n", "--content", "{"], 2, "content: is not JSON"),
        (["/nowhere/at/all"], 2, "file: /nowhere/at/all"),
        (["-", "--path", "x"], 2, "file: standard input"),
    ],
)
def test_what_cannot_be_saved_is_said(shell: ArtifactShell, options: list[str], exit_code: int, told: str) -> None:
    shell.studio.run_files.contents["r/there"] = b"x"
    shell.studio.run_files.odd["r/link"] = LINK

    shell("save", "r", *options)

    assert (shell.exit_code, shell.out) == (exit_code, "")
    assert told in shell.err


def test_a_file_that_is_too_large_is_not_sent(shell: ArtifactShell) -> None:
    given = shell.file(b"x" * (ARTIFACT_UPLOAD_MAX_BYTES + 1))

    assert shell("save", "r", given).exit_code == 2
    assert f"is larger than {ARTIFACT_UPLOAD_MAX_BYTES} bytes" in shell.err


# verify -----------------------------------------------------------------------------------------------------


def test_verify_tells_what_is_as_it_was_recorded(shell: ArtifactShell) -> None:
    shell.saved("a", path="a", data=b"x")
    shell.studio.run_files.contents["r/stray"] = b""

    shell("verify", "r")

    assert shell.exit_code == 0
    assert shell.rows[0] == ["OUTCOME", "KIND", "NAME", "FILE", "RECORDED", "FOUND"]
    assert shell.rows[1][:4] == ["unchanged", "k", "a", "a"]
    assert shell.out.endswith("\nunregistered\n  stray\n")


@pytest.mark.parametrize("fault", ["changed", "missing", "unreadable"])
def test_verify_ends_with_one_when_a_file_is_not(shell: ArtifactShell, fault: str) -> None:
    shell.saved("a", path="a", data=b"x")
    files = shell.studio.run_files
    if fault == "changed":
        files.contents["r/a"] = b"y"
    elif fault == "missing":
        files.contents.clear()
    else:
        files.odd["r/a"] = LINK

    assert (shell("verify", "r").exit_code, shell.rows[1][0]) == (1, fault)
    assert shell("verify", "r", "--json").exit_code == 1
    assert ArtifactVerification.model_validate_json(shell.out).checks[0].outcome == fault


def test_verify_of_nothing_says_so(shell: ArtifactShell) -> None:
    assert shell("verify", "r").out == "no artifact of this run names a file\n"
    assert shell("verify", "none").exit_code == 4
