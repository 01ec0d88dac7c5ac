"""Two small contracts at a time: what may change between them, and what may not."""

from copy import deepcopy
from typing import Any

import pytest

from contract.compatibility import breaches
from contract.schema_compatibility import Rule

Document = dict[str, Any]

STRING = {"type": "string"}


def parameter(name: str, place: str = "query", *, required: bool = False, **schema: Any) -> Document:
    return {"in": place, "name": name, "required": required, "schema": schema or STRING}


def content(schema: Document, media_type: str = "application/json") -> Document:
    return {"content": {media_type: {"schema": schema}}}


def openapi(
    *,
    path: str = "/things/",
    method: str = "post",
    parameters: tuple[Document, ...] = (),
    body: Document | None = None,
    answers: Document | None = None,
    auth: str = "write",
) -> Document:
    operation: Document = {"parameters": list(parameters), "responses": answers or {"200": content(STRING)}}
    if body is not None:
        operation["requestBody"] = body
    return {"openapi": "3.1.0", "paths": {path: {method: {**operation, "x-auth": auth}}}}


def route(**changes: Any) -> Document:
    plain = {"method": "GET", "path": "/things/", "slash": "always", "auth": "read", "success": 200, "errors": []}
    return {**plain, **changes}


def routes(*found: Document, **more: Any) -> Document:
    return {"routes": list(found), **more}


def stream(**changes: Any) -> Document:
    plain = {"frames": ["done", "message"], "terminal": {"done": "the end"}, "reconnect": {"header": "Last-Event-ID"}}
    return route(stream={**plain, **changes})


def found(old: Document, new: Document) -> list[tuple[Rule, str]]:
    return [(breach.rule, breach.where) for breach in breaches(old, new)]


# ---- openapi.json ----------------------------------------------------------------------------------------------


def test_an_unchanged_contract_is_compatible() -> None:
    document = openapi(
        path="/things/{thing_id}",
        parameters=(parameter("thing_id", "path", required=True), parameter("limit"), parameter("X-Key", "header")),
        body={**content(STRING), "required": True},
    )

    assert found(document, deepcopy(document)) == []


def test_a_new_endpoint_and_a_new_method_are_additive() -> None:
    old, new = openapi(), openapi()
    new["paths"]["/things/"]["get"] = {"responses": {"200": content(STRING)}}
    new["paths"]["/others/"] = {"get": {"responses": {"200": content(STRING)}}}

    assert found(old, new) == []


def test_a_removed_path_is_a_breach() -> None:
    assert found(openapi(), {"openapi": "3.1.0", "paths": {}}) == [(Rule.PATH_REMOVED, "/things/")]


def test_a_removed_method_is_a_breach() -> None:
    assert found(openapi(method="post"), openapi(method="put")) == [(Rule.METHOD_REMOVED, "POST /things/")]


@pytest.mark.parametrize(("old", "new"), [("/things/", "/things"), ("/things", "/things/")])
def test_the_other_spelling_of_a_path_is_a_breach(old: str, new: str) -> None:
    assert found(openapi(path=old), openapi(path=new)) == [(Rule.SLASH_CHANGED, old)]


def test_path_parameters_may_be_called_anything() -> None:
    old = openapi(path="/things/{id}", parameters=(parameter("id", "path", required=True),))
    new = openapi(path="/things/{thing_id}", parameters=(parameter("thing_id", "path", required=True),))

    assert found(old, new) == []


def test_path_parameters_are_compared_by_position() -> None:
    old = openapi(path="/{a}/{b}", parameters=(parameter("b", "path", required=True), parameter("a", "path")))
    new = openapi(path="/{a}/{b}", parameters=(parameter("a", "path"), parameter("b", "path", type="integer")))

    assert found(old, new) == [(Rule.TYPE_CHANGED, "POST /{}/{} path 1")]


def test_another_auth_class_is_a_breach() -> None:
    assert found(openapi(auth="read"), openapi(auth="write")) == [(Rule.AUTH_CHANGED, "POST /things/")]


def test_a_new_optional_parameter_is_additive() -> None:
    assert found(openapi(), openapi(parameters=(parameter("limit"),))) == []


@pytest.mark.parametrize("old", [(), (parameter("limit"),)])
def test_a_parameter_may_not_become_required(old: tuple[Document, ...]) -> None:
    new = openapi(parameters=(parameter("limit", required=True),))

    assert found(openapi(parameters=old), new) == [(Rule.NOW_REQUIRED, "POST /things/ query limit")]


def test_a_removed_parameter_is_a_breach() -> None:
    assert found(openapi(parameters=(parameter("limit"),)), openapi()) == [
        (Rule.FIELD_REMOVED, "POST /things/ query limit")
    ]


def test_a_narrower_parameter_is_a_breach() -> None:
    old, new = (openapi(parameters=(parameter("limit", type="integer", maximum=limit),)) for limit in (9, 8))

    assert found(old, new) == [(Rule.BOUND_NARROWED, "POST /things/ query limit")]


def test_the_names_of_headers_have_no_case() -> None:
    old, new = (openapi(parameters=(parameter(name, "header"),)) for name in ("Last-Event-ID", "last-event-id"))

    assert found(old, new) == []


def test_a_parameter_may_not_move() -> None:
    old, new = (openapi(parameters=(parameter("cursor", place),)) for place in ("query", "header"))

    assert found(old, new) == [(Rule.FIELD_REMOVED, "POST /things/ query cursor")]


def test_a_new_body_may_be_optional_only() -> None:
    assert found(openapi(), openapi(body=content(STRING))) == []
    assert found(openapi(), openapi(body={**content(STRING), "required": True})) == [
        (Rule.NOW_REQUIRED, "POST /things/ body")
    ]


def test_a_body_may_not_become_required() -> None:
    old, new = (openapi(body={**content(STRING), "required": required}) for required in (False, True))

    assert found(old, new) == [(Rule.NOW_REQUIRED, "POST /things/ body")]
    assert found(new, old) == []


def test_a_removed_body_is_a_breach() -> None:
    assert found(openapi(body=content(STRING)), openapi()) == [(Rule.FIELD_REMOVED, "POST /things/ body")]


def test_a_body_is_judged_as_a_request_and_an_answer_as_an_answer() -> None:
    optional = {"type": "object", "properties": {"a": STRING}}
    required = {**optional, "required": ["a"]}
    less = openapi(body=content(optional), answers={"200": content(optional)})
    more = openapi(body=content(required), answers={"200": content(required)})

    assert found(less, more) == [(Rule.NOW_REQUIRED, "POST /things/ body.a")]
    assert found(more, less) == [(Rule.NO_LONGER_CERTAIN, "POST /things/ 200.a")]


def test_components_are_found_by_reference() -> None:
    old = openapi(answers={"200": content({"$ref": "#/components/schemas/Thing"})})
    new = deepcopy(old)
    old["components"] = {"schemas": {"Thing": {"type": "object", "properties": {"a": STRING}}}}
    new["components"] = {"schemas": {"Thing": {"type": "object", "properties": {}}}}

    assert found(old, new) == [(Rule.FIELD_REMOVED, "Thing.a")]


@pytest.mark.parametrize("answers", [{"201": content(STRING)}, {"200": content(STRING), "202": content(STRING)}])
def test_another_success_status_is_a_breach(answers: Document) -> None:
    assert found(openapi(), openapi(answers=answers)) == [(Rule.SUCCESS_CHANGED, "POST /things/")]


def test_error_answers_may_come_and_go_but_not_change() -> None:
    plain, refusing = openapi(), openapi(answers={"200": content(STRING), "409": content(STRING)})
    changed = openapi(answers={"200": content(STRING), "409": content({"type": "integer"})})

    assert found(plain, refusing) == []
    assert found(refusing, plain) == []
    assert found(refusing, changed) == [(Rule.TYPE_CHANGED, "POST /things/ 409")]


def test_a_removed_media_type_is_a_breach() -> None:
    both = openapi(answers={"200": {"content": {**content(STRING)["content"], "text/csv": {}}}})

    assert found(both, openapi()) == [(Rule.MEDIA_TYPE_REMOVED, "POST /things/ 200")]
    assert found(openapi(), both) == []


# ---- routes.json -----------------------------------------------------------------------------------------------


def test_unchanged_routes_are_compatible() -> None:
    document = routes(route(), stream(path="/things/{id}/stream"), error_statuses={"conflict": 409})

    assert found(document, deepcopy(document)) == []


def test_a_new_route_a_new_method_and_a_new_error_code_are_additive() -> None:
    new = routes(route(errors=["conflict"]), route(method="POST"), route(path="/others/"), error_statuses={"gone": 410})

    assert found(routes(route()), new) == []


def test_a_removed_route_is_a_breach() -> None:
    old = routes(route(), route(method="POST"), route(path="/others/"), route(path="/old"))

    assert found(old, routes(route(), route(path="/old/"))) == [
        (Rule.SLASH_CHANGED, "/old"),
        (Rule.PATH_REMOVED, "/others/"),
        (Rule.METHOD_REMOVED, "POST /things/"),
    ]


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"slash": "never"}, Rule.SLASH_CHANGED),
        ({"auth": "public"}, Rule.AUTH_CHANGED),
        ({"success": 202}, Rule.SUCCESS_CHANGED),
    ],
)
def test_another_policy_of_a_route_is_a_breach(change: Document, rule: Rule) -> None:
    assert found(routes(route()), routes(route(**change))) == [(rule, "GET /things/")]


def test_a_route_may_neither_become_a_stream_nor_stop_being_one() -> None:
    assert found(routes(route()), routes(stream())) == [(Rule.STREAM_CHANGED, "GET /things/")]
    assert found(routes(stream()), routes(route())) == [(Rule.STREAM_CHANGED, "GET /things/")]


def test_new_frames_of_a_stream_are_additive() -> None:
    assert found(routes(stream()), routes(stream(frames=["done", "message", "note"]))) == []


@pytest.mark.parametrize("terminal", [{}, {"done": "reconnect"}, {"done": "the end", "pause": "the end"}])
def test_other_frames_that_end_a_stream_are_a_breach(terminal: Document) -> None:
    assert found(routes(stream()), routes(stream(terminal=terminal))) == [(Rule.TERMINAL_CHANGED, "GET /things/")]


def test_another_rule_for_reconnecting_is_a_breach() -> None:
    new = routes(stream(reconnect={"header": "X-Cursor"}))

    assert found(routes(stream()), new) == [(Rule.RECONNECT_CHANGED, "GET /things/")]


@pytest.mark.parametrize("statuses", [{"conflict": 412}, {}])
def test_an_error_code_keeps_its_status(statuses: Document) -> None:
    old, new = routes(error_statuses={"conflict": 409}), routes(error_statuses=statuses)

    assert found(old, new) == [(Rule.ERROR_STATUS_CHANGED, "conflict")]


def test_the_redirect_to_the_other_spelling_stays_as_it_is() -> None:
    old, new = (routes(other_spelling={"status": status}) for status in (308, 301))

    assert found(old, new) == [(Rule.SLASH_CHANGED, "other spelling")]


@pytest.mark.parametrize(("old", "new"), [(openapi(), routes()), (routes(), openapi()), ({}, {})])
def test_documents_of_two_kinds_cannot_be_compared(old: Document, new: Document) -> None:
    with pytest.raises(ValueError):
        breaches(old, new)
