"""Looking over whole roots."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from contract.definitions import DefinitionKind
from contract.errors import Conflict
from definitions.files.faults import NotAFile
from definitions.files.listing import Entry, Holds, names_in, namesake_in, strangers_in
from definitions.files.places import Place
from definitions.files.reading import refusing
from definitions.files.tree import Spot, Tree
from definitions.names import EXTENSIONS, ROOTS, is_name


class RootSurvey:
    """Says what is in the roots, in the calling thread; reads no file."""

    def __init__(self, tree: Tree) -> None:
        """Take the folders to look at."""
        self._tree = tree

    def names(self, kind: DefinitionKind) -> tuple[str, ...]:
        """Return the possible names, sorted. Conflict for a root that is elsewhere and not there now.

        That is not an empty one: a snapshot would record that everything was deleted.
        """
        if self._tree.leads_nowhere(kind):
            path = ROOTS[kind]
            raise Conflict("definition file", "a folder", None, f"{path} is a symbolic link that leads nowhere")
        with self._contents(kind) as (entries, holds):
            return names_in(kind, entries, holds)

    def strangers(self, kind: DefinitionKind) -> tuple[tuple[str, str], ...]:
        """Return path and reason of files with an impossible name."""
        with self._contents(kind) as (entries, holds):
            return strangers_in(kind, entries, holds)

    def find_namesake(self, kind: DefinitionKind, name: str) -> str | None:
        """Return another name that may be taken for this one."""
        with self._contents(kind) as (entries, holds):
            return namesake_in(kind, name, entries, holds)

    @contextmanager
    def _contents(self, kind: DefinitionKind) -> Iterator[tuple[list[Entry], Holds]]:
        with refusing(), self._tree.root(kind) as root:
            if root is None:
                yield [], lambda _: False
            else:
                found = self._tree.entries(root, ROOTS[kind])
                entries = [Entry(entry.name, _may_hold(kind, entry)) for entry in found]
                yield entries, lambda name: self._holds(root, kind, name)

    def _holds(self, root: int, kind: DefinitionKind, name: str) -> bool:
        """Whether a folder has the file of its name; one that cannot be looked into may have it."""
        place = Place(kind, name + EXTENSIONS[kind], name)
        try:
            with self._tree.inner(root, kind, name) as folder:
                return folder is not None and self._tree.stands(Spot(folder, place))
        except (OSError, NotAFile):
            return True


def _may_hold(kind: DefinitionKind, entry: os.DirEntry[str]) -> bool:
    if entry.is_symlink():
        # It is not followed, so nobody knows; one that is called like a file is taken for one.
        return is_name(entry.name) and not entry.name.endswith(EXTENSIONS[kind])
    return entry.is_dir(follow_symlinks=False)
