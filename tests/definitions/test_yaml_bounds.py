"""YAML from anybody: what it costs, and what stops it."""

import re
from time import process_time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import DEFINITION_MAX_BYTES, FIELD_FAILURES_MAX, YAML_DEPTH_MAX, YAML_VALUES_MAX
from definitions.yaml_bounds import LOADER, Loader, parse_yaml

LOADERS = pytest.mark.parametrize("loader", [LOADER, yaml.SafeLoader], ids=["default", "python"])

_BILLION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n" for below, name in zip("abcdefgh", "bcdefghi", strict=True)
)
# Of the processor, also where every line is traced. All of it takes less than one; what escapes a bound takes minutes.
_SECONDS_MAX = 5
_FILL = DEFINITION_MAX_BYTES - 100
# The C parser compares each of them with all the others.
_TAG_DIRECTIVES = "".join(f"%TAG !{n:x}! x\n" for n in range(50_000)) + "---\na: 1\n"
# What must be refused, with code and place.
HOSTILE = {
    "nine levels of nine aliases": (_BILLION, "too_many_values", 5, 12),
    "a list within itself": ("a: &a [*a]", "alias", 1, 8),
    "a mapping within itself": ("&a {b: *a}", "alias", 1, 8),
    "an alias of nothing": ("a: *b", "alias", 1, 4),
    "a long alias of nothing": ("*" + "b" * _FILL, "alias", 1, 1),
    "nested lists": ("- " * 100_000, "too_deep", 1, 2 * YAML_DEPTH_MAX + 1),
    "nested mappings": ("{a: " * 100_000, "too_deep", 1, 4 * YAML_DEPTH_MAX + 1),
    "nested keys": ("? " * 100_000, "too_deep", 1, 2 * YAML_DEPTH_MAX + 1),
    "nested by aliases": (
        "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60)),
        "too_deep",
        YAML_DEPTH_MAX,
        12,
    ),
    "many tiny keys": ("\n".join(f"k{n}: 1" for n in range(95_000)), "too_many_values", YAML_VALUES_MAX, 9),
    "many tiny values": ("[" + "1," * 500_000 + "]", "too_many_values", 1, 2 * YAML_VALUES_MAX),
    "many aliases": ("a: &a [1, 1, 1, 1]\nb: [" + "*a," * 200_000 + "]", "too_many_values", 2, 11_999),
    "many documents": ("--- a\n" * 100_000, "documents", 2, 1),
    "many directives": (_TAG_DIRECTIVES, "yaml", 1, 1),
    "many directives after blank lines and comments": ("\n#\n" * 20_000 + _TAG_DIRECTIVES, "yaml", 40_001, 1),
    "many directives after odd line breaks": ("#\u2028" + _TAG_DIRECTIVES.replace("\n", "\x85"), "yaml", 2, 1),
    "many directives after a document": ("a: 1\n...\n" + _TAG_DIRECTIVES, "yaml", 3, 1),
    "many directives in an open document": ("---\n" + _TAG_DIRECTIVES, "yaml", 2, 1),
    "nested lists before a directive": ("[\n" * 500_000 + "%", "too_deep", YAML_DEPTH_MAX + 1, 1),
    "flat lists before a directive": ("[" + "[]," * 300_000 + "\n%", "yaml", 2, 1),
    "a control character": ("a: 1\r\nb: \x07", "unprintable", 2, 4),
    "a control character after odd line breaks": ("a: 1\x85b: 1\u2028c:\n\x7f", "unprintable", 4, 1),
}


@pytest.mark.parametrize(("text", "code", "line", "column"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_refused_at_once_with_its_place(text: str, code: str, line: int, column: int) -> None:
    began = process_time()
    root, [failure] = parse_yaml(text)
    took = process_time() - began

    assert root is None
    assert (failure.path, failure.code) == (("content",), code)
    assert (failure.line, failure.column) == (line, column)
    assert len(failure.message) < 400
    assert took < _SECONDS_MAX


@pytest.mark.parametrize(("loader", "brackets"), [(LOADER, 100_000), (yaml.SafeLoader, 200)])
@pytest.mark.parametrize("closed", [False, True])
def test_no_number_of_brackets_exhausts_a_stack(loader: Loader, brackets: int, closed: bool) -> None:
    text = "[" * brackets + "]" * brackets * closed

    root, [failure] = parse_yaml(text, loader=loader)

    assert root is None
    assert (failure.code, failure.line) == ("too_deep", 1)


@LOADERS
def test_the_deepest_possible_text_is_read_and_one_level_more_is_not(loader: Loader) -> None:
    deepest = "[" * YAML_DEPTH_MAX + "x" + "]" * YAML_DEPTH_MAX

    assert not parse_yaml(deepest, loader=loader).failures
    assert [fault.code for fault in parse_yaml(f"[{deepest}]", loader=loader).failures] == ["too_deep"]


def test_the_richest_possible_text_is_read_and_one_value_more_is_not() -> None:
    # The list itself, and five values for each time that `a` is meant.
    text = "- &a [1, 1, 1, 1]\n" + "- *a\n" * (YAML_VALUES_MAX // 5 - 2)
    richest = text + "- 1\n" * 4

    assert parse_yaml(richest).failures == ()
    assert [fault.code for fault in parse_yaml(richest + "- 1\n").failures] == ["too_many_values"]


@pytest.mark.parametrize(
    "text",
    ["\n".join(f"k{n}: 1" for n in range(YAML_VALUES_MAX // 2 + 10)), "&k a: 1\n*k : 2\nb: *k", "? [a, b]\n: c"],
    ids=["keys", "an alias as a key", "a list as a key"],
)
def test_keys_are_no_values(text: str) -> None:
    codes = {fault.code for fault in parse_yaml(text).failures}

    assert not codes & {"too_many_values", "too_deep", "yaml"}


ANYTHING = {
    "text": "a: " + "x" * _FILL,
    "digits": "a: " + "1" * _FILL,
    "base 60": "a: 1" + ":1" * (_FILL // 2),
    "base 16": "a: 0x" + "f" * _FILL,
    "block": "a: |\n" + "  x\n" * (_FILL // 4),
    "folded": "a: >\n" + "   x\n  y\n" * (_FILL // 9),
    "indentation": "".join(" " * n + "a:\n" for n in range(1_400)),
    "date": "a: 2024-01-01" + " " * _FILL + "x",
    "tag": "!" + "t" * _FILL + " a",
    "escapes in a tag": "!<" + "%41" * (_FILL // 3) + "> a",
    "quote": '"' + "\n" * _FILL,
    "escapes": '"' + "\\x41" * (_FILL // 4) + '"',
    "escaped line ends": '"' + "\\\n" * (_FILL // 2) + '"',
    "tags": "\n".join(f"a{n}: !t{n} x" for n in range(15_000)),
    "anchors": "".join(f"- &{n} a\n" for n in range(19_000)),
    "an anchor": "&" + "a" * _FILL + " b",
    "duplicates": "a: 1\n" * 3_000,
    "blanks": " " * _FILL,
    "comments": "#\n" * (_FILL // 2) + "a: 1",
    "comments in a list": "[" + " #\n" * (_FILL // 3) + "]",
    "open keys": "? a\n" * (_FILL // 4),
    "keys in one line": "{" + "a: 1," * (_FILL // 5) + "}",
    "deep keys in one line": "[" * 45 + "{a: 1}," * (_FILL // 7),
    "ends": "a\n" + "...\n" * (_FILL // 4),
    "percent signs": "a: |\n" + "  %\n" * (_FILL // 4) + "%",
    "per cent": "a: 'x\n" + "%\n" * (_FILL // 2) + "'",
}


@pytest.mark.parametrize("text", ANYTHING.values(), ids=ANYTHING.keys())
def test_a_mebibyte_of_anything_is_read_within_bounds_of_time(text: str) -> None:
    began = process_time()
    failures = parse_yaml(text).failures
    took = process_time() - began

    assert len(failures) <= FIELD_FAILURES_MAX
    assert took < _SECONDS_MAX


@LOADERS
@pytest.mark.parametrize(
    "text",
    ["prompt: |\n  100\n  %TAG !a! b\n", "prompt: '100\n%TAG'", "prompt: a\n  %b", "[a\n%b]", "# %\na: 50 %\nb: '%'"],
    ids=["block", "quoted", "plain", "list", "elsewhere"],
)
def test_a_percent_sign_within_a_text_is_no_directive(loader: Loader, text: str) -> None:
    assert parse_yaml(text, loader=loader).failures == ()


def test_lines_are_counted_from_the_number_of_the_first() -> None:
    [syntax] = parse_yaml("a: [}", first_line=5).failures
    [bound] = parse_yaml("\n*x", first_line=5).failures
    [character] = parse_yaml("\n\n\x01", first_line=5).failures
    [tag] = parse_yaml("a: 1\nb: !x y", first_line=5).failures

    assert [fault.line for fault in (syntax, bound, character, tag)] == [5, 6, 7, 6]


@LOADERS
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_byte_order_mark_and_line_breaks_move_no_place(loader: Loader, line_break: str, mark: str) -> None:
    text = mark + line_break.join(["a: !x 1", "'ü': 2", "😀😀: !y 3"])

    failures = parse_yaml(text, loader=loader).failures

    assert [(fault.line, fault.column) for fault in failures] == [(1, 4), (3, 5)]


@pytest.mark.parametrize("text", ["", "\ufeff", "# nothing\n", "\r\n\r\n", "---\n...\n"])
def test_an_empty_document_has_no_failure(text: str) -> None:
    root, failures = parse_yaml(text)

    assert root is None or root.kind == "null"
    assert failures == ()


# Scraps of YAML, put together by chance: much is broken, much is not.
_SCRAPS = st.sampled_from(
    [
        *("a", "b", ": ", "- ", "\n", "  ", "? ", "[", "]", "{", "}", ", ", "&a ", "*a", "#", "'", '"', ">\n", "---\n"),
        *("!!int ", "!t ", "!!str ", "<<", "=", "1", "0x", "1:1", ".5", "2024-13-01", "yes", "~", "\t", "\\", "%"),
    ]
)
_TEXTS = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.lists(_SCRAPS, max_size=40).map("".join))


@LOADERS
@given(text=_TEXTS)
def test_no_text_raises_and_every_failure_has_its_place(loader: Loader, text: str) -> None:
    failures = parse_yaml(text, loader=loader).failures

    lines = len(re.split("\r\n|[\n\r\x85\u2028\u2029]", text))
    for failure in failures:
        assert failure.line is not None
        assert 1 <= failure.line <= lines + 1  # the end of a text is after its last line
        assert failure.message.startswith(f"line {failure.line}, column {failure.column}: ")


@LOADERS
@given(text=_TEXTS)
def test_what_is_accepted_can_be_loaded(loader: Loader, text: str) -> None:
    root, failures = parse_yaml(text, loader=loader)

    loaded = None if failures else loader(text).get_single_data()

    assert failures or (loaded is None) == (root is None or root.kind == "null")
