"""Text columns that both databases put in the same order."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

if TYPE_CHECKING:
    _CharField = models.CharField[str, str]
else:  # it is not generic at run time
    _CharField = models.CharField


class OrderedCharField(_CharField):
    """Text in the order of its code points, which is SQLite's own; PostgreSQL would follow the server's language."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> Any:
        """Return the column's type and collation."""
        collation = "C" if connection.vendor == "postgresql" else None
        return super().db_parameters(connection) | {"collation": collation}
