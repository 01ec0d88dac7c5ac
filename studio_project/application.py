"""The ASGI application, inside the security middleware.

Streams go to their consumers, static files to their handler, everything else to Django.
"""

from collections.abc import Callable
from typing import Any

from channels.routing import ProtocolTypeRouter, URLRouter
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.exceptions import RequestAborted, SuspiciousOperation
from django.core.handlers.asgi import ASGIHandler
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import re_path, set_script_prefix

from contract.errors import RequestRefused
from studio_project.asgi_types import RECEIVE, App, Event, Send
from studio_project.http_errors import django_response
from studio_project.request_rules import is_admin
from studio_project.security import Guarded, SecurityMiddleware
from studio_project.urls import methods_of, stream_patterns


def build_application(studio: Callable[[], Guarded]) -> App:
    """Return the whole application; `studio` is called at requests, never here."""
    handler: Any = RequestHandler()
    static: Any = StaticHandler(handler)
    routes = [*stream_patterns, re_path(r"^static/", static), re_path(r"", handler)]
    return SecurityMiddleware(ProtocolTypeRouter({"http": URLRouter(routes)}), studio, methods_of)


class StaticHandler(ASGIStaticFilesHandler):
    """Serves static files, to be read; a name that leads out of their folders is one that is not there."""

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer with a file, or refuse; Django's handler would send the file to any method."""
        if request.method in ("GET", "HEAD"):
            return await super().get_response_async(request)
        refused = RequestRefused("method_not_allowed", f"{request.method} is not a method of this route")
        return django_response(refused, allow=("GET", "HEAD"))

    def serve(self, request: HttpRequest) -> FileResponse:
        """Return one file. Django's handler expects no other refusal, and would leave the request's body open."""
        try:
            return super().serve(request)
        except SuspiciousOperation as error:
            raise Http404 from error


class RequestHandler(ASGIHandler):
    """Django's handler without its thread per request.

    Django closes responses and announces requests in a thread, for database connections of synchronous views. Only
    the admin has such views; elsewhere StateDB owns the connections. A request that came in whole is answered even
    if its sender leaves: a write is then done or not, never cut off between two awaits.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if is_admin(scope["path"]):
            await super().__call__(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._answer({**scope, "method": "GET"}, receive, _without_body(send))
        else:
            await self._answer(scope, receive, send)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        with body:
            set_script_prefix("/")
            request, refused = self.create_request({**scope, RECEIVE: receive}, body)
            response: Any = await self.get_response_async(request) if request else refused
            try:
                await self.send_response(_measured(response), send)
            finally:
                response.close()


def _measured(response: HttpResponse) -> HttpResponse:
    """Announce the length, so that the answer needs no chunks and HEAD tells the size."""
    if not response.streaming and not response.has_header("Content-Length"):
        response["Content-Length"] = str(len(response.content))
    return response


def _without_body(send: Send) -> Send:
    async def send_without_body(event: Event) -> None:
        await send(event if event["type"] != "http.response.body" else {**event, "body": b""})

    return send_without_body
