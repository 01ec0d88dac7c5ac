"""The text that a search looks in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import NAME_MAX_CHARS
from runs.naming import fold, search_text

# The width of the column that keeps it (runs/models.py).
SEARCH_TEXT_MAX_CHARS = 1_300
NAMES = st.text(st.characters(exclude_characters="\n\x00", exclude_categories=["Cs"]), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("left", "right"),
    [("Straße", "STRASSE"), ("CAFÉ", "cafe\u0301"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ﬁne", "FINE"), ("İ", "i\u0307")],
)
def test_texts_that_differ_by_case_or_composition_fold_alike(left: str, right: str) -> None:
    assert fold(left) == fold(right)


def test_accents_are_kept() -> None:
    assert fold("résumé") != fold("resume")


@given(NAMES)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(NAMES)
def test_composition_does_not_matter(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)


@given(NAMES, NAMES)
def test_both_names_are_found_whole(name: str, agent_name: str) -> None:
    text = search_text(name, agent_name)

    assert fold(name) in text
    assert fold(agent_name) in text


def test_a_match_never_spans_name_and_agent() -> None:
    assert "ab" not in search_text("a", "b")


def test_a_missing_name_leaves_no_line() -> None:
    assert search_text(None, None) == ""
    assert search_text("A", None) == "a"
    assert search_text(None, "B") == "b"


def test_every_name_that_may_be_given_fits_the_column() -> None:
    # No character grows by more than three under case folding and composition together.
    worst = max((len(fold(chr(code))), code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF)

    longest = chr(worst[1]) * NAME_MAX_CHARS

    assert len(search_text(longest, longest)) <= SEARCH_TEXT_MAX_CHARS


def test_a_search_that_holds_a_line_end_never_spans_name_and_agent() -> None:
    assert fold("a\nb") not in search_text("a", "b")
    assert fold("a\nb") in search_text("a\nb", None)
