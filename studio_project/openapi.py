"""The published schema: what endpoints say about themselves, and what is the same for all of them.

Pure: dictionaries in, dictionaries out. Ninja contributes paths and success models; this adds request models,
query parameters, streams, the error answers of every operation, and what kind of token each needs.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ninja.schema import NinjaGenerateJsonSchema
from pydantic import BaseModel, RootModel, TypeAdapter

from contract.errors import ErrorBody
from contract.events import FramePayload
from studio_project.http_errors import OK, STATUS
from studio_project.request_rules import BODY_METHODS, auth_class

Json = dict[str, Any]

ERROR_CODES: Final = "x-error-codes"
AUTH: Final = "x-auth"
_REFERENCE: Final = "#/components/schemas/{model}"
_ANY_REQUEST: Final = ("bad_request", "internal", "invalid_host", "state_unavailable", "unauthorized", "validation")
_WRITING_REQUEST: Final = ("origin_refused", "payload_too_large", "unsupported_media_type")
_STREAM_PAYLOAD: Final = "StreamPayload"
_JSON: Final = "application/json"
_BYTES: Final = "application/octet-stream"
_RAW: Final = "x-raw"


def describes(
    success: Any,
    *,
    status: int = OK,
    query: type[BaseModel] | None = None,
    path_fields: Iterable[str] = (),
    body: type[BaseModel] | None = None,
    body_required: bool = True,
    errors: Iterable[str] = (),
) -> Json:
    """Return the keyword arguments of a router decorator for one endpoint.

    `errors` are the codes of this endpoint beside those that any request may meet; `path_fields` are fields that the
    path gives: a query has them not, a body may repeat them.
    """
    extra: Json = {ERROR_CODES: sorted(errors)}
    if query is not None:
        extra["parameters"] = query_parameters(query, leaving_out=path_fields)
    if body is not None:
        schema = _body_schema(body, path_fields)
        extra["requestBody"] = {"content": {_JSON: {"schema": schema}}, "required": body_required}
    return {"response": {status: success}, "openapi_extra": extra}


class RawBytes(RootModel[bytes]):
    """Bytes as they are."""


def describes_bytes(*, headers: Mapping[str, str], errors: Iterable[str] = ()) -> Json:
    """Return the same for an endpoint that answers with bytes; `headers` say what they are, by name."""
    described = {name: {"description": words, "schema": {"type": "string"}} for name, words in headers.items()}
    return {"response": {OK: RawBytes}, "openapi_extra": {ERROR_CODES: sorted(errors), _RAW: described}}


def _body_schema(model: type[BaseModel], path_fields: Iterable[str]) -> Json:
    schema, given = schema_of(model), set(path_fields)
    if given:
        schema["required"] = [name for name in schema["required"] if name not in given]
    return schema


def schema_of(model: Any) -> Json:
    """Return the JSON schema of a model or type, with its definitions under `$defs`."""
    return TypeAdapter(model).json_schema(ref_template=_REFERENCE, schema_generator=NinjaGenerateJsonSchema)


def query_parameters(model: type[BaseModel], *, leaving_out: Iterable[str] = ()) -> list[Json]:
    """Return the query parameters that `parse_query` reads for a model: repeated keys for lists."""
    schema = schema_of(model)
    required, hidden = set(schema.get("required", ())), set(leaving_out)
    return [
        {"in": "query", "name": name, "schema": field, "required": name in required}
        for name, field in schema["properties"].items()
        if name not in hidden
    ]


def stream_operation(*, operation_id: str, summary: str, path: str, errors: Iterable[str]) -> Json:
    """Return the description of a stream endpoint, which ninja does not know."""
    parameters: list[Json] = [
        {"in": "path", "name": name, "schema": {"type": "string"}, "required": True}
        for name in re.findall(r"{(\w+)}", path)
    ]
    resume = [
        {"in": "query", "name": "cursor", "schema": {"type": "string"}, "required": False},
        {"in": "header", "name": "Last-Event-ID", "schema": {"type": "string"}, "required": False},
    ]
    content = {"text/event-stream": {"schema": {"$ref": _REFERENCE.format(model=_STREAM_PAYLOAD)}}}
    return {
        "operationId": operation_id,
        "summary": summary,
        "parameters": parameters + resume,
        "responses": {str(OK): {"description": "Frames: `id: <cursor>` and `data: <payload>`", "content": content}},
        ERROR_CODES: sorted(errors),
    }


def completed(schema: Mapping[str, Any], streams: Mapping[str, Json]) -> Json:
    """Return the whole schema: ninja's, the streams by path, and what every operation shares."""
    schema = _renamed(schema)
    components: Json = dict(schema["components"]["schemas"])
    paths: Json = {**schema["paths"], **{path: {"get": operation} for path, operation in streams.items()}}
    _add(components, "ErrorBody", schema_of(ErrorBody))
    _add(components, _STREAM_PAYLOAD, schema_of(FramePayload))
    completed_paths = {
        path: {method: _operation(path, method, operation, components) for method, operation in operations.items()}
        for path, operations in sorted(paths.items())
    }
    return {
        **schema,
        "paths": completed_paths,
        "components": {
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}, {}],
    }


def _renamed(schema: Mapping[str, Any]) -> Json:
    """Name components by their titles: pydantic calls a generic's component `Page_X_`, whatever the model says."""
    components = schema["components"]["schemas"]
    names = {name: model.get("title", name) for name, model in components.items() if name.endswith("_")}
    named = {names.get(name, name): model for name, model in components.items()}
    text = json.dumps({**schema, "components": {"schemas": named}})
    for name, title in names.items():
        text = text.replace(f'"{_REFERENCE.format(model=name)}"', f'"{_REFERENCE.format(model=title)}"')
    renamed: Json = json.loads(text)
    return renamed


def _operation(path: str, method: str, operation: Json, components: Json) -> Json:
    unsafe = method.upper() in BODY_METHODS
    codes = sorted({*_ANY_REQUEST, *operation.get(ERROR_CODES, ()), *(_WRITING_REQUEST if unsafe else ())})
    responses = {str(status): answer for status, answer in operation["responses"].items()}
    if _RAW in operation:
        responses[str(OK)] = _raw_answer(responses[str(OK)], operation[_RAW])
    return {
        **{key: value for key, value in operation.items() if key != _RAW},
        **_hoisted_body(operation, components),
        "responses": {**responses, **_error_answers(codes)},
        ERROR_CODES: codes,
        AUTH: auth_class(method.upper(), path),
    }


def _raw_answer(answer: Json, headers: Json) -> Json:
    return {**answer, "headers": headers, "content": {_BYTES: answer["content"][_JSON]}}


def _error_answers(codes: Iterable[str]) -> Json:
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(STATUS[code]), []).append(code)
    content = {_JSON: {"schema": {"$ref": _REFERENCE.format(model="ErrorBody")}}}
    return {
        status: {"description": "Error: " + ", ".join(named), "content": content}
        for status, named in sorted(by_status.items())
    }


def _hoisted_body(operation: Json, components: Json) -> Json:
    """Replace the request model of an operation by a reference to its component."""
    if "requestBody" not in operation:
        return {}
    schema = operation["requestBody"]["content"][_JSON]["schema"]
    _add(components, schema["title"], schema)
    reference = {"$ref": _REFERENCE.format(model=schema["title"])}
    return {"requestBody": {**operation["requestBody"], "content": {_JSON: {"schema": reference}}}}


def _add(components: Json, name: str, schema: Json) -> None:
    """Add a component and the definitions it brings; one name must always mean one schema."""
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    for title, definition in {**schema.get("$defs", {}), name: bare}.items():
        if components.setdefault(title, definition) != definition:
            raise ValueError(f"two different schemas are named {title}")
