"""What the ports of definitions raise beside the taxonomy. The operations catch all of these; no caller meets them.

Exception
└── DefinitionFault
    ├── HeadMoved      another writer was first: look again
    ├── FileChanged    the file is not what it was when the write was decided; it is as it was found
    └── WriteFault     the file could not be written, and why
"""

from typing import Final

# Why a version did not reach its file, with the sentence for people. The code is `error_code` of a reconciliation.
WRITE_FAULTS: Final[dict[str, str]] = {
    "no_space": "the disk is full",
    "no_permission": "writing there is not permitted",
    "read_only": "the file system is read-only",
    "not_a_file": "something that is no regular file stands in its place",
    "io": "the disk reported a fault",
    "changed_meanwhile": "the file was changed again and again while it was being written",
    "interrupted": "the process that wrote it ended in the middle",
}


class DefinitionFault(Exception):
    """Base of the three; never raised itself."""


class HeadMoved(DefinitionFault):
    """The history has a newer version than the caller knew, or somebody is writing."""


class FileChanged(DefinitionFault):
    """The file does not hold what it held when the write was decided. Nothing was changed."""


class WriteFault(DefinitionFault):
    """The file was not written, or not surely. `code` is one of `WRITE_FAULTS`; `detail` names no path of the host."""

    def __init__(self, code: str, detail: str = "") -> None:
        """Take a code of the table; `detail` adds what the system said."""
        super().__init__(f"{WRITE_FAULTS[code]}{f' ({detail})' if detail else ''}")
        self.code = code
