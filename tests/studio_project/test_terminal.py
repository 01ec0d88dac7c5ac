"""Printing: nothing that data holds may steer a terminal, and pipes get plain lines."""

import json
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from studio_project.terminal import Styled, Table, Terminal, json_line, printable, printable_block

HOSTILE = "\x1b[31mred\x9b0m\x07\u202eevil\u2028line\x7f"


class Note(BaseModel):
    text: str


class Screen(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


class Ascii(StringIO):
    """A stream that can only write ASCII."""

    encoding = "ascii"


def table(*rows: tuple[str, str, str]) -> Table:
    return Table(headers=("ID", "NAME", "NOTE"), rows=rows, empty="none", elastic={"NAME"})


def printed(*, tty: bool, width: int = 80, color: bool | None = None) -> tuple[Terminal, StringIO]:
    out = Screen() if tty else StringIO()
    return Terminal(out, StringIO(), width=width, color=color), out


@given(st.text(st.characters(exclude_categories=[])))
def test_printable_text_is_one_line_without_controls(text: str) -> None:
    shown = printable(text)

    assert not any(char < " " or "\x7f" <= char <= "\x9f" or "\ud800" <= char <= "\udfff" for char in shown)
    assert len(shown.splitlines()) <= 1


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"])))
def test_harmless_text_is_printed_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_hostile_text_is_shown_as_escapes() -> None:
    assert printable(HOSTILE) == "\\x1b[31mred\\x9b0m\\x07\\u202eevil\\u2028line\\x7f"


def test_a_block_keeps_its_lines_and_expands_its_tabs() -> None:
    assert printable_block("a\tb\r\n\x1bc\rd\n") == ["a   b", "\\x1bc\\rd", ""]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_value_and_holds_no_control(text: str) -> None:
    line = json_line(Note(text=text))

    assert json.loads(line) == {"text": text}
    assert printable(line) == line


def test_json_is_ascii_where_nothing_else_can_be_written() -> None:
    out = Ascii()

    Terminal(out, StringIO()).model(Note(text="größe"))

    assert out.getvalue() == '{"text":"gr\\u00f6\\u00dfe"}\n'


def test_a_plain_table_is_aligned_by_cells_and_never_wrapped() -> None:
    terminal, out = printed(tty=False)

    terminal.table(table(("1", "漢字", "x" * 200), ("22", "abcde", "-")))

    assert out.getvalue() == f"ID  NAME   NOTE\n1   漢字   {'x' * 200}\n22  abcde  -\n"


def test_a_table_on_a_terminal_cuts_elastic_columns_and_leaves_out_empty_ones() -> None:
    terminal, out = printed(tty=True, width=20)

    terminal.table(table(("0123456789", "a long name", "-"), ("1", "b", "")))

    lines = out.getvalue().splitlines()
    assert "NOTE" not in lines[0]
    assert lines[1:] == ["0123456789  a long …", "1           b"]


def test_what_cannot_be_cut_further_is_left_to_the_terminal() -> None:
    terminal, out = printed(tty=True, width=5, color=True)

    terminal.table(table(("0123456789", "a long name", "漢字漢字漢字"), ("1", "", "")))

    assert out.getvalue().splitlines()[1] == "0123456789  a l…  漢字漢字漢字"


def test_wide_characters_are_cut_by_cells() -> None:
    terminal, out = printed(tty=True, width=13)

    terminal.table(table(("0123", "漢字漢字漢字", ""), ("1", "", "")))

    assert out.getvalue().splitlines()[1] == "0123  漢字漢…"


def test_an_empty_table_says_so() -> None:
    terminal, out = printed(tty=False)

    terminal.table(table())

    assert out.getvalue() == "none\n"


@pytest.mark.parametrize("tty", [True, False])
def test_cells_and_lines_are_neither_markup_nor_sequences(tty: bool) -> None:
    terminal, out = printed(tty=tty)

    terminal.table(table(("[red]x[/red]", ":smile:", HOSTILE)))
    terminal.line(Styled("[b]y"), " ", HOSTILE)

    for piece in ("[red]x[/red]", ":smile:", "[b]y", "\\x1b[31mred"):
        assert piece in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
    assert "\u202e" not in out.getvalue()


def test_styles_are_for_terminals_only() -> None:
    on_terminal, screen = printed(tty=True)
    without_color, dull = printed(tty=True, color=False)
    forced, pipe = printed(tty=False, color=True)

    for terminal in (on_terminal, without_color, forced):
        terminal.lines([[Styled("x", "bold red")], []])

    assert screen.getvalue() == pipe.getvalue() == "\x1b[1;31mx\x1b[0m\n\n"
    assert dull.getvalue() == "x\n\n"


def test_a_long_line_is_left_to_the_terminal_to_wrap() -> None:
    terminal, out = printed(tty=True, width=10)

    terminal.line("x" * 50)

    assert out.getvalue() == "x" * 50 + "\n"


def test_notes_go_beside_the_results_and_are_escaped() -> None:
    out, err = StringIO(), StringIO()

    Terminal(out, err).note("a\n\x1bb")

    assert (out.getvalue(), err.getvalue()) == ("", "a\n\\x1bb\n")


def test_progress_is_silent_where_nobody_watches() -> None:
    out, err = StringIO(), StringIO()

    with Terminal(out, err).progress("reading", total=10) as advance:
        advance(5, "half")

    assert out.getvalue() + err.getvalue() == ""


def test_progress_and_notes_share_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    err = Screen()
    terminal = Terminal(StringIO(), err)

    with terminal.progress("reading", total=10) as advance:
        advance(5, "half [b]way")
        terminal.note("a [b]note")
    terminal.note("after")

    assert err.getvalue() == "after\n"
    shown = capsys.readouterr().err
    assert "a [b]note" in shown


def test_content_goes_byte_for_byte_to_a_pipe_whatever_its_encoding() -> None:
    pipe = TextIOWrapper(BytesIO(), encoding="ascii", newline="")
    terminal = Terminal(pipe, StringIO(), color=True)
    terminal.line("before")

    terminal.content("\ttab\r\nGrüße \x1b[0m\n\nno end")

    assert isinstance(pipe.buffer, BytesIO)
    assert pipe.buffer.getvalue().endswith("before\n\ttab\r\nGrüße \x1b[0m\n\nno end".encode())


def test_content_on_a_terminal_is_printable_and_empty_content_is_nothing() -> None:
    terminal, out = printed(tty=True, color=False)

    terminal.content("")
    terminal.content("\ttab\r\nesc \x1b[0m\n\n")

    assert out.getvalue() == "    tab\nesc \\x1b[0m\n\n"


def test_results_are_for_people_on_a_terminal_or_where_colors_are_asked_for() -> None:
    assert [printed(tty=tty, color=color)[0].for_people for tty in (True, False) for color in (None, True, False)] == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]
