import pytest

from studio_project.banner import admin_line, banner_lines, base_url, has_token, root_url
from tests.studio_project.scripted import config_of


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("localhost", "http://localhost:80/"),
        ("::1", "http://[::1]:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),  # noqa: S104 (nothing binds to it)
        ("::", "http://[::1]:80/"),
        ("studio.example", "http://studio.example:80/"),
    ],
)
def test_the_banner_shows_an_address_that_a_browser_here_can_open(host: str, url: str) -> None:
    assert base_url(config_of(host=host), 80) == url


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "none: every program on this machine"),
        ({"host": "192.168.0.7"}, "NONE, AND OPEN TO OTHER MACHINES"),
        ({"auth_token": "secret-1"}, "needed to read and to write"),
        ({"auth_token": "secret-1", "auth_read_token": "secret-2"}, "a second one only reads"),
        ({"auth_read_token": "secret-2"}, "nothing may be written"),
    ],
)
def test_the_banner_says_who_may_do_what_and_no_secret(settings: dict[str, str], says: str) -> None:
    text = "\n".join(banner_lines(config_of(**settings), 80))

    assert says in text
    assert "secret" not in text


def test_the_banner_names_the_database_without_its_password() -> None:
    text = "\n".join(banner_lines(config_of(database_url="postgresql://me:hidden@db.example/studio"), 80))

    assert "db.example/studio" in text
    assert "hidden" not in text


def test_the_administrators_password_is_shown_when_it_was_made_just_now() -> None:
    assert "password pw" in admin_line(config_of(), 80, "pw")
    assert "password" not in admin_line(config_of(), 80, None)


def test_either_token_closes_the_api() -> None:
    assert not has_token(config_of())
    assert has_token(config_of(auth_token="a"))
    assert has_token(config_of(auth_read_token="a"))


def test_programs_get_the_same_address_to_put_paths_behind() -> None:
    config = config_of(host="::")

    assert f"{root_url(config, 80)}/" == base_url(config, 80)
