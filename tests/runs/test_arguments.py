"""The argument list of a child, built from a template or a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.actions import ActionFields
from contract.errors import ValidationFailure
from contract.limits import PROMPT_MAX_CHARS
from runs.arguments import (
    ARGUMENT_MAX_BYTES,
    ARGUMENTS_MAX_BYTES,
    ActionFiles,
    ChildArguments,
    argument_failures,
    child_arguments,
)
from runs.runtimes import SHIPPED, Runtime, Template

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)


def runtime(*argv: str, stdin: str | None = None) -> Runtime:
    return Runtime(name="tool", executable="tool", templates={"agent": Template(argv=argv, stdin=stdin)})


def agent(**fields: object) -> ActionFields:
    return ActionFields.model_validate({"kind": "agent"} | fields)


def argv_of(action: ActionFields, *template: str) -> tuple[str, ...]:
    return child_arguments(action, runtime=runtime(*template)).argv


def failures(action: ActionFields, runtime: Runtime | None) -> list[tuple[tuple[str | int, ...], str]]:
    return [(fault.path, fault.code) for fault in argument_failures(action, runtime=runtime)]


def test_a_command_is_its_own_argument_list() -> None:
    action = ActionFields(kind="command", command=("git", "log", "--", "$(rm -rf /)", ""))

    assert child_arguments(action, runtime=None) == ChildArguments(argv=("git", "log", "--", "$(rm -rf /)", ""))


@pytest.mark.parametrize(
    ("name", "action", "expected"),
    [
        (
            "li",
            agent(model="m", agent="a", prompt="p", project="o/r"),
            ChildArguments(argv=("li", "agent", "--agent=a", "--project=o/r", "--prompt-file=-", "--", "m"), stdin="p"),
        ),
        (
            "li",
            agent(agent="a", prompt="p"),
            ChildArguments(argv=("li", "agent", "--agent=a", "--prompt-file=-", "--"), stdin="p"),
        ),
        (
            "li",
            ActionFields(kind="flow", model="m", prompt="p", agent="a"),
            ChildArguments(argv=("li", "o", "flow", "--agent=a", "--", "m", "p")),
        ),
        (
            "li",
            ActionFields(kind="fanout", prompt="p"),
            ChildArguments(argv=("li", "o", "fanout", "--", "p")),
        ),
        (
            "li",
            ActionFields(kind="play", playbook="b", model="m", project="x"),
            ChildArguments(argv=("li", "o", "flow", "--file=/h/b.playbook.yaml", "--project=x", "--", "m", "")),
        ),
        (
            "li",
            ActionFields(kind="flow_yaml", flow_yaml="prompt: x"),
            ChildArguments(argv=("li", "o", "flow", "--file=/t/flow.yaml", "--")),
        ),
        (
            "claude",
            agent(model="m", agent="a", prompt="p", project="x"),
            ChildArguments(
                argv=("claude", "-p", "--output-format", "stream-json", "--verbose", "--model=m", "--agent=a"),
                stdin="p",
            ),
        ),
        (
            "codex",
            agent(model="m", prompt="p"),
            ChildArguments(argv=("codex", "exec", "--json", "--model=m", "-"), stdin="p"),
        ),
    ],
)
def test_a_shipped_runtime_is_told_of_an_action(name: str, action: ActionFields, expected: ChildArguments) -> None:
    files = ActionFiles(playbook_file="/h/b.playbook.yaml", flow_file="/t/flow.yaml")

    assert child_arguments(action, runtime=SHIPPED[name], files=files) == expected


def test_an_element_without_a_value_is_left_out() -> None:
    assert argv_of(agent(prompt="p"), "--model={model}", "--", "{agent}", "{prompt}") == ("tool", "--", "p")


def test_behind_a_positional_that_has_a_value_an_empty_one_keeps_the_place_of_what_has_none() -> None:
    template = ("--", "{model}", "{agent}", "x={project}", "{extra_args}", "{prompt}")

    assert argv_of(agent(model="m", prompt="p"), *template) == ("tool", "--", "m", "", "p")
    assert argv_of(agent(prompt="p"), *template) == ("tool", "--", "p")


def test_extra_arguments_become_one_argument_each() -> None:
    assert argv_of(agent(prompt="p", extra_args=("-x", "", "a b")), "--", "{prompt}", "{extra_args}") == (
        "tool",
        "--",
        "p",
        "-x",
        "",
        "a b",
    )


def test_text_around_a_placeholder_stays_and_braces_in_a_value_mean_nothing() -> None:
    assert argv_of(agent(prompt="{model}", model="m"), "--say=<{prompt}>", "--", "{model}") == (
        "tool",
        "--say=<{model}>",
        "--",
        "m",
    )


@pytest.mark.parametrize(
    ("stdin", "expected"),
    [(None, ""), ("{prompt}", "p"), ("do: {prompt}\n", "do: p\n"), ("{model}", ""), ("y\n", "y\n")],
)
def test_the_standard_input_is_filled_in_like_an_element(stdin: str | None, expected: str) -> None:
    built = child_arguments(agent(prompt="p"), runtime=runtime("run", stdin=stdin))

    assert built.stdin == expected


@given(TEXTS, TEXTS)
def test_every_value_is_passed_on_as_it_is(prompt: str, extra: str) -> None:
    action = agent(prompt=prompt, extra_args=(extra, extra))

    assert argv_of(action, "--p={prompt}", "--", "{prompt}", "{extra_args}") == (
        "tool",
        f"--p={prompt}",
        "--",
        prompt,
        extra,
        extra,
    )


def test_an_argument_that_the_system_would_refuse_is_told_at_its_field() -> None:
    long = "ü" * (ARGUMENT_MAX_BYTES // 2 + 1)

    assert failures(agent(prompt=long), runtime("--", "{prompt}")) == [(("prompt",), "too_long")]
    assert failures(agent(prompt=long[:-1]), runtime("--", "{prompt}")) == []
    assert failures(agent(prompt=long[:-1]), runtime("--", "x={prompt}")) == [(("prompt",), "too_long")]
    assert failures(ActionFields(kind="command", command=("a", "b", long)), None) == [(("command", 2), "too_long")]
    assert failures(agent(prompt="p", extra_args=("", long)), runtime("--", "{extra_args}")) == [
        (("extra_args", 1), "too_long")
    ]


def test_a_prompt_by_standard_input_may_be_as_long_as_any() -> None:
    action = agent(prompt="ü" * PROMPT_MAX_CHARS, model="m")

    assert failures(action, SHIPPED["li"]) == []
    assert len(child_arguments(action, runtime=SHIPPED["li"]).stdin) == PROMPT_MAX_CHARS


def test_arguments_that_are_too_much_together_are_told_at_the_longest() -> None:
    piece = "x" * 100_000
    command = ("a", *[piece] * (ARGUMENTS_MAX_BYTES // len(piece)))

    assert failures(ActionFields(kind="command", command=command), None) == []
    assert failures(ActionFields(kind="command", command=(*command, piece)), None) == [(("command",), "too_long")]


def test_the_end_of_flags_is_refused_as_the_value_of_a_flag_which_programs_lose() -> None:
    action = agent(prompt="--", model="--", agent="--")

    assert failures(action, runtime("--agent={agent}", "-m{model}", "p={prompt}", "--", "{prompt}", "{model}")) == [
        (("agent",), "end_of_flags"),
        (("model",), "end_of_flags"),
    ]


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_no_argument_can_hold_is_told_wherever_it_came_from(text: str) -> None:
    unchecked = ActionFields.model_construct(kind="agent", prompt=text, extra_args=(), command=())

    assert failures(unchecked, runtime("--", "{prompt}")) == [(("prompt",), "unsafe_text")]


def test_a_kind_that_the_runtime_does_not_know_is_refused() -> None:
    assert failures(ActionFields(kind="flow", prompt="p"), SHIPPED["codex"]) == [(("kind",), "unknown_kind")]


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (ActionFields(kind="play", playbook="b", prompt="p"), "playbook"),
        (ActionFields(kind="flow_yaml", flow_yaml="x: 1", prompt="p"), "flow_yaml"),
    ],
)
def test_a_child_is_never_started_without_the_file_that_it_is_about(action: ActionFields, field: str) -> None:
    assert failures(action, SHIPPED["li"]) == []

    with pytest.raises(ValidationFailure) as caught:
        child_arguments(action, runtime=SHIPPED["li"])

    assert [fault.path for fault in caught.value.field_errors] == [(field,)]
