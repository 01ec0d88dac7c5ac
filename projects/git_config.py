"""The remote's URL in the text of a repository's `config`, read as git-config(1) describes it. Nothing is included."""

import re
from collections.abc import Iterator
from typing import Final

_SECTION: Final = re.compile(r'\s*\[\s*(?P<name>[A-Za-z0-9.-]+)\s*(?:"(?P<part>(?:[^"\\]|\\.)*)")?\s*\]')
_VARIABLE: Final = re.compile(r"\s*(?P<key>[A-Za-z][A-Za-z0-9-]*)\s*(?:=(?P<value>.*))?", re.DOTALL)
_ESCAPES: Final = {"n": "\n", "t": "\t", "b": "\b"}
_ORIGIN: Final = "origin"


def remote_url(text: str) -> str | None:
    """Return the first URL of the remote `origin`, else that of the first remote that has one."""
    urls: dict[str, str] = {}
    for remote, url in _urls(text):
        urls.setdefault(remote, url)
    return urls.get(_ORIGIN, next(iter(urls.values()), None))


def _urls(text: str) -> Iterator[tuple[str, str]]:
    """Yield each remote's name with a URL of it, in the order of the file."""
    remote: str | None = None
    for line in _logical_lines(text):
        rest = line
        if section := _SECTION.match(rest):
            remote, rest = _remote_of(section), rest[section.end() :]
        found = _VARIABLE.fullmatch(rest)
        if remote is not None and found and found["key"].lower() == "url" and found["value"] is not None:
            url = _value(found["value"])
            if url:
                yield remote, url


def _logical_lines(text: str) -> Iterator[str]:
    """Yield lines, those that a backslash ends joined with the next."""
    kept = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        ending = len(line) - len(line.rstrip("\\"))
        if ending % 2:
            kept += line[:-1]
            continue
        yield kept + line
        kept = ""
    if kept:
        yield kept


def _remote_of(section: re.Match[str]) -> str | None:
    """Return the remote that a section is about; `[remote.name]` is the old way to write it."""
    name, part = section["name"], section["part"]
    if part is not None:
        return re.sub(r"\\(.)", r"\1", part) if name.lower() == "remote" else None
    head, _, old = name.partition(".")
    return old.lower() if head.lower() == "remote" and old else None


def _value(raw: str) -> str:
    """Return a value without its comment, its quotes and the blanks around it."""
    found: list[str] = []
    kept = 0  # what stood in quotes, or behind a backslash, loses no blank
    quoted = False
    chars = iter(raw.lstrip())
    for char in chars:
        if char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            escaped = char == "\\"
            following = next(chars, "") if escaped else ""
            found.append(_ESCAPES.get(following, following) if escaped else char)
            if escaped or quoted or not char.isspace():
                kept = len(found)
    return "".join(found[:kept])
