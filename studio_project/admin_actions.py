"""Actions of the admin: each calls the application for every chosen record, and tells what came of it."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from asgiref.sync import async_to_sync
from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ActionForm
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth import get_permission_codename
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from contract.errors import StudioError
from contract.limits import SUMMARY_MAX_CHARS
from studio_project.admin import ReadOnlyAdmin

# One click: more are a mistake, or the work of a script over the API.
CHOSEN_AT_ONCE_MAX: Final = 500
_TOLD_REFUSALS_MAX: Final = 20

# One call of the application for a record, not begun yet.
Operation = Callable[[Any], Coroutine[Any, Any, object]]


class ReasonForm(ActionForm):
    """The choice of an action, with a reason."""

    reason = forms.CharField(required=False, max_length=SUMMARY_MAX_CHARS, label="Reason")


class SteeringAdmin(ReadOnlyAdmin):
    """Records that people steer by actions, which the permission to change them allows. The page itself only reads."""

    action_form = ReasonForm

    def has_steer_permission(self, request: HttpRequest) -> bool:
        """Whether the user may change these records, which here means to steer what they stand for."""
        codename = get_permission_codename("change", self.opts)
        return request.user.has_perm(f"{self.opts.app_label}.{codename}")

    def steer(
        self, request: HttpRequest, chosen: QuerySet[Any], operation: Operation, *, told: str, logged: str
    ) -> None:
        """Call `operation` with each chosen record; tell each refusal, and `told` with the number of the others.

        What succeeded is in the records' history as `logged`.
        """
        records = list(chosen[: CHOSEN_AT_ONCE_MAX + 1])
        if len(records) > CHOSEN_AT_ONCE_MAX:
            named = self.opts.verbose_name_plural
            self.message_user(request, f"At most {CHOSEN_AT_ONCE_MAX} {named} at once.", messages.ERROR)
            return
        refused = async_to_sync(_refused)(records, operation)
        self._tell(request, {self.named(record): refused[record.pk] for record in records if record.pk in refused})
        done = [record for record in records if record.pk not in refused]
        if done:
            self._log(request, done, logged)
            self.message_user(request, f"{told}: {len(done)}.", messages.SUCCESS)

    def named(self, record: Any) -> str:
        """Return what a record is called where a refusal is told."""
        return f"{str(self.opts.verbose_name).capitalize()} {record}"

    def _log(self, request: HttpRequest, records: Sequence[Model], message: str) -> None:
        user_id = str(request.user.pk)
        LogEntry.objects.log_actions(user_id=user_id, queryset=records, action_flag=CHANGE, change_message=message)

    def _tell(self, request: HttpRequest, refused: Mapping[str, StudioError]) -> None:
        told = list(refused.items())[:_TOLD_REFUSALS_MAX]
        for name, error in told:
            self.message_user(request, f"{name}: {error}", messages.ERROR)
        if len(refused) > len(told):
            self.message_user(request, f"Refused besides: {len(refused) - len(told)}.", messages.ERROR)


def reason_of(request: HttpRequest) -> str | None:
    """Return the reason that was given with an action, if any."""
    return request.POST.get("reason") or None


def actor_of(request: HttpRequest) -> str:
    """Return who acts, as the application records it."""
    return f"admin:{request.user.get_username()}"


async def _refused(records: Sequence[Model], operation: Operation) -> dict[Any, StudioError]:
    """Do one after the other; return why some were refused, by their keys."""
    refused: dict[Any, StudioError] = {}
    for record in records:
        try:
            await operation(record)
        except StudioError as error:
            refused[record.pk] = error
    return refused
