"""What actions refer to, for runs that are launched in tests."""

from contract.base import FieldFailure
from contract.errors import StudioApplicationError


class FakeSources:
    """An ActionSources over a set of sound playbooks without a prompt of their own."""

    def __init__(self, *playbooks: str) -> None:
        self.playbooks = set(playbooks)
        self.fault: StudioApplicationError | None = None

    async def playbook_failures(self, name: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        if name not in self.playbooks:
            return (FieldFailure(path=("playbook",), code="not_found", message=f"there is no playbook {name}"),)
        return _prompt_failures(has_prompt=has_prompt)

    async def flow_failures(self, flow_yaml: str, *, has_prompt: bool) -> tuple[FieldFailure, ...]:
        if not flow_yaml.strip():
            return (FieldFailure(path=("flow_yaml",), code="empty", message="is empty"),)
        return _prompt_failures(has_prompt=has_prompt)

    async def playbook_file(self, name: str) -> str | None:
        if self.fault is not None:
            raise self.fault
        return f"/home/playbooks/{name}.playbook.yaml" if name in self.playbooks else None


def _prompt_failures(*, has_prompt: bool) -> tuple[FieldFailure, ...]:
    return () if has_prompt else (FieldFailure(path=("prompt",), code="missing", message="is needed"),)
