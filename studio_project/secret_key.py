"""The key that signs admin sessions: made once per home, readable by its owner only."""

import os
import secrets
from pathlib import Path

_NAME = "secret_key"
# 384 random bits: more than Django's own 50-character key carries, in 64 URL-safe characters.
_BYTES = 48


def load_secret_key(home: Path) -> str:
    """Return the home's key, made on first use; in a home that cannot be written, one of this process."""
    try:
        return _read(home / _NAME) or _create(home)
    except OSError:
        return secrets.token_urlsafe(_BYTES)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except FileNotFoundError:
        return ""


def _create(home: Path) -> str:
    """Publish a new key by hard link: it appears whole or not at all; of two processes one wins for both."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = home / f".{_NAME}.{secrets.token_hex(8)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return _publish(temporary, home / _NAME)
    finally:
        temporary.unlink(missing_ok=True)


def _publish(temporary: Path, path: Path) -> str:
    try:
        os.link(temporary, path)
    except FileExistsError:
        if not _read(path):  # an empty file is no key; whoever made it, replace it
            temporary.replace(path)
    return _read(path)
