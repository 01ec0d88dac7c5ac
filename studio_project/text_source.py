"""Reads a text, or bytes, whole and as it is, from a file or from standard input."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contract.base import FieldFailure
from contract.errors import ValidationFailure, shown
from contract.limits import DEFINITION_MAX_BYTES

STANDARD_INPUT: Final = "-"


def read_text(file: str, standard_input: int, *, field: str = "file", max_bytes: int = DEFINITION_MAX_BYTES) -> str:
    """Return what `file` holds, `-` being an open descriptor.

    ValidationFailure at `field` that names it: missing, a folder, not to be read, too large, not UTF-8.
    """
    if file == STANDARD_INPUT:
        return _text("standard input", lambda: _read(standard_input, max_bytes), field, max_bytes)
    return _text(shown(file), lambda: _read_file(file, max_bytes), field, max_bytes)


def read_bytes(file: str, standard_input: int, *, field: str = "file", max_bytes: int) -> bytes:
    """Return the bytes that `file` holds, `-` being an open descriptor. ValidationFailure as above, but for text."""
    if file == STANDARD_INPUT:
        return _bytes("standard input", lambda: _read(standard_input, max_bytes), field, max_bytes)
    return _bytes(shown(file), lambda: _read_file(file, max_bytes), field, max_bytes)


def read_private(file: Path) -> str:
    """Return what a file of ours holds, in a folder of ours.

    As `read_text`; whatever took its place meanwhile, such as a link or a pipe, is neither followed nor waited for.
    """
    limit = DEFINITION_MAX_BYTES
    return _text(shown(str(file)), lambda: _read_regular(file, limit), "file", limit)


def _text(name: str, read: Callable[[], bytes], field: str, max_bytes: int) -> str:
    return _decoded(_bytes(name, read, field, max_bytes), name, field)


def _bytes(name: str, read: Callable[[], bytes], field: str, max_bytes: int) -> bytes:
    try:
        raw = read()
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise ValidationFailure.at(field, code="unreadable", message=f"{name}: {reason}") from None
    if len(raw) > max_bytes:
        message = f"{name} is larger than {max_bytes} bytes"
        raise ValidationFailure.at(field, code="too_large", message=message)
    return raw


def _read_file(file: str, max_bytes: int) -> bytes:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return _read(descriptor, max_bytes)
    finally:
        os.close(descriptor)


def _read_regular(file: Path, max_bytes: int) -> bytes:
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise _missed(file, "is no regular file any more; it was not read")
    except (FileNotFoundError, NotADirectoryError):
        raise _missed(file, "is gone") from None
    # Looked at again once it is open: until then something else may take its place.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _missed(file, "is no regular file any more; it was not read")
        return _read(descriptor, max_bytes)
    finally:
        os.close(descriptor)


def _missed(file: Path, why: str) -> ValidationFailure:
    message = f"{shown(str(file))} {why}; nothing was saved"
    return ValidationFailure.at("file", code="missed", message=message)


def _read(descriptor: int, max_bytes: int) -> bytes:
    """Read to the end, or far enough to see that it is too much: a device or a pipe may never end."""
    raw = bytearray()
    while len(raw) <= max_bytes and (piece := os.read(descriptor, max_bytes + 1)):
        raw += piece
    return bytes(raw)


def _decoded(raw: bytes, name: str, field: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as fault:
        before = raw[: fault.start].decode()
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        message = f"{name} is not UTF-8: line {line}, column {column} has the byte 0x{raw[fault.start]:02x}"
        failure = FieldFailure(path=(field,), code="encoding", message=message, line=line, column=column)
        raise ValidationFailure((failure,)) from None
