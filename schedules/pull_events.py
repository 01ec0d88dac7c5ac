"""Events of a repository's pull requests: which a listing shows, which of them are new, and an action filled in by one.

The listing is that of GitHub's REST API (GET /repos/{owner}/{repo}/pulls, sorted by update, newest first). Several
events share a second, and one may show up late; so a cursor is an instant with the keys of the events around it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from contract.base import sanitize_text
from contract.schedules import ScheduleAction
from schedules.schedule import PollState

# An event that its listing shows for the first time so long after its own instant is still found.
OVERLAP_SECONDS: Final = 600.0
DEFAULT_EVENT: Final = "pr_merged"
# Far beyond every repository, and what databases keep.
_NUMBER_MAX: Final = 2**63 - 1
# GitHub takes titles of 256 characters.
_TEXT_CHARS_MAX: Final = 500
_INSTANTS: Final = {
    "pr_opened": "created_at",
    "pr_updated": "updated_at",
    "pr_closed": "closed_at",
    "pr_merged": "merged_at",
}
_WORDS: Final = {"pr_opened": "opened", "pr_updated": "updated", "pr_closed": "closed", "pr_merged": "merged"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PullEvent:
    """One event of one pull request; `key` is the same whenever it is seen."""

    key: str
    at: float
    number: int
    title: str
    url: str
    repository: str
    kind: str

    def told(self) -> str:
        """Say what happened in a few words."""
        return f"pull request {self.number} {_WORDS[self.kind]}"


class UnreadableListing(Exception):
    """A listing is not one of pull requests; the text says where."""


def events_of(
    pulls: object, *, repository: str, filters: Mapping[str, Any]
) -> tuple[tuple[PullEvent, ...], float | None]:
    """Return the events that a page shows and its oldest update (null: an empty page). Raises UnreadableListing."""
    if not isinstance(pulls, list):
        raise UnreadableListing("it is no list of pull requests")
    kind = str(filters.get("event", DEFAULT_EVENT))
    events: list[PullEvent] = []
    oldest: float | None = None
    for pull in pulls:
        if not isinstance(pull, dict):
            raise UnreadableListing("it holds something else than pull requests")
        updated = _instant(pull, "updated_at")
        if updated is None:
            raise UnreadableListing("a pull request has no `updated_at`")
        oldest = updated if oldest is None else min(oldest, updated)
        at = _instant(pull, _INSTANTS[kind])
        if at is not None and _passes(pull, filters):
            events.append(_event(pull, kind, at, repository))
    return tuple(events), oldest


def is_read_far_enough(oldest: float | None, poll: PollState) -> bool:
    """Say whether pages after one whose oldest update is this can hold no new event."""
    if oldest is None or poll.cursor_at is None:
        return True
    return oldest < poll.cursor_at - OVERLAP_SECONDS


def new_events(events: Iterable[PullEvent], poll: PollState) -> tuple[PullEvent, ...]:
    """Return what no earlier poll has seen, oldest first. The first poll only remembers: nothing is new to it."""
    if poll.cursor_at is None:
        return ()
    seen = set(poll.seen)
    from_at = poll.cursor_at - OVERLAP_SECONDS
    found = {event.key: event for event in events if event.at >= from_at and event.key not in seen}
    return tuple(sorted(found.values(), key=lambda event: (event.at, event.number)))


def seeded(poll: PollState, events: Sequence[PullEvent], *, now: float) -> PollState:
    """Return the state after the first poll: everything that it shows has been seen."""
    newest = max((event.at for event in events), default=now)
    seen = tuple(event.key for event in events if event.at >= newest - OVERLAP_SECONDS)
    return replace(poll, cursor_at=newest, seen=seen)


def handled(poll: PollState, event: PullEvent) -> PollState:
    """Return the state after an event was decided; keys too old to come again are forgotten."""
    cursor_at = max(event.at, poll.cursor_at or event.at)
    kept = tuple(key for key in poll.seen if _instant_of_key(key) >= cursor_at - OVERLAP_SECONDS)
    return replace(poll, cursor_at=cursor_at, seen=(*kept, event.key))


def filled_in(action: ScheduleAction, event: PullEvent) -> ScheduleAction:
    """Put an event into the prompt and the arguments of an action, where they name `{{event.number}}` and the like.

    An argument stays one argument, whatever a title holds: no shell ever sees it.
    """
    values = {
        "number": str(event.number),
        "title": event.title,
        "url": event.url,
        "repository": event.repository,
        "kind": event.kind,
    }
    changes: dict[str, Any] = {}
    if action.prompt is not None:
        changes["prompt"] = _filled(action.prompt, values)
    if action.command:
        changes["command"] = tuple(_filled(argument, values) for argument in action.command)
    return action.model_copy(update=changes)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Replace every name in one pass, so that a value which looks like a name stays as it is."""
    parts = text.split("{{event.")
    filled = [parts[0]]
    for part in parts[1:]:
        name, end, rest = part.partition("}}")
        filled.append(values[name] + rest if end and name in values else "{{event." + part)
    return "".join(filled)


def _event(pull: Mapping[str, Any], kind: str, at: float, repository: str) -> PullEvent:
    number = pull.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= _NUMBER_MAX:
        raise UnreadableListing("a pull request has no number")
    return PullEvent(
        key=f"{kind}:{number}:{at:.0f}",
        at=at,
        number=number,
        title=_text(pull, "title"),
        url=_text(pull, "html_url"),
        repository=repository,
        kind=kind,
    )


def _passes(pull: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    base, head = _mapping(pull.get("base")), _mapping(pull.get("head"))
    if "base" in filters and base.get("ref") != filters["base"]:
        return False
    if "draft" in filters and bool(pull.get("draft")) != filters["draft"]:
        return False
    own, other = _mapping(base.get("repo")).get("full_name"), _mapping(head.get("repo")).get("full_name")
    return not filters.get("same_repo_only") or (own is not None and own == other)


def _text(pull: Mapping[str, Any], name: str) -> str:
    """Return a text that an action can hold, whatever somebody has called a pull request."""
    return sanitize_text(str(pull.get(name) or "")[:_TEXT_CHARS_MAX])[0]


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _instant(pull: Mapping[str, Any], name: str) -> float | None:
    text = pull.get(name)
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise UnreadableListing(f"the `{name}` of a pull request is no instant") from None
    if at.tzinfo is None:
        raise UnreadableListing(f"the `{name}` of a pull request has no zone")
    return at.timestamp()


def _instant_of_key(key: str) -> float:
    return float(key.rpartition(":")[2])
