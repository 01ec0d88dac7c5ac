"""The queries behind the run list: each walks one index in the order of the sort, and nothing is counted."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import StrIndex

from contract.runs import RunQuery
from runs.cursors import ListPosition, decode_list
from runs.models import RunRecord, RunTagRecord
from runs.naming import fold
from runs.state.rows import SUMMARY_COLUMNS, Row

SORT_COLUMNS: Final = {"recent": "updated_at", "started": "sort_started_at", "cost": "sort_cost"}


# Built once: naming the columns of a list is half the work of asking for it.
_RUNS: Final = RunRecord.objects.values(*SUMMARY_COLUMNS)


def fetch(query: RunQuery) -> list[Row]:
    """Return the rows of one page and one more, if there is one."""
    rows = walk_of(query)
    return [_run_row(row) for row in rows] if query.tags else list(rows)


def position_of(query: RunQuery, row: Row) -> ListPosition:
    """Return where in the list a row stands."""
    return ListPosition(row[SORT_COLUMNS[query.sort]], row["id"])


def walk_of(query: RunQuery) -> QuerySet[Any, Row]:
    """Join the alternatives of a query (statuses, any-of tags), each in order, into one ordered walk.

    The alternatives exclude each other, so both databases merge them without sorting or comparing whole rows. SQLite
    merges lazily; PostgreSQL (before 17) only if every part says how far it will be read.
    """
    order = (f"-{SORT_COLUMNS[query.sort]}", "-run_id" if query.tags else "-id")
    end = query.offset + query.limit + 1
    walks = _tag_walks(query) if query.tags else _run_walks(query)
    if len(walks) > 1 and connection.features.supports_slicing_ordering_in_compound:
        walks = [walk.order_by(*order)[:end] for walk in walks]
    first, *others = walks
    return (first.union(*others, all=True) if others else first).order_by(*order)[query.offset : end]


def _run_walks(query: RunQuery) -> list[QuerySet[Any, Row]]:
    """Return a walk for each status, since each has its index, or one for all."""
    alternatives: list[tuple[str, ...]] = [(status,) for status in dict.fromkeys(query.status)] or [()]
    runs = [_filtered(_RUNS, query, statuses, prefix="") for statuses in alternatives]
    return [_after(found, query, number="id") for found in runs]


def _tag_walks(query: RunQuery) -> list[QuerySet[Any, Row]]:
    """Return one walk for all of the tags, or one for each with what earlier ones have not shown."""
    tags = list(dict.fromkeys(query.tags))
    walks = []
    for index, tag in enumerate(tags[:1] if query.tags_match == "all" else tags):
        tagged = _filtered(RunTagRecord.objects.filter(tag=tag), query, query.status, prefix="run__")
        if query.tags_match == "all":
            for other in tags[1:]:
                tagged = tagged.filter(_has_tag(other))
        elif index:
            tagged = tagged.filter(~_has_tag(*tags[:index]))
        walks.append(_after(tagged, query, number="run_id").values(*_tagged_columns(query)))
    return walks


def _tagged_columns(query: RunQuery) -> list[str]:
    own = ("run_id", SORT_COLUMNS[query.sort])
    return [*own, *(f"run__{column}" for column in SUMMARY_COLUMNS if column not in ("id", own[1]))]


def _run_row(row: Row) -> Row:
    """Give the columns of a tag's walk the names they have in a run's own row."""
    return {"id" if key == "run_id" else key.removeprefix("run__"): value for key, value in row.items()}


def _has_tag(*tags: str) -> Exists:
    """Return whether the run of a tag row has one of these."""
    return Exists(RunTagRecord.objects.filter(run=OuterRef("run"), tag__in=tags))


def _filtered(rows: QuerySet[Any, Any], query: RunQuery, statuses: Sequence[str], *, prefix: str) -> QuerySet[Any, Any]:
    exact = {
        "status__in": statuses or None,
        "playbook_name": query.playbook,
        "project": query.project,
        "kind": query.kind,
        "agent_name": query.agent,
        "invocation_id": query.invocation_id,
    }
    conditions: dict[str, Any] = {f"{prefix}{key}": value for key, value in exact.items() if value is not None}
    if query.project_is_null:
        conditions[f"{prefix}project__isnull"] = True
    if query.search is not None:
        # StrIndex compares bytes on both databases; LIKE would fold ASCII only on one of them.
        rows = rows.alias(found=StrIndex(F(f"{prefix}search_text"), Value(fold(query.search))))
        conditions["found__gt"] = 0
    return _started_within(rows.filter(**conditions), query, prefix=prefix)


def _started_within(rows: QuerySet[Any, Any], query: RunQuery, *, prefix: str) -> QuerySet[Any, Any]:
    bounds = {"gte": query.started_after, "lt": query.started_before}
    given = {bound: instant for bound, instant in bounds.items() if instant is not None}
    if not given:
        return rows
    key = f"{prefix}sort_started_at"
    if query.sort != "started":
        # As an expression: SQLite would else walk the index of starts and sort what it finds, however much that is.
        rows, key = rows.alias(start=F(key) + Value(0.0)), "start"
    # A queued run sorts by its registration, but has not started.
    started = {f"{prefix}started_at__isnull": False}
    return rows.filter(**started, **{f"{key}__{bound}": instant for bound, instant in given.items()})


def _after(rows: QuerySet[Any, Any], query: RunQuery, *, number: str) -> QuerySet[Any, Any]:
    position = decode_list(query)
    if position is None:
        return rows
    key = SORT_COLUMNS[query.sort]
    # The first condition alone bounds the index walk; the second settles ties.
    return rows.filter(
        Q(**{f"{key}__lte": position.key})
        & (Q(**{f"{key}__lt": position.key}) | Q(**{f"{number}__lt": position.number}))
    )
