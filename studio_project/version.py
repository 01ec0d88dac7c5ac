"""Which Studio this is."""

from importlib.metadata import PackageNotFoundError, version
from typing import Final


def _installed() -> str:
    try:
        return version("studio-control-plane")
    except PackageNotFoundError:
        return "checkout"


VERSION: Final = _installed()
