"""What commands print: tables for people on a terminal, plain lines for pipes, contract models for programs.

Data can hold anything, terminal escape sequences included: whatever is printed for people goes through `printable`
or `printable_block` first, and JSON keeps its meaning but holds no control character either.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BufferedWriter, FileIO, StringIO, TextIOWrapper
from itertools import compress
from shutil import get_terminal_size
from typing import Final, Protocol

from pydantic import BaseModel
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text
from typing_extensions import Buffer

# C0, DEL and C1 move cursors and start sequences (ECMA-48); the line separators and the bidirectional overrides make
# text read differently from what it is (Unicode TR 36, 2.10); lone surrogates cannot be encoded.
_UNPRINTABLE: Final = r"\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROL: Final = re.compile(f"[\x00-\x1f{_UNPRINTABLE}]")
# JSON has escaped the others already.
_CONTROL_IN_JSON: Final = re.compile(f"[{_UNPRINTABLE}]")
_GAP: Final = "  "
# What a cell says where there is nothing to say.
UNKNOWN: Final = "-"
_TAB_CELLS: Final = 4
_CUT: Final = "…"
# Narrower, a cut cell says nothing.
_ELASTIC_MIN_CELLS: Final = 4


class OutputLost(OSError):
    """What was printed could not be written, to a full disk for example. A reader that left is BrokenPipeError."""


class _CheckedFile(FileIO):
    def write(self, data: Buffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as fault:
            raise OutputLost(fault.errno, fault.strerror) from None


def checked_output(stream: TextIOWrapper) -> TextIOWrapper:
    """Return a stream to the same descriptor, whose faults can be told from all others: they are OutputLost.

    A character that its encoding does not have is written as an escape: a name ends no listing.
    """
    return TextIOWrapper(
        BufferedWriter(_CheckedFile(stream.fileno(), "wb", closefd=False)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class Stream(Protocol):
    """Where text goes; Django's OutputWrapper is one."""

    def write(self, text: str, /) -> object:
        """Write as is."""
        ...

    def flush(self) -> None:
        """Hand over what was written."""
        ...

    def isatty(self) -> bool:
        """Whether a person reads along."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells under headers; `empty` is said instead when there are no rows.

    On a terminal that is too narrow the columns named in `elastic` are cut, the others never.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    empty: str
    elastic: Set[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Styled:
    """A piece of a line with a rich style, such as "bold red"; the style is dropped where there are no colors."""

    text: str
    style: str = ""


Line = Sequence[Styled]
Advance = Callable[[float, str], None]


def printable(text: str) -> str:
    """Return `text` on one line, each control character written as its escape."""
    return _CONTROL.sub(_escape, text)


def printable_block(text: str) -> list[str]:
    """Return the lines of `text`, tabs as spaces, each other control character written as its escape."""
    lines = text.replace("\r\n", "\n").expandtabs(_TAB_CELLS).split("\n")
    return [_CONTROL.sub(_escape, line) for line in lines]


def json_line(model: BaseModel, *, ascii_only: bool = False) -> str:
    """Return the model's JSON on one line. Control characters are escaped within it, which changes no value."""
    return _CONTROL_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", model.model_dump_json(ensure_ascii=ascii_only))


class Terminal:
    """Prints to `out`; notes, warnings and errors go to `err`.

    `width` is that of the terminal in cells; it is used only where `out` is one.
    """

    def __init__(self, out: Stream, err: Stream, *, color: bool | None = None, width: int | None = None) -> None:
        self._out = out
        self._err = err
        self._tty = out.isatty() if color is None else color
        self._width = width
        self._live: Console | None = None

    @property
    def interactive(self) -> bool:
        """Whether a person watches the notes."""
        return self._err.isatty()

    @property
    def for_people(self) -> bool:
        """Whether a person reads the results, rather than a program."""
        return self._tty or self._out.isatty()

    def model(self, model: BaseModel) -> None:
        """Print one model as one line of JSON."""
        encoding = getattr(self._out, "encoding", None) or "utf-8"
        self._write(json_line(model, ascii_only=not encoding.lower().startswith("utf")) + "\n")

    def line(self, *parts: Styled | str) -> None:
        """Print one line. Control characters in it are escaped."""
        styled = [part if isinstance(part, Styled) else Styled(part) for part in parts]
        if not self._tty:
            self._write("".join(printable(part.text) for part in styled).rstrip() + "\n")
            return
        text = Text.assemble(*((printable(part.text), part.style) for part in styled))
        self._render(text)

    def lines(self, lines: Iterable[Line]) -> None:
        """Print lines one after the other."""
        for line in lines:
            self.line(*line)

    def table(self, table: Table) -> None:
        """Print a table: fitted to the terminal, without columns that say nothing; else in plain columns."""
        if not table.rows:
            self.line(table.empty)
            return
        shown = replace(table, rows=[[printable(cell) for cell in row] for row in table.rows])
        header, *rows = _aligned(_telling_columns(shown), self._cells) if self._tty else _aligned(shown, None)
        self.line(Styled(header, "bold"))
        self.lines([Styled(row)] for row in rows)

    def content(self, text: str) -> None:
        """Print a text as it is, byte for byte in UTF-8; on a terminal in printable lines."""
        if not text:
            return
        if self._out.isatty():
            self._write("\n".join([*printable_block(text.removesuffix("\n")), ""]))
        elif buffer := getattr(self._out, "buffer", None):
            self._out.flush()
            buffer.write(text.encode())
            buffer.flush()
        else:
            self._write(text)

    def raw(self, data: bytes) -> None:
        """Print bytes as they are; on a terminal, which they could steer, as `content` prints what they mean."""
        buffer = getattr(self._out, "buffer", None)
        if buffer is None or self._out.isatty():
            self.content(data.decode(errors="replace"))
            return
        self._out.flush()
        buffer.write(data)
        buffer.flush()

    def note(self, text: str) -> None:
        """Tell people something that is no result."""
        lines = "\n".join(printable_block(text))
        if self._live is not None:
            self._live.print(lines, markup=False, highlight=False, soft_wrap=True)
            return
        self._err.write(lines + "\n")
        self._err.flush()

    @contextmanager
    def progress(self, what: str, *, total: float | None) -> Iterator[Advance]:
        """Show how far something is while it lasts: `advance(done, words)`. Silent where nobody watches."""
        if not self.interactive:
            yield lambda _done, _words: None
            return
        words = TextColumn("{task.fields[words]}", markup=False)
        self._live = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), words, TimeElapsedColumn())
        try:
            with Progress(*columns, console=self._live, transient=True) as bar:
                task = bar.add_task(what, total=total, words="")
                yield lambda done, now: bar.update(task, completed=done, words=now)
        finally:
            self._live = None

    @property
    def _cells(self) -> int:
        return self._width or get_terminal_size().columns

    def _render(self, text: Text) -> None:
        console = Console(file=StringIO(), force_terminal=True, color_system="standard", legacy_windows=False)
        with console.capture() as rendered:
            console.print(text, soft_wrap=True)
        self._write(rendered.get())

    def _write(self, text: str) -> None:
        """Write and hand over at once, so that a reader who left is noticed here and a live one sees each line."""
        self._out.write(text)
        self._out.flush()


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _telling_columns(table: Table) -> Table:
    """Return the table without the columns that say nothing in any row."""
    telling = [any(row[at] not in ("", UNKNOWN) for row in table.rows) for at in range(len(table.headers))]
    return replace(
        table,
        headers=list(compress(table.headers, telling)),
        rows=[list(compress(row, telling)) for row in table.rows],
    )


def _aligned(table: Table, available: int | None) -> list[str]:
    """Return header and rows in columns, the elastic ones cut so that all fit where that is possible."""
    rows = [table.headers, *table.rows]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*rows, strict=True)]
    if available is not None:
        elastic = [at for at, header in enumerate(table.headers) if header in table.elastic]
        _shrink(widths, elastic, available - len(_GAP) * (len(widths) - 1))
    return [_GAP.join(_sized(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _shrink(widths: list[int], elastic: Sequence[int], available: int) -> None:
    """Take from the widest elastic column, cell by cell, until all fit or none can give more."""
    while elastic and sum(widths) > available:
        widest = max(elastic, key=lambda at: widths[at])
        if widths[widest] <= _ELASTIC_MIN_CELLS:
            return
        widths[widest] -= 1


def _sized(cell: str, width: int) -> str:
    cut = cell if cell_len(cell) <= width else f"{set_cell_size(cell, width - 1)}{_CUT}"
    return set_cell_size(cut, width)
