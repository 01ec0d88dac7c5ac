"""Django's middlewares, for the admin only: everything else passes straight through, without a thread hop.

Sessions, cookies and CSRF tokens belong to the admin; the API has bearers and studio_project/security.py.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.views.main import ERROR_FLAG
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import ValidationError
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.deprecation import MiddlewareMixin

from studio_project.request_rules import is_admin


class AdminOnly(MiddlewareMixin):
    """Runs the middleware it is mixed into for the admin, and hands every other request straight on."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """The response, or the awaitable of it, of the next handler."""
        if is_admin(request.path_info):
            return super().__call__(request)
        return self.get_response(request)


class AdminSecurity(AdminOnly, SecurityMiddleware):
    """`nosniff`, referrer and opener policy."""


class AdminSession(AdminOnly, SessionMiddleware):
    """`request.session`."""


class AdminCsrf(AdminOnly, CsrfViewMiddleware):
    """The CSRF cookie and its check."""

    # Django takes either form, and would run a plain one in a thread for every request.
    async def process_view(  # type: ignore[override]  # the stubs know the plain form only
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        callback_args: tuple[Any, ...],
        callback_kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Refuse an unsafe admin request without its token; Django calls this for every view."""
        if not is_admin(request.path_info):
            return None
        return super().process_view(request, callback, callback_args, callback_kwargs)


class AdminAuth(AdminOnly, AuthenticationMiddleware):
    """`request.user`."""


class AdminMessages(AdminOnly, MessageMiddleware):
    """Messages of one page to the next."""


class AdminFrames(AdminOnly, XFrameOptionsMiddleware):
    """`X-Frame-Options: DENY`."""


class AdminValues(AdminOnly, MiddlewareMixin):
    """Answers a value that no column of the database can hold, in whichever page's URL it is.

    As the admin answers others that find nothing: a query string is dropped, with a word about it, and a record of
    that key is not there. So is one, among those chosen for an action, whose key can be none.
    """

    # Django takes either form, and would run a plain one in a thread for every request.
    async def process_view(
        self,
        request: HttpRequest,
        callback: Callable[..., HttpResponseBase],
        _args: tuple[Any, ...],
        _kwargs: dict[str, Any],
    ) -> HttpResponseBase | None:
        """Raise Http404 for a chosen key that can be none; Django calls this for every view."""
        page = getattr(callback, "model_admin", None)
        if page is None or request.method != "POST":
            return None
        for key in request.POST.getlist(ACTION_CHECKBOX_NAME):
            try:
                page.opts.pk.to_python(key)
            except ValidationError as fault:
                raise Http404 from fault
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponseBase | None:
        """Redirect or raise Http404; Django calls this for what a view raised."""
        if not is_admin(request.path_info) or not isinstance(exception, (OverflowError, DataError)):
            return None
        if request.GET and ERROR_FLAG not in request.GET:
            return HttpResponseRedirect(f"{request.path}?{ERROR_FLAG}=1")
        raise Http404 from exception
