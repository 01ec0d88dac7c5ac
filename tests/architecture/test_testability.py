"""The testability of decision D6: tau >= 0.85, the part of rules and operations that tests with fake ports reach.

Measured in a process of its own, line and branch: only the tests of topic modules and of services run there, and only
those modules count. Neither needs a database, so nothing here starts one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source import APPS, ROOT, named, pure_files, topic_modules

TAU_MINIMUM = 0.85


@pytest.mark.long
def test_fake_port_tests_reach_rules_and_operations(tmp_path: Path) -> None:
    report = _measure(tmp_path)

    tau = report["totals"]["percent_covered"] / 100

    worst = sorted((file["summary"]["percent_covered"], name) for name, file in report["files"].items())[:5]
    assert tau >= TAU_MINIMUM, f"tau is {tau:.3f}; least covered: {worst}"


def test_every_topic_module_and_every_services_file_has_tests() -> None:
    untested = [named(path) for path in pure_files() if not path.stem.endswith("ports") and not _tests_of(path)]

    assert not untested


def _measure(folder: Path) -> dict[str, Any]:
    """Run the fake-port tests under coverage and return its JSON report."""
    data = f"--data-file={folder / 'coverage'}"
    modules = ",".join(named(path) for path in pure_files())
    tests = sorted({named(test) for path in pure_files() for test in _tests_of(path)})
    assert tests, "without names pytest would run the whole suite, this test included"
    _python("-m", "coverage", "run", data, "--branch", "-m", "pytest", "-q", *_QUIET, *tests)
    _python("-m", "coverage", "json", data, f"-o{folder / 'report.json'}", f"--include={modules}")
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


# These tests wait for nothing; three minutes are a small machine under load.
_SECONDS = 180
# In the order of the files and in one process: what is measured is then the same every time. All examples have been
# tried where these tests run as tests; here few say which lines are reached, and fewer would reach less, never more.
_QUIET = ("-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "--hypothesis-profile=few")


def _python(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr


def _tests_of(path: Path) -> list[Path]:
    """The test files of a topic module or services file, by the names they have to have."""
    app = path.relative_to(ROOT).parts[0]
    assert app in APPS
    folder = ROOT / "tests" / app
    if ".".join(path.relative_to(ROOT).with_suffix("").parts) in topic_modules():
        return [*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")]
    if path.name == "services.py":
        return sorted(folder.glob("test_services*.py"))
    return [*folder.glob(f"test_services_{path.stem}*.py"), *folder.glob(f"services/test_{path.stem}*.py")]
