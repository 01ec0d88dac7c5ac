import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio_project.request_rules import Head, Rules, host_refusal, hosts_of, parse_host
from tests.studio_project.request_heads import RULES, head


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
