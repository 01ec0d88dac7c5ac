"""What a definition's content may be, and its measures. Judged, never changed: content is kept byte for byte."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from contract.base import FieldFailure
from contract.definitions import DefinitionKind
from contract.errors import ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES, FIELD_FAILURES_MAX
from definitions.agents import agent_failures
from definitions.playbooks import playbook_failures

_RULES: Final[Mapping[DefinitionKind, Callable[[str], Iterator[FieldFailure]]]] = {
    "agent": agent_failures,
    "playbook": playbook_failures,
}


def sha256_of(content: str) -> str:
    """Return the SHA-256 of the UTF-8 bytes, lower-case hexadecimal."""
    return hashlib.sha256(content.encode()).hexdigest()


def size_of(content: str) -> int:
    """Return the number of UTF-8 bytes."""
    return len(content.encode())


def check_content(kind: DefinitionKind, content: str) -> None:
    """Raise a ValidationFailure with the faults of a definition's content, in the order of their places.

    Each path begins with `content` and goes on with keys of the YAML. Text without lone surrogates is a precondition.
    """
    size = size_of(content)
    if size > DEFINITION_MAX_BYTES:
        message = f"has {size:,} bytes; at most {DEFINITION_MAX_BYTES:,} are possible"
        raise ValidationFailure.at("content", code="too_large", message=message)
    failures = sorted(islice(_RULES[kind](content), FIELD_FAILURES_MAX), key=_place)
    if failures:
        raise ValidationFailure(tuple(failures))


def _place(failure: FieldFailure) -> tuple[int, int]:
    return failure.line or 0, failure.column or 0
