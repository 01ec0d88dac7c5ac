"""The HTTP API: one NinjaAPI over the apps' routers, and the few words every endpoint is written with.

An endpoint reads its input with `query_of` or `body_of`, makes one call, and answers with `respond`; `describes`
in openapi.py says the same to the schema. Errors are http_errors' alone. The routers are named in urls.py, because
they import this module.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar, cast

from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI, Router
from ninja.openapi.docs import Swagger
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from pydantic import BaseModel

from contract.application import ContractInfo
from contract.base import ContractModel
from contract.errors import RequestRefused, ValidationFailure
from contract.limits import CONTRACT_VERSION
from contract.parsing import parse_model, parse_query, strict_json_loads
from studio_project.asgi_types import RECEIVE
from studio_project.composition import get_studio
from studio_project.http_errors import OK, django_response, install
from studio_project.openapi import Json, completed, describes

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_JSON: Final = "application/json"
_EMPTY_BODIES = (b"", b"null")


def respond(model: BaseModel, status: int = OK) -> HttpResponse:
    """Answer with a contract model. It is not validated again: it was built by validation."""
    return HttpResponse(model.model_dump_json(), status=status, content_type=_JSON)


def query_of(model: type[M], request: HttpRequest, **fixed: object) -> M:
    """Read the query string into a model; `fixed` are its fields that the path gives. Raises ValidationFailure."""
    return parse_query(model, dict(request.GET.lists()), **fixed)


def body_of(model: type[M], request: HttpRequest) -> M:
    """Read the JSON body into a model. Raises ValidationFailure, with the paths an in-process caller would see."""
    return parse_model(model, strict_json_loads(request.body))


def optional_body_of(model: type[M], request: HttpRequest) -> M:
    """Read a body that may be missing or null, which is the model's defaults."""
    return model() if request.body.strip() in _EMPTY_BODIES else body_of(model, request)


def refuse_body(request: HttpRequest) -> None:
    """Refuse what a deletion would not read: an expectation in it would be lost without a word. ValidationFailure."""
    if request.body.strip() not in (*_EMPTY_BODIES, b"{}"):
        message = "a deletion has no body: its fields are query parameters"
        raise ValidationFailure.at(code="body", message=message)


async def unless_gone(request: HttpRequest, work: Coroutine[Any, Any, T]) -> T:
    """Do what takes long and changes nothing, but no longer than its sender waits for the answer.

    RequestRefused when the sender has left: nobody reads that.
    """
    receive = getattr(request, "scope", {}).get(RECEIVE)
    if receive is None:
        return await work
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(receive())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise RequestRefused("bad_request", "the client has left")
    finally:
        working.cancel()
        leaving.cancel()


def get_only(view: Callable[..., HttpResponse]) -> Callable[..., Coroutine[Any, Any, HttpResponse]]:
    """Make a view that does no I/O async, so that it needs no thread, and let it answer GET alone."""

    @wraps(view, updated=())
    async def answer(request: HttpRequest, **path: Any) -> HttpResponse:
        if request.method != "GET":
            refused = RequestRefused("method_not_allowed", f"{request.method} is not a method of this route")
            return django_response(refused, allow=("GET", "HEAD"))
        return view(request, **path)

    return answer


class LocalSwagger(Swagger):
    """The documentation page from ninja's own static files. The validator badge would call a foreign server."""

    def __init__(self) -> None:
        super().__init__(settings={"validatorUrl": None})


class StudioAPI(NinjaAPI):
    """NinjaAPI with our error answers, operation ids that are function names, and a schema that has the streams."""

    def __init__(self, streams: Mapping[str, Json]) -> None:
        super().__init__(
            title="Studio",
            version=CONTRACT_VERSION,
            docs=LocalSwagger(),
            docs_decorator=cast("Any", get_only),
            urls_namespace="api",
        )
        self._streams = streams
        self._schema: Json | None = None
        install(self)

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Return the function's name; a test keeps them unique."""
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        """Return the complete schema, built once."""
        schema = super().get_openapi_schema(path_prefix=path_prefix, path_params=path_params)
        if self._schema is None:
            self._schema = completed(schema, self._streams)
        schema.clear()
        schema.update(self._schema)
        return schema


router = Router(tags=["contract"])


@router.get("/contract", **describes(ContractInfo))
async def describe_contract(request: HttpRequest) -> HttpResponse:
    """Contract version, capabilities, and every published limit."""
    query_of(ContractModel, request)
    return respond(await get_studio().describe_contract())


def build_api(routers: Iterable[Router], streams: Mapping[str, Json]) -> StudioAPI:
    """Return the API with every router under `/v1`; `streams` are the schema's entries of the stream endpoints."""
    api = StudioAPI(streams)
    for each in (router, *routers):
        api.add_router("/v1", each)
    return api
