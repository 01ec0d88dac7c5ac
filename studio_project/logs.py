"""Log lines that cannot be forged and hold no secret."""

import logging
import re
from collections.abc import Iterable
from types import TracebackType

from pydantic import SecretStr

# C0 and C1 controls and DEL (they move cursors and start lines), the Unicode line ends, and the bidirectional
# overrides that make text read differently from what it is (Unicode TR 36, 2.10).
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_BEARER = re.compile(r"(?i)(bearer\s+)\S+")
_HIDDEN = "[redacted]"


def escape_controls(text: str) -> str:
    """Return `text` with every control character written as its escape, so that it stays on one line."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class SafeFormatter(logging.Formatter):
    """One record is one line; those of a traceback are indented, so that none of them can pose as a record.

    The values in `secrets`, and whatever follows `Bearer`, are replaced before anything is written.
    """

    def __init__(self, format: str, *, secrets: Iterable[SecretStr] = ()) -> None:  # noqa: A002 (logging's own name)
        super().__init__(format)
        self._secrets = tuple(secrets)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 (logging's own name)
        """The record's line."""
        return escape_controls(self._hide(super().formatMessage(record)))

    def formatException(  # noqa: N802 (logging's own name)
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None],
    ) -> str:
        """The traceback, indented."""
        return self._indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 (logging's own name)
        """The stack, indented."""
        return self._indented(super().formatStack(stack_info))

    def _indented(self, text: str) -> str:
        return "\n".join(f"    {escape_controls(line)}" for line in self._hide(text).split("\n"))

    def _hide(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret.get_secret_value(), _HIDDEN)
        return _BEARER.sub(rf"\1{_HIDDEN}", text)
