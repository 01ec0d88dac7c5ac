"""Log lines: whole, unforgeable, without secrets."""

import logging
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from studio_project.logs import SafeFormatter, escape_controls


def formatted(message: str, *arguments: object, error: BaseException | None = None) -> str:
    formatter = SafeFormatter("%(levelname)s %(message)s", secrets=[SecretStr("geheim")])
    info = (type(error), error, error.__traceback__) if error else None
    return formatter.format(logging.LogRecord("name", logging.INFO, __file__, 1, message, arguments, info))


def raised(message: str) -> BaseException:
    try:
        raise RuntimeError(message)
    except RuntimeError as error:
        return error


@given(st.text())
def test_a_record_is_one_line_whatever_it_says(text: str) -> None:
    line = formatted("GET %s", text)

    assert len(line.splitlines()) == 1
    line.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\r\nERROR forged", r"a\r\nERROR forged"),
        ("\x1b[2J", r"\x1b[2J"),
        ("\u2028\u202e\x85", r"\u2028\u202e\x85"),
        ("\udcff", r"\udcff"),
        ("ü 漢 🙂", "ü 漢 🙂"),
    ],
)
def test_control_characters_are_escaped_and_letters_are_not(text: str, expected: str) -> None:
    assert escape_controls(text) == expected


def test_no_line_of_a_traceback_can_pose_as_a_record() -> None:
    first, *others = formatted("failed", error=raised("bad\nERROR forged\x1b[1m")).split("\n")

    assert first == "INFO failed"
    assert all(line.startswith("    ") for line in others)
    assert r"    ERROR forged\x1b[1m" in others


def test_secrets_and_bearers_are_hidden_everywhere() -> None:
    text = formatted("token %s, Authorization: Bearer abc.def", "geheim", error=raised("at geheim, bearer xyz"))

    assert not any(secret in text for secret in ("geheim", "abc.def", "xyz"))
    assert text.startswith("INFO token [redacted], Authorization: Bearer [redacted]")


def test_a_stack_is_indented() -> None:
    record = logging.LogRecord("name", logging.INFO, __file__, 1, "here", (), None, sinfo="Stack:\n  geheim\x07")

    assert SafeFormatter("%(message)s", secrets=[SecretStr("geheim")]).format(record) == (
        "here\n    Stack:\n      [redacted]\\x07"
    )


def test_the_formatter_takes_what_sys_exc_info_says_outside_of_an_except_clause() -> None:
    assert SafeFormatter("%(message)s").formatException(sys.exc_info()) == "    NoneType: None"
