"""Which editor a person wants."""

import pytest

from studio_project.config import chosen_editor


@pytest.mark.parametrize(
    ("environ", "editor"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "nano"}, "code --wait"),
        ({"VISUAL": " ", "EDITOR": "nano"}, "nano"),
        ({"EDITOR": ""}, "vi"),
        ({}, "vi"),
    ],
)
def test_the_editor_is_the_one_that_the_environment_names(environ: dict[str, str], editor: str) -> None:
    assert chosen_editor(environ) == editor
