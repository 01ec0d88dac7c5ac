"""Queries whose SQL is made once: for a short one, making it takes several times as long as answering it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

from django.db import connections
from django.db.models import QuerySet

Row = dict[str, Any]

_ALIAS: Final = "default"


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL with its constants; `places` are where arguments go, each with its number among them."""

    sql: str
    parameters: tuple[Any, ...]
    places: tuple[tuple[int, int], ...]
    names: tuple[str, ...]
    # By the number of a column, where the database says it otherwise than Python does.
    converters: tuple[tuple[int, Sequence[Callable[..., Any]], Any], ...]


class PreparedQuery:
    """The rows of a queryset of `values`, as dictionaries.

    `slots` stand in the queryset for the arguments of a call, in their order: values of the right type that occur
    nowhere else in it. A slice is part of the SQL and always the same. Called inside the work of a StateDB.
    """

    def __init__(self, rows: QuerySet[Any, Any], *slots: float | str) -> None:
        """Take the queryset; its SQL is made with the first call."""
        self._rows = rows
        self._slots = slots
        self._statement: _Statement | None = None

    def all(self, *arguments: float | str) -> list[Row]:
        """Return every row."""
        statement = self._prepared()
        with connections[_ALIAS].cursor() as cursor:
            cursor.execute(statement.sql, _filled(statement, arguments))
            return _shaped(statement, cursor.fetchall())

    def first(self, *arguments: float | str) -> Row | None:
        """Return the first row, if there is one."""
        return next(iter(self.all(*arguments)), None)

    def stream(self, *arguments: float | str, chunk: int) -> Iterator[Row]:
        """Yield row by row, so many read ahead, so that large ones never come together."""
        statement = self._prepared()
        with closing(connections[_ALIAS].chunked_cursor()) as cursor:
            cursor.execute(statement.sql, _filled(statement, arguments))
            while found := cursor.fetchmany(chunk):
                yield from _shaped(statement, found)

    def _prepared(self) -> _Statement:
        if self._statement is None:
            self._statement = _statement(self._rows, self._slots)
        return self._statement


def _statement(rows: QuerySet[Any, Any], slots: Sequence[float | str]) -> _Statement:
    query: Any = rows.query
    compiler = query.get_compiler(_ALIAS)
    sql, parameters = compiler.as_sql()
    places = tuple((at, slots.index(value)) for at, value in enumerate(parameters) if value in slots)
    if {number for _, number in places} != set(range(len(slots))):
        raise ValueError(f"not every slot is a parameter of: {sql}")
    columns = [column for column, _, _ in compiler.select]
    found = compiler.get_converters(columns)
    return _Statement(
        sql=sql,
        parameters=tuple(parameters),
        places=places,
        names=(*query.values_select, *query.annotation_select),
        converters=tuple((at, functions, column) for at, (functions, column) in found.items()),
    )


def _filled(statement: _Statement, arguments: Sequence[float | str]) -> list[Any]:
    filled = list(statement.parameters)
    for at, number in statement.places:
        filled[at] = arguments[number]
    return filled


def _shaped(statement: _Statement, found: Iterable[Sequence[Any]]) -> list[Row]:
    if not statement.converters:
        return [dict(zip(statement.names, row, strict=True)) for row in found]
    connection = connections[_ALIAS]
    shaped = []
    for row in found:
        values = list(row)
        for at, functions, column in statement.converters:
            for convert in functions:
                values[at] = convert(values[at], column, connection)
        shaped.append(dict(zip(statement.names, values, strict=True)))
    return shaped
