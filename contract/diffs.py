"""Two texts of a definition compared, on the wire."""

from typing import Literal

from pydantic import ConfigDict, Field

from contract.base import ContractModel, Tup
from contract.definitions import DefinitionKind, ExpectedVersion, VersionNumber
from contract.limits import DIFF_CONTEXT_LINES_MAX

DiffOp = Literal["same", "removed", "added"]


class DiffQuery(ContractModel):
    """What to compare: `from` a version (0 is nothing; default: the one before `to`) `to` a version (default: newest).

    With `file` the second side is the file as it is now, and `from` is by default the newest version.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    from_: ExpectedVersion | None = Field(default=None, alias="from")
    to: VersionNumber | None = None
    file: bool = False
    context: int = Field(default=3, ge=0, le=DIFF_CONTEXT_LINES_MAX)


class DiffLine(ContractModel):
    """One line without its end, and its number (from 1) on each side that has it. `ends`: a newline follows it."""

    op: DiffOp
    text: str
    from_line: int | None = None
    to_line: int | None = None
    ends: bool = True


class DiffHunk(ContractModel):
    """Neighbouring changes with the lines around them. Starts are line numbers from 1, 0 where a side is empty."""

    from_start: int
    from_count: int
    to_start: int
    to_count: int
    lines: Tup[DiffLine]


class DefinitionDiff(ContractModel):
    """Two texts compared. `unified` is the same as `hunks`, as `patch` reads it; both are empty for equal texts.

    `to_version` null is the file. `coarse`: too much differs to compare line by line; the middle is shown as replaced,
    and beyond 10,000 lines or 512 KiB of text nothing is shown, only counted.
    """

    kind: DefinitionKind
    name: str
    from_version: int
    to_version: int | None
    from_sha256: str | None
    to_sha256: str | None
    added: int
    removed: int
    coarse: bool = False
    hunks: Tup[DiffHunk] = ()
    unified: str = ""
