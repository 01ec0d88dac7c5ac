"""Which names a definition may have, and which two may be taken for one."""

import re
import unicodedata
from typing import Final, get_args

from contract.definitions import DefinitionKind
from contract.errors import NotFound, ValidationFailure
from contract.limits import DEFINITION_NAME_MAX_CHARS

KINDS: Final[tuple[DefinitionKind, ...]] = get_args(DefinitionKind)
# Below the home, and at the end of every file's name.
ROOTS: Final[dict[DefinitionKind, str]] = {"agent": "agents", "playbook": "playbooks"}
EXTENSIONS: Final[dict[DefinitionKind, str]] = {"agent": ".md", "playbook": ".playbook.yaml"}

_NAME: Final = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{DEFINITION_NAME_MAX_CHARS - 1}}}")
_RULE: Final = (
    f"must begin with an ASCII letter or digit and hold at most {DEFINITION_NAME_MAX_CHARS} of them"
    " and of `.`, `_`, `-`"
)


def is_name(text: str) -> bool:
    """Whether a definition may be called like this."""
    return _NAME.fullmatch(text) is not None


def require_name(name: str, *path: str | int) -> None:
    """Raise a ValidationFailure of the field at `path` for an impossible name; say which possible one it resembles."""
    if is_name(name):
        return
    plain = unicodedata.normalize("NFKC", name).strip()
    hint = f"; it reads like {plain!r}" if plain != name and is_name(plain) else ""
    raise ValidationFailure.at(*path, code="name", message=_RULE + hint)


def known_kind(kind: str, name: str, *, version: int | None = None) -> DefinitionKind:
    """Return the kind. NotFound for a kind or name that nothing can have, so that hostile text reaches no store.

    With a `version` it is that version that is not found.
    """
    for known in KINDS:
        if kind == known and is_name(name):
            return known
    if version is None:
        raise NotFound("definition", f"{kind}/{name}")
    raise NotFound("definition version", f"{kind}/{name}/{version}")


def name_key(name: str) -> str:
    """Return what is equal for two names that a file system or a reader may take for one.

    Case is folded and compatibility forms are composed (Unicode TR 15, NFKC; default caseless matching, D145).
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def flat_place(kind: DefinitionKind, name: str) -> str:
    """Return the path of `name.ext` below the home, where a new definition is put."""
    return f"{ROOTS[kind]}/{name}{EXTENSIONS[kind]}"


def nested_place(kind: DefinitionKind, name: str) -> str:
    """Return the path of `name/name.ext` below the home."""
    return f"{ROOTS[kind]}/{name}/{name}{EXTENSIONS[kind]}"
