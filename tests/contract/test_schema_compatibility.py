"""Two small schemas at a time: what may change between them, and what may not."""

from typing import Any

import pytest

from contract.schema_compatibility import Direction, Rule, SchemaComparison

Schema = dict[str, Any]

STRING: Schema = {"type": "string"}
NULL: Schema = {"type": "null"}


def obj(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def member(tag: str, **more: Schema) -> Schema:
    return obj((), type={"type": "string", "const": tag}, **more)


def union(*members: Schema) -> Schema:
    return {"oneOf": list(members), "discriminator": {"propertyName": "type"}}


def found(
    old: Schema,
    new: Schema,
    direction: Direction = Direction.REQUEST,
    components: tuple[dict[str, Schema], dict[str, Schema]] = ({}, {}),
) -> list[tuple[Rule, str]]:
    breaches = SchemaComparison(*components).breaches(old, new, "X", direction)
    return [(breach.rule, breach.where) for breach in breaches]


BOTH = pytest.mark.parametrize("direction", list(Direction))


@BOTH
@pytest.mark.parametrize(
    "schema",
    [
        STRING,
        {},
        {"anyOf": [STRING, NULL]},
        {"type": ["string", "null"]},
        {"type": "array", "items": STRING, "maxItems": 3},
        {"type": "array", "prefixItems": [STRING, {"type": "integer"}]},
        {"enum": ["a", "b"]},
        {"type": "number", "minimum": 0, "exclusiveMaximum": 9},
        {"type": "string", "format": "byte", "pattern": "^a"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        obj(("a",), a=STRING, b={"anyOf": [STRING, NULL]}),
        union(member("a", x=STRING), member("b")),
    ],
)
def test_the_same_schema_is_compatible_with_itself(schema: Schema, direction: Direction) -> None:
    assert found(schema, schema, direction) == []


@BOTH
def test_titles_descriptions_and_defaults_are_not_on_the_wire(direction: Direction) -> None:
    described = {"type": "string", "title": "A", "description": "b", "default": "c"}

    assert found(STRING, described, direction) == []
    assert found(described, STRING, direction) == []


@BOTH
def test_a_new_optional_field_is_additive(direction: Direction) -> None:
    assert found(obj(a=STRING), obj(a=STRING, b=STRING), direction) == []


@BOTH
def test_a_removed_field_is_named(direction: Direction) -> None:
    assert found(obj(a=STRING, b=STRING), obj(a=STRING), direction) == [(Rule.FIELD_REMOVED, "X.b")]


def test_a_renamed_field_names_what_it_may_be_now() -> None:
    old, new = obj(a={**STRING, "title": "A"}), obj(c={"type": "integer"}, b={**STRING, "title": "B"})

    (breach,) = SchemaComparison({}, {}).breaches(old, new, "X", Direction.ANSWER)

    assert str(breach) == "X.a: a field was removed or renamed: now b?"


def test_a_field_that_is_gone_is_said_to_be() -> None:
    (breach,) = SchemaComparison({}, {}).breaches(obj(a=STRING), obj(), "X", Direction.ANSWER)

    assert breach.what == "is gone"


@BOTH
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (STRING, {"type": "integer"}),
        ({"type": "integer"}, {"type": "number"}),
        ({"type": "number"}, {"type": "integer"}),
        (STRING, {}),
        ({}, STRING),
        (STRING, {"anyOf": [STRING, {"type": "integer"}]}),
        ({"anyOf": [STRING, {"type": "integer"}]}, STRING),
        (STRING, {"type": "array", "items": STRING}),
        (STRING, obj()),
        (obj(), member("a")),
        ({"enum": [1]}, {"enum": ["1"]}),
        (STRING, {"type": "string", "format": "byte"}),
        ({"type": "string", "format": "byte"}, STRING),
        ({"type": "array", "prefixItems": [STRING]}, {"type": "array", "prefixItems": [STRING, STRING]}),
    ],
)
def test_another_type_is_a_breach(old: Schema, new: Schema, direction: Direction) -> None:
    assert (Rule.TYPE_CHANGED, "X") in found(old, new, direction)


def test_a_changed_type_says_from_what_to_what() -> None:
    (breach,) = SchemaComparison({}, {}).breaches(STRING, {"type": "integer"}, "X", Direction.ANSWER)

    assert breach.what == "was string, is integer"


@BOTH
@pytest.mark.parametrize("nullable", [{"anyOf": [STRING, NULL]}, {"type": ["string", "null"]}])
def test_nullability_may_neither_come_nor_go(nullable: Schema, direction: Direction) -> None:
    assert found(STRING, nullable, direction) == [(Rule.NULLABILITY_CHANGED, "X")]
    assert found(nullable, STRING, direction) == [(Rule.NULLABILITY_CHANGED, "X")]


@pytest.mark.parametrize("properties", [obj(("a",), a=STRING), obj(("a",), a=STRING, b=STRING)])
def test_a_request_may_not_need_a_new_field(properties: Schema) -> None:
    required = {**properties, "required": list(properties["properties"])}

    assert found(obj(), required) == [(Rule.NOW_REQUIRED, f"X.{name}") for name in required["required"]]


def test_a_request_may_not_need_what_was_optional() -> None:
    assert found(obj(a=STRING), obj(("a",), a=STRING)) == [(Rule.NOW_REQUIRED, "X.a")]


def test_a_request_may_need_less() -> None:
    assert found(obj(("a",), a=STRING), obj(a=STRING)) == []


def test_an_answer_may_always_have_a_new_field() -> None:
    assert found(obj(), obj(("a",), a=STRING), Direction.ANSWER) == []


def test_an_answer_may_not_leave_out_what_it_always_had() -> None:
    assert found(obj(("a",), a=STRING), obj(a=STRING), Direction.ANSWER) == [(Rule.NO_LONGER_CERTAIN, "X.a")]


@BOTH
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"enum": ["a", "b"]}, {"enum": ["a"]}),
        ({"enum": ["a", "b"]}, {"const": "a"}),
        (STRING, {"type": "string", "enum": ["a"]}),
        ({"type": "string", "const": "a"}, {"type": "string", "const": "b"}),
    ],
)
def test_a_narrowed_enum_is_a_breach(old: Schema, new: Schema, direction: Direction) -> None:
    assert found(old, new, direction) == [(Rule.ENUM_NARROWED, "X")]


@BOTH
def test_a_wider_enum_is_additive(direction: Direction) -> None:
    assert found({"enum": ["a"]}, {"enum": ["b", "a"]}, direction) == []
    assert found({"type": "string", "const": "a"}, STRING, direction) == []


LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


@BOTH
@pytest.mark.parametrize("word", [*LOWER, *UPPER])
def test_a_bound_may_widen_and_go_but_neither_narrow_nor_come(word: str, direction: Direction) -> None:
    wide, narrow = ({word: 1}, {word: 2}) if word in LOWER else ({word: 2}, {word: 1})

    assert found(wide, narrow, direction) == [(Rule.BOUND_NARROWED, "X")]
    assert found({}, narrow, direction) == [(Rule.BOUND_NARROWED, "X")]
    assert found(narrow, wide, direction) == []
    assert found(narrow, {}, direction) == []


@pytest.mark.parametrize(("word", "one", "other"), [("pattern", "^a", "^b"), ("multipleOf", 2, 3)])
def test_another_pattern_or_step_counts_as_narrower(word: str, one: object, other: object) -> None:
    assert found({word: one}, {word: other}) == [(Rule.BOUND_NARROWED, "X")]
    assert found({}, {word: one}) == [(Rule.BOUND_NARROWED, "X")]
    assert found({word: one}, {}) == []


def test_items_may_not_have_to_be_unique_from_now_on() -> None:
    assert found({"uniqueItems": False}, {"uniqueItems": True}) == [(Rule.BOUND_NARROWED, "X")]
    assert found({"uniqueItems": True}, {"uniqueItems": False}) == []


def test_other_keys_may_not_be_forbidden_from_now_on() -> None:
    open_object: Schema = {"type": "object", "properties": {}}

    assert found(open_object, obj()) == [(Rule.BOUND_NARROWED, "X")]
    assert found(obj(), open_object) == []


def test_the_values_of_other_keys_are_compared() -> None:
    old: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}

    assert found(old, {"type": "object", "additionalProperties": STRING}) == [(Rule.TYPE_CHANGED, "X.*")]
    assert found(old, {"type": "object", "additionalProperties": True}) == [(Rule.TYPE_CHANGED, "X.*")]


def test_what_is_inside_is_compared_with_its_place() -> None:
    old = obj(rows={"type": "array", "items": obj(cell=STRING)})
    new = obj(rows={"type": "array", "items": obj(cell={"type": "integer"})})

    assert found(old, new) == [(Rule.TYPE_CHANGED, "X.rows[].cell")]
    assert found({"type": "array", "prefixItems": [STRING]}, {"type": "array", "prefixItems": [NULL]})[0][1] == "X[0]"


def test_items_that_were_anything_may_not_get_a_type() -> None:
    assert found({"type": "array"}, {"type": "array", "items": STRING}) == [(Rule.TYPE_CHANGED, "X[]")]


@BOTH
def test_a_union_told_apart_by_a_field_may_grow(direction: Direction) -> None:
    assert found(union(member("a")), union(member("a"), member("b")), direction) == []


@BOTH
def test_a_union_may_not_lose_a_member(direction: Direction) -> None:
    assert found(union(member("a"), member("b")), union(member("a")), direction) == [(Rule.MEMBER_REMOVED, "X")]


def test_a_union_may_not_become_text() -> None:
    assert found(union(member("a"), member("b")), STRING) == [(Rule.TYPE_CHANGED, "X")]


def test_members_of_a_union_are_compared_one_by_one() -> None:
    old, new = union(member("a", x=STRING), member("b")), union(member("b"), member("a", x={"type": "integer"}))

    assert found(old, new) == [(Rule.TYPE_CHANGED, "X<object type=a>.x")]


def test_members_without_a_telling_field_are_told_apart_by_title() -> None:
    one, two = {**obj(a=STRING), "title": "One"}, {**obj(b=STRING), "title": "Two"}

    assert found({"anyOf": [one, two]}, {"anyOf": [two, one]}) == []
    assert found({"anyOf": [one, two]}, {"anyOf": [two, {**one, "properties": {}}]}) == [
        (Rule.FIELD_REMOVED, "X<object One>.a")
    ]


def test_references_are_followed_whatever_components_are_called() -> None:
    old, new = {"Row": obj(a=STRING)}, {"Line": obj(a={"type": "integer"})}
    references = {"$ref": "#/components/schemas/Row"}, {"$ref": "#/components/schemas/Line"}

    assert found(*references, components=(old, new)) == [(Rule.TYPE_CHANGED, "Line.a")]
    assert found(references[0], obj(a=STRING), components=(old, {})) == []


def test_components_that_refer_to_themselves_are_looked_into_once() -> None:
    reference = {"$ref": "#/components/schemas/Tree"}
    old = {"Tree": obj(leaf=STRING, left=reference, right=reference)}
    new = {"Tree": obj(leaf=NULL, left=reference, right=reference)}

    rules = [rule for rule, where in found(reference, reference, components=(old, new)) if where == "Tree.leaf"]

    assert len(rules) == len(set(rules))
    assert Rule.TYPE_CHANGED in rules


def test_a_component_is_looked_into_for_each_direction() -> None:
    reference = {"$ref": "#/components/schemas/Row"}
    comparison = SchemaComparison({"Row": obj(a=STRING)}, {"Row": obj(("a",), a=STRING)})

    answered = list(comparison.breaches(reference, reference, "X", Direction.ANSWER))
    requested = list(comparison.breaches(reference, reference, "X", Direction.REQUEST))

    assert answered == []
    assert [breach.rule for breach in requested] == [Rule.NOW_REQUIRED]
