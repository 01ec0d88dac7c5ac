"""The admin site's name, and the base of every page of it: records are listed, filtered and read, never edited."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.contrib.admin import SimpleListFilter
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.db.models import Field, FloatField, Model, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from studio_project.admin_values import (
    CELL_MAX_CHARS,
    FIELD_MAX_CHARS,
    NOTHING,
    cut,
    excerpt,
    instant_text,
    json_text,
    usd_text,
)
from studio_project.config import current_config

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Any]
    _Paginator = Paginator[Any]
else:  # neither is generic at run time
    _ModelAdmin = admin.ModelAdmin
    _Paginator = Paginator

Shown = Callable[[Any], str]

# Lists are counted no further than this: a count walks an index, and nobody pages through more.
COUNTED_ROWS_MAX: Final = 200_000
_PER_PAGE: Final = 50
_HEAD: Final = "_head"

admin.site.site_header = "Studio"
admin.site.site_title = "Studio"
admin.site.index_title = "Records"
admin.site.site_url = None  # the site's root leads back here


def instant(field: str, *, sort: str | None = None) -> Shown:
    """Show epoch seconds as a date-time of the configured zone; `sort` is another field to sort by, if any."""
    return _column(field, lambda record: instant_text(getattr(record, field), _zone()), sort=sort)


def dollars(field: str, *, sort: str | None = None) -> Shown:
    """Show millionths of a dollar as dollars."""
    return _column(field, lambda record: usd_text(getattr(record, field)), sort=sort)


def head(field: str) -> Shown:
    """Show the beginning of a long text in a list; the field stands in the admin's `heads`."""
    return _column(field, lambda record: excerpt(getattr(record, field + _HEAD)))


def pretty(field: str) -> Shown:
    """Show JSON text over several lines."""
    return _column(field, lambda record: text_block(json_text(getattr(record, field))))


def plain(field: str) -> Shown:
    """Show text as it is, over its own lines."""
    return _column(field, lambda record: _lines(getattr(record, field)))


def _column(field: str, shown: Shown, *, sort: str | None = None) -> Shown:
    def column(record: Model) -> str:
        return shown(record)

    column.__name__ = field
    described: Shown = admin.display(description=field.replace("_", " "), ordering=sort)(column)
    return described


def _lines(text: str | None) -> str:
    return NOTHING if text is None else text_block(cut(text, FIELD_MAX_CHARS))


def text_block(text: str) -> SafeString:
    """Show text as it is, over its own lines."""
    return format_html('<pre style="margin: 0; white-space: pre-wrap; overflow-wrap: anywhere">{}</pre>', text)


def _zone() -> ZoneInfo:
    return ZoneInfo(current_config().timezone)


class BoundedPaginator(_Paginator):
    """Counts no further than `COUNTED_ROWS_MAX`."""

    @cached_property
    def count(self) -> int:
        """Count rows up to the bound, by their keys alone."""
        rows = cast("QuerySet[Any]", self.object_list)
        return rows.order_by().values("pk")[:COUNTED_ROWS_MAX].count()


class _ShortList(ChangeList):
    """Reads only the columns that the list shows, and of long texts only the beginning."""

    def get_queryset(self, request: HttpRequest, exclude_parameters: list[str | None] | None = None) -> QuerySet[Any]:
        rows = super().get_queryset(request, exclude_parameters)
        shown = cast("ReadOnlyAdmin", self.model_admin)
        heads = {field + _HEAD: Left(field, CELL_MAX_CHARS + 1) for field in shown.heads}
        read: QuerySet[Any] = rows.annotate(**heads).only(*shown.read_columns)
        return read


class ReadOnlyAdmin(_ModelAdmin):
    """Lists and shows records. Nothing is added, changed or deleted in place.

    A list reads the fields in `list_display` and `also_read`, and of those in `heads` only the beginning;
    `json_fields` the fields that hold JSON text, `text_fields` those of several lines, `sections` the fields of a
    page in titled groups (default: one group with every field), `extras` further callables of a page.
    """

    also_read: ClassVar[tuple[str, ...]] = ()
    heads: ClassVar[Sequence[str]] = ()
    json_fields: ClassVar[Sequence[str]] = ()
    text_fields: ClassVar[Sequence[str]] = ()
    sections: ClassVar[Sequence[tuple[str, Sequence[str]]]] = ()
    extras: ClassVar[Sequence[Shown]] = ()

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = _PER_PAGE
    list_max_show_all = 0
    ordering: ClassVar[tuple[str, ...]] = ("-pk",)
    list_filter: ClassVar[tuple[type[SimpleListFilter] | str, ...]] = ()

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        """Decide once how each field is shown."""
        super().__init__(model, admin_site)
        shown = {field.name: self._shown(field) for field in self.opts.concrete_fields}
        sections = self.sections or (("", tuple(shown)),)
        self._groups = [(title or None, {"fields": tuple(shown[name] for name in names)}) for title, names in sections]
        if self.extras:
            self._groups.insert(1, ("Recorded with it", {"fields": tuple(self.extras)}))

    @property
    def read_columns(self) -> list[str]:
        """The fields that a list reads whole."""
        named = [column if isinstance(column, str) else column.__name__ for column in self.list_display]
        own = {field.name for field in self.opts.concrete_fields} - set(self.heads)
        return [*(name for name in named if name in own), *self.also_read]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002 (Django's signature)
        """Return every field of a page, each as it is shown, in its groups."""
        return self._groups

    def _shown(self, field: "Field[Any, Any]") -> Shown | str:
        name = field.name
        if name in self.json_fields:
            return pretty(name)
        if name in self.text_fields:
            return plain(name)
        if isinstance(field, FloatField) and (name == "at" or name.endswith("_at")):
            return instant(name)
        if name.endswith("_micros"):
            return dollars(name)
        return name

    def get_changelist(self, request: HttpRequest, **_: Any) -> type[ChangeList]:  # noqa: ARG002 (Django's signature)
        """Return the list that reads few columns."""
        return _ShortList

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 (Django's signature)
        """Refuse: records come from producers."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 (Django's signature)
        """Refuse: what was recorded stays."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002 (Django's signature)
        """Refuse: what was recorded stays."""
        return False
