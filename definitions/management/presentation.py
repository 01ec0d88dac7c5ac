"""Definitions as tables and lines for people. Values in, text out; `zone` is where the reader lives."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import Final

from contract.definitions import (
    DefinitionDetail,
    DefinitionSummary,
    DefinitionVersion,
    DefinitionVersionSummary,
    ReconcileAction,
    Reconciliation,
    ReconciliationDetail,
    SnapshotResult,
)
from contract.diffs import DefinitionDiff
from studio_project.terminal import UNKNOWN, Line, Styled, Table
from studio_project.wording import instant, minute, pairs, size, titled

_SHOWN_HASH_CHARS: Final = 12
_ACTION_WORDS: Final[dict[ReconcileAction, str]] = {
    "retry_write": "write the version to the file",
    "accept_file": "make a new version of the file as it is",
    "dismiss": "leave both as they are; needs a --reason",
}
_DIFF_STYLES: Final = {"+": "green", "-": "red", "@": "cyan", "\\": "dim"}
# The two lines of a unified diff that name the sides.
_LABELS: Final = 2
_TAB_CELLS: Final = 4


def definitions_table(definitions: Sequence[DefinitionSummary], zone: tzinfo) -> Table:
    """Return the table of a list of definitions."""
    return Table(
        headers=("KIND", "NAME", "VERSION", "DRIFT", "SIZE", "CHANGED"),
        rows=[
            (
                found.kind,
                found.name,
                str(found.version) if found.version else UNKNOWN,
                _state(found),
                size(found.size_bytes),
                minute(found.updated_at, zone),
            )
            for found in definitions
        ],
        empty="no definitions",
        elastic={"NAME"},
    )


def _state(found: DefinitionSummary) -> str:
    if found.reconciliation_id is not None:
        return f"reconcile {found.reconciliation_id}"
    return found.drift or ("deleted" if found.deleted else UNKNOWN)


def problem_notes(definitions: Sequence[DefinitionSummary]) -> list[str]:
    """Return what is to be said of files that are not as they should be."""
    return [_of_file(found.relative_path, found.problem) for found in definitions if found.problem]


def skipped_notes(result: SnapshotResult) -> list[str]:
    """Return what is to be said of files that could not become versions."""
    return [f"skipped: {_of_file(file.relative_path, file.reason)}" for file in result.skipped]


def _of_file(path: str, sentence: str) -> str:
    """Say of which file a sentence is, unless it begins with that."""
    return sentence if sentence.startswith(f"{path} ") else f"{path}: {sentence}"


def content_notes(found: DefinitionDetail | DefinitionVersion) -> list[str]:
    """Return what is to be said of a file or a version beside its content."""
    if isinstance(found, DefinitionVersion):
        return [f"version {found.version} records a deletion"] if found.deleted else []
    place = f"{found.kind} {found.name}"
    notes = []
    if found.problem:
        notes.append(_of_file(found.relative_path, found.problem))
    if found.reconciliation_id is not None:
        notes.append(
            f"version {found.version} did not reach the file: studio definition reconcile {found.reconciliation_id}"
        )
    elif found.drift == "untracked":
        notes.append(f"the file has no history yet: studio definition snapshot {place}")
    elif found.drift is not None:
        # Changed by hand, or dismissed, or left by a writer that died: the difference is all that is known here.
        notes.append(f"the file differs from version {found.version}: studio definition diff {place} --file")
    return notes


def versions_table(versions: Sequence[DefinitionVersionSummary], zone: tzinfo) -> Table:
    """Return the table of a history."""
    return Table(
        headers=("VERSION", "SAVED", "ORIGIN", "BY", "SIZE", "FILE", "MESSAGE"),
        rows=[
            (
                str(version.version),
                minute(version.created_at, zone),
                version.origin,
                version.actor,
                "deleted" if version.deleted else size(version.size_bytes),
                version.write_status,
                version.message or UNKNOWN,
            )
            for version in versions
        ],
        empty="no versions",
        elastic={"BY", "MESSAGE"},
    )


def diff_notes(diff: DefinitionDiff) -> list[str]:
    """Return what is to be said of a comparison beside its lines."""
    if diff.coarse and diff.unified:
        return ["too much differs to compare line by line: a part is shown as replaced"]
    if diff.coarse:
        return [f"too much differs to be shown: {diff.added} lines added, {diff.removed} removed"]
    return [] if diff.unified else ["no difference"]


def diff_lines(diff: DefinitionDiff) -> Iterator[Line]:
    """Yield the lines of a unified diff in its usual colors."""
    for number, line in enumerate(diff.unified.split("\n")[:-1]):
        style = "bold" if number < _LABELS else _DIFF_STYLES.get(line[:1], "")
        yield (Styled(line.expandtabs(_TAB_CELLS), style),)


def snapshot_table(result: SnapshotResult) -> Table:
    """Return the table of what became versions."""
    return Table(
        headers=("KIND", "NAME", "VERSION", "FILE"),
        rows=[
            (file.kind, file.name, str(file.version), "gone" if file.deleted else "captured")
            for file in result.captured
        ],
        empty=f"nothing was changed by hand ({_definitions(result.unchanged)} looked at)",
        elastic={"NAME"},
    )


def _definitions(count: int) -> str:
    return f"{count} definition{'' if count == 1 else 's'}"


def reconciliations_table(reconciliations: Sequence[Reconciliation], zone: tzinfo) -> Table:
    """Return the table of a list of reconciliations."""
    return Table(
        headers=("RECONCILIATION", "KIND", "NAME", "VERSION", "STATUS", "ERROR", "TRIED", "SINCE"),
        rows=[
            (
                found.id,
                found.kind,
                found.name,
                str(found.version),
                found.resolution or found.status,
                found.error_code,
                str(found.attempts),
                minute(found.created_at, zone),
            )
            for found in reconciliations
        ],
        empty="nothing to reconcile",
        elastic={"NAME"},
    )


def reconciliation_lines(found: ReconciliationDetail, zone: tzinfo) -> Iterator[Line]:
    """Yield what `reconcile ID` says: the facts, the log, and what may be done."""
    yield from pairs(_facts(found, zone))
    log = (
        f"{instant(entry.at, zone)} {entry.action or 'write'} {entry.outcome} by {entry.actor}"
        f"{f': {entry.detail}' if entry.detail else ''}"
        for entry in found.log
    )
    yield from titled("log", log)
    actions = (f"--action {action:<11}  {_ACTION_WORDS[action]}" for action in found.actions)
    yield from titled("what may be done", actions)


def resolved_line(found: Reconciliation) -> Line:
    """Return what is said of a reconciliation that was settled."""
    newest = "" if found.result_version is None else f"; the newest version is {found.result_version}"
    return (Styled(f"{found.kind}/{found.name}: reconciliation {found.id} is settled by {found.resolution}{newest}"),)


def _facts(found: ReconciliationDetail, zone: tzinfo) -> list[tuple[str, str | None]]:
    wanted = "no file" if found.deleted else found.expected_sha256[:_SHOWN_HASH_CHARS]
    return [
        ("reconciliation", found.id),
        ("definition", f"{found.kind} {found.name}, version {found.version}"),
        ("file", found.relative_path),
        ("status", found.status),
        ("resolution", found.resolution),
        ("reason", found.reason),
        ("by", found.actor),
        ("error", f"{found.error_code}{f': {found.error_detail}' if found.error_detail else ''}"),
        ("wanted", wanted),
        ("found then", _hash(found.observed_sha256)),
        ("found now", found.problem or _hash(found.file_sha256)),
        ("since", instant(found.created_at, zone)),
        ("resolved", None if found.resolved_at is None else instant(found.resolved_at, zone)),
    ]


def _hash(sha256: str | None) -> str:
    return "no file" if sha256 is None else sha256[:_SHOWN_HASH_CHARS]
