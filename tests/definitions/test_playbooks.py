"""What a playbook's file may be at its top; its sections have tests of their own."""

import pytest

from contract.limits import PROMPT_MAX_CHARS
from definitions.playbooks import has_prompt_of_its_own, inline_flow_failures, playbook_failures

FULL = """\
name: review
description: Reviews a change
agent: reviewer
model: claude-opus-4
effort: high
pack: core
permission_mode: plan
argument-hint: "[branch]"
prompt: |
  Review {branch}: **all** of it.
args:
  branch: {type: str, default: main, help: What to review}
  depth:
    type: int
    default: 3
artifacts:
  expected:
    - {id: report, path: out/report.md, description: The report}
steps:
  read: {prompt: Read}
  judge: {prompt: Judge}
links:
  - {from: read, to: judge}
save: true
team_attach: notes
team_mode: no
workers: 4
max_ops: 50
max-agents: 0
bare: false
dry-run: false
reactive: true
show_graph: true
with_synthesis: true
bypass: false
yolo: false
use: [anything, {at: all}]
"""


def _told(content: str) -> list[tuple[str, tuple[str | int, ...], int | None]]:
    return [(fault.code, fault.path, fault.line) for fault in playbook_failures(content)]


@pytest.mark.parametrize(
    "content", [FULL, "{}", "---\nname: x\n...\n", '{"name": "x", "workers": 1}', "workers:\nargs:\n"]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_proper_playbook_has_no_fault(content: str, mark: str, line_break: str) -> None:
    assert _told(mark + content.replace("\n", line_break)) == []


@pytest.mark.parametrize("content", ["", "\ufeff", " \n", "# to be written\n", "---\n", "~"])
def test_a_playbook_that_says_nothing_is_empty(content: str) -> None:
    [failure] = playbook_failures(content)

    assert (failure.path, failure.code) == (("content",), "empty")


@pytest.mark.parametrize("content", ["a text", "- name: x", "12"])
def test_a_playbook_must_be_a_mapping(content: str) -> None:
    assert _told(content) == [("type", ("content",), 1)]


@pytest.mark.parametrize(("content", "code"), [("a: [b", "yaml"), ("!x {name: 1}", "tag"), ("a: &a [*a]", "alias")])
def test_what_cannot_be_read_is_told_once(content: str, code: str) -> None:
    assert [fault[0] for fault in _told(content)] == [code]


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("promt", "; did you mean `prompt`?"),
        ("Prompt", "; did you mean `prompt`?"),
        ("argument_hnt", "; did you mean `argument-hint`?"),
        ("max-agent", "; did you mean `max_agents`?"),
        ("zzz", ""),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known(key: str, nearest: str) -> None:
    [failure] = playbook_failures(f"name: x\n\n{key}: y\n")

    assert (failure.path, failure.code) == (("content", key), "unknown_key")
    assert failure.message == f"line 3, column 1: `{key}` is not a key of a playbook{nearest}"


def test_a_key_with_dashes_and_with_underscores_is_the_same_key() -> None:
    [failure] = playbook_failures("max-ops: 1\nname: x\nmax_ops: 2\n")

    assert (failure.path, failure.code, failure.line) == (("content", "max_ops"), "duplicate", 3)
    assert failure.message.endswith("`max_ops` stands here already, as `max-ops` in line 1")


@pytest.mark.parametrize(
    "key",
    ["agent", "argument-hint", "description", "effort", "model", "name", "pack", "permission_mode", "prompt"],
)
def test_texts_must_be_text(key: str) -> None:
    assert _told(f"{key}: [x]") == [("type", ("content", key), 1)]


@pytest.mark.parametrize(
    "key", ["bare", "bypass", "dry_run", "dry-run", "reactive", "show_graph", "with_synthesis", "yolo"]
)
def test_flags_must_be_true_or_false(key: str) -> None:
    assert _told(f"{key}: 'yes'") == [("type", ("content", key), 1)]


@pytest.mark.parametrize("key", ["save", "team_attach", "team_mode"])
def test_some_keys_take_text_or_a_flag(key: str) -> None:
    assert _told(f"{key}: yes") == _told(f"{key}: name") == []
    assert _told(f"{key}: 1") == [("type", ("content", key), 1)]


@pytest.mark.parametrize(("key", "lowest", "highest"), [("workers", 1, 32), ("max_ops", 0, 50), ("max-agents", 0, 50)])
def test_numbers_have_bounds(key: str, lowest: int, highest: int) -> None:
    assert _told(f"{key}: {lowest}") == _told(f"{key}: {highest}") == []
    for value, code in ((lowest - 1, "range"), (highest + 1, "range"), ("true", "type"), ("'2'", "type")):
        assert _told(f"{key}: {value}") == [(code, ("content", key), 1)]


def test_a_prompt_is_bounded_in_characters() -> None:
    assert _told(f"prompt: {'ü' * PROMPT_MAX_CHARS}") == []
    assert _told(f"prompt: {'ü' * (PROMPT_MAX_CHARS + 1)}") == [("too_long", ("content", "prompt"), 1)]


def test_steps_are_a_mapping_or_a_list() -> None:
    assert _told("steps: {a: 1}") == _told("steps: [a, {id: b}]") == []
    assert _told("steps: a") == [("type", ("content", "steps"), 1)]


def test_links_are_judged_wherever_the_steps_stand() -> None:
    assert _told("links: [{from: a, to: b}]\nsteps: [{id: a}, {id: b}]") == []
    assert _told("links: [{from: a, to: a}]") == [
        ("unknown_step", ("content", "links", 0, "from"), 1),
        ("unknown_step", ("content", "links", 0, "to"), 1),
    ]


@pytest.mark.parametrize("content", ["prompt: Go\n", '{"prompt": "Go"}', "prompt: |\n  Go\n"])
def test_a_playbook_may_say_itself_what_is_to_be_done(content: str) -> None:
    assert has_prompt_of_its_own(content)


@pytest.mark.parametrize("content", ["", "prompt:\n", "agent: a\n", "steps: {read: {prompt: Read}}\n", "- prompt\n"])
def test_a_prompt_elsewhere_is_none_of_its_own(content: str) -> None:
    assert not has_prompt_of_its_own(content)


@pytest.mark.parametrize("flow", ["anything: [at, all]\n", "{}", "steps: {read: {prompt: Read}}\n"])
def test_an_inline_flow_is_a_mapping_of_any_keys(flow: str) -> None:
    assert inline_flow_failures(flow) == ()


@pytest.mark.parametrize(
    ("flow", "code"), [("", "empty"), ("# nothing\n", "empty"), ("- a\n", "type"), ("text", "type"), ("a: [", "yaml")]
)
def test_anything_else_is_no_flow(flow: str, code: str) -> None:
    [fault] = inline_flow_failures(flow)

    assert (fault.path[0], fault.code) == ("flow_yaml", code)
