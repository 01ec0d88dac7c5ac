import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_project.request_rules import (
    Head,
    Rules,
    auth_class,
    is_admin,
    is_api,
    other_spelling,
    path_refusal,
    refusal_of,
    root_refusal,
)
from tests.studio_project.request_heads import CORS, ORIGIN, RULES, TOKENS, cross, head


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
