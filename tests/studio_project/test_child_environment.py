"""What the process of a run is given of the environment that its worker has."""

import json
import subprocess
import sys
from pathlib import Path

from studio_project.config import isolated_environment

CHILD = """
import json, django
django.setup()
from studio_project.config import child_environment, current_config
print(json.dumps(child_environment(current_config(), url="http://studio")))
"""


def environment_of_a_child(home: Path, given: dict[str, str], **settings: str) -> dict[str, str]:
    """Return what a process of a run gets from a Studio that was given these variables."""
    others = {name: value for name, value in isolated_environment(home, **settings).items() if name != "TZ"}
    done = subprocess.run([sys.executable, "-c", CHILD], env=others | given, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def test_a_process_gets_nothing_that_configures_studio_but_where_it_is(tmp_path: Path) -> None:
    child = environment_of_a_child(tmp_path, {"KEY": "given"}, auth_token="secret")

    assert {name: value for name, value in child.items() if name.startswith("STUDIO_")} == {
        "STUDIO_URL": "http://studio"
    }
    assert child["KEY"] == "given"


def test_a_process_gets_the_token_only_where_that_was_asked_for(tmp_path: Path) -> None:
    child = environment_of_a_child(tmp_path, {}, auth_token="secret", pass_token="true")

    assert child["STUDIO_AUTH_TOKEN"] == "secret"


def test_a_process_gets_no_settings_of_django_and_the_zone_that_was_given(tmp_path: Path) -> None:
    without, zoned = (environment_of_a_child(tmp_path, given) for given in ({}, {"TZ": "Asia/Tokyo"}))

    assert "DJANGO_SETTINGS_MODULE" not in without
    assert "TZ" not in without
    assert zoned["TZ"] == "Asia/Tokyo"
