"""What an agent's file may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from definitions.agents import agent_failures, frontmatter_of

FULL = """---
provider: anthropic
model: claude-opus-4
description: Reviews changes
guidance: |
  Be strict.
permission_mode: plan
effort: high
role: reviewer
mode: critic
yolo: false
fast_mode: true
lion_system: false
bypass: no
timeout: 600
hooks: {post: [lint]}
artifact_defaults: {expected: []}
tools: Read, Grep
color: 7
---
You review.
"""


def _told(content: str) -> list[tuple[str, tuple[str | int, ...], int | None]]:
    return [(fault.code, fault.path, fault.line) for fault in agent_failures(content)]


@pytest.mark.parametrize(
    "content",
    [
        FULL,
        "You review.\n",
        "x",
        "# Title\n---\nnot: [frontmatter\n---\n",
        " ---\na: [\n---\n",
        "----\na: [\n",
        "--- # no\na: [\n",
        "---\n---\nbody",
        "---\n# nothing\n---\n",
        "---\nmodel: ~\ntimeout:\n---\n",
        "---\neffort: ~\nreasoning_effort: high\n---\n",
        "---  \t\nmodel: x\n--- \nbody",
        "---\nmodel: x\n---",
        "---\nmodel: x\n---\nbody\n---\nmore: [\x07",
    ],
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_a_proper_agent_has_no_fault(content: str, mark: str, line_break: str) -> None:
    assert _told(mark + content.replace("\n", line_break)) == []


@pytest.mark.parametrize("content", ["", " ", "\n\n", "\ufeff", "\ufeff\r\n\t"])
def test_a_blank_agent_is_empty(content: str) -> None:
    [failure] = agent_failures(content)

    assert (failure.path, failure.code, failure.message) == (("content",), "empty", "is empty")


@pytest.mark.parametrize(
    "content", ["---", "---\n", "---\nmodel: x\n", "---\r\nmodel: x\r\n ---\r\n", "---\na\n----\n"]
)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_frontmatter_that_is_not_closed_is_a_fault_of_the_first_line(content: str, mark: str) -> None:
    assert _told(mark + content) == [("frontmatter", ("content",), 1)]


@pytest.mark.parametrize("front", ["a text", "- a", "12", "yes"])
def test_frontmatter_must_be_a_mapping(front: str) -> None:
    assert _told(f"---\n{front}\n---\n") == [("type", ("content",), 2)]


def test_frontmatter_with_a_foreign_tag_is_told_once() -> None:
    assert _told("---\n!x {model: 1}\n---\n") == [("tag", ("content",), 2)]


@pytest.mark.parametrize(
    "key",
    ["provider", "model", "description", "guidance", "permission_mode", "effort", "reasoning_effort", "role", "mode"],
)
def test_texts_must_be_text(key: str) -> None:
    assert _told(f"---\n{key}: 1\n---\n") == [("type", ("content", key), 2)]


@pytest.mark.parametrize("key", ["yolo", "fast_mode", "lion_system", "bypass"])
def test_flags_must_be_true_or_false(key: str) -> None:
    assert _told(f"---\n\n{key}: maybe\n---\n") == [("type", ("content", key), 3)]


@pytest.mark.parametrize(("value", "code"), [("0", "range"), ("-5", "range"), ("true", "type"), ("1.5", "type")])
def test_a_timeout_is_a_positive_whole_number(value: str, code: str) -> None:
    assert _told(f"---\ntimeout: {value}\n---\n") == [(code, ("content", "timeout"), 2)]


def test_effort_has_two_names_of_which_one_may_be_given() -> None:
    [failure] = agent_failures("---\nreasoning_effort: low\neffort: high\n---\n")

    assert (failure.path, failure.code, failure.line) == (("content", "effort"), "exclusive", 3)
    assert "`effort` cannot be given together with `reasoning_effort`" in failure.message


def test_faults_are_told_together_with_the_lines_of_the_file() -> None:
    told = _told("\ufeff---\r\nmodel: 1\r\nyolo: !x y\r\n1: a\r\nmodel: b\r\n---\r\n")

    assert sorted(told, key=lambda fault: fault[2] or 0) == [
        ("type", ("content", "model"), 2),
        ("tag", ("content", "yolo"), 3),
        ("key", ("content",), 4),
        ("duplicate", ("content", "model"), 5),
    ]


def test_broken_yaml_is_told_with_its_line_in_the_file() -> None:
    assert _told("---\nname: x\ndescription: use it when: always\n---\n") == [("yaml", ("content",), 3)]


def test_frontmatter_is_the_text_between_the_first_two_fences() -> None:
    found = frontmatter_of("---\na: 1\n---\nb\n---\n")

    assert found is not None
    assert (found.text, found.first_line) == ("a: 1\n", 2)
    assert frontmatter_of("a\n---\nb\n---\n") is None


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_body_without_frontmatter_is_free(body: str) -> None:
    assert _told(f"# An agent\n{body}") == []


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_frontmatter_raises(front: str) -> None:
    for failure in agent_failures(f"---\n{front}\n---\nbody"):
        assert failure.path[0] == "content"
