import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from contract.actions import LaunchRun
from contract.events import RecordEvents, StatusEvent
from contract.runs import RunReadQuery, StartRun
from runs.models import LaunchRecord, RunRecord
from runs.processes import LocalProcesses
from studio_project.admin_actions import CHOSEN_AT_ONCE_MAX
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/runs/runrecord/"
LAUNCHES = "/admin/runs/launchrecord/"


@pytest.fixture
def studio() -> Iterator[Studio]:
    studio = build_studio(current_config().model_copy(update={"command_allowlist": ("look",)}))
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


def launch(studio: Studio, *launch_keys: str) -> None:
    for key in launch_keys:
        async_to_sync(studio.launch_run)(LaunchRun(kind="command", command=("look", "<b>"), launch_key=key))


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


def test_a_launched_run_that_waits_is_cancelled_at_once(studio: Studio, browser: Client) -> None:
    launch(studio, "k1")
    run_id = LaunchRecord.objects.get().run.run_id

    cancel(browser, run_id)

    detail = async_to_sync(studio.get_run)(run_id, RunReadQuery())
    assert (detail.status, detail.status_reason_code) == ("cancelled", "run.cancelled.before_start")


def test_a_launch_is_found_by_its_key_and_by_its_run(studio: Studio, browser: Client) -> None:
    launch(studio, "k1", "k2")
    run_id = LaunchRecord.objects.get(launch_key="k2").run.run_id

    assert listed_launches(browser, q="k1") == ["k1"]
    assert listed_launches(browser, q=run_id) == ["k2"]
    assert listed_launches(browser, q="k") == []


def test_launches_are_listed_by_whether_somebody_holds_them(studio: Studio, browser: Client) -> None:
    launch(studio, "k1", "k2")
    LaunchRecord.objects.filter(launch_key="k2").update(owner=LocalProcesses().own().model_dump_json())

    assert listed_launches(browser, held="yes") == ["k2"]
    assert listed_launches(browser, held="no") == ["k1"]


def test_the_page_of_a_launch_shows_what_was_asked_for_and_never_obeys_it(studio: Studio, browser: Client) -> None:
    launch(studio, "k1")

    page = browser.get(f"{LAUNCHES}{LaunchRecord.objects.get().pk}/change/").text

    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_the_environment_of_a_runtime_is_on_no_page(browser: Client) -> None:
    config = current_config()
    runtimes = {**config.runtimes, "claude": replace(config.runtimes["claude"], env={"API_KEY": "never-shown"})}
    studio = build_studio(config.model_copy(update={"runtimes": runtimes}))
    set_studio(studio)
    async_to_sync(studio.launch_run)(LaunchRun(kind="agent", prompt="Look.", runtime="claude"))
    [record] = LaunchRecord.objects.all()

    pages = [browser.get(f"{where}{record.pk}/change/").text for where in (LIST, LAUNCHES)]

    async_to_sync(studio.close)()
    set_studio(None)
    assert all("claude" in page for page in pages[1:])
    assert not [page for page in pages if "never-shown" in page or "API_KEY" in page]


def listed_launches(browser: Client, **query: str) -> list[str]:
    return re.findall(r'class="field-launch_key"><a href="[^"]*">([^<]*)<', browser.get(LAUNCHES, query).text)
