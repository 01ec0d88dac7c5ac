"""From the options of a command line to the action they mean; the contract and the operation judge it."""

import os
from collections.abc import Callable, Collection, Mapping
from typing import Final

from contract.errors import ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES
from contract.parsing import strict_json_loads
from contract.schedules import ScheduleAction
from studio_project.action_input import read_texts
from studio_project.text_source import STANDARD_INPUT, read_text

ACTION_FIELDS: Final = frozenset(ScheduleAction.model_fields)
_LINKS: Final = ("on_success", "on_fail")
_FILE_MARK: Final = "@"
_FILE_OF_PIPE: Final = _FILE_MARK + STANDARD_INPUT


def read_action_texts(
    prompt: str | None,
    flow_yaml: str | None,
    links: Mapping[str, str | None],
    standard_input: int,
    *,
    note: Callable[[str], None],
) -> dict[str, object]:
    """Return what an action takes from options, files and pipes; `links` are the actions that follow on it.

    ValidationFailure for what cannot be read, and where standard input is to be two things.
    """
    piped = [name for name, text in links.items() if text == _FILE_OF_PIPE]
    piped += [name for name, text in (("prompt", prompt), ("flow_yaml", flow_yaml)) if text == STANDARD_INPUT]
    if len(piped) > 1:
        message = f"standard input is {piped[0]} already"
        raise ValidationFailure.at("action", piped[1], code="exclusive", message=message)
    if _FILE_OF_PIPE in links.values() and os.isatty(standard_input):
        note("reading from the terminal; Ctrl-D on an empty line ends it")
    found = read_texts(prompt, flow_yaml, standard_input, note=note)
    return found | {name: _link(name, text, standard_input) for name, text in links.items() if text is not None}


def action_fields(
    given: Mapping[str, object], before: ScheduleAction | None = None, *, cleared: Collection[str] = ()
) -> dict[str, object] | None:
    """Return the action; None where nothing was said of it.

    What is not said stays as in `before`. An action of another kind begins anew, but for what follows on it.
    """
    if before is None:
        return dict(given)
    if not given and not cleared:
        return None
    stays = before.model_dump(mode="json", exclude_defaults=True)
    if given.get("kind", before.kind) != before.kind:
        stays = {name: stays[name] for name in _LINKS if name in stays}
    return {name: value for name, value in (stays | dict(given)).items() if name not in cleared}


def _link(name: str, text: str, standard_input: int) -> object:
    """Return the action of a JSON text or of a file that holds one."""
    where = ("action", name)
    try:
        if text.startswith(_FILE_MARK):
            file = text.removeprefix(_FILE_MARK)
            text = read_text(file, standard_input, field=name, max_bytes=DEFINITION_MAX_BYTES)
        # Surrogates are what the command line had that is no UTF-8.
        found = strict_json_loads(text.encode(errors="surrogateescape"))
    except ValidationFailure as failure:
        at = [fault.model_copy(update={"path": where}) for fault in failure.field_errors]
        raise ValidationFailure(tuple(at)) from None
    if not isinstance(found, dict):
        raise ValidationFailure.at(*where, code="object", message="must be a JSON object, an action")
    return found
