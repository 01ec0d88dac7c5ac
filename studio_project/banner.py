"""What the daemon says when it starts: where it is, what it serves, and who may do what."""

from studio_project.config import StudioConfig
from studio_project.first_admin import NAME
from studio_project.version import VERSION

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (shown as what a browser can open)


def has_token(config: StudioConfig) -> bool:
    """Say whether the API asks for a bearer."""
    return bool(config.auth_token or config.auth_read_token)


def base_url(config: StudioConfig, port: int) -> str:
    """Return the address a browser on this machine opens."""
    return f"{root_url(config, port)}/"


def root_url(config: StudioConfig, port: int) -> str:
    """Return the same for programs of this machine, which put paths behind it."""
    host = config.host.strip("[]")
    host = _WILDCARDS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def banner_lines(config: StudioConfig, port: int) -> tuple[str, ...]:
    """Return the lines of the banner; no secret is among them."""
    return (
        f"Studio {VERSION}",
        f"  URL       {base_url(config, port)}",
        f"  Home      {config.home}",
        f"  Database  {config.database.display}",
        f"  Tokens    {_token_mode(config)}",
    )


def admin_line(config: StudioConfig, port: int, password: str | None) -> str:
    """Return how to log in; `password` is that of an administrator made just now, told this once."""
    page = f"{base_url(config, port)}admin/"
    if password is None:
        return f"  Admin     {page}"
    return f"  Admin     {page}  user {NAME}, password {password}  (shown only now)"


def _token_mode(config: StudioConfig) -> str:
    if config.auth_token:
        return "needed to read and to write" + ("; a second one only reads" if config.auth_read_token else "")
    if config.auth_read_token:
        return "needed to read; nothing may be written, because there is no auth_token"
    if config.is_loopback:
        return "none: every program on this machine may read and write (set auth_token to change that)"
    return "NONE, AND OPEN TO OTHER MACHINES: whoever can connect may read and write everything"
