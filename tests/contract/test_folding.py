import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from contract.folding import fold


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once_and_composition_does_not_matter(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(text)


def test_no_character_grows_by_more_than_three() -> None:
    assert max(len(fold(chr(code))) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF) == 3


def test_case_and_composition_do_not_tell_texts_apart() -> None:
    assert fold("STRASSE sho\u0308p") == fold("straße SHÖP")
