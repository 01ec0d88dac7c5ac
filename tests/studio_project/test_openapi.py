import re
from collections.abc import Iterator
from typing import Any

import pytest

from contract.diffs import DiffQuery
from contract.runs import EvidenceRequest, RunQuery, StartRun
from studio_project.asgi_types import App
from studio_project.http_errors import STATUS
from studio_project.openapi import completed, describes, query_parameters, schema_of
from studio_project.request_rules import auth_class
from studio_project.urls import api
from tests.studio_project.asgi_client import ask

SCHEMA: dict[str, Any] = api.get_openapi_schema(path_prefix="/api/")
OPERATIONS = [
    (path, method, operation) for path, methods in SCHEMA["paths"].items() for method, operation in methods.items()
]
operations = pytest.mark.parametrize(
    ("path", "method", "operation"), OPERATIONS, ids=[operation["operationId"] for *_, operation in OPERATIONS]
)


def references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (text for key, text in value.items() if key == "$ref")
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def test_every_reference_leads_to_a_component() -> None:
    components = {f"#/components/schemas/{name}" for name in SCHEMA["components"]["schemas"]}

    assert set(references(SCHEMA)) <= components


def test_components_are_named_as_their_models() -> None:
    for name in SCHEMA["components"]["schemas"]:
        assert re.fullmatch("[A-Z][A-Za-z]*", name), name

    assert "RunSummaryPage" in SCHEMA["components"]["schemas"]


def test_operation_ids_are_unique_names() -> None:
    names = [operation["operationId"] for *_, operation in OPERATIONS]

    assert len(set(names)) == len(names)
    assert {"list_runs", "start_run", "stream_messages", "stream_signals"} <= set(names)


@operations
def test_every_operation_names_its_success_model(path: str, method: str, operation: dict[str, Any]) -> None:
    (success,) = [answer for status, answer in operation["responses"].items() if status < "400"]

    (content,) = success["content"].values()
    assert content["schema"]["$ref"].startswith("#/components/schemas/"), path


@operations
def test_every_operation_names_every_error_it_can_answer(path: str, method: str, operation: dict[str, Any]) -> None:
    statuses = {status for status in operation["responses"] if status >= "400"}

    assert statuses == {str(STATUS[code]) for code in operation["x-error-codes"]}
    for status in statuses:
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ErrorBody"}


@operations
def test_every_operation_says_which_token_it_needs(path: str, method: str, operation: dict[str, Any]) -> None:
    assert operation["x-auth"] == auth_class(method.upper(), path)


@operations
def test_every_operation_describes_its_path(path: str, method: str, operation: dict[str, Any]) -> None:
    described = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "path"}

    assert described == set(re.findall(r"{(\w+)}", path))


def test_writing_operations_can_meet_the_refusals_of_writing() -> None:
    for _, method, operation in OPERATIONS:
        assert ("unsupported_media_type" in operation["x-error-codes"]) is (method != "get")


def test_request_bodies_are_references_and_say_whether_they_are_needed() -> None:
    cancel = SCHEMA["paths"]["/api/v1/runs/{run_id}/cancel"]["post"]["requestBody"]
    start = SCHEMA["paths"]["/api/v1/runs/"]["post"]["requestBody"]

    assert cancel["required"] is False
    assert start["required"] is True
    assert start["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/StartRun"}


def test_a_body_need_not_repeat_what_the_path_gives() -> None:
    assert SCHEMA["components"]["schemas"]["SaveDefinition"]["required"] == ["content"]


def test_a_query_parameter_goes_by_its_alias() -> None:
    assert {parameter["name"] for parameter in query_parameters(DiffQuery)} == {"from", "to", "file", "context"}


def test_query_parameters_follow_the_model() -> None:
    parameters = {parameter["name"]: parameter for parameter in query_parameters(RunQuery)}

    assert set(parameters) == set(RunQuery.model_fields)
    assert parameters["limit"]["schema"]["maximum"] == 5_000
    assert parameters["status"]["schema"]["type"] == "array"


def test_fields_that_the_path_gives_are_no_query_parameters() -> None:
    names = {parameter["name"] for parameter in query_parameters(EvidenceRequest, leaving_out=("run_id",))}

    assert names == {"pane", "cursor", "limit"}


def test_a_required_field_is_a_required_parameter() -> None:
    required = {parameter["name"] for parameter in query_parameters(EvidenceRequest) if parameter["required"]}

    assert required == {"run_id", "pane"}


def test_streams_are_described_with_their_frames() -> None:
    stream = SCHEMA["paths"]["/api/v1/runs/{run_id}/stream"]["get"]

    assert stream["responses"]["200"]["content"] == {
        "text/event-stream": {"schema": {"$ref": "#/components/schemas/StreamPayload"}}
    }
    assert {parameter["name"] for parameter in stream["parameters"]} == {"run_id", "cursor", "Last-Event-ID"}
    assert "404" in stream["responses"]


def test_two_schemas_may_not_share_a_name() -> None:
    described = describes(StartRun, body=StartRun)["openapi_extra"]
    clash = {
        "paths": {"/api/v1/x": {"post": {**described, "responses": {200: {}}}}},
        "components": {"schemas": {"StartRun": {"title": "StartRun", "type": "object"}}},
    }

    with pytest.raises(ValueError, match="StartRun"):
        completed(clash, {})


def test_a_schema_keeps_its_definitions_apart() -> None:
    assert "ProcessIdentity" in schema_of(StartRun)["$defs"]


async def test_the_schema_is_served_as_it_is(app: App) -> None:
    answer = await ask(app, "GET", "/api/openapi.json")

    assert answer.json["paths"].keys() == SCHEMA["paths"].keys()
    assert answer.json["security"] == [{"bearer": []}, {}]
