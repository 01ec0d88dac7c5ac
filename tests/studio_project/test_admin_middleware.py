"""Django's middlewares run for the admin and for nothing else."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest, HttpResponse
from django.test import AsyncRequestFactory, Client
from django.utils.module_loading import import_string

from studio_project.admin_middleware import AdminCsrf

MIDDLEWARES: list[Callable[..., Any]] = [import_string(name) for name in settings.MIDDLEWARE]

each_middleware = pytest.mark.parametrize("middleware", MIDDLEWARES, ids=lambda middleware: middleware.__name__)


async def view(_: HttpRequest) -> HttpResponse:
    return HttpResponse("seen", headers={"X-Thread": str(threading.get_ident())})


def view_in_a_thread(_: HttpRequest) -> HttpResponse:
    return HttpResponse("seen")


@each_middleware
async def test_a_request_outside_of_the_admin_passes_untouched(middleware: Callable[..., Any]) -> None:
    request = AsyncRequestFactory().get("/api/v1/runs/")
    before = dict(vars(request))

    response = await middleware(view)(request)

    assert response.headers.keys() == {"Content-Type", "X-Thread"}
    assert response.headers["X-Thread"] == str(threading.get_ident())
    assert vars(request) == before


@each_middleware
def test_a_synchronous_request_outside_of_the_admin_passes_untouched(middleware: Callable[..., Any]) -> None:
    response = middleware(view_in_a_thread)(AsyncRequestFactory().get("/administration/"))

    assert response.headers.keys() == {"Content-Type"}


async def test_no_thread_is_taken_by_the_whole_chain() -> None:
    handler = BaseHandler()
    handler.load_middleware(is_async=True)
    threads = threading.active_count()

    response = await handler.get_response_async(AsyncRequestFactory().get("/health"))

    assert response.status_code == 200
    assert threading.active_count() == threads


async def test_an_unsafe_request_outside_of_the_admin_needs_no_csrf_token() -> None:
    request = AsyncRequestFactory().post("/api/v1/runs/", data={})
    request._dont_enforce_csrf_checks = False  # type: ignore[attr-defined]  # Django's test client sets it

    assert await AdminCsrf(view).process_view(request, view_in_a_thread, (), {}) is None


async def test_an_unsafe_admin_request_without_csrf_token_is_refused() -> None:
    request = AsyncRequestFactory().post("/admin/login/", data={})
    request._dont_enforce_csrf_checks = False  # type: ignore[attr-defined]  # Django's test client sets it

    response = await AdminCsrf(view).process_view(request, view_in_a_thread, (), {})

    assert response is not None
    assert response.status_code == 403


@pytest.mark.django_db(transaction=True)
def test_the_admin_has_its_login_cookies_and_frames() -> None:
    User.objects.create_superuser("somebody", password="a password")
    client = Client(enforce_csrf_checks=True)

    page = client.get("/admin/login/")
    form = {
        "username": "somebody",
        "password": "a password",
        "csrfmiddlewaretoken": client.cookies["studio_csrf"].value,
    }
    login = client.post("/admin/login/?next=/admin/", form)

    assert page.headers["X-Frame-Options"] == "DENY"
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert login.status_code == 302
    assert login.cookies["studio_session"]["path"] == "/admin/"
    assert client.get("/admin/").status_code == 200
