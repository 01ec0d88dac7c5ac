"""Filters of the admin's lists. None of them asks the database which values there are: that would read every row."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from django.contrib.admin import SimpleListFilter
from django.contrib.admin.options import ModelAdmin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model, QuerySet
from django.http import HttpRequest


class FixedFilter(SimpleListFilter):
    """Choices that are known beforehand, for the field `lookup`, whose name is also the query parameter."""

    lookup: ClassVar[str]
    values: ClassVar[Sequence[str]]

    def lookups(self, _: HttpRequest, __: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        """Return the values; each is its own title."""
        return [(value, value) for value in self.values]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows that have the chosen value; none for a value that is no choice."""
        value = self.value()
        if value is None:
            return queryset
        return queryset.filter(**{self.lookup: value}) if value in self.values else queryset.none()


class TextFilter(SimpleListFilter):
    """A whole value, typed in, for the field `lookup`."""

    template = "studio_project/text_filter.html"
    lookup: ClassVar[str]

    def lookups(self, _: HttpRequest, __: "ModelAdmin[Any]") -> list[tuple[str, str]]:
        """Return one choice, because Django hides a filter that has none."""
        return [("", "")]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows that have the value; no text of a database holds a NUL, and PostgreSQL refuses to look."""
        value = self.value()
        if value and "\x00" in value:
            return queryset.none()
        return queryset.filter(**{self.lookup: value}) if value else queryset

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, Any]]:  # type: ignore[override]  # more keys
        """Yield what the template's form needs: the value, and everything else of the query string to keep."""
        others = [(name, values) for name, values in changelist.filter_params.items() if name != self.parameter_name]
        yield {
            "name": self.parameter_name,
            "value": self.value() or "",
            "selected": bool(self.value()),
            "query_string": changelist.get_query_string(remove=[str(self.parameter_name)]),
            "kept": [(name, value) for name, values in others for value in values],
        }


class PresenceFilter(FixedFilter):
    """Whether the field `lookup` holds anything; `present` is the answer for one that does."""

    values = ("yes", "no")
    present: ClassVar[str]

    def queryset(self, _: HttpRequest, queryset: QuerySet[Model]) -> QuerySet[Model]:
        """Keep the rows of the chosen answer; none for a value that is no answer."""
        value = self.value()
        if value is None:
            return queryset
        absent = value != self.present
        return queryset.filter(**{f"{self.lookup}__isnull": absent}) if value in self.values else queryset.none()


def fixed_filter(lookup: str, values: Sequence[str], parameter: str | None = None) -> type[FixedFilter]:
    """Return a filter by one of `values`; `parameter` names it in the URL where `lookup` is not that name."""
    named = _named(parameter or lookup)
    return type("FixedFilter", (FixedFilter,), named | {"lookup": lookup, "values": tuple(values)})


def presence_filter(lookup: str, parameter: str, *, present: str = "yes") -> type[PresenceFilter]:
    """Return a filter by whether a field is null; `present` ("yes" or "no") is the answer where it is not."""
    return type("PresenceFilter", (PresenceFilter,), _named(parameter) | {"lookup": lookup, "present": present})


def text_filter(lookup: str, parameter: str | None = None) -> type[TextFilter]:
    """Return a filter by a typed value; `parameter` names it in the URL where `lookup` is not that name."""
    return type("TextFilter", (TextFilter,), _named(parameter or lookup) | {"lookup": lookup})


def _named(parameter: str) -> dict[str, object]:
    return {"parameter_name": parameter, "title": parameter.replace("_", " ")}
