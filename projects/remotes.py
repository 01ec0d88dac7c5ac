"""From the URL of a git remote to the name of a project: `host/owner/name`, whatever way leads there.

https://user:token@Host:8443/owner/name.git     host/owner/name
ssh://git@host:22/owner/name.git                host/owner/name
git@host:owner/name.git, [git@host:22]:owner/…  host/owner/name     (scp's form)
/srv/name.git, ../name, file:///srv/name.git    none: a folder is no remote
"""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from projects.names import is_name

_SCHEMES: Final = frozenset({"http", "https", "git", "ssh", "ftp", "ftps"})
_URL: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://")
# scp's: a host before the first colon, with no slash in front of it. One letter is a drive of Windows, and two colons
# name a helper program (gitremote-helpers(7)).
_SCP: Final = re.compile(r"(?:[^@/\[\]]+@)?(?P<host>[^@/:\[\]]{2,}):(?!:)(?P<path>.+)")
_SCP_BRACKETED: Final = re.compile(r"(?:[^@/\[\]]+@)?\[(?:[^@/\[\]]+@)?(?P<host>[^@/\[\]]+)\]:(?P<path>.+)")
_PORT: Final = re.compile(r"(?<=[^:]):[0-9]+$")


def project_of_remote(url: str) -> str | None:
    """Return the name that a remote gives a project; None for a folder, or what no project can be called."""
    place = _place(url.strip())
    if place is None:
        return None
    host, path = place
    parts = [part for part in path.removesuffix("/").removesuffix(".git").split("/") if part]
    name = "/".join([host.lower(), *parts])
    return name if host and parts and is_name(name) else None


def _place(url: str) -> tuple[str, str] | None:
    """Return host and path of a URL, without user, password and port."""
    scheme = _URL.match(url)
    if scheme is not None:
        return _place_of_url(url, scheme["scheme"].lower())
    found = _SCP_BRACKETED.fullmatch(url) or _SCP.fullmatch(url)
    return None if found is None else (_PORT.sub("", found["host"]), found["path"])


def _place_of_url(url: str, scheme: str) -> tuple[str, str] | None:
    kinds = {*scheme.split("+")} - {"git"} or {"git"}  # git+ssh and ssh+git are ssh
    if not kinds <= _SCHEMES:
        return None
    try:
        parts = urlsplit(url)
        return parts.hostname or "", unquote(parts.path)
    except ValueError:
        return None
