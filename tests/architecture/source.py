"""The project's own source as the architecture tests see it; what has to be listed is listed in pyproject.toml."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
APPS = ("runs", "definitions", "workflows", "schedules", "artifacts", "projects")
PACKAGES = ("contract", "studio_project", *APPS)

_RULES_CONTRACT = "Rules and operations know no framework and nothing of the shell"
_PURITY_CONTRACT = "Rules and operations do no input or output"
_LAYERS_CONTRACT = "Every app has the same layers"


def python_files(*, tests: bool) -> list[Path]:
    """Return every Python file written by hand, sorted; migrations are generated."""
    folders = [*PACKAGES, "tests"] if tests else [*PACKAGES]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in files if "migrations" not in path.parts)


def named(path: Path) -> str:
    """Return the path as a reader knows it."""
    return str(path.relative_to(ROOT))


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def import_contract(name: str) -> dict[str, Any]:
    """Return the one import-linter contract whose name begins with `name`."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = content["tool"]["importlinter"]["contracts"]
    [found] = [contract for contract in contracts if contract["name"].startswith(name)]
    return dict(found)


def topic_modules() -> set[str]:
    """Return the dotted names of the topic modules: those that the purity contract lists one by one."""
    return {name for name in import_contract(_PURITY_CONTRACT)["source_modules"] if "*" not in name}


def framework_free_modules() -> set[str]:
    """Return the modules, other than by wildcard, that may import no framework."""
    return {name for name in import_contract(_RULES_CONTRACT)["source_modules"] if "*" not in name}


def topic_layer() -> set[str]:
    """Return the plain names in the layer of topic modules: the last but one, above the apps' own errors."""
    line: str = import_contract(_LAYERS_CONTRACT)["layers"][-2]
    return {name.strip("() ") for name in line.split(":")}


def pure_files() -> Iterator[Path]:
    """Yield the files of all topic modules, and of all services, empty ones left out."""
    for topic in sorted(topic_modules()):
        yield ROOT / (topic.replace(".", "/") + ".py")
    for app in APPS:
        services = [ROOT / app / "services.py", *sorted((ROOT / app / "services").glob("*.py"))]
        yield from (path for path in services if path.is_file() and path.stat().st_size)
