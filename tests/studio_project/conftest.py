"""Fixtures of the transport's tests: a scripted Studio in place of the real one, and the whole application over it."""

from collections.abc import Iterator
from typing import cast

import pytest

from studio_project.application import build_application
from studio_project.asgi_types import App
from studio_project.composition import Studio, get_studio, set_studio
from tests.studio_project.scripted import ScriptedStudio


@pytest.fixture
def studio() -> Iterator[ScriptedStudio]:
    scripted = ScriptedStudio()
    set_studio(cast("Studio", scripted))
    yield scripted
    set_studio(None)


@pytest.fixture
def app(studio: ScriptedStudio) -> App:
    return build_application(get_studio)
