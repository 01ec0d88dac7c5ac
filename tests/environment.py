"""What has to be true before Django's settings load: an own home, no settings of the developer's, no network.

Imported by tests/settings.py only. `STUDIO_TEST_DATABASE_URL` chooses the database; tests/run.py sets it.
"""

import os
import signal
import sys
import tempfile
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

_DATABASE = "STUDIO_TEST_DATABASE_URL"


class NetworkRefused(RuntimeError):
    """A test tried to reach another machine."""


def _own_environment(home: str) -> None:
    for name in [name for name in os.environ if name.startswith("STUDIO_") and name != _DATABASE]:
        del os.environ[name]
    os.environ |= {"STUDIO_HOME": home, "STUDIO_TIMEZONE": "UTC"}
    # The programs that come with the packages of the tests, such as `li`, are found however Python was started.
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    if url := os.environ.get(_DATABASE):
        # A name of this process alone: other suites may use the same server. Django adds `test_` and creates it.
        os.environ["STUDIO_DATABASE_URL"] = urlsplit(url)._replace(path=f"/studio_{os.getpid()}").geturl()


def refuse_other_machines(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: raise NetworkRefused for any address but loopback and local sockets."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else None
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if isinstance(host, str | bytes) and not _is_local(host if isinstance(host, str) else host.decode()):
        raise NetworkRefused(f"tests may not reach {host!r}")


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback or ip_address(host).is_unspecified
    except ValueError:
        return host in {"localhost", ""}


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell script has what it starts in the background ignore Ctrl-C, and so would every process of a test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
_home = tempfile.TemporaryDirectory(prefix="studio-tests-")  # removed when the process ends
_own_environment(_home.name)
sys.addaudithook(refuse_other_machines)
