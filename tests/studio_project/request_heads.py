"""Heads of requests, as short as a test wants them."""

from studio_project.request_rules import Head, Rules, headers_of, hosts_of

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


def cross(method: str, *headers: tuple[str, str]) -> Head:
    """Return the head of a request that names its host, as one from a browser does."""
    return head(method, "/api/v1/runs/", ("host", "localhost:8765"), *headers)
