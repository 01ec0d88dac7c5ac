"""The configuration: where values come from, and how faults are told."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from studio_project.config import ConfigError, StudioConfig, isolated_environment, load_config
from studio_project.database_url import Database, parse_database_url
from studio_project.secret_key import load_secret_key

Load = Callable[..., StudioConfig]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load with variables given without prefix, on a machine that says no time zone."""

    def load(**variables: str) -> StudioConfig:
        environ = {"STUDIO_HOME": str(tmp_path)} | {f"STUDIO_{name}": value for name, value in variables.items()}
        return load_config(environ, localtime=tmp_path / "localtime")

    return load


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], None]:
    """Write the home's studio.toml."""

    def write(content: str) -> None:
        (tmp_path / "studio.toml").write_text(content, encoding="utf-8")

    return write


def problems_of(load: Load, **variables: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(**variables)
    return caught.value.problems


def test_an_empty_environment_gives_the_defaults(tmp_path: Path) -> None:
    config = load_config({"HOME": str(tmp_path)}, localtime=tmp_path / "localtime")

    assert config.home == tmp_path / ".studio"
    assert (config.host, config.port, config.timezone, config.max_concurrent) == ("127.0.0.1", 8765, "UTC", 4)
    assert config.database == Database(engine="sqlite", name=str(tmp_path / ".studio" / "studio.db"))
    assert (config.auth_token, config.allowed_hosts, config.insecure) == (None, (), False)
    assert set(config.origins.values()) == {"default"}


def test_environment_wins_over_file_and_file_over_default(load: Load, write: Callable[[str], None]) -> None:
    write('port = 1\nhost = "0.0.0.0"\n')

    config = load(PORT="2")

    assert (config.port, config.host, config.max_concurrent) == (2, "0.0.0.0", 4)  # noqa: S104 (only read)
    origins = {name: config.origins[name] for name in ("port", "host", "max_concurrent", "home")}
    assert origins == {"port": "env", "host": "file", "max_concurrent": "default", "home": "env"}


def test_lists_are_comma_lists_in_the_environment_and_arrays_in_the_file(
    load: Load, write: Callable[[str], None]
) -> None:
    write('cors_origins = ["https://a.example", "http://b.example:3000"]\n[execution]\ncommand_allowlist = ["make"]\n')

    config = load(ALLOWED_HOSTS="studio.example, other.example,")

    assert config.allowed_hosts == ("studio.example", "other.example")
    assert config.cors_origins == ("https://a.example", "http://b.example:3000")
    assert config.command_allowlist == ("make",)


@pytest.mark.parametrize(("home", "expected"), [("~", ""), ("~/s", "s"), ("~/a b/ü", "a b/ü")])
def test_a_tilde_is_the_users_folder(tmp_path: Path, home: str, expected: str) -> None:
    config = load_config({"HOME": str(tmp_path), "STUDIO_HOME": home})

    assert config.home == tmp_path / expected


def test_a_relative_home_is_made_absolute() -> None:
    assert load_config({"STUDIO_HOME": "some/home"}).home == Path.cwd() / "some" / "home"


def test_a_home_with_url_characters_has_its_database_inside(tmp_path: Path) -> None:
    home = tmp_path / "50% #1?"

    assert load_config({"STUDIO_HOME": str(home)}).database.name == str(home / "studio.db")


def test_the_machines_time_zone_is_the_default(tmp_path: Path) -> None:
    localtime = tmp_path / "localtime"
    localtime.symlink_to("/usr/share/zoneinfo/Europe/Berlin")

    assert load_config({"STUDIO_HOME": str(tmp_path)}, localtime=localtime).timezone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("target", "zone"),
    [
        ("zoneinfo/posix/Asia/Tokyo", "Asia/Tokyo"),
        ("zoneinfo/right/Asia/Tokyo", "UTC"),
        ("zoneinfo/Mars/Base", "UTC"),
        ("clock", "UTC"),
    ],
)
def test_a_machine_without_a_usable_zone_is_in_utc(tmp_path: Path, target: str, zone: str) -> None:
    localtime = tmp_path / "localtime"
    localtime.symlink_to(target)

    assert load_config({"STUDIO_HOME": str(tmp_path)}, localtime=localtime).timezone == zone


@pytest.mark.parametrize(
    "zone", ["Mars/Base", "", "America", "../../etc/passwd", "Europe/Berlin\0", "localtime", "posix/UTC"]
)
def test_an_unknown_time_zone_is_refused(load: Load, zone: str) -> None:
    assert problems_of(load, TIMEZONE=zone) == ("STUDIO_TIMEZONE: is not an IANA time zone such as Europe/Berlin",)


def test_all_faults_are_told_at_once(load: Load, write: Callable[[str], None]) -> None:
    write('max_concurent = 3\nport = true\nhome = "/elsewhere"\n[execution]\ncommand = 1\n')

    problems = problems_of(load, AUTH_TOKN="x", CORS_ORIGINS="*", MAX_CONCURRENT="-1")

    assert "STUDIO_AUTH_TOKN: is not a known variable; did you mean STUDIO_AUTH_TOKEN?" in problems
    assert "studio.toml: max_concurent: is not a known key; did you mean max_concurrent?" in problems
    assert "studio.toml: home: is read from the environment only" in problems
    assert "studio.toml: port: must be a number" in problems
    assert {problem.partition(": ")[0] for problem in problems} == {
        "STUDIO_AUTH_TOKN",
        "STUDIO_CORS_ORIGINS",
        "STUDIO_MAX_CONCURRENT",
        "studio.toml",
    }
    assert len(problems) == 7


@pytest.mark.parametrize(
    "content", [b"port = ", b"\xff\xfe", b"port = 1\nport = 2\n", b"[execution]\ncommand_allowlist = [1]"]
)
def test_a_file_that_cannot_be_used_is_told(load: Load, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "studio.toml").write_bytes(content)

    [problem] = problems_of(load)

    assert problem.startswith("studio.toml: ")


def test_a_folder_in_place_of_the_file_is_told(load: Load, tmp_path: Path) -> None:
    (tmp_path / "studio.toml").mkdir()

    assert problems_of(load) == ("studio.toml: cannot be read: Is a directory",)


def test_a_key_set_in_both_places_of_the_file_is_told(load: Load, write: Callable[[str], None]) -> None:
    write('command_allowlist = ["a"]\n[execution]\ncommand_allowlist = ["b"]\n')

    assert problems_of(load) == ("studio.toml: execution.command_allowlist: is set twice",)


def test_how_long_runs_are_kept_can_be_set_in_its_table(load: Load, write: Callable[[str], None]) -> None:
    assert load().retention_days == 0
    write("[retention]\nruns_days = 30\n")

    assert load().retention_days == 30
    assert load(RETENTION_DAYS="7").retention_days == 7


@pytest.mark.parametrize("days", ["-1", "30d", "1.5", "40000"])
def test_runs_are_kept_for_a_number_of_days(load: Load, days: str) -> None:
    [problem] = problems_of(load, RETENTION_DAYS=days)

    assert problem.startswith("STUDIO_RETENTION_DAYS: ")


@pytest.mark.parametrize("token", ["", " ", "two words", "line\nbreak", "tökén"])
@pytest.mark.parametrize("name", ["AUTH_TOKEN", "AUTH_READ_TOKEN"])
def test_a_token_that_no_header_can_carry_is_refused(load: Load, name: str, token: str) -> None:
    [problem] = problems_of(load, **{name: token})

    assert problem.startswith(f"STUDIO_{name}: must be visible ASCII")


def test_equal_tokens_are_refused(load: Load) -> None:
    [problem] = problems_of(load, AUTH_TOKEN="same", AUTH_READ_TOKEN="same")

    assert problem.startswith("auth_read_token: must differ")


def test_no_secret_is_ever_told(load: Load) -> None:
    urls = [
        "mysql://u:geheim@h/d",
        "postgresql://u:geheim@h:port/d",
        "postgresql://u:geheim@h/d?ssl=1",
        "postgresql://u:geheim@[h/d",
        "postgresql://u:geheim@h℀/d",
        "sqlite://geheim/x",
        "geheim",
    ]

    for url in urls:
        with pytest.raises(ConfigError) as caught:
            load(DATABASE_URL=url, AUTH_TOKEN="geheim mit Leerzeichen", AUTH_READ_TOKEN="geheim\n")

        assert len(caught.value.problems) == 3
        assert "geheim" not in str(caught.value) + repr(caught.value)


def test_a_configuration_shows_no_secret(load: Load) -> None:
    config = load(DATABASE_URL="postgresql://u:geheim@h/d", AUTH_TOKEN="geheim1", AUTH_READ_TOKEN="geheim2")

    assert "geheim" not in f"{config!r} {config} {config.database!r} {config.database.display}"
    assert {secret.get_secret_value() for secret in config.secrets} == {"geheim", "geheim1", "geheim2"}


def test_the_test_suites_own_switches_are_not_configuration(load: Load) -> None:
    assert load(TEST_DATABASE_URL="anything").port == 8765


def test_an_isolated_environment_holds_what_it_was_given_and_no_more(tmp_path: Path) -> None:
    environment = isolated_environment(tmp_path, port="9")

    ours = {name: value for name, value in environment.items() if name.startswith("STUDIO_")}
    assert ours == {"STUDIO_HOME": str(tmp_path), "STUDIO_PORT": "9"}


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("LocalHost", True),
        ("0.0.0.0", False),  # noqa: S104 (only read)
        ("::", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
    ],
)
def test_only_addresses_of_this_machine_are_loopback(load: Load, host: str, loopback: bool) -> None:
    assert load(HOST=host).is_loopback is loopback


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///a/b%20c.db", Database(engine="sqlite", name="/a/b c.db")),
        ("sqlite:////a.db", Database(engine="sqlite", name="/a.db")),
        ("postgres://h/d", Database(engine="postgresql", name="d", host="h")),
        (
            "postgresql://us%40er:p%2Fw%25%3A@db.example:5433/na%20me?sslmode=require",
            Database(
                engine="postgresql",
                name="na me",
                host="db.example",
                port=5433,
                user="us@er",
                password=SecretStr("p/w%:"),
                options={"sslmode": "require"},
            ),
        ),
        ("postgresql:///d?host=/run/pg", Database(engine="postgresql", name="d", host="/run/pg")),
        ("postgresql://[::1]:1/d", Database(engine="postgresql", name="d", host="::1", port=1)),
    ],
)
def test_a_database_url_is_taken_apart(url: str, expected: Database) -> None:
    assert parse_database_url(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://h/a",
        "sqlite:///a?x=1",
        "sqlite:///a%00",
        "postgresql://h",
        "postgresql://h/",
        "postgresql://h/a/b",
        "postgresql://h:99999/d",
        "postgresql://h/d#f",
        "postgresql://h/d?sslmod=1",
        "mysql://h/d",
    ],
)
def test_a_database_url_that_names_no_database_is_refused(url: str) -> None:
    with pytest.raises(ValueError):
        parse_database_url(url)


@given(st.text())
def test_any_text_is_a_database_url_or_refused_in_words(text: str) -> None:
    for url in (text, f"sqlite:///{text}", f"postgresql://{text}/d"):
        assert fault_of(url) != ""


def fault_of(url: str) -> str | None:
    try:
        parse_database_url(url)
    except ValueError as error:
        return str(error)
    return None


def test_the_secret_key_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"

    first, second = load_secret_key(home), load_secret_key(home)

    assert first == second
    assert len(first) >= 50
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in home.iterdir()] == [("secret_key", 0o600)]


def test_an_empty_secret_key_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "secret_key").touch(mode=0o644)

    key = load_secret_key(tmp_path)

    assert key == load_secret_key(tmp_path) != ""
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_a_home_that_cannot_be_written_gets_a_key_for_this_process(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    first, second = load_secret_key(tmp_path / "file"), load_secret_key(tmp_path / "file")

    assert len({first, second, ""}) == 3
