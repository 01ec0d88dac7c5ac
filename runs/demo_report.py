"""What the demo makes of a folder: found files and their texts in, a report out."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from contract.errors import shown

# Reading is bounded so that the demo of a huge folder stays a demo: texts beyond are counted by size alone.
FILE_READ_MAX_BYTES: Final = 1024 * 1024
TOTAL_READ_MAX_BYTES: Final = 64 * 1024 * 1024
MARKERS: Final = ("TODO", "FIXME", "XXX", "HACK")
_LARGEST: Final = 10
_LONGEST: Final = 5
NAMED_FAULTS: Final = 10
_NAMED_SKIPPED: Final = 30
# git takes a NUL in the first 8,000 bytes for the sign of a binary file (xdiff-interface.c, buffer_is_binary).
_LOOKED_AT_BYTES: Final = 8_000
_MARKER: Final = re.compile(rf"\b({'|'.join(MARKERS)})\b")
_BINARY: Final = "binary"
_OTHER: Final = "other text"
_NAMES: Final = {"makefile": "Make", "dockerfile": "Docker", "license": "plain text", "readme": "plain text"}
_SUFFIXES: Final = {
    suffix: language
    for language, suffixes in {
        "C": "c h",
        "C#": "cs",
        "C++": "cc cpp cxx hh hpp",
        "CSS": "css less scss",
        "Elixir": "ex exs",
        "Go": "go",
        "HTML": "htm html jinja j2",
        "INI": "cfg conf ini",
        "JSON": "json jsonl ndjson",
        "Java": "java",
        "JavaScript": "cjs js jsx mjs",
        "Kotlin": "kt kts",
        "Lua": "lua",
        "Markdown": "md markdown",
        "PHP": "php",
        "Perl": "pl pm",
        "Python": "py pyi",
        "R": "r",
        "Ruby": "rb",
        "Rust": "rs",
        "SQL": "sql",
        "SVG": "svg",
        "Scala": "scala",
        "Shell": "bash fish sh zsh",
        "Swift": "swift",
        "TOML": "toml",
        "TypeScript": "ts tsx",
        "XML": "xml xsd xsl",
        "YAML": "yaml yml",
        "comma-separated": "csv tsv",
        "plain text": "log rst text txt",
    }.items()
    for suffix in suffixes.split()
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that could not be read, relative to the folder, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file by its path relative to the folder, as the system spells it."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFolder:
    """One folder's own files, and what in it was left out. `cut` says that the bound of the walk ended it here."""

    path: str
    files: tuple[FoundFile, ...] = ()
    skipped: tuple[str, ...] = ()
    links: int = 0
    faults: tuple[Fault, ...] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFacts:
    """What was counted in one text. `longest_line` is its number, from 1."""

    path: str
    language: str
    lines: int
    words: int
    longest_line: int
    longest_chars: int
    markers: dict[str, int]


@dataclass(slots=True)
class Reading:
    """What reading files has brought so far: facts of texts, paths of what is no text, and faults."""

    texts: list[TextFacts] = field(default_factory=list)
    binaries: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, more: "Reading") -> None:
        """Take in what reading further files has brought."""
        self.texts += more.texts
        self.binaries += more.binaries
        self.faults += more.faults

    @property
    def lines(self) -> int:
        """Lines of all texts."""
        return sum(text.lines for text in self.texts)

    @property
    def words(self) -> int:
        """Words of all texts."""
        return sum(text.words for text in self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """Files of one language; `lines` are those of the files that were read."""

    name: str
    files: int
    lines: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LongLine:
    """One long line of one file."""

    path: str
    line: int
    chars: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The whole survey."""

    folder: str
    folders: int
    files: int
    size_bytes: int
    texts_read: int
    lines: int
    words: int
    languages: tuple[Language, ...]
    largest: tuple[FoundFile, ...]
    longest_lines: tuple[LongLine, ...]
    markers: dict[str, int]
    skipped_folders: tuple[str, ...]
    links: int
    unreadable_count: int
    unreadable: tuple[Fault, ...]
    cut: bool


def language_of(path: str) -> str:
    """Name the language of a file by its name."""
    name = PurePosixPath(path).name.lower()
    stem, _, suffix = name.rpartition(".")
    return _SUFFIXES.get(suffix, "") if stem and suffix in _SUFFIXES else _NAMES.get(name.partition(".")[0], _OTHER)


def files_to_read(files: Iterable[FoundFile]) -> list[FoundFile]:
    """Choose what is read: no file over its bound, and in order until the bound of all of them is reached."""
    chosen: list[FoundFile] = []
    left_bytes = TOTAL_READ_MAX_BYTES
    for file in files:
        if file.size_bytes <= min(FILE_READ_MAX_BYTES, left_bytes):
            chosen.append(file)
            left_bytes -= file.size_bytes
    return chosen


def text_facts(path: str, raw: bytes) -> TextFacts | None:
    """Count in one text; None for what is no UTF-8 text."""
    if b"\0" in raw[:_LOOKED_AT_BYTES]:
        return None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = text.split("\n")
    chars, number = max(((len(line.rstrip("\r")), -n) for n, line in enumerate(lines, 1)), default=(0, -1))
    return TextFacts(
        path=path,
        language=language_of(path),
        lines=len(lines) if lines[-1] else len(lines) - 1,
        words=len(text.split()),
        longest_line=-number,
        longest_chars=chars,
        markers=dict(Counter(_MARKER.findall(text))),
    )


def build_report(folder: str, found: Sequence[FoundFolder], reading: Reading) -> Report:
    """Put what was found and what was read together."""
    files = [file for each in found for file in each.files]
    faults = [*(fault for each in found for fault in each.faults), *reading.faults]
    return Report(
        folder=shown(folder),
        folders=len(found),
        files=len(files),
        size_bytes=sum(file.size_bytes for file in files),
        texts_read=len(reading.texts),
        lines=reading.lines,
        words=reading.words,
        languages=languages(files, reading),
        largest=largest(files),
        longest_lines=_longest_lines(reading.texts),
        markers={marker: sum(text.markers.get(marker, 0) for text in reading.texts) for marker in MARKERS},
        skipped_folders=tuple(sorted({shown(name) for each in found for name in each.skipped}))[:_NAMED_SKIPPED],
        links=sum(each.links for each in found),
        unreadable_count=len(faults),
        unreadable=tuple(map(shown_fault, faults[:NAMED_FAULTS])),
        cut=any(each.cut for each in found),
    )


def languages(files: Sequence[FoundFile], reading: Reading) -> tuple[Language, ...]:
    """Return the languages, most lines first. Files that were not read are taken for what their names say."""
    lines = {text.path: text.lines for text in reading.texts}
    binaries = set(reading.binaries)
    grouped: defaultdict[str, list[FoundFile]] = defaultdict(list)
    for file in files:
        grouped[_BINARY if file.path in binaries else language_of(file.path)].append(file)
    found = [
        Language(
            name=name,
            files=len(members),
            lines=sum(lines.get(file.path, 0) for file in members),
            size_bytes=sum(file.size_bytes for file in members),
        )
        for name, members in grouped.items()
    ]
    return tuple(sorted(found, key=lambda language: (-language.lines, -language.size_bytes, language.name)))


def largest(files: Sequence[FoundFile]) -> tuple[FoundFile, ...]:
    """Return the largest files, largest first, with names fit for print."""
    first = sorted(files, key=lambda file: (-file.size_bytes, file.path))[:_LARGEST]
    return tuple(FoundFile(shown(file.path), file.size_bytes) for file in first)


def shown_fault(fault: Fault) -> Fault:
    """Return the fault with its path fit for print."""
    return Fault(shown(fault.path), fault.reason)


def report_json(report: Report) -> dict[str, Any]:
    """Return the report as a JSON value."""
    value: dict[str, Any] = json.loads(json.dumps(asdict(report)))  # tuples become lists
    return value


def _longest_lines(texts: Sequence[TextFacts]) -> tuple[LongLine, ...]:
    first = sorted(texts, key=lambda text: (-text.longest_chars, text.path))[:_LONGEST]
    return tuple(LongLine(path=shown(text.path), line=text.longest_line, chars=text.longest_chars) for text in first)
