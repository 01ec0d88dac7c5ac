"""Launches that nobody executes yet: queued, repeated, refused, cancelled. tests/parity/test_execution.py goes on."""

from pathlib import Path
from typing import Any

from contract.actions import LaunchResult, LaunchRun
from contract.application import StudioApplication
from contract.errors import Conflict, ValidationFailure
from contract.limits import ARGUMENT_MAX_CHARS
from contract.runs import CancelRun, EvidenceRequest, RunQuery, RunReadQuery
from tests.parity.catalogue import home_scenario, scenario
from tests.parity.run_scenarios import places
from tests.parity.witness import refused

FLOW = "prompt: Look\nsteps: {a: {prompt: Read}}\n"
SILENT_FLOW = "steps: {a: {prompt: Read}}\n"
AGENT = {"kind": "agent", "runtime": "claude", "prompt": "p"}
Places = list[tuple[tuple[str | int, ...], str]]

# Actions that cannot be executed, and where that is said.
REFUSED: list[tuple[dict[str, Any], Places]] = [
    ({"kind": "agent", "runtime": "claude"}, [(("prompt",), "missing")]),
    ({**AGENT, "prompt": " \n"}, [(("prompt",), "blank")]),
    ({**AGENT, "model": " "}, [(("model",), "blank")]),
    ({**AGENT, "playbook": "p"}, [(("playbook",), "not_taken")]),
    ({**AGENT, "command": ("sh",)}, [(("command",), "not_taken")]),
    ({**AGENT, "cwd": "here"}, [(("cwd",), "not_absolute")]),
    ({**AGENT, "cwd": "/no/such/folder"}, [(("cwd",), "folder")]),
    ({**AGENT, "cwd": "/dev/null"}, [(("cwd",), "folder")]),
    ({**AGENT, "runtime": "nobody"}, [(("runtime",), "unknown_runtime")]),
    ({**AGENT, "runtime": "codex", "agent": "a"}, [(("agent",), "not_taken")]),
    ({**AGENT, "extra_args": ("-x",)}, [(("extra_args",), "not_taken")]),
    ({**AGENT, "runtime": "li"}, [(("model",), "missing")]),
    ({"kind": "flow", "runtime": "codex", "prompt": "p"}, [(("runtime",), "unknown_kind")]),
    ({"kind": "flow", "prompt": "ü" * ARGUMENT_MAX_CHARS}, [(("prompt",), "too_long")]),
    ({"kind": "fanout"}, [(("prompt",), "missing")]),
    ({"kind": "command"}, [(("command",), "missing")]),
    ({"kind": "command", "command": ("rm",)}, [(("command", 0), "not_allowed")]),
    ({"kind": "command", "command": ("./sh",)}, [(("command", 0), "not_allowed")]),
    ({"kind": "command", "command": ("/bin/sh",)}, [(("command", 0), "not_allowed")]),
    ({"kind": "command", "command": ("sh", "ü" * ARGUMENT_MAX_CHARS)}, [(("command", 1), "too_long")]),
    ({"kind": "command", "command": ("sh", *["x" * ARGUMENT_MAX_CHARS] * 9)}, [(("command",), "too_long")]),
    ({"kind": "command", "command": ("sh",), "runtime": "li"}, [(("runtime",), "not_taken")]),
    ({"kind": "play"}, [(("playbook",), "missing")]),
    ({"kind": "play", "playbook": "nobody-has-it"}, [(("playbook",), "not_found")]),
    ({"kind": "play", "playbook": "../../etc/passwd"}, [(("playbook",), "not_found")]),
    ({"kind": "flow_yaml"}, [(("flow_yaml",), "missing")]),
    ({"kind": "flow_yaml", "flow_yaml": SILENT_FLOW}, [(("prompt",), "missing")]),
]


async def launch(studio: StudioApplication, **fields: Any) -> LaunchResult:
    return await studio.launch_run(LaunchRun(**fields))


async def launch_shell(studio: StudioApplication, own: str, *arguments: str, **fields: Any) -> LaunchResult:
    return await launch(studio, kind="command", command=("sh", *arguments), launch_key=own, project=own, **fields)


@scenario
async def launched_run_waits_with_all_that_it_was_given(studio: StudioApplication, own: str) -> None:
    action: dict[str, Any] = {**AGENT, "model": "m", "agent": "a", "project": own, "cwd": "/"}
    more: dict[str, Any] = {"name": "ñ", "tags": ("b", "a", "b"), "invocation_id": own, "deadline_seconds": 7.5}

    result = await launch(studio, launch_key=own, **action, **more)
    run = await studio.get_run(result.run_id, RunReadQuery())
    page = await studio.list_runs(RunQuery(project=own, status=("queued",)))
    await studio.read_evidence(EvidenceRequest(run_id=result.run_id, pane="transitions"))
    await studio.get_invocation(own)

    assert run.execution is not None
    assert run.execution.action == action
    assert (run.status, run.tags, run.execution.deadline_seconds) == ("queued", ("a", "b"), 7.5)
    assert [found.run_id for found in page.items] == [result.run_id]


@scenario
async def launches_of_every_kind_are_queued(studio: StudioApplication, own: str) -> None:
    for kind in ("agent", "flow", "fanout"):
        await launch(studio, kind=kind, prompt="p", model="m", runtime="li", extra_args=(), project=own)
    await launch(studio, kind="flow_yaml", flow_yaml=FLOW, project=own)
    await launch(studio, kind="flow_yaml", flow_yaml=SILENT_FLOW, prompt="p", project=own)
    await launch(studio, kind="command", command=("sh", "", "ä\n", "-rf", "--"), project=own)

    page = await studio.list_runs(RunQuery(project=own))

    assert {run.status for run in page.items} == {"queued"}
    assert len(page.items) == 6


@home_scenario
async def playbook_is_launched_as_its_file_is_now(studio: StudioApplication, own: str, home: Path) -> None:
    file = home / "playbooks" / f"{own}.playbook.yaml"
    file.parent.mkdir(exist_ok=True)
    play = {"kind": "play", "playbook": own}

    file.write_text(SILENT_FLOW, encoding="utf-8")
    silent = await refused(ValidationFailure, launch(studio, **play))
    await launch(studio, **play, prompt="p")
    file.write_text(FLOW, encoding="utf-8")
    await launch(studio, **play)
    file.write_text("steps: [", encoding="utf-8")
    broken = await refused(ValidationFailure, launch(studio, **play))
    file.unlink()
    file.symlink_to(home)
    linked = await refused(ValidationFailure, launch(studio, **play))

    assert places(silent) == [(("prompt",), "missing")]
    assert [path for path, _ in places(broken)] == [("playbook",)]
    assert places(linked) == [(("playbook",), "unreadable")]


@scenario
async def same_launch_key_is_the_same_launch(studio: StudioApplication, own: str) -> None:
    first = await launch_shell(studio, own, "-c", "true")
    again = await launch_shell(studio, own, "-c", "true", name="another name", tags=("x",), deadline_seconds=1)

    assert again == first.model_copy(update={"repeated": True})
    assert (await studio.get_run(first.run_id, RunReadQuery())).name is None


@scenario
async def launch_without_a_key_is_always_another(studio: StudioApplication, own: str) -> None:
    action: dict[str, Any] = {"kind": "command", "command": ("sh",), "project": own}

    first = await launch(studio, **action)
    second = await launch(studio, **action)

    assert first.run_id != second.run_id
    assert not second.repeated


@scenario
async def launch_key_of_another_action_is_a_conflict(studio: StudioApplication, own: str) -> None:
    first = await launch_shell(studio, own, "-c", "true")

    conflict = await refused(Conflict, launch_shell(studio, own, "-c", "false"))

    assert conflict.resource == "launch"
    assert first.run_id in str(conflict)


@scenario
async def queued_launch_is_cancelled_at_once(studio: StudioApplication, own: str) -> None:
    run_id = (await launch_shell(studio, own)).run_id

    cancelled = await studio.cancel_run(run_id, CancelRun(reason="enough"))
    again = await studio.cancel_run(run_id, CancelRun())
    repeated = await launch_shell(studio, own)
    run = await studio.get_run(run_id, RunReadQuery())

    assert cancelled == again
    assert (cancelled.status, repeated.status, repeated.repeated) == ("cancelled", "cancelled", True)
    assert run.execution is not None
    assert (run.status_reason_code, run.execution.attempts) == ("run.cancelled.before_start", 0)


@scenario
async def what_cannot_be_executed_is_refused_where_it_is_wrong(studio: StudioApplication, own: str) -> None:
    for action, expected in REFUSED:
        failure = await refused(ValidationFailure, launch(studio, project=own, **action))

        assert places(failure) == expected

    assert not (await studio.list_runs(RunQuery(project=own))).items


@scenario
async def every_fault_of_an_action_is_told_at_once(studio: StudioApplication, own: str) -> None:
    faulty = launch(studio, kind="flow_yaml", flow_yaml="a: 1\nsteps: [\n", command=("sh",), runtime="no", cwd="x")

    failure = await refused(ValidationFailure, faulty)

    assert {path[0] for path, _ in places(failure)} == {"flow_yaml", "command", "runtime", "cwd"}
    assert any(fault.line is not None for fault in failure.field_errors)
