"""What may be executed: every fault of an action, at its field."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.actions import ActionFields
from contract.base import FieldFailure
from runs.actions import LaunchRules, check_action
from runs.arguments import ARGUMENT_MAX_BYTES
from runs.runtimes import ACTION_KINDS, SHIPPED, Runtime, Template

RULES = LaunchRules(runtimes=SHIPPED, command_allowlist=("git", "/usr/bin/make"))
USABLE = frozenset(SHIPPED)
# One action of every kind that may be executed.
WELL: Mapping[str, ActionFields] = {
    "agent": ActionFields(kind="agent", model="m", agent="a", prompt="p", project="x", cwd="/w", runtime="li"),
    "flow": ActionFields(kind="flow", prompt="p"),
    "fanout": ActionFields(kind="fanout", model="m", prompt="--"),
    "play": ActionFields(kind="play", playbook="nightly", model="m", prompt=""),
    "flow_yaml": ActionFields(kind="flow_yaml", flow_yaml="prompt: x"),
    "command": ActionFields(kind="command", command=("git", "status"), project="x", cwd="/w"),
}


def faults(action: ActionFields, rules: LaunchRules = RULES) -> tuple[FieldFailure, ...]:
    return check_action(action, rules=rules, usable=USABLE).failures


def places(action: ActionFields, rules: LaunchRules = RULES) -> list[tuple[tuple[str | int, ...], str]]:
    return [(fault.path, fault.code) for fault in faults(action, rules)]


def only_fault(action: ActionFields, rules: LaunchRules = RULES) -> FieldFailure:
    [fault] = faults(action, rules)
    return fault


@pytest.mark.parametrize("kind", ACTION_KINDS)
def test_an_action_with_what_its_kind_needs_may_be_executed(kind: str) -> None:
    checked = check_action(WELL[kind], rules=RULES, usable=USABLE)

    assert checked.failures == ()
    assert checked.runtime == (None if kind == "command" else SHIPPED["li"])


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (ActionFields(kind="agent", model="m"), "prompt"),
        (ActionFields(kind="flow"), "prompt"),
        (ActionFields(kind="fanout"), "prompt"),
        (ActionFields(kind="play", prompt="p"), "playbook"),
        (ActionFields(kind="flow_yaml", prompt="p"), "flow_yaml"),
        (ActionFields(kind="command"), "command"),
    ],
)
def test_what_a_kind_needs_and_does_not_get_is_missing(action: ActionFields, field: str) -> None:
    fault = only_fault(action)

    assert (fault.path, fault.code, fault.message) == ((field,), "missing", f"is needed by kind {action.kind}")


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u2003"])
@pytest.mark.parametrize("kind", ["agent", "flow", "fanout"])
def test_a_prompt_that_is_needed_must_not_be_blank(kind: str, blank: str) -> None:
    action = WELL[kind].model_copy(update={"prompt": blank})

    assert places(action) == [(("prompt",), "blank")]


@pytest.mark.parametrize(
    ("kind", "field"), [("agent", "model"), ("agent", "agent"), ("flow", "project"), ("play", "playbook")]
)
def test_no_name_may_be_blank(kind: str, field: str) -> None:
    assert places(WELL[kind].model_copy(update={field: " "})) == [((field,), "blank")]


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("agent", "playbook", "b"),
        ("agent", "flow_yaml", "a: 1"),
        ("agent", "command", ("git",)),
        ("play", "agent", "a"),
        ("play", "flow_yaml", "a: 1"),
        ("flow_yaml", "agent", "a"),
        ("command", "prompt", ""),
        ("command", "model", "m"),
        ("command", "runtime", "li"),
        ("command", "extra_args", ("x",)),
    ],
)
def test_a_field_that_a_kind_does_not_take_is_refused(kind: str, field: str, value: object) -> None:
    fault = only_fault(WELL[kind].model_copy(update={field: value}))

    assert (fault.path, fault.code, fault.message) == ((field,), "not_taken", f"is not taken by kind {kind}")


def test_where_no_runtime_is_usable_that_is_said_and_not_what_one_would_miss() -> None:
    failures = check_action(ActionFields(kind="agent", prompt="x"), rules=RULES, usable=()).failures

    [fault] = failures
    assert (fault.path, fault.code) == (("runtime",), "none_usable")
    assert "no runtime that executes agent is usable here: install one of li, claude, codex, or " in fault.message
    assert "`studio doctor`" in fault.message


def test_where_no_runtime_is_usable_faults_of_the_action_itself_are_told_as_well() -> None:
    failures = check_action(ActionFields(kind="agent", prompt=" ", cwd="w"), rules=RULES, usable=()).failures

    assert [fault.code for fault in failures] == ["blank", "not_absolute", "none_usable"]


def test_a_runtime_that_is_meant_tells_what_it_misses_even_if_it_is_not_here() -> None:
    action = ActionFields(kind="agent", prompt="x")
    by_default = LaunchRules(runtimes=SHIPPED, default_runtime="li")

    named = check_action(action.model_copy(update={"runtime": "li"}), rules=RULES, usable=())
    default = check_action(action, rules=by_default, usable=())

    assert [fault.message for fault in named.failures] == ["runtime li needs model or agent for agent"]
    assert default.failures == named.failures


def test_what_the_first_runtime_that_knows_the_kind_would_take_may_wait_for_it() -> None:
    checked = check_action(ActionFields(kind="agent", prompt="x", model="m"), rules=RULES, usable=())

    assert (checked.failures, checked.runtime) == ((), SHIPPED["li"])


def test_every_fault_is_told_at_once() -> None:
    action = ActionFields(kind="agent", prompt=" ", model="\t", playbook="b", cwd="w", extra_args=("x",), runtime="li")

    assert sorted(places(action)) == [
        (("cwd",), "not_absolute"),
        (("extra_args",), "not_taken"),
        (("model",), "blank"),
        (("playbook",), "not_taken"),
        (("prompt",), "blank"),
    ]


@pytest.mark.parametrize("cwd", ["w", "./w", "~/w", " /w"])
def test_a_folder_must_be_absolute(cwd: str) -> None:
    assert places(WELL["command"].model_copy(update={"cwd": cwd})) == [(("cwd",), "not_absolute")]


@pytest.mark.parametrize("executable", ["git", "/usr/bin/make"])
def test_an_executable_on_the_allow_list_may_be_started_with_any_arguments(executable: str) -> None:
    assert faults(ActionFields(kind="command", command=(executable, "--flag", "", "; rm -rf /"))) == ()


@pytest.mark.parametrize("executable", ["make", "/usr/bin/git", "GIT", "git ", "gitt", "gi", "/usr/bin/../bin/make"])
def test_an_executable_must_be_on_the_allow_list_exactly(executable: str) -> None:
    fault = only_fault(ActionFields(kind="command", command=(executable,)))

    assert (fault.path, fault.code) == (("command", 0), "not_allowed")
    assert "STUDIO_COMMAND_ALLOWLIST" in fault.message


@pytest.mark.parametrize("executable", ["", " ", "./git", "bin/git", ".."])
def test_an_executable_that_depends_on_the_folder_is_refused_even_if_listed(executable: str) -> None:
    fault = only_fault(
        ActionFields(kind="command", command=(executable,)),
        LaunchRules(runtimes=SHIPPED, command_allowlist=(executable,)),
    )

    assert (fault.path, fault.message) == (("command", 0), "must be a bare name or an absolute path")


def test_an_empty_allow_list_allows_nothing_and_names_the_setting() -> None:
    fault = only_fault(WELL["command"], LaunchRules(runtimes=SHIPPED))

    assert fault.message.startswith("no executable is allowed: set command_allowlist in [execution]")


def test_a_runtime_that_there_is_not_is_refused_and_the_others_are_named() -> None:
    fault = only_fault(WELL["agent"].model_copy(update={"runtime": "lii"}))

    assert (fault.path, fault.code) == (("runtime",), "unknown_runtime")
    assert fault.message.endswith("there are li, claude, codex")


def test_a_runtime_that_does_not_know_the_kind_is_refused_and_its_kinds_are_named() -> None:
    fault = only_fault(WELL["flow"].model_copy(update={"runtime": "codex"}))

    assert (fault.path, fault.code, fault.message) == (("runtime",), "unknown_kind", "codex executes agent only")


def test_a_kind_that_no_runtime_knows_is_refused() -> None:
    rules = LaunchRules(runtimes={"codex": SHIPPED["codex"]})

    assert places(WELL["play"], rules) == [(("kind",), "unknown_kind")]


def test_a_field_that_the_runtime_has_no_place_for_is_refused_and_its_fields_are_named() -> None:
    fault = only_fault(WELL["agent"].model_copy(update={"runtime": "codex"}))

    assert (fault.path, fault.code) == (("agent",), "not_taken")
    assert fault.message == "runtime codex has no place for it; it takes model, prompt"


def test_a_project_is_studios_own_business_where_the_runtime_has_no_place_for_it() -> None:
    assert faults(ActionFields(kind="agent", prompt="p", project="x", runtime="claude")) == ()


def test_extra_arguments_need_a_place_in_the_template() -> None:
    action = ActionFields(kind="agent", prompt="p", extra_args=("a", "b"))
    tool = Runtime(
        name="tool", executable="tool", templates={"agent": Template(argv=("--", "{prompt}", "{extra_args}"))}
    )

    assert places(action.model_copy(update={"model": "m"})) == [(("extra_args",), "not_taken")]
    assert faults(action, LaunchRules(runtimes={"tool": tool})) == ()


def test_li_needs_a_model_or_an_agent_for_an_agent() -> None:
    fault = only_fault(ActionFields(kind="agent", prompt="p", runtime="li"))

    assert (fault.path, fault.code) == (("model",), "missing")
    assert fault.message == "runtime li needs model or agent for agent"
    assert faults(ActionFields(kind="agent", prompt="p", agent="a", runtime="li")) == ()
    assert faults(ActionFields(kind="agent", prompt="p", runtime="codex")) == ()


def test_a_prompt_that_no_argument_can_hold_is_refused_where_it_is_one() -> None:
    long = "ü" * (ARGUMENT_MAX_BYTES // 2 + 1)

    assert places(WELL["flow"].model_copy(update={"prompt": long})) == [(("prompt",), "too_long")]
    assert faults(WELL["agent"].model_copy(update={"prompt": long})) == ()
    assert places(ActionFields(kind="command", command=("git", long))) == [(("command", 1), "too_long")]


TEXTS = st.none() | st.sampled_from(["", " ", "x", "--", "-x"])


@given(
    st.builds(
        ActionFields.model_construct,
        kind=st.sampled_from(ACTION_KINDS),
        model=TEXTS,
        prompt=TEXTS,
        agent=TEXTS,
        playbook=TEXTS,
        flow_yaml=TEXTS,
        project=TEXTS,
        extra_args=st.sampled_from([(), ("x",)]),
        command=st.sampled_from([(), ("git",), ("", "x"), ("rm",)]),
        runtime=st.sampled_from([None, "li", "claude", "codex", "other"]),
        cwd=st.sampled_from([None, "/w", "w"]),
    )
)
def test_every_fault_of_any_action_stands_at_a_field_and_no_field_has_the_same_twice(action: ActionFields) -> None:
    told = places(action)

    assert len(told) == len(set(told))
    assert {path[0] for path, _ in told} <= set(ActionFields.model_fields)
