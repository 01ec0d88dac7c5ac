"""What runs ask about definitions before they execute one."""

from pathlib import PurePath

from contract.base import FieldFailure
from contract.errors import StateUnavailable, StudioApplicationError, ValidationFailure
from definitions.content import check_content
from definitions.names import is_name
from definitions.playbooks import has_prompt_of_its_own, inline_flow_failures
from definitions.services.ports import FileDefinitionPort
from definitions.services.text_work import CHECKS, in_turn

_NEEDS_PROMPT = "has no prompt of its own: the action needs one"


class PlaybookSources:
    """Says whether playbooks and inline flows can be executed. `home` is where the files' relative paths begin."""

    def __init__(self, files: FileDefinitionPort, *, home: PurePath) -> None:
        """Take the files."""
        self._files = files
        self._home = home

    async def playbook_failures(self, name: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        """Say why there is no such playbook to execute. Its file is checked as it is now, edits by hand included."""
        try:
            current = await self._files.read_current("playbook", name) if is_name(name) else None
            if current is None:
                return (_playbook("not_found", f"there is no playbook {name}"),)
            await in_turn(CHECKS, check_content, "playbook", current.content)
        except StateUnavailable:
            raise
        except ValidationFailure as failure:
            return tuple(_playbook(fault.code, fault.message) for fault in failure.field_errors)
        except StudioApplicationError as error:
            return (_playbook("unreadable", str(error)),)
        if has_prompt or await in_turn(CHECKS, has_prompt_of_its_own, current.content):
            return ()
        return (FieldFailure(path=("prompt",), code="missing", message=f"playbook {name} {_NEEDS_PROMPT}"),)

    async def flow_failures(self, flow_yaml: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        """Return what is wrong with an inline flow."""
        failures = await in_turn(CHECKS, inline_flow_failures, flow_yaml)
        if failures or has_prompt or await in_turn(CHECKS, has_prompt_of_its_own, flow_yaml):
            return failures
        return (FieldFailure(path=("prompt",), code="missing", message=f"the flow {_NEEDS_PROMPT}"),)

    async def playbook_file(self, name: str) -> str | None:
        """Return the absolute path of a playbook's file."""
        current = await self._files.read_current("playbook", name) if is_name(name) else None
        return None if current is None else str(self._home / current.relative_path)


def _playbook(code: str, message: str) -> FieldFailure:
    return FieldFailure(path=("playbook",), code=code, message=message)
