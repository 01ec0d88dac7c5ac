"""The base of the commands: which application is asked, and how a process ends."""

from io import StringIO

import pytest
from django_typer.management import command
from pydantic import SecretStr

from contract.base import FieldFailure
from contract.client import RemoteStudio
from contract.errors import BODY_ATTRIBUTES, NotFound, StateUnavailable, ValidationFailure
from contract.runs import RunQuery
from studio_project.commands import (
    EXIT_CODES,
    AsJson,
    StudioCommand,
    Target,
    choose_target,
    error_lines,
    open_application,
)
from studio_project.config import StudioConfig, load_config
from tests.fakes.studio import InMemoryStudio

URL = "http://studio.example"


def config(**environ: str) -> StudioConfig:
    return load_config({"STUDIO_HOME": "/nowhere/studio", **environ})


class Command(StudioCommand):
    """A command of two subcommands."""

    @command()
    def first(self, name: str, *, as_json: AsJson = False) -> None:
        """Print the runs of this process."""

        async def operation(studio: object) -> str:
            return type(studio).__name__

        self.terminal.line(f"{name} {self.ask(operation, remote=None, token=None)}")

    @command()
    def second(self) -> None:
        """End with an error."""
        self.fail(NotFound("thing", "x"))


def ended(*arguments: str) -> tuple[int, str, str]:
    """Run as a process would; return exit code, stdout and stderr."""
    out, err = StringIO(), StringIO()
    made = Command(stdout=out, stderr=err)
    made.in_process = InMemoryStudio
    code = 0
    try:
        made.run_from_argv(["studio", "test_commands", *arguments])  # type: ignore[no-untyped-call]  # django-typer's
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    return code, out.getvalue(), err.getvalue()


def test_every_error_code_has_an_exit_code() -> None:
    assert EXIT_CODES.keys() == BODY_ATTRIBUTES.keys()


def test_without_a_url_the_process_itself_is_asked() -> None:
    assert choose_target(None, None, config()) == Target()
    assert choose_target(None, None, config(STUDIO_AUTH_TOKEN="t")) == Target()


@pytest.mark.parametrize(
    ("remote", "token", "environ", "target"),
    [
        (URL, None, {}, Target(url=URL)),
        (URL, "t", {}, Target(url=URL, token=SecretStr("t"))),
        (None, None, {"URL": URL}, Target(url=URL)),
        (None, "t", {"URL": URL}, Target(url=URL, token=SecretStr("t"))),
        (None, None, {"URL": URL, "AUTH_TOKEN": "c"}, Target(url=URL, token=SecretStr("c"))),
        (URL, None, {"URL": "http://other", "AUTH_TOKEN": "c"}, Target(url=URL, token=SecretStr("c"))),
        (URL, "t", {"AUTH_TOKEN": "c"}, Target(url=URL, token=SecretStr("t"))),
        (URL, None, {"AUTH_READ_TOKEN": "r"}, Target(url=URL, token=SecretStr("r"))),
        (URL, None, {"AUTH_TOKEN": "c", "AUTH_READ_TOKEN": "r"}, Target(url=URL, token=SecretStr("c"))),
    ],
)
def test_options_win_over_the_configuration(
    remote: str | None, token: str | None, environ: dict[str, str], target: Target
) -> None:
    configured = config(**{f"STUDIO_{name}": value for name, value in environ.items()})

    assert choose_target(remote, token, configured) == target


def test_a_token_that_would_go_nowhere_is_a_fault() -> None:
    with pytest.raises(ValidationFailure) as failure:
        choose_target(None, "t", config())

    assert failure.value.field_errors[0].path == ("token",)


async def test_a_url_opens_a_client_that_is_closed_after_use() -> None:
    async with open_application(Target(url="http://127.0.0.1:1", token=SecretStr("t")), InMemoryStudio) as studio:
        assert isinstance(studio, RemoteStudio)
        with pytest.raises(StateUnavailable):
            await studio.list_runs(RunQuery())

    with pytest.raises(RuntimeError):
        await studio.list_runs(RunQuery())


async def test_the_process_s_own_studio_is_given_as_it_is() -> None:
    own = InMemoryStudio()

    async with open_application(Target(), lambda: own) as studio:
        assert studio is own


def test_each_faulty_field_is_a_line_with_its_path() -> None:
    failure = ValidationFailure(
        (
            FieldFailure(path=("events", 0, "role"), code="missing", message="is required"),
            FieldFailure(path=(), code="json", message="is not JSON"),
        )
    )

    assert error_lines(failure) == ["events.0.role: is required", "is not JSON"]
    assert error_lines(NotFound("run", "r1")) == ["no run r1"]


def test_a_command_prints_and_ends_well() -> None:
    assert ended("first", "a") == (0, "a InMemoryStudio\n", "")


def test_an_error_is_said_on_stderr_and_ends_with_its_code() -> None:
    assert ended("second") == (4, "", "error: no thing x\n")


@pytest.mark.parametrize(
    "arguments",
    [["first"], ["first", "a", "--bogus"], ["first", "a", "b"], ["third"], ["--bogus"]],
    ids=" ".join,
)
def test_a_command_line_that_cannot_be_read_ends_like_invalid_input(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = ended(*arguments)

    assert code == EXIT_CODES["validation"]
    assert err.strip()


def test_help_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended("first", "--help")[0] == 0
