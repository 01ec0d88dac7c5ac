"""The cursor of a list of projects."""

import pytest

from contract.cursors import list_identity, seal
from contract.errors import ValidationFailure
from contract.projects import ProjectQuery
from projects.cursors import after_project, read_projects


def test_a_cursor_goes_on_after_its_name() -> None:
    query = ProjectQuery(search="a")

    assert read_projects(query) is None
    assert read_projects(query.model_copy(update={"cursor": after_project(query, "日本/語"), "limit": 7})) == "日本/語"


def test_a_cursor_of_another_list_is_refused() -> None:
    cursor = after_project(ProjectQuery(search="a"), "x")
    made_up = [seal("prj", list_identity(ProjectQuery()), text) for text in ("x", "ÿ", "AA==", "/w==", "YS8vYg==")]

    for query in (ProjectQuery(search="b", cursor=cursor), *(ProjectQuery(cursor=text) for text in ("x", *made_up))):
        with pytest.raises(ValidationFailure):
            read_projects(query)


def test_a_cursor_takes_no_offset() -> None:
    cursor = after_project(ProjectQuery(), "x")

    with pytest.raises(ValidationFailure) as caught:
        read_projects(ProjectQuery(cursor=cursor, offset=1))

    assert caught.value.field_errors[0].path == ("offset",)


def test_the_cursor_of_the_longest_name_is_short_enough_to_be_sent_back() -> None:
    for name in ("語" * 200, "\U0001f600" * 200):
        assert read_projects(ProjectQuery(cursor=after_project(ProjectQuery(), name))) == name
