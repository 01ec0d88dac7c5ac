"""What Studio can be asked to execute: an action by kind, and the launch of one."""

from typing import Annotated, Literal

from pydantic import Field

from contract.base import SAFE, CommandJson, ContractModel, Identifier, Name, Tag, Text, Token, Tup
from contract.limits import (
    ARGUMENT_MAX_CHARS,
    COMMAND_ARGUMENTS_MAX,
    DEADLINE_SECONDS_MAX,
    DEFINITION_MAX_BYTES,
    PATH_MAX_CHARS,
    PROMPT_MAX_CHARS,
    TAGS_PER_RUN_MAX,
)
from contract.projects import ProjectName

ActionKind = Literal["agent", "flow", "fanout", "play", "flow_yaml", "command"]
Argument = Annotated[str, Field(max_length=ARGUMENT_MAX_CHARS), SAFE]
Arguments = Annotated[Tup[Argument], Field(max_length=COMMAND_ARGUMENTS_MAX)]


class ActionFields(ContractModel):
    """What to execute. Which fields a kind needs and takes is said in docs/execution.md and checked by the operation.

    `command` is an argument list whose first item is an allow-listed executable. `runtime` is a name of the
    configuration; without it the configured default, else the first usable one that knows the kind. `cwd` is an
    absolute folder; without it the project's path, else the configured root.
    """

    kind: ActionKind
    model: Name | None = None
    prompt: Annotated[str, Field(max_length=PROMPT_MAX_CHARS), SAFE] | None = None
    agent: Name | None = None
    playbook: Name | None = None
    flow_yaml: Annotated[str, Field(max_length=DEFINITION_MAX_BYTES), SAFE] | None = None
    project: ProjectName | None = None
    extra_args: Arguments = ()
    command: Arguments = ()
    runtime: Token | None = None
    cwd: Annotated[str, Field(min_length=1, max_length=PATH_MAX_CHARS), SAFE] | None = None


class LaunchRun(ActionFields):
    """Asks Studio to execute an action as a run.

    The same `launch_key` again is the same launch: it returns the run there is; with another action it is a Conflict.
    `deadline_seconds` is counted from the start of the process; without it the configured one of the kind holds.
    A launch with a `cwd` and no `project` gets the one that the folder belongs to, unless `detect_project` is false.
    """

    launch_key: Identifier | None = None
    name: Name | None = None
    tags: Annotated[Tup[Tag], Field(max_length=TAGS_PER_RUN_MAX)] = ()
    invocation_id: Identifier | None = None
    deadline_seconds: Annotated[float, Field(gt=0, le=DEADLINE_SECONDS_MAX)] | None = None
    detect_project: bool = True


class LaunchResult(ContractModel):
    """The run that a launch made, or had made already (`repeated`)."""

    run_id: str
    status: str
    launch_key: str
    created_at: float
    repeated: bool = False


class ExecutionView(ContractModel):
    """How a launched run is or was executed.

    `action` holds the action's fields that were given. `exit_code` is the process's own, `exit_signal` the number of
    the signal that ended it; both are null until it ended, or when nobody saw it end. Bytes are what the process
    printed; `withheld_bytes` of them were not kept; all three are null until its output was read to the end, and when
    nobody did that. `output_tail` is the end of what was kept, for a glance.
    """

    launch_key: str
    action: CommandJson
    runtime: str | None = None
    cwd: str | None = None
    deadline_seconds: float
    queued_at: float
    claimed_at: float | None = None
    attempts: int = 0
    exit_code: int | None = None
    exit_signal: int | None = None
    stdout_bytes: int | None = None
    stderr_bytes: int | None = None
    withheld_bytes: int | None = None
    output_tail: Text = ""
