import pytest

from studio_project.request_rules import allowed_origin, cors_headers, is_preflight, origin_refusal, preflight_headers
from tests.studio_project.request_heads import CORS, ORIGIN, RULES, TOKENS, cross, head


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW", "TRACE"])
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        "http://localhost:3000",
        "http://localhost:8765.evil.example",
        "ftp://localhost:8765",
        "localhost:8765",
        "http://[::1",
    ],
)
def test_a_foreign_origin_may_change_nothing(method: str, origin: str) -> None:
    refused = origin_refusal(cross(method, ("origin", origin)), RULES)

    assert refused is not None
    assert refused.code == "origin_refused"


@pytest.mark.parametrize(
    "sites",
    [("cross-site",), ("same-origin", "cross-site"), ("same-site", "none"), ("none, Cross-Site",), ("", "same-site")],
)
def test_one_foreign_site_among_several_is_enough(sites: tuple[str, ...]) -> None:
    request = cross("POST", *(("sec-fetch-site", site) for site in sites))

    assert origin_refusal(request, RULES) is not None


def test_a_foreign_origin_may_not_even_with_a_bearer() -> None:
    request = cross("POST", ("origin", "https://evil.example"), ("authorization", "Bearer write-me"))

    assert origin_refusal(request, TOKENS) is not None


def test_two_origins_are_none() -> None:
    assert origin_refusal(cross("POST", ("origin", ORIGIN), ("origin", ORIGIN)), CORS) is not None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8765", "http://localhost:8765"),
        ("localhost:8765", "https://LOCALHOST:8765"),
        ("localhost", "http://localhost"),
        ("localhost:80", "http://localhost"),
        ("localhost", "https://localhost:443"),
        ("[::1]:8765", "http://[::1]:8765"),
    ],
)
def test_a_page_of_the_daemon_itself_may_change_things(host: str, origin: str) -> None:
    request = head("POST", "/admin/login/", ("host", host), ("origin", origin))

    assert origin_refusal(request, RULES) is None


def test_a_configured_origin_may_change_things() -> None:
    assert origin_refusal(cross("POST", ("origin", ORIGIN)), CORS) is None


@pytest.mark.parametrize("origin", [f"{ORIGIN}/", ORIGIN.upper(), f"{ORIGIN}:443", f"{ORIGIN}.evil.example"])
def test_configured_origins_are_compared_exactly(origin: str) -> None:
    assert origin_refusal(cross("POST", ("origin", origin)), CORS) is not None


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_a_foreign_origin_may_ask_but_not_read(method: str) -> None:
    request = cross(method, ("origin", "https://evil.example"))

    assert origin_refusal(request, CORS) is None
    assert (b"access-control-allow-origin", b"https://evil.example") not in cors_headers(request, CORS)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE"])
def test_a_browser_that_says_it_comes_from_elsewhere_is_believed(site: str) -> None:
    assert origin_refusal(cross("POST", ("sec-fetch-site", site)), RULES) is not None


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_a_browser_that_comes_from_here_is_let_through(site: str) -> None:
    assert origin_refusal(cross("POST", ("sec-fetch-site", site)), RULES) is None


def test_a_program_sends_no_origin_and_is_let_through() -> None:
    assert origin_refusal(cross("POST"), RULES) is None


def test_an_allowed_origin_may_read_answers_without_credentials() -> None:
    headers = dict(cors_headers(cross("GET", ("origin", ORIGIN)), CORS))

    assert headers[b"access-control-allow-origin"] == ORIGIN.encode()
    assert b"access-control-allow-credentials" not in headers


def test_answers_vary_by_origin_as_soon_as_one_is_configured() -> None:
    assert (b"vary", b"Origin") in cors_headers(cross("GET"), CORS)
    assert cors_headers(cross("GET"), RULES) == []


def test_a_preflight_is_known_by_its_question() -> None:
    asked = ("access-control-request-method", "POST")

    assert is_preflight(cross("OPTIONS", ("origin", ORIGIN), asked))
    assert not is_preflight(cross("OPTIONS", ("origin", ORIGIN)))
    assert not is_preflight(cross("OPTIONS", asked))
    assert not is_preflight(cross("GET", ("origin", ORIGIN), asked))


def test_a_preflight_of_a_foreign_origin_is_refused() -> None:
    asked = ("access-control-request-method", "POST")

    assert origin_refusal(cross("OPTIONS", ("origin", "https://evil.example"), asked), CORS) is not None
    assert origin_refusal(cross("OPTIONS", ("origin", ORIGIN), asked), CORS) is None


def test_a_preflight_names_methods_headers_and_how_long_it_holds() -> None:
    headers = dict(preflight_headers())

    assert b"PATCH" in headers[b"access-control-allow-methods"]
    assert b"Last-Event-ID" in headers[b"access-control-allow-headers"]
    assert int(headers[b"access-control-max-age"]) > 0


def test_an_origin_that_is_not_configured_is_not_allowed() -> None:
    assert allowed_origin(cross("GET", ("origin", "https://evil.example")), CORS) is None
