"""Arguments, expected artifacts and links of a playbook."""

from collections.abc import Iterable

import pytest

from contract.base import FieldFailure
from definitions.playbook_sections import args, artifacts, links
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_nodes import YamlNode

Told = list[tuple[str, tuple[str | int, ...]]]


def _node(text: str) -> YamlNode:
    root = parse_yaml(text).root
    assert root is not None
    return root


def _told(failures: Iterable[FieldFailure]) -> Told:
    return [(failure.code, failure.path[1:]) for failure in failures]


def _expected(items: str) -> Told:
    return _told(artifacts(_node(f"expected: {items}"), ()))


def _links(text: str, steps: str | None = "{a: 1, b: 2}") -> Told:
    return _told(links(_node(text), (), _node(steps) if steps is not None else None))


@pytest.mark.parametrize(
    "argument",
    [
        "{}",
        "{type: str, default: '1', help: x, required: true}",
        "{type: int, default: 1}",
        "{type: float, default: 1}",
        "{type: float, default: 1.5}",
        "{type: bool, default: no}",
        "{type: ~, default: [anything]}",
        "{default: 2024-01-01}",
        "{type: int, default: ~}",
        "{type: int, default: !x 1}",
        "{type: !x int, default: a}",
        "!x {type: odd}",
    ],
)
def test_an_argument_says_its_type_and_a_default_that_fits(argument: str) -> None:
    assert _told(args(_node(f"depth: {argument}"), ("args",))) == []


@pytest.mark.parametrize(
    ("argument", "code", "key"),
    [
        ("~", "type", ()),
        ("int", "type", ()),
        ("{type: integer}", "type", ("type",)),
        ("{type: [int]}", "type", ("type",)),
        ("{type: str, default: 1}", "type", ("default",)),
        ("{type: int, default: '1'}", "type", ("default",)),
        ("{type: int, default: 1.5}", "type", ("default",)),
        ("{type: int, default: true}", "type", ("default",)),
        ("{type: bool, default: 1}", "type", ("default",)),
        ("{type: float, default: .5x}", "type", ("default",)),
    ],
)
def test_an_argument_that_does_not_fit_is_refused(argument: str, code: str, key: tuple[str, ...]) -> None:
    assert _told(args(_node(f"depth: {argument}"), ("args",))) == [(code, ("args", "depth", *key))]


def test_arguments_are_a_mapping_or_null() -> None:
    assert _told(args(_node("[depth]"), ("args",))) == [("type", ("args",))]
    assert _told(args(_node("~"), ("args",))) == []


def test_expected_artifacts_have_an_id_and_a_path() -> None:
    assert _expected("[{id: a-B_1, path: out/a.md, required: no, description: x}, {id: b, path: b c}]") == []
    assert _expected("~") == []
    assert _expected("[{}, {id: ~, path: ~}]") == [
        ("required", (*at, key)) for at in (("expected", 0), ("expected", 1)) for key in ("id", "path")
    ]


@pytest.mark.parametrize(
    ("item", "code", "key"),
    [
        ("{id: 'a b', path: x}", "pattern", "id"),
        ("{id: '', path: x}", "pattern", "id"),
        ('{id: "a\\n", path: x}', "pattern", "id"),
        ("{id: 7, path: x}", "type", "id"),
        ("{id: a, path: 7}", "type", "path"),
        ("{id: a, path: /etc/passwd}", "path", "path"),
        ("{id: a, path: ../x}", "path", "path"),
        ("{id: a, path: ''}", "path", "path"),
        ("{id: a, path: 'out/*.md'}", "path", "path"),
        ("{id: a, path: 'out/[ab].md'}", "path", "path"),
        ("{id: a, path: x, required: maybe}", "type", "required"),
        ("{id: a, path: x, description: [x]}", "type", "description"),
        ("{id: a, path: x, requird: true}", "unknown_key", "requird"),
    ],
)
def test_an_expected_artifact_that_does_not_fit_is_refused(item: str, code: str, key: str) -> None:
    assert _expected(f"[{item}]") == [(code, ("expected", 0, key))]


def test_ids_of_artifacts_are_unique() -> None:
    assert _expected("[{id: a, path: x}, {id: b, path: y}, {id: a, path: z}]") == [("duplicate", ("expected", 2, "id"))]


def test_artifacts_are_a_mapping_with_a_list_of_mappings() -> None:
    assert _told(artifacts(_node("[a]"), ())) == [("type", ())]
    assert _told(artifacts(_node("produced: []"), ())) == [("unknown_key", ("produced",))]
    assert _expected("{a: b}") == [("type", ("expected",))]
    assert _expected("[a, ~]") == [("type", ("expected", 0)), ("type", ("expected", 1))]


@pytest.mark.parametrize(
    "steps", ["{a: 1, b: 2}", "[{id: a}, {name: b}]", "[{id: a, name: x}, {id: b}, c, {id: 1}, {}]"]
)
def test_links_join_steps_by_name(steps: str) -> None:
    assert _links("[{from: a, to: b, condition: done}]", steps) == []


@pytest.mark.parametrize("steps", [None, "~", "{}", "[{id: x, name: a}]"])
def test_a_link_to_no_step_is_refused(steps: str | None) -> None:
    assert _links("[{from: a, to: a}]", steps) == [("unknown_step", (0, "from")), ("unknown_step", (0, "to"))]


@pytest.mark.parametrize("steps", ["a text", "!x {a: 1}"])
def test_links_are_not_measured_by_steps_that_are_a_fault_themselves(steps: str) -> None:
    assert _links("[{from: x, to: y}]", steps) == []


def test_a_link_to_no_step_suggests_the_nearest() -> None:
    [failure] = links(_node("[{from: read, to: juge}]"), (), _node("{read: 1, judge: 2}"))

    assert failure.message == "line 1, column 19: `juge` is not a step; did you mean `judge`?"


def test_links_are_a_list_of_mappings_with_both_ends() -> None:
    assert _links("~") == []
    assert _links("{from: a}") == [("type", ())]
    assert _links("[a, ~, {from: a}, {from: 1, to: ~}]") == [
        ("type", (0,)),
        ("type", (1,)),
        ("required", (2, "to")),
        ("required", (3, "to")),
        ("type", (3, "from")),
    ]
