import re
from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from contract.events import RecordEvents, StatusEvent
from contract.runs import RunReadQuery, StartRun
from runs.models import RunRecord
from studio_project.admin_actions import CHOSEN_AT_ONCE_MAX
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/runs/runrecord/"


@pytest.fixture
def studio() -> Iterator[Studio]:
    studio = build_studio(current_config())
    set_studio(studio)
    yield studio
    async_to_sync(studio.close)()
    set_studio(None)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="secret"))
    return client


def start(studio: Studio, *run_ids: str) -> None:
    for run_id in run_ids:
        async_to_sync(studio.start_run)(StartRun(run_id=run_id))


def cancel(browser: Client, *run_ids: str, reason: str = "") -> str:
    chosen = list(RunRecord.objects.filter(run_id__in=run_ids).values_list("pk", flat=True))
    data = {"action": "cancel", "reason": reason, "_selected_action": chosen}
    return browser.post(LIST, data, follow=True).text


def queue(run_id: str) -> None:
    RunRecord.objects.filter(run_id=run_id).update(status="queued")


def test_cancel_asks_each_chosen_run_to_stop(studio: Studio, browser: Client) -> None:
    start(studio, "r1", "r2", "r3")

    page = cancel(browser, "r1", "r2")

    asked = RunRecord.objects.filter(cancel_requested_at__isnull=False)
    assert set(asked.values_list("run_id", flat=True)) == {"r1", "r2"}
    assert "Asked to stop: 2." in page


def test_cancel_tells_the_services_refusal_of_each_run(studio: Studio, browser: Client) -> None:
    start(studio, "ended", "open")
    events = RecordEvents(events=(StatusEvent(status="completed"),))
    async_to_sync(studio.record_events)("ended", events)

    page = cancel(browser, "ended", "open")

    assert re.findall(r'class="error">([^<]*)<', page) == ["Run ended: run ended has ended: completed"]
    assert "Asked to stop: 1." in page


def test_cancel_names_the_user_when_no_reason_is_given(studio: Studio, browser: Client) -> None:
    start(studio, "r1", "r2")
    queue("r1")
    queue("r2")

    cancel(browser, "r1")
    cancel(browser, "r2", reason="too dear")

    details = [async_to_sync(studio.get_run)(run_id, RunReadQuery()) for run_id in ("r1", "r2")]
    assert [detail.status_reason_summary for detail in details] == ["by ada in the admin", "too dear"]


def test_cancel_is_in_the_history_of_the_run(studio: Studio, browser: Client) -> None:
    start(studio, "r1")

    cancel(browser, "r1", reason="too dear")

    assert [str(entry) for entry in LogEntry.objects.all()] == ["Changed “r1” — asked to stop: too dear"]


def test_cancel_refuses_too_many_runs_at_once(studio: Studio, browser: Client) -> None:
    start(studio, "r0")
    row = RunRecord.objects.values().get()
    copies = ({**row, "id": None, "run_id": f"r{n}"} for n in range(1, CHOSEN_AT_ONCE_MAX + 1))
    RunRecord.objects.bulk_create(RunRecord(**copy) for copy in copies)

    page = browser.post(LIST, {"action": "cancel", "select_across": "1", "_selected_action": [1]}, follow=True).text

    assert f"At most {CHOSEN_AT_ONCE_MAX} runs at once." in page
    assert not RunRecord.objects.filter(cancel_requested_at__isnull=False).exists()


def test_a_user_who_may_only_view_is_not_offered_to_cancel(studio: Studio) -> None:
    start(studio, "r1")
    viewer = User.objects.create_user("eve", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_runrecord"))
    browser = Client()
    browser.force_login(viewer)

    assert browser.get(LIST).status_code == 200
    cancel(browser, "r1")

    assert not RunRecord.objects.filter(cancel_requested_at__isnull=False).exists()
