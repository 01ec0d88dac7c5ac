import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.limits import BODY_MAX_BYTES
from studio_project.request_rules import (
    Head,
    Rules,
    allowed_origin,
    auth_class,
    bearer_refusal,
    cors_headers,
    headers_of,
    host_refusal,
    hosts_of,
    is_admin,
    is_api,
    is_preflight,
    length_refusal,
    media_type_refusal,
    origin_refusal,
    other_spelling,
    parse_host,
    path_refusal,
    preflight_headers,
    refusal_of,
    root_refusal,
)

RULES = Rules(hosts=hosts_of("127.0.0.1", ()))
TOKENS = Rules(hosts=RULES.hosts, token=b"write-me", read_token=b"read-me")
ORIGIN = "https://ui.example"
CORS = Rules(hosts=RULES.hosts, origins=frozenset({ORIGIN}))


def head(method: str = "GET", path: str = "/api/v1/runs/", *headers: tuple[str, str]) -> Head:
    return Head(
        method=method,
        path=path,
        headers=headers_of((name.encode(), value.encode("latin-1")) for name, value in headers),
    )


# ---- path and classes


@pytest.mark.parametrize("path", ["http://evil.example/", "*", "", "evil.example:80", "api/v1"])
def test_a_target_that_is_no_path_is_a_bad_request(path: str) -> None:
    refused = path_refusal(head(path=path))

    assert refused is not None
    assert refused.code == "bad_request"


@pytest.mark.parametrize("path", ["//evil.example/", "//api/v1/runs/", "///"])
def test_a_path_that_begins_with_two_slashes_is_nowhere(path: str) -> None:
    assert root_refusal(head(path=path)) is not None


def test_an_ordinary_path_is_let_through() -> None:
    assert path_refusal(head()) is None
    assert root_refusal(head()) is None


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("GET", "/", "public"),
        ("GET", "/health", "public"),
        ("GET", "/ready", "public"),
        ("POST", "/admin/login/", "public"),
        ("GET", "/admin", "public"),
        ("GET", "/static/ninja/swagger-ui.css", "public"),
        ("GET", "/api/v1/runs/", "read"),
        ("HEAD", "/api/v1/runs/", "read"),
        ("GET", "/api/docs", "read"),
        ("POST", "/api/v1/runs/", "write"),
        ("PATCH", "/api/v1/runs/a/tags", "write"),
        ("DELETE", "/api/v1/runs/a", "write"),
        ("BREW", "/api/v1/runs/", "write"),
        ("GET", "/healthy", "read"),
        ("GET", "/administrator", "read"),
        ("GET", "/staticfiles", "read"),
        ("GET", "/nowhere", "read"),
        ("POST", "/nowhere", "write"),
    ],
)
def test_everything_is_guarded_unless_it_is_listed_as_public(method: str, path: str, needed: str) -> None:
    assert auth_class(method, path) == needed


@pytest.mark.parametrize(("path", "answer"), [("/api", True), ("/api/", True), ("/apix", False), ("/", False)])
def test_the_api_is_everything_below_its_prefix(path: str, answer: bool) -> None:
    assert is_api(path) is answer


@pytest.mark.parametrize(("path", "answer"), [("/admin", True), ("/admin/x", True), ("/adminx", False)])
def test_the_admin_is_everything_below_its_prefix(path: str, answer: bool) -> None:
    assert is_admin(path) is answer


# ---- Host


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost:8765",
        "127.0.0.1",
        "127.0.0.1:1",
        "[::1]",
        "[::1]:8765",
        "[0:0:0:0:0:0:0:1]",
    ],
)
def test_loopback_names_are_hosts_of_every_daemon(host: str) -> None:
    assert host_refusal(head("GET", "/", ("host", host)), RULES) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil-localhost",
        "0.0.0.0",  # noqa: S104 (a Host, nothing binds to it)
        "[::]",
        "",
        " localhost",
        "localhost ",
        "localhost:",
        "localhost:0",
        "localhost:65536",
        "localhost:99999999",
        "localhost:8765:1",
        "localhost:a",
        "localhost/",
        "user@localhost",
        "localhost,evil.example",
        "[::1",
        "::1",
        "[::1]x",
        "[zz]",
        "[fe80::1]",
        "localhost.",
        "127.1",
        "2130706433",
        "lócalhost",
    ],
)
def test_every_other_host_is_refused(host: str) -> None:
    refused = host_refusal(head("GET", "/", ("host", host)), RULES)

    assert refused is not None
    assert refused.code == "invalid_host"


@pytest.mark.parametrize("hosts", [(), ("localhost", "localhost"), ("localhost", "evil.example")])
def test_a_request_has_exactly_one_host(hosts: tuple[str, ...]) -> None:
    assert host_refusal(head("GET", "/", *(("host", host) for host in hosts)), RULES) is not None


def test_a_forwarded_host_counts_for_nothing() -> None:
    spoofed = head("GET", "/", ("host", "evil.example"), ("x-forwarded-host", "localhost"))

    assert host_refusal(spoofed, RULES) is not None


def test_the_bind_address_and_configured_names_are_hosts_whatever_their_case() -> None:
    rules = Rules(hosts=hosts_of("192.168.0.7", ("Studio.Example", "FE80::2")))

    for host in ("192.168.0.7:80", "studio.example", "STUDIO.example:443", "[fe80::2]:1"):
        assert host_refusal(head("GET", "/", ("host", host)), rules) is None


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::", "[::]", "*", ""])  # noqa: S104 (nothing binds to it)
def test_a_wildcard_address_is_no_host_name(wildcard: str) -> None:
    assert hosts_of(wildcard, ()) == RULES.hosts


@given(st.text())
def test_no_text_breaks_the_host_grammar(text: str) -> None:
    parsed = parse_host(text)

    assert parsed is None or (parsed[0] and (parsed[1] is None or 1 <= parsed[1] <= 65_535))


@given(st.binary(max_size=40))
def test_no_bytes_break_the_host_rule(value: bytes) -> None:
    request = Head(method="GET", path="/", headers={b"host": [value]})

    assert host_refusal(request, RULES) is None or parse_host(value.decode("latin-1")) != ("localhost", None)


# ---- Origin


def cross(method: str, *headers: tuple[str, str]) -> Head:
    return head(method, "/api/v1/runs/", ("host", "localhost:8765"), *headers)


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


# ---- bearer


def asks(method: str, path: str, *bearers: str) -> Head:
    return head(method, path, *(("authorization", bearer) for bearer in bearers))


@pytest.mark.parametrize(
    "bearer",
    [
        "Bearer write-me",
        "bearer write-me",
        "BEARER  write-me",
    ],
)
def test_the_write_token_reads_and_writes(bearer: str) -> None:
    assert bearer_refusal(asks("GET", "/api/v1/runs/", bearer), TOKENS) is None
    assert bearer_refusal(asks("POST", "/api/v1/runs/", bearer), TOKENS) is None


@pytest.mark.parametrize(
    "bearers",
    [
        (),
        ("",),
        ("Bearer",),
        ("Bearer ",),
        ("Bearer wrong",),
        ("Bearer write-me2",),
        ("Bearer write-m",),
        ("Bearer write-me read-me",),
        ("Basic write-me",),
        ("write-me",),
        ("Bearer wr\xefte-me",),
        ("Bearer write-me", "Bearer write-me"),
    ],
)
def test_anything_else_is_unauthorized(bearers: tuple[str, ...]) -> None:
    refused = bearer_refusal(asks("GET", "/api/v1/runs/", *bearers), TOKENS)

    assert refused is not None
    assert refused.code == "unauthorized"


def test_the_read_token_reads_and_is_told_that_it_may_not_write() -> None:
    refused = bearer_refusal(asks("POST", "/api/v1/runs/", "Bearer read-me"), TOKENS)

    assert bearer_refusal(asks("GET", "/api/v1/runs/", "Bearer read-me"), TOKENS) is None
    assert refused is not None
    assert refused.code == "unauthorized"
    assert "only read" in str(refused)


def test_with_a_read_token_alone_nothing_may_be_written() -> None:
    rules = Rules(hosts=RULES.hosts, read_token=b"read-me")

    assert bearer_refusal(asks("GET", "/api/v1/runs/", "Bearer read-me"), rules) is None
    assert bearer_refusal(asks("POST", "/api/v1/runs/", "Bearer read-me"), rules) is not None
    assert bearer_refusal(asks("POST", "/api/v1/runs/"), rules) is not None


def test_public_paths_need_no_token() -> None:
    for path in ("/", "/health", "/ready", "/admin/", "/static/x"):
        assert bearer_refusal(asks("GET", path), TOKENS) is None


def test_tokenless_mode_lets_everything_through() -> None:
    assert bearer_refusal(asks("POST", "/api/v1/runs/"), RULES) is None


# ---- media type and length


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        "application/json;",
    ],
)
def test_json_in_every_spelling_may_change_things(kind: str) -> None:
    assert media_type_refusal(head("POST", "/api/v1/runs/", ("content-type", kind))) is None


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "headers",
    [
        (),
        (("content-type", ""),),
        (("content-type", "text/plain"),),
        (("content-type", "multipart/form-data; boundary=x"),),
        (("content-type", "application/x-www-form-urlencoded"),),
        (("content-type", "application/csp-report"),),
        (("content-type", "application/json; charset=utf-16"),),
        (("content-type", "text/plain; application/json"),),
        (("content-type", "application/json"), ("content-type", "application/json")),
        (("content-type", "application/json"), ("content-encoding", "gzip")),
    ],
)
def test_nothing_else_may(method: str, headers: tuple[tuple[str, str], ...]) -> None:
    refused = media_type_refusal(head(method, "/api/v1/runs/", *headers))

    assert refused is not None
    assert refused.code == "unsupported_media_type"


def test_forms_of_the_admin_are_not_the_apis_concern() -> None:
    assert media_type_refusal(head("POST", "/admin/login/")) is None
    assert media_type_refusal(head("GET", "/api/v1/runs/")) is None


@pytest.mark.parametrize("length", ["0", "1", str(BODY_MAX_BYTES), f"000{BODY_MAX_BYTES}"])
def test_a_length_up_to_the_limit_is_let_through(length: str) -> None:
    assert length_refusal(head("POST", "/", ("content-length", length))) is None


@pytest.mark.parametrize("length", [str(BODY_MAX_BYTES + 1), "9" * 30, "9" * 5_000])
def test_a_length_over_the_limit_is_refused_before_the_body(length: str) -> None:
    refused = length_refusal(head("POST", "/", ("content-length", length)))

    assert refused is not None
    assert refused.code == "payload_too_large"


@pytest.mark.parametrize("lengths", [("-1",), ("1.5",), ("abc",), ("",), ("1", "1"), ("٣",)])
def test_a_length_that_is_no_number_is_a_bad_request(lengths: tuple[str, ...]) -> None:
    request = Head(method="POST", path="/", headers={b"content-length": [text.encode() for text in lengths]})

    refused = length_refusal(request)

    assert refused is not None
    assert refused.code == "bad_request"


# ---- all of it


def test_the_host_is_judged_before_the_bearer() -> None:
    refused = refusal_of(head("GET", "/api/v1/runs/", ("host", "evil.example")), TOKENS)

    assert refused is not None
    assert refused.code == "invalid_host"


def test_the_origin_is_judged_before_the_bearer() -> None:
    request = cross("POST", ("origin", "https://evil.example"))

    refused = refusal_of(request, TOKENS)

    assert refused is not None
    assert refused.code == "origin_refused"


def test_the_bearer_is_judged_before_the_body() -> None:
    refused = refusal_of(cross("POST", ("content-length", "9" * 20)), TOKENS)

    assert refused is not None
    assert refused.code == "unauthorized"


def test_a_preflight_needs_no_bearer() -> None:
    rules = Rules(hosts=RULES.hosts, origins=CORS.origins, token=b"write-me")
    request = cross("OPTIONS", ("origin", ORIGIN), ("access-control-request-method", "POST"))

    assert refusal_of(request, rules) is None


@given(
    st.sampled_from(["GET", "POST", "OPTIONS", "BREW"]),
    st.text(max_size=20),
    st.dictionaries(
        st.sampled_from([b"host", b"origin", b"authorization", b"content-type", b"content-length", b"sec-fetch-site"]),
        st.lists(st.binary(max_size=30), max_size=2),
    ),
)
def test_no_head_breaks_the_rules(method: str, path: str, headers: dict[bytes, list[bytes]]) -> None:
    request = Head(method=method, path=path, headers=headers)

    refused = refusal_of(request, TOKENS)

    assert refused is None or refused.code


# ---- spelling


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/api/v1/runs", "/api/v1/runs/"),
        ("/api/v1/runs/", "/api/v1/runs"),
        ("/health/", "/health"),
        ("/", None),
        ("/api/v1/runs//", None),
        ("//evil.example", None),
        ("//evil.example/", None),
        ("", None),
        ("/\\evil.example", "/\\evil.example/"),
    ],
)
def test_the_other_spelling_differs_by_the_last_slash(path: str, other: str | None) -> None:
    assert other_spelling(path) == other


@given(st.text(max_size=20))
def test_the_other_spelling_never_names_another_host(path: str) -> None:
    other = other_spelling(path)

    assert other is None or (other.startswith("/") and not other.startswith("//"))
