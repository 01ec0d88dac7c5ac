"""The words of the demo: what it found and made, for people."""

from collections.abc import Sequence
from typing import Final

from contract.errors import shown
from runs.demo_report import Fault, FoundFile, FoundFolder, Language, Report

_NAMED_FOLDERS: Final = 12
_KIBI: Final = 1024


def report_text(report: Report) -> str:
    """Return the report for people."""
    parts = [
        f"Survey of {report.folder}",
        _totals_line(report),
        _block("Lines by language", [language_line(language) for language in report.languages]),
        _block("Largest files", [size_line(file) for file in report.largest]),
        _block("Longest lines", [f"{line.chars:>11,} chars  {line.path}:{line.line}" for line in report.longest_lines]),
        _block("Markers", [f"{count:>11,}  {marker}" for marker, count in report.markers.items() if count]),
        _block("Could not be read", faults_lines(report.unreadable, report.unreadable_count)),
        _left_out(report),
    ]
    return "\n\n".join(part for part in parts if part)


def folders_text(found: Sequence[FoundFolder]) -> str:
    """Say what stands in some folders, a line for each of the first ones."""
    lines = [
        f"{shown(each.path)}: {counted(len(each.files), 'file')}, "
        f"{size_text(sum(file.size_bytes for file in each.files))}"
        for each in found[:_NAMED_FOLDERS]
    ]
    if len(found) > _NAMED_FOLDERS:
        rest = found[_NAMED_FOLDERS:]
        files = sum(len(each.files) for each in rest)
        lines.append(f"and {counted(len(rest), 'more folder')} with {counted(files, 'file')}")
    return "\n".join(lines)


def faults_lines(named: Sequence[Fault], total: int) -> list[str]:
    """Return a line for each named fault, and one for those that are only counted."""
    lines = [f"{fault.path}: {fault.reason}" for fault in named]
    return lines + ([f"and {total - len(named):,} more"] if total > len(named) else [])


def language_line(language: Language) -> str:
    """Return one language for people."""
    return f"{language.lines:>11,} lines  {language.name} ({counted(language.files, 'file')})"


def size_line(file: FoundFile) -> str:
    """Return one file with its size for people."""
    return f"{size_text(file.size_bytes):>11}  {file.path}"


def counted(count: int, noun: str) -> str:
    """Return the number with its noun, in the plural where it is not one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_text(size_bytes: int) -> str:
    """Return a size in the unit people read it in."""
    if size_bytes < _KIBI:
        return counted(size_bytes, "byte")
    size = size_bytes / _KIBI
    for unit in ("KiB", "MiB", "GiB"):
        if size < _KIBI:
            return f"{size:,.1f} {unit}"
        size /= _KIBI
    return f"{size:,.1f} TiB"


def _block(title: str, lines: Sequence[str]) -> str:
    return "\n".join((title, *lines)) if lines else ""


def _totals_line(report: Report) -> str:
    found = f"{counted(report.files, 'file')} in {counted(report.folders, 'folder')}, {size_text(report.size_bytes)}"
    return f"{found}; {counted(report.texts_read, 'text')} read: {report.lines:,} lines, {report.words:,} words"


def _left_out(report: Report) -> str:
    named = [f"folders named {', '.join(report.skipped_folders)}"] if report.skipped_folders else []
    links = [counted(report.links, "symbolic link")] if report.links else []
    cut = ["everything beyond the bound of the walk"] if report.cut else []
    out = named + links + cut
    return f"Left out: {'; '.join(out)}" if out else ""
