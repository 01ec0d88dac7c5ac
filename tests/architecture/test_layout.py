"""What holds for every file, whoever writes it."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

import pytest

from tests.architecture.source import (
    APPS,
    ROOT,
    framework_free_modules,
    named,
    parsed,
    python_files,
    topic_layer,
    topic_modules,
)

# The measures of the project's style: what the best codebases of this field keep to.
FILE_LINES_MAX = 350
FUNCTION_LINES_MEDIAN_MAX = 10
FUNCTION_LINES_90_PERCENT_MAX = 30

_LEFT_FOR_LATER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_SKIPS = {"skip", "skipif", "xfail", "importorskip"}
_SLEEPS = {"time.sleep", "asyncio.sleep"}
_MOCKS = {"mock", "unittest.mock", "pytest_mock"}
# The one place that waits by looking: for the sockets of a server in another thread, by condition, with a deadline.
_POLLS = "tests/studio_project/live_server.py"

# A room that makes no sense without others.
_ROOMS_NEEDED = {
    "models": {"admin", "migrations"},
    "services": {"api", "state"},
    "api": {"services"},
    "consumers": {"services"},
    "state": {"models"},
    "management": {"services"},
}


@pytest.mark.parametrize("app", APPS)
def test_every_app_has_its_rooms(app: str) -> None:
    rooms = _rooms(app)

    missing = {room: needed - rooms for room, needed in _ROOMS_NEEDED.items() if room in rooms}
    assert {"apps", "migrations"} <= rooms
    assert not {room: names for room, names in missing.items() if names}


def test_init_files_are_empty() -> None:
    spoken = [named(path) for path in python_files(tests=True) if path.name == "__init__.py" and path.stat().st_size]

    assert not spoken


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in python_files(tests=True)}

    assert not [named(folder) for folder in folders if not (folder / "__init__.py").is_file()]


def test_files_stay_short() -> None:
    long = {named(path): n for path in python_files(tests=True) if (n := _line_count(path)) > FILE_LINES_MAX}

    assert not long


def test_functions_stay_short() -> None:
    lengths = [length for path in python_files(tests=False) for length in _function_lengths(path)]

    assert median(lengths) <= FUNCTION_LINES_MEDIAN_MAX
    assert quantiles(lengths, n=10)[-1] <= FUNCTION_LINES_90_PERCENT_MAX


def test_nothing_is_left_for_later() -> None:
    comments = [f"{named(path)}:{line}" for path in python_files(tests=True) for line in _later_comments(path)]
    raised = [
        f"{named(path)}:{node.lineno}"
        for path in python_files(tests=True)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Name) and node.id == "NotImplementedError"
    ]

    assert not comments + raised


def test_tests_neither_sleep_nor_skip_nor_mock() -> None:
    found = [
        f"{named(path)}:{line}: {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "benchmarks" not in path.parts and named(path) != _POLLS
        for line, name in _shortcuts(parsed(path))
    ]

    assert not found


def test_topic_modules_are_listed_alike_in_every_import_contract() -> None:
    framework_free = {name for name in framework_free_modules() if name != "contract"}

    assert framework_free == topic_modules()
    assert {name.rpartition(".")[2] for name in topic_modules()} == topic_layer()


def _rooms(app: str) -> set[str]:
    entries = (ROOT / app).iterdir()
    return {path.stem for path in entries if path.suffix == ".py" or (path / "__init__.py").is_file()}


def _line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _function_lengths(path: Path) -> Iterator[int]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            yield node.end_lineno - node.lineno + 1


def _later_comments(path: Path) -> Iterator[int]:
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT and _LEFT_FOR_LATER.search(token.string):
                yield token.start[0]


def _shortcuts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        else:
            continue
        for name in names:
            if name in _SLEEPS | _MOCKS or (name.startswith("pytest.") and _SKIPS & set(name.split("."))):
                yield node.lineno, name
