"""Database URLs: `sqlite:///abs/path` and `postgresql://user:pw@host:port/name?sslmode=...`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pydantic import SecretStr

_SCHEMES = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}

# The libpq keywords that make sense in a URL; anything else is a slip that would surface only at connect.
_POSTGRES_OPTIONS = frozenset(
    {
        "application_name",
        "connect_timeout",
        "host",
        "options",
        "sslcert",
        "sslkey",
        "sslmode",
        "sslrootcert",
        "target_session_attrs",
    }
)


@dataclass(frozen=True, kw_only=True)
class Database:
    """Where the records are: SQLite has only `name`, an absolute path; an empty host is the local socket."""

    engine: Literal["sqlite", "postgresql"]
    name: str
    host: str = ""
    port: int | None = None
    user: str = ""
    password: SecretStr = field(default_factory=lambda: SecretStr(""))
    options: dict[str, str] = field(default_factory=dict)

    @property
    def display(self) -> str:
        """The URL without password and options, fit for people and logs."""
        if self.engine == "sqlite":
            return f"sqlite://{self.name}"
        user = f"{self.user}@" if self.user else ""
        port = f":{self.port}" if self.port is not None else ""
        return f"postgresql://{user}{self.host}{port}/{self.name}"


def parse_database_url(url: str) -> Database:
    """Return the parts of `url`, percent-decoded; ValueError says what is wrong and repeats nothing of it."""
    try:
        parts = urlsplit(url)
    except ValueError:  # its message may repeat the user and password
        raise ValueError("is not a URL") from None
    engine = _SCHEMES.get(parts.scheme)
    if engine is None:
        raise ValueError("must begin with sqlite:/// or postgresql://")
    return _sqlite(parts) if engine == "sqlite" else _postgresql(parts)


def _sqlite(parts: SplitResult) -> Database:
    path = Path("/" + unquote(parts.path).lstrip("/"))
    if parts.netloc or parts.query or parts.fragment or "\0" in str(path):
        raise ValueError("must be sqlite:///absolute/path, without host, query or fragment")
    if path.name in {"", ":memory:"}:
        raise ValueError("must name a file: several threads and processes share the database")
    return Database(engine="sqlite", name=str(path))


def _postgresql(parts: SplitResult) -> Database:
    name = unquote(parts.path.removeprefix("/"))
    if not name or "/" in name or parts.fragment:
        raise ValueError("must name one database: postgresql://user:password@host:port/name")
    options = _options(parts.query)
    host = unquote(parts.hostname or "") or options.pop("host", "")
    return Database(
        engine="postgresql",
        name=name,
        host=host,
        port=_port(parts),
        user=unquote(parts.username or ""),
        password=SecretStr(unquote(parts.password or "")),
        options=options,
    )


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port
    except ValueError:  # its message repeats the text, which may be a piece of the password
        raise ValueError("has a port that is not a number from 0 to 65535") from None


def _options(query: str) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    if not options.keys() <= _POSTGRES_OPTIONS:
        raise ValueError(f"has an unknown option; known are {', '.join(sorted(_POSTGRES_OPTIONS))}")
    return options
