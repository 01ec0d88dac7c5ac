"""What lionagi's own command line makes of the arguments built for it: exactly the fields of the action."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contract.actions import ActionFields
from contract.projects import project_name_fault
from runs.arguments import ActionFiles, child_arguments
from runs.runtimes import SHIPPED

Listen = Callable[[ActionFields], dict[str, Any]]
Plain = dict[str, dict[str, Any]]

# Hostile in one way or another: flags of `li`, ends of flags, its own subcommands, what a shell would act upon.
HOSTILE = (
    "--bypass", "-r x", "--resume=x", "--", "-", "--machine", "-v", "--verbose", "--cwd=/", "--help", "-h", "--model",
    "--prompt=x", "status", "a=b", "=", "$(id)", "`id`", "'; id #", "*", "~", "@file", "%s", "{model}", "\\", "\t", "ü",
    "\u2028", "\U0001f9ea", "a\nb",
)  # fmt: skip
TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
NAMES = TEXTS.map(lambda text: text[:200]).filter(str.strip)
PROMPTS = TEXTS.filter(str.strip)
# Behind a flag: `--` is refused there (tests/runs/test_arguments.py).
FLAG_VALUES = NAMES.filter(lambda name: name != "--")
PROJECTS = FLAG_VALUES.filter(lambda name: project_name_fault(name) is None)

# The first example waits until lionagi is there.
SLOWLY = settings(deadline=None)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ActionFiles:
    """A playbook and a flow under names that look like flags."""
    folder = tmp_path_factory.mktemp("--bypass -r x")
    playbook, flow = folder / "--dry-run.playbook.yaml", folder / "-f.yaml"
    playbook.write_text("prompt: 'play <{input}>'\nmodel: own\n", encoding="utf-8")
    flow.write_text("prompt: flow\n", encoding="utf-8")
    return ActionFiles(playbook_file=str(playbook), flow_file=str(flow))


@pytest.fixture(scope="module")
def listen(tmp_path_factory: pytest.TempPathFactory, files: ActionFiles) -> Iterator[Listen]:
    """Build the arguments for an action, hand them to lionagi, and return what it would have worked on."""
    environment = {"PATH": os.defpath, "HOME": str(tmp_path_factory.mktemp("home"))}
    command = [sys.executable, "-m", "tests.runs.li_listener"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=Path(__file__).parents[2]
    ) as li:
        asked, answers = li.stdin, li.stdout
        assert asked is not None
        assert answers is not None

        def listen(action: ActionFields) -> dict[str, Any]:
            built = child_arguments(action, runtime=SHIPPED["li"], files=files)
            asked.write(json.dumps({"argv": built.argv[1:], "stdin": built.stdin}).encode() + b"\n")
            asked.flush()
            answer = json.loads(answers.readline())
            assert (answer["exit"], answer["told"] is None) == (0, False), answer["said"]
            return dict(answer["told"])

        yield listen
        asked.close()


@pytest.fixture(scope="module")
def plain(listen: Listen) -> Plain:
    """What lionagi is told besides the fields of the simplest action, by kind."""
    actions = (
        ActionFields(kind="agent", agent="a", prompt="p"),
        ActionFields(kind="flow", prompt="p"),
        ActionFields(kind="fanout", prompt="p"),
        ActionFields(kind="play", playbook="b", prompt="p"),
        ActionFields(kind="flow_yaml", flow_yaml="prompt: flow"),
    )
    return {action.kind: others(listen(action)) for action in actions}


def others(told: dict[str, Any]) -> dict[str, Any]:
    """What lionagi was told besides the fields of the action: every flag it knows."""
    return {
        name: value for name, value in told.items() if name not in {"model_spec", "prompt", "agent_name", "project"}
    }


def as_read_from_a_pipe(text: str) -> str:
    """A Python program that reads text takes every kind of line end for a line feed."""
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8").read()


@SLOWLY
@given(model=st.none() | NAMES, agent=FLAG_VALUES, project=st.none() | PROJECTS, prompt=PROMPTS)
@example(model="--bypass", agent="-r x", project="--x", prompt="--")
@example(model=None, agent="status", project=None, prompt="--bypass")
def test_an_agent_gets_exactly_what_the_action_says(
    listen: Listen, plain: Plain, model: str | None, agent: str, project: str | None, prompt: str
) -> None:
    told = listen(ActionFields(kind="agent", model=model, agent=agent, project=project, prompt=prompt))

    assert told["command"] == "agent"
    assert (told["model_spec"], told["agent_name"], told["project"]) == (model, agent, project)
    assert told["prompt"] == as_read_from_a_pipe(prompt)
    assert others(told) == plain["agent"]


@pytest.mark.parametrize("kind", ["flow", "fanout"])
@SLOWLY
@given(model=st.none() | NAMES, agent=st.none() | FLAG_VALUES, project=st.none() | PROJECTS, prompt=PROMPTS)
@example(model=None, agent=None, project=None, prompt="--")
@example(model="--", agent="-- ", project="-", prompt="-r x")
def test_an_orchestration_gets_exactly_what_the_action_says(
    listen: Listen, plain: Plain, kind: str, model: str | None, agent: str | None, project: str | None, prompt: str
) -> None:
    fields = {"model": model, "agent": agent, "project": project, "prompt": prompt}
    told = listen(ActionFields.model_validate({"kind": kind} | fields))

    assert told["command"] == kind
    assert (told["model_spec"], told["agent_name"], told["project"]) == (model or "", agent, project)
    assert told["prompt"] == prompt
    assert others(told) == plain[kind]


@SLOWLY
@given(model=st.none() | NAMES, project=st.none() | PROJECTS, prompt=st.none() | TEXTS)
@example(model="--bypass", project="--=", prompt="")
@example(model="m", project=None, prompt=None)
def test_a_playbook_gets_the_prompt_as_its_input_and_no_model_is_taken_for_one(
    listen: Listen, plain: Plain, model: str | None, project: str | None, prompt: str | None
) -> None:
    told = listen(ActionFields(kind="play", playbook="b", model=model, project=project, prompt=prompt))

    assert told["command"] == "flow"
    assert (told["model_spec"], told["project"]) == (model or "own", project)
    # lionagi leaves `{input}` as it is where there are no positionals at all.
    assert told["prompt"] == ("play <{input}>" if model is prompt is None else f"play <{prompt or ''}>")
    assert others(told) == plain["play"]


@SLOWLY
@given(model=st.none() | NAMES, project=st.none() | PROJECTS, prompt=st.none() | TEXTS)
@example(model="m", project=None, prompt=None)
def test_an_inline_flow_keeps_its_own_prompt_and_gets_the_models_name_as_such(
    listen: Listen, plain: Plain, model: str | None, project: str | None, prompt: str | None
) -> None:
    told = listen(ActionFields(kind="flow_yaml", flow_yaml="prompt: flow", model=model, project=project, prompt=prompt))

    assert (told["model_spec"], told["project"]) == (model or "", project)
    assert told["prompt"] == ("flow" if model is prompt is None else f"flow\n\n{prompt or ''}")
    assert others(told) == plain["flow_yaml"]
