"""Folders by their spelling alone: nothing is looked up."""

import hashlib
from collections.abc import Mapping, Sequence
from posixpath import normpath
from typing import TypeVar

T = TypeVar("T")


def folder_key(path: str) -> str:
    """Return what is equal for two spellings of one absolute path, and short enough for an index."""
    # POSIX lets two leading slashes mean something else, and no system that Studio runs on does.
    plain = "/" + normpath(path).lstrip("/")
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def nearest(places: Mapping[str, T], folders: Sequence[str]) -> T | None:
    """Return what there is, by its key, at the first of the folders that has anything."""
    return next((places[key] for key in map(folder_key, folders) if key in places), None)
