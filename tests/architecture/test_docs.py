"""Everything that people can set, run, call or meet is named in README.md or docs/, read from the code itself."""

import re
from collections.abc import Iterable
from functools import cache
from typing import get_args

from django.core.management import get_commands
from django.urls import URLPattern

from contract.definitions import AttemptOutcome, DefinitionOrigin, Drift, Resolution, WriteStatus
from contract.errors import RequestRefused, StudioApplicationError
from contract.schedules import ScheduleHealth
from definitions.errors import WRITE_FAULTS
from runs.reasons import REASONS
from schedules.reasons import DISABLED_REASONS, FIRING_REASONS
from studio_project import urls
from studio_project.config import PREFIX, StudioConfig
from tests.architecture.source import APPS, ROOT

_PLACEHOLDER = re.compile(r"\{[^}]*\}")


def test_every_configuration_key_is_documented() -> None:
    assert not _missing(PREFIX + field.upper() for field in StudioConfig.model_fields)


def test_every_command_is_documented() -> None:
    ours = {name for name, app in get_commands().items() if app in {"studio_project", *APPS}}

    assert not {name for name in ours if not re.search(rf"(manage\.py|studio) {name}\b", _text())}


def test_every_route_is_documented() -> None:
    routes = set(urls.api.get_openapi_schema()["paths"])
    pages = {f"/{entry.pattern}" for entry in urls.urlpatterns if isinstance(entry, URLPattern)} - {"/"}

    assert not _missing(routes | pages)


def test_every_error_code_is_documented() -> None:
    codes = {error.code for error in StudioApplicationError.__subclasses__()}

    assert not _missing(codes | set(RequestRefused.TRANSPORT_CODES))


def test_every_reason_code_is_documented() -> None:
    assert not _missing(REASONS)


def test_every_reason_of_a_firing_and_every_health_of_a_schedule_is_documented() -> None:
    assert not _missing(FIRING_REASONS)
    assert not _missing(DISABLED_REASONS)
    assert not _missing(get_args(ScheduleHealth))


def test_every_word_of_a_definitions_history_is_documented() -> None:
    vocabularies = (DefinitionOrigin, WriteStatus, Drift, Resolution, AttemptOutcome)

    assert not _missing(WRITE_FAULTS)
    assert not _missing(word for vocabulary in vocabularies for word in get_args(vocabulary))


@cache
def _text() -> str:
    """README and docs, the names inside braces taken out: `{id}` and `{run_id}` are one route."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return _PLACEHOLDER.sub("{}", "\n".join(file.read_text(encoding="utf-8") for file in files if file.is_file()))


def _missing(names: Iterable[str]) -> set[str]:
    """The names that nowhere stand whole, that is not as the beginning or end of a longer one."""
    bare = {_PLACEHOLDER.sub("{}", name) for name in names}
    return {name for name in bare if not re.search(rf"(?<![\w/.]){re.escape(name)}(?![\w/{{])", _text())}
