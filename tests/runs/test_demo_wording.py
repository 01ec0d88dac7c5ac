import pytest

from runs.demo_report import Fault, FoundFile, FoundFolder, Reading, build_report, text_facts
from runs.demo_wording import counted, faults_lines, folders_text, report_text, size_text


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1_023, "1,023 bytes"),
        (1_024, "1.0 KiB"),
        (1_572_864, "1.5 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (3_000 * 1024**4, "3,000.0 TiB"),
    ],
)
def test_a_size_is_told_in_the_unit_people_read_it_in(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text


def test_one_is_told_in_the_singular() -> None:
    assert [counted(n, "file") for n in (0, 1, 2_000)] == ["0 files", "1 file", "2,000 files"]


def test_many_folders_are_told_in_few_lines() -> None:
    found = [FoundFolder(path=f"f{n}", files=(FoundFile(f"f{n}/a", 10),)) for n in range(15)]

    lines = folders_text(found).split("\n")

    assert lines[0] == "f0: 1 file, 10 bytes"
    assert lines[12:] == ["and 3 more folders with 3 files"]


def test_faults_that_are_not_named_are_counted() -> None:
    assert faults_lines([Fault("a", "no")], 1) == ["a: no"]
    assert faults_lines([Fault("a", "no")], 3) == ["a: no", "and 2 more"]


def test_a_report_reads_as_a_text_and_leaves_out_what_there_is_not() -> None:
    facts = text_facts("a.py", b"# XXX here\n")
    assert facts is not None
    found = [FoundFolder(path=".", files=(FoundFile("a.py", 11),))]

    text = report_text(build_report("here", found, Reading(texts=[facts])))

    assert text.split("\n\n") == [
        "Survey of here",
        "1 file in 1 folder, 11 bytes; 1 text read: 1 lines, 3 words",
        "Lines by language\n          1 lines  Python (1 file)",
        "Largest files\n   11 bytes  a.py",
        "Longest lines\n         10 chars  a.py:1",
        "Markers\n          1  XXX",
    ]


def test_a_report_tells_what_was_left_out_and_could_not_be_read() -> None:
    found = [FoundFolder(path=".", skipped=(".git",), links=2, faults=(Fault("x", "no"),), cut=True)]

    text = report_text(build_report("here", found, Reading()))

    assert text.split("\n\n")[-2:] == [
        "Could not be read\nx: no",
        "Left out: folders named .git; 2 symbolic links; everything beyond the bound of the walk",
    ]
