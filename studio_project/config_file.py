"""`studio.toml`: read, and its keys checked against those that exist."""

import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

# Tables that group configuration keys for people: what a key is called in the table, and by itself.
_TABLES = {
    "execution": {
        "command_allowlist": "command_allowlist",
        "deadline_seconds": "deadline_seconds",
        "default_runtime": "default_runtime",
        "grace_seconds": "grace_seconds",
        "max_concurrent": "max_concurrent",
        "pass_token": "pass_token",
        "queue": "queue",
        "root": "execution_root",
    },
    "retention": {"runs_days": "retention_days"},
    "github": {
        "api_url": "github_api_url",
        "token": "github_token",
    },
}
# The table of tables that describe things with names of their own.
_RUNTIMES = "runtimes"


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """The file's values by configuration key, its `[runtimes.NAME]` tables by name, and what is wrong with it."""

    values: dict[str, Any] = field(default_factory=dict)
    runtimes: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def read_config_file(path: Path, *, known: Collection[str], elsewhere: Collection[str]) -> ConfigFile:
    """Return what `path` sets, nothing where it is missing. `elsewhere` are keys of the environment only."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):  # that its folder is none is said by who needs the folder
        return ConfigFile()
    except OSError as error:
        return ConfigFile(problems=(f"{path.name}: cannot be read: {error.strerror}",))
    except UnicodeDecodeError:
        return ConfigFile(problems=(f"{path.name}: is not UTF-8",))
    except tomllib.TOMLDecodeError as error:
        return ConfigFile(problems=(f"{path.name}: is not TOML: {error}",))
    runtimes = content.pop(_RUNTIMES, {})
    entries = list(_entries(content))
    values = {key: value for _, key, value in entries if key in known}
    problems = tuple(_problems(path.name, entries, known, elsewhere))
    if not isinstance(runtimes, dict):
        return ConfigFile(values=values, problems=(*problems, f"{path.name}: {_RUNTIMES}: must hold a table for each"))
    return ConfigFile(values=values, runtimes=runtimes, problems=problems)


def suggestion(word: str, known: Collection[str]) -> str:
    """Return `; did you mean X?` for the nearest known word, or nothing where none is near."""
    near = get_close_matches(word, sorted(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _entries(content: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Each setting as (written name, configuration key, value), the known tables unfolded."""
    for name, value in content.items():
        if name in _TABLES and isinstance(value, dict):
            for key, inner in value.items():
                yield f"{name}.{key}", _TABLES[name].get(key, ""), inner
        else:
            yield name, name, value


def _problems(
    file: str, entries: list[tuple[str, str, Any]], known: Collection[str], elsewhere: Collection[str]
) -> Iterator[str]:
    seen: set[str] = set()
    spellings = {*known, _RUNTIMES, *(f"{table}.{key}" for table, keys in _TABLES.items() for key in keys)}
    for written, key, _ in entries:
        if key in elsewhere:
            yield f"{file}: {written}: is read from the environment only"
        elif key not in known:
            yield f"{file}: {written}: is not a known key{suggestion(written, spellings)}"
        elif key in seen:
            yield f"{file}: {written}: is set twice"
        seen.add(key)
