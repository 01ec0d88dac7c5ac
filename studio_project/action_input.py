"""The texts of an action that a command line gives, from an option, a file or a pipe."""

import os
from collections.abc import Callable
from typing import Final

from contract.errors import ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES, PROMPT_MAX_CHARS
from studio_project.text_source import STANDARD_INPUT, read_text

_UTF8_BYTES_MAX: Final = 4


def read_texts(
    prompt: str | None, flow_yaml: str | None, standard_input: int, *, note: Callable[[str], None]
) -> dict[str, object]:
    """Return the fields `prompt` and `flow_yaml` of an action: a text, `-`, and a file or `-`. ValidationFailure."""
    if prompt == flow_yaml == STANDARD_INPUT:
        raise ValidationFailure.at("flow_yaml", code="exclusive", message="standard input is the prompt already")
    if STANDARD_INPUT in (prompt, flow_yaml) and os.isatty(standard_input):
        note("reading from the terminal; Ctrl-D on an empty line ends it")
    fields: dict[str, object] = {}
    if prompt is not None:
        fields["prompt"] = prompt
    if prompt == STANDARD_INPUT:
        most = PROMPT_MAX_CHARS * _UTF8_BYTES_MAX
        fields["prompt"] = read_text(prompt, standard_input, field="prompt", max_bytes=most)
    if flow_yaml is not None:
        fields["flow_yaml"] = read_text(flow_yaml, standard_input, field="flow_yaml", max_bytes=DEFINITION_MAX_BYTES)
    return fields
