"""Text, image and binary told apart; types that a reader executes are never sent."""

import pytest

from artifacts.media import disposition, kind_of, look_at, passive_type

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.mark.parametrize(
    ("data", "name", "kind", "media_type"),
    [
        (b"", "a", "text", "text/plain"),
        (b"plain", "a", "text", "text/plain"),
        ("Grüße 🜁".encode(), "a.md", "text", "text/markdown"),
        (b"\xef\xbb\xbfwith a mark", "a.txt", "text", "text/plain"),
        (b'{"a": 1}', "A.JSON", "text", "application/json"),
        (b"{}\n{}", "a.jsonl", "text", "application/x-ndjson"),
        (b"a: 1", "a.yml", "text", "application/yaml"),
        (b"<svg/>", "a.svg", "text", "image/svg+xml"),
        (b"<b>", "a.html", "text", "text/html"),
        (b"BM is how this begins", "a", "text", "text/plain"),
        (b"%PDF-1.7 \xff", "a.pdf", "binary", "application/pdf"),
        (b"\x1f\x8b\x08\x00", "a.tar.gz", "binary", "application/gzip"),
        (b"text\x00", "a.txt", "binary", "text/plain"),
        ("Grüße".encode("latin-1"), "a", "binary", "application/octet-stream"),
        ("Grüße".encode("utf-16"), "a", "binary", "application/octet-stream"),
        (b"one \xff in the middle", "a", "binary", "application/octet-stream"),
        (PNG, "picture", "image", "image/png"),
        (PNG, "picture.txt", "image", "image/png"),
        (b"\xff\xd8\xff\xe0", "a", "image", "image/jpeg"),
        (b"GIF89a\x01\x00", "a", "image", "image/gif"),
        (b"GIF87a\x01\x00", "a", "image", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a", "image", "image/webp"),
        (b"BM\x00\x01\x00\x00\x00\x00\x00\x00\x36", "a", "image", "image/bmp"),
        (b"II*\x00\xff", "scan.tiff", "image", "image/tiff"),
        (b"RIFF\x00\x00\x00\x00WAVE", "a.wav", "binary", "audio/x-wav"),
        (b"x", "data:text/html,", "text", "text/plain"),
        (b"x", "", "text", "text/plain"),
        (b"\x00", "a.gz.br", "binary", "application/octet-stream"),
    ],
)
def test_a_file_is_told_by_its_beginning_and_its_name(data: bytes, name: str, kind: str, media_type: str) -> None:
    look = look_at(data, name=name, truncated=False)

    assert (look.kind, look.media_type, look.data) == (kind, media_type, data)


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ("a€".encode()[:-1], b"a"),
        ("a€".encode()[:-2], b"a"),
        ("🜁".encode()[:1], b""),
        ("a🜁".encode()[:-1], b"a"),
        ("a€".encode(), "a€".encode()),
        ("漢字".encode()[:-1], "漢".encode()),
        # A sequence of signs is cut between them, never within one.
        ("e\u0301".encode()[:-1], b"e"),
        ("👩\u200d🔬".encode()[:-2], "👩\u200d".encode()),
    ],
)
def test_a_character_that_the_end_cuts_is_left_out(data: bytes, kept: bytes) -> None:
    look = look_at(data, name="a", truncated=True)

    assert (look.kind, look.data) == ("text", kept)


@pytest.mark.parametrize("data", ["a€".encode()[:-1], b"a\xc3"])
def test_a_file_that_ends_within_a_character_is_no_text(data: bytes) -> None:
    assert look_at(data, name="a", truncated=False).kind == "binary"


@pytest.mark.parametrize("data", [b"\xff", b"a\xed\xa0\x80", b"\xc3(", "ü".encode() + b"\x80", b"a\x00\xc3", b"\xc0"])
def test_bytes_that_no_more_can_mend_are_no_text_however_it_is_cut(data: bytes) -> None:
    look = look_at(data, name="a", truncated=True)

    assert (look.kind, look.data) == ("binary", data)


@pytest.mark.parametrize(
    ("found", "media_type", "kind"),
    [("binary", "image/tiff", "image"), ("binary", None, "binary"), ("text", "image/svg+xml", "text")],
)
def test_what_nothing_else_tells_of_is_of_the_kind_that_was_recorded(found: str, media_type: str, kind: str) -> None:
    assert kind_of(found, media_type) == kind  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "media_type",
    [
        "text/html",
        "TEXT/HTML",
        "text/html; charset=utf-8",
        " text/html",
        "application/xhtml+xml",
        "image/svg+xml",
        "text/xml",
        "application/xml",
        "application/rss+xml",
        "application/pdf",
        "text/javascript",
        "application/javascript",
        "application/x-javascript",
        "multipart/x-mixed-replace",
        "text/css",
        "application/x-shockwave-flash",
        "application/wasm",
        "text/x-component",
        "text/plain\r\nSet-Cookie: a=b",
        "nonsense",
        "",
    ],
)
def test_a_type_that_somebody_may_execute_is_sent_as_bytes(media_type: str) -> None:
    assert passive_type(media_type, "text") == "application/octet-stream"


@pytest.mark.parametrize(
    ("media_type", "kind", "sent"),
    [
        ("text/plain", "text", "text/plain; charset=utf-8"),
        ("Text/Markdown; charset=latin-1", "text", "text/markdown; charset=utf-8"),
        ("text/plain", "binary", "application/octet-stream"),
        ("application/json", "text", "application/json"),
        ("image/png", "image", "image/png"),
        ("application/zip", "binary", "application/zip"),
    ],
)
def test_a_harmless_type_is_sent_as_it_is(media_type: str, kind: str, sent: str) -> None:
    assert passive_type(media_type, kind) == sent  # type: ignore[arg-type]


def test_a_file_is_saved_under_its_name_whatever_is_in_it() -> None:
    assert disposition('a"b;\nü.txt') == "attachment; filename*=UTF-8''a%22b%3B%0A%C3%BC.txt"
