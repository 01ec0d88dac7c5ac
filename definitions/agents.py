"""What an agent's file may be: Markdown, with YAML between two `---` lines at its beginning if it likes.

Other tools keep keys of their own there, so unknown keys are free; those that a run reads are checked.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from contract.base import FieldFailure
from definitions.field_rules import Rule, flag, free, is_set, known_entries, misfit, text, whole_number
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_faults import Place, fault_at
from definitions.yaml_nodes import YamlNode

_BYTE_ORDER_MARK: Final = "\ufeff"
_OPENING: Final = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING: Final = re.compile(r"(?<=[\r\n])---[ \t]*(?=[\r\n]|\Z)")

# Exclude each other: two names of one thing.
_EFFORTS: Final = ("effort", "reasoning_effort")
_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(
        ("provider", "model", "description", "guidance", "permission_mode", "role", "mode", *_EFFORTS), text
    ),
    **dict.fromkeys(("yolo", "fast_mode", "lion_system", "bypass"), flag),
    "timeout": whole_number(1),
    "hooks": free,
    "artifact_defaults": free,
}


class Frontmatter(NamedTuple):
    """The YAML of an agent's file, and the number of its first line. `text` is None where it is never closed."""

    text: str | None
    first_line: int = 2


def frontmatter_of(content: str) -> Frontmatter | None:
    """Return the text between the `---` lines, or None for a file that does not begin with one."""
    content = content.removeprefix(_BYTE_ORDER_MARK)
    opening = _OPENING.match(content)
    if opening is None:
        return None
    closing = _CLOSING.search(content, opening.end())
    return Frontmatter(content[opening.end() : closing.start()] if closing else None)


def agent_failures(content: str) -> Iterator[FieldFailure]:
    """Yield the faults of an agent's file."""
    if not content.removeprefix(_BYTE_ORDER_MARK).strip():
        yield FieldFailure(path=("content",), code="empty", message="is empty")
        return
    front = frontmatter_of(content)
    if front is None:
        return
    if front.text is None:
        yield fault_at(Place(1, 1), (), "frontmatter", "the frontmatter is not closed: a line `---` must end it")
        return
    document = parse_yaml(front.text, first_line=front.first_line)
    yield from document.failures
    if document.root is not None and is_set(document.root):
        yield from _faults_of(document.root)


def _faults_of(root: YamlNode) -> Iterator[FieldFailure]:
    if root.kind not in ("mapping", "refused"):
        yield misfit(root, (), ("mapping",))
    yield from known_entries(root, (), _RULES)
    given = [entry for entry in root.entries if entry.key in _EFFORTS and is_set(entry.node)]
    for entry in given[1:]:
        sentence = f"`{entry.key}` cannot be given together with `{given[0].key}`: both say the same"
        yield fault_at(entry.place, (entry.key,), "exclusive", sentence)
