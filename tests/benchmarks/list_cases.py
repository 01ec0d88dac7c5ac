"""The forms of the run list that are measured, ours and the peer's for the same rows."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from tests.benchmarks.population import (
    ABSENT_WORD,
    AGENTS,
    PLAYBOOKS,
    PROJECTS,
    RARE_WORD,
    SPAN_SECONDS,
    TAGS,
    invocation_id,
)

RUNS: Final = "/api/v1/runs/"
PEER_RUNS: Final = "/api/runs/"
PAGE: Final = 20
_DAY: Final = 86_400.0
_DEEP: Final = 0.9

Pairs = tuple[tuple[str, str | float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCase:
    """One form: its name in the report and both queries. The peer has no form without `peer`."""

    name: str
    query: Pairs = ()
    peer: Pairs | None = None

    @property
    def target(self) -> str:
        """Path and query of ours."""
        return _target(RUNS, self.query)

    @property
    def peer_target(self) -> str | None:
        """Path and query of the peer's."""
        return None if self.peer is None else _target(PEER_RUNS, self.peer)


def _target(path: str, query: Pairs) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _same(name: str, key: str, value: str) -> ListCase:
    return ListCase(name=name, query=((key, value),), peer=((key, value),))


UNFILTERED: Final = "unfiltered"
FILTERS: Final = ("status", "playbook", "project", "no project", "agent", "kind", "invocation", "one tag")
SEARCH_HIT: Final = "search, hit"
SEARCH_MISS: Final = "search, miss"
DEEP_OFFSET: Final = "page at 90 % by offset"
DEEP_CURSOR: Final = "page at 90 % by cursor"

_STATUSES: Final = tuple(("status", name) for name in ("failed", "timed_out", "aborted"))
_TWO_TAGS: Final = (("tags", TAGS[3]), ("tags", TAGS[4]))


def first_pages(count: int, until: float) -> tuple[ListCase, ...]:
    """Return the first pages of a population of `count` runs that ends at `until` (epoch seconds)."""
    middle = until - SPAN_SECONDS / 2
    day: Pairs = (("started_after", middle), ("started_before", middle + _DAY))
    return (
        ListCase(name=UNFILTERED, peer=()),
        _same("status", "status", "completed"),
        _same("playbook", "playbook", PLAYBOOKS[3]),
        _same("project", "project", PROJECTS[3]),
        ListCase(name="no project", query=(("project_is_null", "true"),), peer=(("project_null", "true"),)),
        ListCase(name="agent", query=(("agent", AGENTS[3]),)),
        _same("kind", "kind", "flow"),
        ListCase(name="invocation", query=(("invocation_id", invocation_id(count // 2)),)),
        ListCase(name="one tag", query=(("tags", TAGS[3]),), peer=(("tag", TAGS[3]),)),
        ListCase(name="three statuses", query=_STATUSES, peer=_STATUSES),
        ListCase(name="all of two tags", query=_TWO_TAGS, peer=(("tag", TAGS[3]), ("tag", TAGS[4]))),
        ListCase(name="any of two tags", query=(*_TWO_TAGS, ("tags_match", "any"))),
        _same(SEARCH_HIT, "search", RARE_WORD.lower()),
        _same(SEARCH_MISS, "search", ABSENT_WORD),
        ListCase(name="started on a day", query=day),
        ListCase(name="started on a day, by start", query=(*day, ("sort", "started"))),
        ListCase(name="by start", query=(("sort", "started"),)),
        _same("by cost", "sort", "cost"),
    )


def deep_offset(count: int) -> ListCase:
    """Return the page at nine tenths of the list, by offset. The peer counts pages from 1."""
    offset = deep_position(count)
    return ListCase(name=DEEP_OFFSET, query=(("offset", offset),), peer=(("page", offset // PAGE + 1),))


def deep_cursor(count: int, cursor: str) -> ListCase:
    """Return the same page by cursor; the peer has none, so it is compared with the peer's page."""
    return ListCase(name=DEEP_CURSOR, query=(("cursor", cursor),), peer=deep_offset(count).peer)


def deep_position(count: int) -> int:
    """Return the offset of that page, a multiple of a page."""
    return int(count * _DEEP) // PAGE * PAGE
