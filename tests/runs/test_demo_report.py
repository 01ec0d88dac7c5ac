import json

import pytest

from runs.demo_report import (
    FILE_READ_MAX_BYTES,
    TOTAL_READ_MAX_BYTES,
    Fault,
    FoundFile,
    FoundFolder,
    Reading,
    build_report,
    files_to_read,
    language_of,
    languages,
    largest,
    report_json,
    text_facts,
)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "Python"),
        ("APP.PY", "Python"),
        ("a.tar.toml", "TOML"),
        ("Makefile", "Make"),
        ("Dockerfile.prod", "Docker"),
        ("LICENSE", "plain text"),
        (".py", "other text"),
        ("src.py/unknown", "other text"),
        ("photo.xyz", "other text"),
    ],
)
def test_a_language_is_known_by_the_name(path: str, language: str) -> None:
    assert language_of(path) == language


def test_a_text_is_counted() -> None:
    facts = text_facts("a.py", b"one two\r\n# TODO: three TODOS, FIXME\n\nend")

    assert facts is not None
    assert (facts.language, facts.lines, facts.words) == ("Python", 4, 8)
    assert (facts.longest_line, facts.longest_chars) == (2, 26)
    assert facts.markers == {"TODO": 1, "FIXME": 1}


@pytest.mark.parametrize(("raw", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2)])
def test_the_last_line_counts_with_and_without_its_end(raw: bytes, lines: int) -> None:
    facts = text_facts("a.txt", raw)

    assert facts is not None
    assert facts.lines == lines


@pytest.mark.parametrize("raw", [b"MZ\x00\x01", b"\xff\xfe", "ä".encode("latin-1")])
def test_what_is_no_utf8_text_is_not_counted(raw: bytes) -> None:
    assert text_facts("a.bin", raw) is None


def test_the_first_of_equally_long_lines_is_named() -> None:
    facts = text_facts("a.txt", b"a\nbb\ncc\n")

    assert facts is not None
    assert facts.longest_line == 2


def test_large_files_are_not_read() -> None:
    small, large = FoundFile("small", FILE_READ_MAX_BYTES), FoundFile("large", FILE_READ_MAX_BYTES + 1)

    assert files_to_read([large, small]) == [small]


def test_reading_ends_at_the_bound_of_all_files() -> None:
    files = [FoundFile(str(n), FILE_READ_MAX_BYTES) for n in range(100)]

    assert len(files_to_read([*files, FoundFile("empty", 0)])) == TOTAL_READ_MAX_BYTES // FILE_READ_MAX_BYTES + 1


def reading(**texts: bytes) -> Reading:
    made = Reading()
    for name, raw in texts.items():
        path = name.replace("_", ".")
        facts = text_facts(path, raw)
        made.add(Reading(texts=[facts]) if facts else Reading(binaries=[path]))
    return made


def test_languages_come_with_most_lines_first_and_binaries_apart() -> None:
    files = [FoundFile("a.md", 5), FoundFile("b.py", 9), FoundFile("c.py", 0), FoundFile("d.py", 7)]

    found = languages(files, reading(a_md=b"x\n", b_py=b"1\n2\n3\n", c_py=b"\x00"))

    assert [(language.name, language.files, language.lines, language.size_bytes) for language in found] == [
        ("Python", 2, 3, 16),
        ("Markdown", 1, 1, 5),
        ("binary", 1, 0, 0),
    ]


def test_the_largest_come_first_and_equals_by_name() -> None:
    files = [FoundFile("b", 1), FoundFile("a", 1), FoundFile("c", 3), *(FoundFile(f"z{n}", 0) for n in range(20))]

    assert [file.path for file in largest(files)[:4]] == ["c", "a", "b", "z0"]
    assert len(largest(files)) == 10


def test_a_report_sums_everything_up() -> None:
    found = [
        FoundFolder(path=".", files=(FoundFile("a.md", 5),), skipped=("node_modules",), links=1),
        FoundFolder(path="in", files=(FoundFile("b.py", 9),), skipped=("node_modules", ".git"), cut=True),
        FoundFolder(path="shut", faults=(Fault("shut", "Permission denied"),)),
    ]
    read = reading(a_md=b"one two\n", b_py=b"# HACK\n# HACK\n")
    read.add(Reading(faults=[Fault("gone", "No such file")]))

    report = build_report("here", found, read)

    assert (report.folders, report.files, report.size_bytes) == (3, 2, 14)
    assert (report.texts_read, report.lines, report.words) == (2, 3, 6)
    assert report.markers == {"TODO": 0, "FIXME": 0, "XXX": 0, "HACK": 2}
    assert (report.skipped_folders, report.links, report.cut) == ((".git", "node_modules"), 1, True)
    assert report.unreadable == (Fault("shut", "Permission denied"), Fault("gone", "No such file"))


def test_a_report_names_no_more_faults_than_it_can_show() -> None:
    faults = tuple(Fault(str(n), "no") for n in range(50))

    report = build_report("here", [FoundFolder(path=".", faults=faults)], Reading())

    assert report.unreadable_count == 50
    assert len(report.unreadable) == 10


def test_a_report_is_a_json_value_whatever_the_names_hold() -> None:
    odd = "caf\udce9\n.py"
    found = [FoundFolder(path=".", files=(FoundFile(odd, 1),), skipped=(odd,), faults=(Fault(odd, "no"),))]

    value = report_json(build_report(odd, found, reading()))

    assert json.loads(json.dumps(value)) == value
    assert json.dumps(value, ensure_ascii=False).encode("utf-8")
    assert value["largest"] == [{"path": "caf?\\x0a.py", "size_bytes": 1}]
