"""What a file is: text, image or something else, its media type, and which types are sent to a browser as they are."""

import mimetypes
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from contract.artifact_headers import FILE_NAME_PREFIX
from contract.artifacts import PreviewKind

TEXT: Final = "text/plain"
UNKNOWN: Final = "application/octet-stream"

# Without what the machine has besides, so that a file is the same everywhere.
_BY_NAME: Final = mimetypes.MimeTypes()
_BY_SUFFIX: Final = {
    "diff": "text/x-diff",
    "jsonl": "application/x-ndjson",
    "log": TEXT,
    "md": "text/markdown",
    "ndjson": "application/x-ndjson",
    "patch": "text/x-diff",
    "toml": "application/toml",
    "webp": "image/webp",
    "xhtml": "application/xhtml+xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}
_COMPRESSED: Final = {
    "br": UNKNOWN,
    "bzip2": "application/x-bzip2",
    "compress": UNKNOWN,
    "gzip": "application/gzip",
    "xz": "application/x-xz",
}
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
# Nothing in these is ever executed by who shows them. Whatever is not named here is sent as bytes of no type.
_PASSIVE: Final = frozenset(
    {
        TEXT,
        "text/csv",
        "text/markdown",
        "text/tab-separated-values",
        "text/x-diff",
        "text/x-python",
        "application/gzip",
        "application/json",
        "application/toml",
        "application/x-bzip2",
        "application/x-ndjson",
        "application/x-tar",
        "application/x-xz",
        "application/yaml",
        "application/zip",
        "audio/mpeg",
        "audio/ogg",
        "audio/x-wav",
        "image/bmp",
        "image/gif",
        "image/jpeg",
        "image/png",
        "image/webp",
        "video/mp4",
        "video/webm",
    }
)
# Enough of a file to tell what it is, where nobody wants to see it.
LOOK_BYTES: Final = 4_096
# A character of UTF-8 has at most four bytes, so at most three of them can be missing.
_CUT_MAX_BYTES: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the beginning of a file shows: `data` is that beginning, of a text no more than whole characters."""

    data: bytes
    kind: PreviewKind
    media_type: str


def look_at(beginning: bytes, *, name: str, truncated: bool) -> Look:
    """Tell what a file is by its beginning and its name; `truncated` says that there is more of it."""
    image = _image_type(beginning)
    if image is not None:
        return Look(data=beginning, kind="image", media_type=image)
    named = _named_type(name)
    text = _whole_characters(beginning, truncated=truncated)
    if text is not None:
        return Look(data=text, kind="text", media_type=named or TEXT)
    return Look(data=beginning, kind=kind_of("binary", named), media_type=named or UNKNOWN)


def kind_of(found: PreviewKind, media_type: str | None) -> PreviewKind:
    """Return the kind of what was found to be `found`: bytes of no known form are an image if their type says so."""
    is_image = found == "binary" and media_type is not None and media_type.lower().startswith("image/")
    return "image" if is_image else found


def passive_type(media_type: str, kind: PreviewKind) -> str:
    """Return the type to send a file with, such that no reader executes it."""
    essence = media_type.partition(";")[0].strip().lower()
    if essence not in _PASSIVE:
        return UNKNOWN
    if not essence.startswith("text/"):
        return essence
    return f"{essence}; charset=utf-8" if kind == "text" else UNKNOWN


def disposition(file_name: str) -> str:
    """Return the Content-Disposition under which a file is saved, never shown (RFC 6266, RFC 8187)."""
    return FILE_NAME_PREFIX + quote(file_name, safe="")


def _image_type(beginning: bytes) -> str | None:
    for signature, media_type in _SIGNATURES:
        if beginning.startswith(signature):
            return media_type
    if beginning.startswith(b"RIFF") and beginning[8:12] == b"WEBP":
        return "image/webp"
    # Two letters begin many a text; the four bytes that are reserved are always zero.
    return "image/bmp" if beginning.startswith(b"BM") and beginning[6:10] == bytes(4) else None


def _named_type(name: str) -> str | None:
    found = _BY_SUFFIX.get(name.rpartition(".")[2].lower())
    if found is not None:
        return found
    media_type, encoding = _BY_NAME.guess_type(f"./{name}")
    return media_type if encoding is None else _COMPRESSED.get(encoding, UNKNOWN)


def _whole_characters(data: bytes, *, truncated: bool) -> bytes | None:
    """Return `data` up to the last whole character, or None for what is no UTF-8 text or holds a NUL."""
    if b"\0" in data:
        return None
    try:
        data.decode()
    except UnicodeDecodeError as fault:
        # Only what the end of the data cuts has this reason and nothing after it.
        is_cut = fault.reason == "unexpected end of data" and len(data) - fault.start <= _CUT_MAX_BYTES
        return data[: fault.start] if truncated and is_cut else None
    return data
