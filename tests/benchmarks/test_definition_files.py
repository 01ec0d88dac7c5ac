from pathlib import Path

from definitions.content import check_content
from definitions.names import flat_place, is_name
from tests.benchmarks.definition_files import SIZE_BYTES, name_of, path_of, text_of, write_files


def test_every_seeded_definition_is_a_valid_agent_of_its_own() -> None:
    texts = {text_of(number) for number in (0, 1, 99_999)}

    assert len(texts) == 3
    for text in texts:
        check_content("agent", text)
        assert len(text.encode()) == SIZE_BYTES


def test_seeded_files_stand_where_their_definitions_are(tmp_path: Path) -> None:
    write_files(tmp_path, 2)

    assert is_name(name_of(99_999))
    assert path_of(1) == flat_place("agent", name_of(1))
    assert (tmp_path / path_of(1)).read_bytes() == text_of(1).encode()
