import pytest

from studio_project.pieces import PIECE_BYTES, cut, in_pieces


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
@pytest.mark.parametrize("more", [True, False])
def test_a_body_in_pieces_is_the_body_and_only_its_last_piece_may_end_the_answer(size: int, more: bool) -> None:
    body = bytes(number % 251 for number in range(size))

    parts = list(in_pieces({"type": "http.response.body", "body": body, "more_body": more}))

    assert b"".join(part["body"] for part in parts) == body
    assert tuple(part["body"] for part in parts) == cut(body)
    assert all(len(part["body"]) <= PIECE_BYTES for part in parts)
    assert [part["more_body"] for part in parts] == [*[True] * (len(parts) - 1), more]


def test_what_has_no_body_is_passed_on() -> None:
    start = {"type": "http.response.start", "status": 200, "headers": []}

    assert list(in_pieces(start)) == [start]
