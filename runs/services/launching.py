"""The operation by which Studio is asked to execute something."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from contract.actions import ActionFields, ActionKind, LaunchResult, LaunchRun
from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.ports import Clock, IdGenerator
from runs.actions import LaunchRules, check_action
from runs.services.execution_ports import ActionSources, LaunchDraft, LaunchPort, Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPolicy:
    """What the configuration says: who may execute what, where, and for how long (seconds by kind).

    `root` is the folder of runs that are given none; None is the worker's own.
    """

    rules: LaunchRules
    root: str | None
    deadline_seconds: Mapping[ActionKind, float]


async def launch_run(
    *,
    command: LaunchRun,
    policy: LaunchPolicy,
    launches: LaunchPort,
    sources: ActionSources,
    machine: Machine,
    clock: Clock,
    ids: IdGenerator,
) -> LaunchResult:
    """Queue a run, once for each `launch_key`. Nothing is stored of what could not be executed.

    ValidationFailure with every fault; Conflict when the key was used for another action. What was launched before is
    not checked again: its folder or playbook may be gone since.
    """
    digest = _digest(command)
    if command.launch_key is not None:
        before = await launches.find_launch(command.launch_key, digest=digest)
        if before is not None:
            return before
    checked = check_action(command, rules=policy.rules, usable=machine.usable_runtimes())
    cwd = command.cwd or policy.root
    failures = (
        *checked.failures,
        *await _source_failures(command, sources),
        *_folder_failures(command, policy, machine),
    )
    if failures:
        raise ValidationFailure(failures)
    draft = LaunchDraft(
        launch_key=command.launch_key or ids.new_id(),
        run_id=ids.new_id(),
        action=ActionFields(**{name: getattr(command, name) for name in ActionFields.model_fields}),
        digest=digest,
        runtime=None if checked.runtime is None else checked.runtime.name,
        cwd=cwd,
        name=command.name,
        tags=tuple(sorted(set(command.tags))),
        invocation_id=command.invocation_id,
        deadline_seconds=command.deadline_seconds or policy.deadline_seconds[command.kind],
    )
    return await launches.launch(draft, at=clock.now())


async def _source_failures(action: ActionFields, sources: ActionSources) -> tuple[FieldFailure, ...]:
    """Ask whether what the action refers to is there and can be executed."""
    has_prompt = bool((action.prompt or "").strip())
    if action.kind == "play" and action.playbook is not None:
        return await sources.playbook_failures(action.playbook, has_prompt=has_prompt)
    if action.kind == "flow_yaml" and action.flow_yaml is not None:
        return await sources.flow_failures(action.flow_yaml, has_prompt=has_prompt)
    return ()


def _folder_failures(action: ActionFields, policy: LaunchPolicy, machine: Machine) -> tuple[FieldFailure, ...]:
    """Refuse a folder that cannot be used. A configured one is never passed over for another."""
    if action.cwd is not None:
        fault = machine.folder_fault(action.cwd) if action.cwd.startswith("/") else None
    else:
        fault = None if policy.root is None else machine.folder_fault(policy.root)
        fault = fault and f"the configured root of runs: {fault}"
    return (FieldFailure(path=("cwd",), code="folder", message=fault),) if fault else ()


def _digest(action: ActionFields) -> str:
    """Return what is equal for equal actions, whatever the run is called."""
    # Without what was left out: a field that a later version adds changes no digest.
    text = action.model_dump_json(include=set(ActionFields.model_fields), exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest()
