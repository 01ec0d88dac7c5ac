"""Names of definitions: which are possible, which two may be taken for one, and where their files stand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.errors import NotFound, ValidationFailure
from contract.limits import DEFINITION_NAME_MAX_CHARS
from definitions.names import KINDS, flat_place, is_name, known_kind, name_key, nested_place, require_name

POSSIBLE = ["a", "Z", "0", "a.b", "a..b", "a-_.9", "con", "a.", "x" * DEFINITION_NAME_MAX_CHARS]
IMPOSSIBLE = [
    "",
    ".",
    "..",
    ".a",
    "-a",
    "_a",
    "a b",
    " a",
    "a ",
    "a\n",
    "\na",
    "a\x00",
    "a/b",
    "a\\b",
    "../a",
    "%2e%2e",
    "é",
    "\uff41",
    "\ud800",
    "a\u200b",
    "a:b",
    "~a",
    "x" * (DEFINITION_NAME_MAX_CHARS + 1),
]


@pytest.mark.parametrize("name", POSSIBLE)
def test_a_possible_name_passes(name: str) -> None:
    require_name(name, "name")

    assert is_name(name)


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_an_impossible_name_is_refused_where_it_stands(name: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        require_name(name, "items", 3, "name")

    assert not is_name(name)
    assert (failure.value.field_errors[0].path, failure.value.field_errors[0].code) == (("items", 3, "name"), "name")


@given(st.text(max_size=DEFINITION_NAME_MAX_CHARS + 2))
def test_a_name_is_possible_if_and_only_if_the_published_grammar_says_so(text: str) -> None:
    assert is_name(text) == (re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}", text) is not None)


@pytest.mark.parametrize("name", ["\uff41bc", "abc ", "\tabc", "\u1d43bc"])
def test_a_name_that_reads_like_a_possible_one_is_told_which(name: str) -> None:
    with pytest.raises(ValidationFailure, match="it reads like 'abc'"):
        require_name(name, "name")


@pytest.mark.parametrize("name", ["a/b", "é", "-a", "\u2025"])
def test_a_name_that_reads_like_no_possible_one_gets_no_hint(name: str) -> None:
    with pytest.raises(ValidationFailure) as failure:
        require_name(name, "name")

    assert "reads like" not in str(failure.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_with_a_possible_name_is_known(kind: str) -> None:
    assert known_kind(kind, "a") == kind


@pytest.mark.parametrize(
    ("kind", "name"), [("agents", "a"), ("", "a"), ("AGENT", "a"), ("agent\n", "a"), ("agent", ".."), ("playbook", "")]
)
def test_what_nothing_can_be_called_is_not_found(kind: str, name: str) -> None:
    with pytest.raises(NotFound) as failure:
        known_kind(kind, name)

    assert (failure.value.resource, failure.value.identifier) == ("definition", f"{kind}/{name}")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Writer", "wRITER"), ("e\u0301", "\u00e9"), ("\uff41", "A"), ("stra\u00dfe", "STRASSE"), ("\ufb01x", "FIX")],
)
def test_names_that_differ_in_case_or_form_have_one_key(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("a.b", "a-b"), ("a", "a."), ("l", "1")])
def test_names_that_differ_in_more_have_two_keys(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


@given(st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._-]{0,119}\Z"))
def test_a_key_is_its_own_key_and_fits_where_the_name_fits(name: str) -> None:
    key = name_key(name)

    assert name_key(key) == key == name_key(name.upper())
    assert len(key) <= DEFINITION_NAME_MAX_CHARS


def test_files_stand_below_the_root_of_their_kind() -> None:
    assert flat_place("agent", "a.b") == "agents/a.b.md"
    assert nested_place("agent", "a.b") == "agents/a.b/a.b.md"
    assert flat_place("playbook", "p") == "playbooks/p.playbook.yaml"
    assert nested_place("playbook", "p") == "playbooks/p/p.playbook.yaml"
