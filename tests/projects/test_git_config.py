"""The remote's URL in a repository's configuration."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.git_config import remote_url

USUAL = """\
[core]
\trepositoryformatversion = 0
\tbare = false
[remote "origin"]
\turl = git@host:team/thing.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
"""


def test_the_usual_file() -> None:
    assert remote_url(USUAL) == "git@host:team/thing.git"
    assert remote_url(USUAL.replace("\n", "\r\n")) == "git@host:team/thing.git"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", None),
        ("[core]\nurl = x\n", None),
        ('[remote "origin"]\n', None),
        ('[remote "origin"]\nurl\n', None),
        ('[remote "origin"]\nurl =\n', None),
        ('[remote "upstream"]\nurl = a\n[remote "origin"]\nurl = b\n', "b"),
        ('[remote "upstream"]\nurl = a\n[remote "fork"]\nurl = b\n', "a"),
        ('[remote "origin"]\nurl = a\nurl = b\n', "a"),
        ('[REMOTE "origin"]\nURL=a\n', "a"),
        ('[remote "Origin"]\nurl = a\n[remote "origin"]\nurl = b\n', "b"),
        ("[remote.origin]\nurl = a\n", "a"),
        ('  [ remote "origin" ] url = a # why\n', "a"),
        ('[remote "origin"] ; the one\n  url = a;b\n', "a"),
        ('[remote "origin"]\nurl = "a # b" ; c\n', "a # b"),
        ('[remote "origin"]\nurl = a\\\\b\\"c\\t\n', 'a\\b"c\t'),
        ('[remote "origin"]\nurl = host:\\\nteam/thing\n', "host:team/thing"),
        ('[remote "or\\"igin"]\nurl = a\n', "a"),
        ('[remote "origin"]\n# url = old\nurl = new\n', "new"),
        ('[remote "origin"]\npushurl = p\nurl = a\n', "a"),
        ('[remote "origin"\nurl = a\n', None),
        ('[remotes "origin"]\nurl = a\n', None),
        ("url = a\n", None),
        ('[remote "origin"]\nurl = a b  \n', "a b"),
        ('[remote "origin"]\nurl = a\\', "a"),
    ],
)
def test_forms_of_the_file(text: str, url: str | None) -> None:
    assert remote_url(text) == url


@given(st.text(alphabet='[]"\\=#; \n\turlremoteorigin.', max_size=80))
@settings(max_examples=400, deadline=None)
def test_any_text_gives_a_url_or_none(text: str) -> None:
    assert remote_url(text) is None or remote_url(text)
