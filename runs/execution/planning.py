"""From a launch to a process on this machine: which program, which arguments, which environment, which folder."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from contract.actions import ActionFields
from contract.errors import StudioApplicationError, ValidationFailure
from runs.actions import LaunchRules, check_action
from runs.arguments import ActionFiles, ChildArguments, child_arguments
from runs.endings import Verdict
from runs.execution.child import ChildOrder
from runs.execution.executing import Plan
from runs.output_reading import reader_named
from runs.runtimes import Runtime
from runs.services.execution_ports import ActionSources, ClaimedLaunch, RunFilesPort, UnreadableAction

# A `command` of a user's own may speak the run-event protocol; what it prints else is output.
_COMMAND_READER: Final = "events"
_FLOW_FILE: Final = "flow.yaml"
# By which a child finds the folder that its files belong in.
_FILES_VARIABLE: Final = "STUDIO_ARTIFACTS"


class LaunchPlanner:
    """Plans launches by the configuration of this process, which may be newer than the one a launch was checked by."""

    def __init__(
        self,
        *,
        rules: LaunchRules,
        sources: ActionSources,
        files: RunFilesPort,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        """Take the rules, and the environment of every child. `folder` holds what a run is given as a file."""
        self._rules = rules
        self._sources = sources
        self._files = files
        self._folder = folder
        self._environment = environment

    async def plan(self, launch: ClaimedLaunch) -> Plan | Verdict:
        """Return the plan, or how the run ends because there is none."""
        if isinstance(launch.action, UnreadableAction):
            return _failed("refused", f"this version of Studio cannot read its action: {launch.action.fault}")
        return await self._plan(launch, launch.action)

    async def _plan(self, launch: ClaimedLaunch, action: ActionFields) -> Plan | Verdict:
        runtime = None if launch.runtime is None else self._rules.runtimes.get(launch.runtime)
        if launch.runtime is not None and runtime is None:
            return _failed("missing_executable", f"runtime {launch.runtime} is not configured any more")
        # By name, so that it is judged by the runtime that was chosen then and not by one that would be chosen now.
        chosen = action.model_copy(update={"runtime": launch.runtime})
        checked = check_action(chosen, rules=self._rules, usable=())
        if checked.failures:
            return _failed("refused", str(ValidationFailure(checked.failures)))
        try:
            arguments = child_arguments(action, runtime=runtime, files=await self._given(launch, action))
        except ValidationFailure as failure:
            return _failed("refused", str(failure))
        except StudioApplicationError as error:
            return _failed("spawn", f"its files could not be read: {error}")
        except OSError as error:
            return _failed("spawn", f"its files could not be written: {error.strerror}")
        planned = self._planned(launch, runtime, arguments)
        return planned if isinstance(planned, Verdict) else await self._with_folder(launch, planned)

    async def clear(self, launch: ClaimedLaunch) -> None:
        """Remove the files that the run was given."""
        await asyncio.to_thread(shutil.rmtree, self._folder_of(launch), ignore_errors=True)

    def _planned(self, launch: ClaimedLaunch, runtime: Runtime | None, arguments: ChildArguments) -> Plan | Verdict:
        env = {**self._environment, **({} if runtime is None else runtime.env)}
        executable = shutil.which(arguments.argv[0], path=env.get("PATH"))
        if executable is None:
            return _failed("missing_executable", f"there is no executable {arguments.argv[0]}")
        order = ChildOrder(
            run_id=launch.lease.run_id,
            # Absolute: a relative PATH was searched from here, and the child begins in another folder.
            argv=(str(Path(executable).absolute()), *arguments.argv[1:]),
            env=env,
            cwd=launch.cwd or str(Path.cwd()),
            stdin_text=arguments.stdin or None,
        )
        name = _COMMAND_READER if runtime is None else runtime.reader
        return Plan(order=order, reader=reader_named(name), promises_claim=name != _COMMAND_READER)

    async def _with_folder(self, launch: ClaimedLaunch, plan: Plan) -> Plan | Verdict:
        """Return the plan of a child that finds a folder for its files."""
        try:
            folder = await self._files.prepare(launch.lease.run_id)
        except StudioApplicationError as error:
            return _failed("spawn", f"the folder for its files could not be made: {error}")
        order = replace(plan.order, env={**plan.order.env, _FILES_VARIABLE: folder})
        return replace(plan, order=order)

    async def _given(self, launch: ClaimedLaunch, action: ActionFields) -> ActionFiles:
        playbook = action.playbook if action.kind == "play" else None
        flow = action.flow_yaml if action.kind == "flow_yaml" else None
        return ActionFiles(
            playbook_file=None if playbook is None else await self._sources.playbook_file(playbook),
            flow_file=None if flow is None else await asyncio.to_thread(self._written, launch, flow),
        )

    def _written(self, launch: ClaimedLaunch, flow: str) -> str:
        folder = self._folder_of(launch)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / _FLOW_FILE
        file.write_text(flow, encoding="utf-8", newline="")
        with suppress(OSError):
            file.chmod(0o600)
        return str(file)

    def _folder_of(self, launch: ClaimedLaunch) -> Path:
        return self._folder / launch.lease.run_id


async def clear_abandoned(folder: Path, held: Callable[[], Awaitable[frozenset[str]]]) -> None:
    """Remove the files of runs that nobody holds any more: who was killed has left them.

    Looked for before who is held is asked: a run is held before it is given files.
    """
    there = await asyncio.to_thread(_names_in, folder)
    for run_id in there - await held():
        await asyncio.to_thread(shutil.rmtree, folder / run_id, ignore_errors=True)


def _names_in(folder: Path) -> frozenset[str]:
    try:
        return frozenset(entry.name for entry in folder.iterdir())
    except OSError:
        return frozenset()


def _failed(what: str, summary: str) -> Verdict:
    return Verdict(status="failed", reason_code=f"run.failed.{what}", reason_summary=summary)
