"""Faults of a definition's text: where they are, and what its author is told."""

import re
from typing import Final, NamedTuple, Protocol

import yaml

from contract.base import FieldFailure, Path
from contract.errors import shown
from contract.limits import YAML_DEPTH_MAX

TOO_DEEP: Final = f"is nested deeper than {YAML_DEPTH_MAX} levels"
DIRECTIVE: Final = "a `%` that begins a line is a directive, which is not possible here: quote it if it is text"


class Mark(Protocol):
    """A place as either parser of PyYAML marks it, counted from 0."""

    index: int
    line: int
    column: int


class Place(NamedTuple):
    """A place in a text, counted from 1; a byte order mark at the beginning is not counted."""

    line: int
    column: int


class _Sentence(NamedTuple):
    """What an author is told when the parser's words match. With `begins` the fault is where the construct begins."""

    pattern: str
    sentence: str
    begins: bool = False


# Matched in this order against "context: problem". The C parser and the Python one differ in words.
_SENTENCES: Final = (
    _Sentence("quoted scalar: found unexpected", "this quote is not closed", begins=True),
    _Sentence(r"expected ',' or '\]'", "this `[` is not closed, or a `,` is missing after it", begins=True),
    _Sentence(r"expected ',' or '\}'", "this `{` is not closed, or a `,` is missing after it", begins=True),
    _Sentence("scanning an alias", "`*` begins an alias: quote the text if it is none", begins=True),
    _Sentence("scanning an anchor", "`&` begins an anchor: quote the text if it is none", begins=True),
    _Sentence("duplicate anchor", "this anchor has been given before: each needs a name of its own"),
    _Sentence("could not find expected ':'", "a `:` is missing after this key", begins=True),
    _Sentence("violates indentation", "a tab cannot indent: use blanks"),
    _Sentence("values are not allowed", "a `:` is not possible here: quote the text or mend the indentation"),
    _Sentence("entries are not allowed", "a `-` is not possible here: quote the text or begin a new line"),
    _Sentence(
        "expected (key|'-' indicator|<block end>)|<document start>",
        "this does not go on with what stands above: mend the indentation or the quotes",
    ),
    _Sentence("node content", "a value is missing here"),
    _Sentence("escape|hexa?decimal", "this is no escape of YAML: double the backslash or use single quotes"),
    _Sentence("scanning a directive", DIRECTIVE, begins=True),
    _Sentence("tag handle", "this tag has a prefix that nothing defines"),
)


def place_of(mark: Mark | None, first_line: int) -> Place:
    """Return the place of a parser's mark in a text whose first line has that number; without a mark its beginning."""
    return Place(first_line, 1) if mark is None else Place(mark.line + first_line, mark.column + 1)


def fault_at(place: Place, keys: Path, code: str, sentence: str) -> FieldFailure:
    """Build the failure of what stands at `place`, under these keys of the YAML; strange and long keys are cut."""
    return FieldFailure(
        path=("content", *(shown(key) if isinstance(key, str) else key for key in keys)),
        code=code,
        message=f"line {place.line}, column {place.column}: {sentence}",
        line=place.line,
        column=place.column,
    )


def syntax_fault(error: yaml.MarkedYAMLError, text: str, first_line: int) -> FieldFailure:
    """Say in plain words why `text` is no YAML: code `yaml`, or `too_deep` where the parser itself gave up."""
    said = f"{error.context or ''}: {error.problem or ''}"
    place = place_of(error.problem_mark, first_line)
    if "nesting depth" in said:
        return fault_at(place, (), "too_deep", TOO_DEEP)
    if "cannot start any token" in said:
        return fault_at(place, (), "yaml", _unfit_start(text, error.problem_mark))
    found = next((known for known in _SENTENCES if re.search(known.pattern, said)), None)
    if found is None:
        return fault_at(place, (), "yaml", f"cannot be read as YAML: {shown(said.strip(': '))}")
    return fault_at(place_of(error.context_mark, first_line) if found.begins else place, (), "yaml", found.sentence)


def _unfit_start(text: str, mark: Mark | None) -> str:
    found = text[mark.index : mark.index + 1] if mark else ""
    return (
        "a tab cannot indent: use blanks" if found == "\t" else f"`{shown(found)}` cannot begin a value: quote the text"
    )
