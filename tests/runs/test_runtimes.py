"""Which runtime executes an action, and what a template must keep to."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.actions import ActionFields, ActionKind
from runs.arguments import ActionFiles, child_arguments
from runs.output_reading import READER_NAMES
from runs.runtimes import (
    FIELDS_OF_KINDS,
    PLACEHOLDERS,
    RUNTIME_KINDS,
    SHIPPED,
    Element,
    Runtime,
    Template,
    choose_runtime,
    is_executable_name,
    runtime_failures,
    template_failures,
)

PROMPT = Template(argv=("--", "{prompt}"))
NAMES = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=20)


def runtime(name: str, *kinds: ActionKind, **changes: Any) -> Runtime:
    return Runtime(name=name, executable=name, templates=dict.fromkeys(kinds, PROMPT), **changes)


def chosen(
    action: ActionFields, *runtimes: Runtime, default: str | None = None, usable: tuple[str, ...] = ()
) -> str | None:
    found = choose_runtime(action, runtimes={one.name: one for one in runtimes}, default=default, usable=usable)
    return found.name if found else None


def messages(template: Template, kind: ActionKind = "agent") -> list[str]:
    return [f"{'.'.join(map(str, fault.path))}: {fault.message}" for fault in template_failures(kind, template)]


def test_a_shipped_runtime_keeps_to_the_rules() -> None:
    assert {name: runtime_failures(shipped) for name, shipped in SHIPPED.items()} == dict.fromkeys(SHIPPED, ())
    assert all(shipped.name == name and shipped.shipped for name, shipped in SHIPPED.items())


def test_li_executes_every_kind_that_needs_a_runtime() -> None:
    assert set(SHIPPED["li"].templates) == set(RUNTIME_KINDS) == set(FIELDS_OF_KINDS) - {"command"}


def test_a_command_needs_no_runtime() -> None:
    action = ActionFields(kind="command", command=("make",))

    assert chosen(action, runtime("a", "agent"), default="a", usable=("a",)) is None


def test_the_runtime_that_an_action_names_is_taken_whether_usable_or_not() -> None:
    action = ActionFields(kind="agent", runtime="b")

    assert chosen(action, runtime("a", "agent"), runtime("b", "agent"), default="a", usable=("a",)) == "b"
    assert chosen(action, runtime("a", "agent"), default="a") is None


def test_the_default_is_taken_for_the_kinds_it_knows() -> None:
    both = (runtime("a", "agent", "flow"), runtime("b", "agent"))

    assert chosen(ActionFields(kind="agent"), *both, default="b", usable=("a",)) == "b"
    assert chosen(ActionFields(kind="flow"), *both, default="b", usable=("a",)) == "a"


def test_without_a_default_the_first_usable_one_that_knows_the_kind_is_taken() -> None:
    three = (runtime("a", "agent"), runtime("b", "flow"), runtime("c", "agent"))

    assert chosen(ActionFields(kind="agent"), *three, usable=("b", "c")) == "c"
    assert chosen(ActionFields(kind="agent"), *three, usable=()) == "a"
    assert chosen(ActionFields(kind="play"), *three, usable=("a", "b", "c")) is None


@pytest.mark.parametrize(
    ("text", "element"),
    [
        ("exec", Element("exec")),
        ("{model}", Element("", "model", "")),
        ("--model={model}", Element("--model=", "model", "")),
        ("a{prompt}b", Element("a", "prompt", "b")),
        ('{"json": {}}', Element('{"json": {}}')),
    ],
)
def test_an_element_is_taken_apart_at_its_placeholder(text: str, element: Element) -> None:
    assert Element.parse(text) == element
    assert element.is_bare == (text == "{model}")


@pytest.mark.parametrize(
    "before", ["--model=", "-m", "-model=", "model=", "@", "/prompts/", "--set=model=", "key\n=", "é"]
)
def test_a_value_may_follow_what_is_no_flag_or_a_complete_one(before: str) -> None:
    assert messages(Template(argv=(before + "{model}", "--", "{prompt}"))) == []


@pytest.mark.parametrize("before", ["-", "--", "--model", "-mo", "--mo\ndel", "-é"])
def test_a_value_that_would_become_part_of_a_flag_is_refused(before: str) -> None:
    [message] = messages(Template(argv=(before + "{model}", "--", "{prompt}")))

    assert message.startswith("argv.agent.0: its value could become part of a flag")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("{prompt}",), "argv.agent.0: its value could be read as a flag: put it after `--`, or write --name={prompt}"),
        (
            ("{prompt}", "--"),
            "argv.agent.0: its value could be read as a flag: put it after `--`, or write --name={prompt}",
        ),
        (
            ("{extra_args}", "--", "{prompt}"),
            "argv.agent.0: its value could be read as a flag: put it after `--`, or write --name={extra_args}",
        ),
        (
            ("--", "{prompt}", "x={extra_args}"),
            "argv.agent.2: {extra_args} must stand alone: it becomes several arguments",
        ),
        (("--", "{prompt}{model}"), "argv.agent.1: holds more than one placeholder"),
        (("--", "{prompt}", "{playbook_file}"), "argv.agent.2: {playbook_file} never has a value for this kind"),
        (("--", "{prompt}", "\x00"), "argv.agent.2: must not contain a NUL"),
        (("--model={model}",), "argv.agent: has no place for what this kind needs: {prompt}"),
    ],
)
def test_a_template_that_breaks_a_rule_is_refused_with_the_place(argv: tuple[str, ...], message: str) -> None:
    assert messages(Template(argv=argv)) == [message]


def test_an_unknown_placeholder_is_refused_and_the_known_ones_are_named() -> None:
    [message] = messages(Template(argv=("--", "{prompt}", "{modle}")))

    assert message.startswith("argv.agent.2: {modle} is no placeholder; there are {agent}, {extra_args}, {flow_file}")


@pytest.mark.parametrize(
    ("stdin", "message"),
    [
        ("{nothing}", "{nothing} is no placeholder"),
        ("{model}{prompt}", "holds more than one placeholder"),
        ("{extra_args}", "{extra_args} are arguments"),
        ("{prompt}", "{prompt} is in argv already"),
        ("\ud800", "must not contain a lone surrogate U+D800"),
    ],
)
def test_a_standard_input_that_breaks_a_rule_is_refused(stdin: str, message: str) -> None:
    [told] = messages(Template(argv=("--", "{prompt}"), stdin=stdin))

    assert told.startswith(f"stdin.agent: {message}")


@pytest.mark.parametrize("stdin", ["{prompt}", "do: {prompt}\n"])
def test_what_a_kind_needs_may_come_by_the_standard_input(stdin: str) -> None:
    assert messages(Template(argv=("-p",), stdin=stdin)) == []


@pytest.mark.parametrize(("kind", "names"), [("play", "{playbook} or {playbook_file}"), ("flow_yaml", "{flow_file}")])
def test_a_template_without_a_place_for_what_its_kind_needs_is_refused(kind: ActionKind, names: str) -> None:
    assert messages(PROMPT, kind) == [f"argv.{kind}: has no place for what this kind needs: {names}"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"executable": "bin/x"}, ("executable",)),
        ({"executable": ""}, ("executable",)),
        ({"reader": "xml"}, ("reader",)),
        ({"env": {"STUDIO_URL": "x"}}, ("env", "STUDIO_URL")),
        ({"env": {"A=B": "x"}}, ("env", "A=B")),
        ({"env": {"": "x"}}, ("env", "")),
        ({"env": {"A": "\x00"}}, ("env", "A")),
        ({"templates": {"agent": Template(argv=())}}, ("argv", "agent")),
    ],
)
def test_a_runtime_that_cannot_be_used_is_refused_with_the_place(
    changes: dict[str, Any], path: tuple[str, ...]
) -> None:
    [failure] = runtime_failures(replace(runtime("a", "agent"), **changes))

    assert failure.path == path


def test_every_reader_may_be_named() -> None:
    assert not any(runtime_failures(runtime("a", "agent", reader=name)) for name in READER_NAMES)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("git", True),
        ("g++", True),
        ("/usr/bin/git", True),
        ("my tool", True),
        ("", False),
        (" ", False),
        (".", False),
        ("..", False),
        ("./git", False),
        ("bin/git", False),
        ("git\x00", False),
    ],
)
def test_an_executable_is_a_bare_name_or_an_absolute_path(text: str, names: bool) -> None:
    assert is_executable_name(text) is names


def test_a_runtime_shows_no_value_of_its_environment() -> None:
    assert "geheim" not in repr(runtime("a", "agent", env={"KEY": "geheim"}))


@st.composite
def elements(draw: st.DrawFn) -> str:
    before = draw(st.sampled_from(["", "-", "--", "-m", "--m", "--model=", "-x=", "m=", "m", " "]))
    name = draw(st.sampled_from([None, "prompt", "model", "agent", "extra_args"]))
    return before if name is None else f"{before}{{{name}}}"


def flags_of(argv: tuple[str, ...]) -> list[str]:
    """What a program takes for flags: all that begins with a dash up to the first `--`, values left out."""
    until = argv.index("--") if "--" in argv else len(argv)
    long = [text.partition("=")[0] if text.startswith("--") else text[:2] for text in argv[:until]]
    return [flag for flag in long if flag.startswith("-")]


@given(st.lists(elements(), max_size=6), st.lists(NAMES, min_size=4, max_size=4))
def test_no_value_is_a_flag_in_any_template_that_is_accepted(argv: list[str], values: list[str]) -> None:
    template = Template(argv=(*argv, "--", "{prompt}"))
    model, agent, prompt, extra = values

    if template_failures("agent", template) == ():
        filled = [
            child_arguments(
                ActionFields(kind="agent", model=one, agent=two, prompt=three, extra_args=(four,)),
                runtime=replace(runtime("a"), templates={"agent": template}),
                files=ActionFiles(),
            ).argv
            for one, two, three, four in [("m", "a", "p", "e"), (model, agent, prompt, extra)]
        ]
        assert flags_of(filled[0]) == flags_of(filled[1])


def test_every_placeholder_stands_for_a_field_of_an_action() -> None:
    assert set(PLACEHOLDERS.values()) <= set(ActionFields.model_fields)
    assert {name for fields in FIELDS_OF_KINDS.values() for name in fields.taken} == {*ActionFields.model_fields} - {
        "kind"
    }
