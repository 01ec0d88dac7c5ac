import pytest

from contract.limits import BODY_MAX_BYTES
from studio_project.request_rules import Head, Rules, bearer_refusal, length_refusal, media_type_refusal
from tests.studio_project.request_heads import RULES, TOKENS, head


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
