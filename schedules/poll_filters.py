"""Which repository a poll asks, and which of its events pass."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from contract.base import FieldFailure
from contract.errors import shown
from contract.limits import FIELD_FAILURES_MAX

# The events that a poll can be for, and what the pull requests are called that they happen to.
POLL_EVENTS: Final[dict[str, str]] = {
    "pr_opened": "opened",
    "pr_updated": "updated",
    "pr_closed": "closed",
    "pr_merged": "merged",
}
DEFAULT_EVENT: Final = "pr_merged"

# GitHub's rules: an owner has at most 39 letters, digits and hyphens (and `_` before the short code of a managed
# user), a repository at most 100 letters, digits, `.`, `_`, `-`, and is not called `.`, `..` or `*.git`.
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,38}/(?!\.{1,2}\Z)(?!.*\.git\Z)[A-Za-z0-9._-]{1,100}")
# What git forbids in the name of a branch (git-check-ref-format), but for rules on its parts.
_BRANCH: Final = re.compile(r"(?!-)(?!.*\.\.)(?!.*@\{)[^\x00-\x20\x7f\ud800-\udfff~^:?*\[\\]{1,255}")


def repository_failures(repository: str) -> tuple[FieldFailure, ...]:
    """Return a fault for what GitHub has no repository called."""
    if _REPOSITORY.fullmatch(repository):
        return ()
    message = f"`{shown(repository)}` is not the `owner/name` of a GitHub repository"
    return (FieldFailure(path=("repository",), code="repository", message=message),)


def filter_failures(filters: Mapping[str, JsonValue]) -> tuple[FieldFailure, ...]:
    """Return every unknown key and every value that its key cannot have."""
    return tuple(_failures(filters))[:FIELD_FAILURES_MAX]


def _failures(filters: Mapping[str, JsonValue]) -> Iterator[FieldFailure]:
    for key, value in filters.items():
        path = ("filters", shown(key))
        if key not in _RULES:
            yield FieldFailure(path=path, code="unknown_field", message=f"is none of {', '.join(_RULES)}")
            continue
        is_fit, message = _RULES[key]
        if not is_fit(value):
            yield FieldFailure(path=path, code=key, message=message)


def _is_event(value: JsonValue) -> bool:
    return isinstance(value, str) and value in POLL_EVENTS


def _is_branch(value: JsonValue) -> bool:
    return isinstance(value, str) and _BRANCH.fullmatch(value) is not None


def _is_bool(value: JsonValue) -> bool:
    return isinstance(value, bool)


_RULES: Final[dict[str, tuple[Callable[[JsonValue], bool], str]]] = {
    "event": (_is_event, f"must be one of {', '.join(POLL_EVENTS)}"),
    "base": (_is_branch, "must be the name of a branch"),
    "draft": (_is_bool, "must be true or false"),
    "same_repo_only": (_is_bool, "must be true or false"),
}
