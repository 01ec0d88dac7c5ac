"""The operation by which Studio is asked to execute something."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from contract.actions import ActionFields, ActionKind, LaunchResult, LaunchRun
from contract.base import FieldFailure
from contract.errors import ValidationFailure
from contract.ports import Clock, IdGenerator
from runs.actions import LaunchRules, check_action
from runs.runtimes import COMMAND, Runtime
from runs.services.execution_ports import ActionSources, LaunchDraft, LaunchPort, Machine, ProjectFolders


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
    projects: ProjectFolders,
    machine: Machine,
    clock: Clock,
    ids: IdGenerator,
) -> LaunchResult:
    """Queue a run, once for each `launch_key`. Nothing is stored of what could not be executed.

    ValidationFailure with every fault; Conflict when the key was used for another action. What was launched before is
    not checked again: its folder or playbook may be gone since.
    """
    if command.launch_key is not None:
        before = await launches.find_launch(command.launch_key, digest=_digest(command))
        if before is not None:
            return before
    draft = await draft_launch(
        command=command,
        launch_key=command.launch_key or ids.new_id(),
        run_id=ids.new_id(),
        policy=policy,
        sources=sources,
        projects=projects,
        machine=machine,
    )
    return await launches.launch(draft, at=clock.now())


async def draft_launch(
    *,
    command: LaunchRun,
    launch_key: str,
    run_id: str,
    policy: LaunchPolicy,
    sources: ActionSources,
    projects: ProjectFolders,
    machine: Machine,
) -> LaunchDraft:
    """Return a checked launch that only has to be queued. ValidationFailure with every fault."""
    project = await _project_of(command, projects) if command.detect_project else command.project
    place = await _place_of(command, project, policy, projects)
    runtime, failures = await _checked(command, place, policy, sources, machine)
    if failures:
        raise ValidationFailure(failures)
    fields = {name: getattr(command, name) for name in ActionFields.model_fields}
    return LaunchDraft(
        launch_key=launch_key,
        run_id=run_id,
        action=ActionFields(**{**fields, "project": project}),
        digest=_digest(command),
        runtime=None if runtime is None else runtime.name,
        cwd=place.folder,
        name=command.name,
        tags=tuple(sorted(set(command.tags))),
        invocation_id=command.invocation_id,
        deadline_seconds=command.deadline_seconds or policy.deadline_seconds[command.kind],
    )


async def check_launch(
    *,
    action: ActionFields,
    policy: LaunchPolicy,
    sources: ActionSources,
    projects: ProjectFolders,
    machine: Machine,
) -> tuple[FieldFailure, ...]:
    """Say why an action could not be executed as it is now; nothing is stored."""
    place = await _place_of(action, action.project, policy, projects)
    return (await _checked(action, place, policy, sources, machine))[1]


@dataclass(frozen=True, slots=True)
class _Place:
    """The folder of a run, None for the worker's own; `whose` begins a sentence about it."""

    folder: str | None
    whose: str = ""


async def _checked(
    action: ActionFields, place: _Place, policy: LaunchPolicy, sources: ActionSources, machine: Machine
) -> tuple[Runtime | None, tuple[FieldFailure, ...]]:
    # A command needs none, and looking for them takes longer than everything else.
    usable = () if action.kind == COMMAND else machine.usable_runtimes()
    checked = check_action(action, rules=policy.rules, usable=usable)
    failures = (
        *checked.failures,
        *await _source_failures(action, sources),
        *_folder_failures(place, machine),
    )
    return checked.runtime, failures


async def _source_failures(action: ActionFields, sources: ActionSources) -> tuple[FieldFailure, ...]:
    """Ask whether what the action refers to is there and can be executed."""
    has_prompt = bool((action.prompt or "").strip())
    if action.kind == "play" and action.playbook is not None:
        return await sources.playbook_failures(action.playbook, has_prompt=has_prompt)
    if action.kind == "flow_yaml" and action.flow_yaml is not None:
        return await sources.flow_failures(action.flow_yaml, has_prompt=has_prompt)
    return ()


async def _project_of(action: ActionFields, projects: ProjectFolders) -> str | None:
    """Return the project of an action: its own, else the one that its folder belongs to."""
    looks = action.project is None and (action.cwd or "").startswith("/")
    return await projects.project_of(action.cwd or "") if looks else action.project


async def _place_of(
    action: ActionFields, project: str | None, policy: LaunchPolicy, projects: ProjectFolders
) -> _Place:
    """Return where an action is executed: its own folder, else its project's, else the configured root."""
    if action.cwd is not None:
        return _Place(action.cwd)
    path = None if project is None else await projects.project_path(project)
    if path is not None:
        return _Place(path, f"{path}, the path of project {project}: ")
    return _Place(policy.root, "the configured root of runs: ")


def _folder_failures(place: _Place, machine: Machine) -> tuple[FieldFailure, ...]:
    """Refuse a folder that cannot be used. One that a project or the configuration names is never passed over."""
    if place.folder is None or not place.folder.startswith("/"):
        return ()
    fault = machine.folder_fault(place.folder)
    return (FieldFailure(path=("cwd",), code="folder", message=f"{place.whose}{fault}"),) if fault else ()


def _digest(action: ActionFields) -> str:
    """Return what is equal for equal actions, whatever the run is called."""
    # Without what was left out: a field that a later version adds changes no digest.
    text = action.model_dump_json(include=set(ActionFields.model_fields), exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest()
