"""One `run launch`: its texts read, the run queued, told, and followed to its end if that was asked for."""

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Final

from contract.actions import LaunchResult, LaunchRun
from contract.application import StudioApplication
from contract.errors import ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES, PROMPT_MAX_CHARS
from contract.parsing import parse_model
from runs.management.presentation import launched_line
from runs.management.tailing import Tail
from studio_project.system import RandomIds
from studio_project.terminal import Terminal
from studio_project.text_source import STANDARD_INPUT, read_text

# How a followed launch ends whose run did not end well. No error ends a command with it (studio_project/commands.py).
EXIT_NOT_COMPLETED: Final = 3
_ENDED_WELL: Final = ("completed", "completed_empty")
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


class LaunchSession:
    """Launches what `fields` of LaunchRun describe. `waits` says that nobody seems to be there who would execute it."""

    def __init__(
        self,
        fields: Mapping[str, object],
        *,
        follow: bool,
        as_json: bool,
        terminal: Terminal,
        zone: tzinfo,
        waits: Callable[[], bool],
    ) -> None:
        self._fields = fields
        self._follow = follow
        self._as_json = as_json
        self._terminal = terminal
        self._zone = zone
        self._waits = waits

    async def launch(self, studio: StudioApplication) -> int:
        """Launch; return the exit code."""
        # A key of our own: a launch whose answer got lost can then be repeated without making a second run.
        result = await studio.launch_run(parse_model(LaunchRun, {"launch_key": RandomIds().new_id(), **self._fields}))
        if self._as_json:
            self._terminal.model(result)
        else:
            self._terminal.line(*launched_line(result))
        if result.status == "queued" and self._waits():
            self._terminal.note("it waits for a worker: `studio serve` or `studio worker`")
        return await self._followed(studio, result) if self._follow else 0

    async def _followed(self, studio: StudioApplication, result: LaunchResult) -> int:
        tail = Tail(result.run_id, None, signals=False, as_json=self._as_json, terminal=self._terminal, zone=self._zone)
        try:
            done = await tail.follow(studio)
        except asyncio.CancelledError:
            run_id = result.run_id
            self._terminal.note(f"run {run_id} goes on; `run tail {run_id}` follows it, `run cancel {run_id}` ends it")
            raise
        return 0 if done.status in _ENDED_WELL else EXIT_NOT_COMPLETED
