import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from contract.parsing import parse_model
from contract.schedules import CreateSchedule, FiringQuery, ScheduleDetail
from schedules.models import FiringRecord, ScheduleRecord
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config
from tests.fakes.clocks import FixedClock

pytestmark = pytest.mark.django_db(transaction=True)

SCHEDULES = "/admin/schedules/schedulerecord/"
FIRINGS = "/admin/schedules/firingrecord/"
HOSTILE = "<script>alert('&')</script>"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    config = current_config().model_copy(update={"home": tmp_path, "command_allowlist": ("look",)})
    studio = build_studio(config, clock=FixedClock())
    set_studio(studio)
    yield studio
    async_to_sync(studio.close)()
    set_studio(None)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="secret"))
    return client


def create(studio: Studio, *names: str, **fields: Any) -> None:
    for name in names:
        given = {
            "name": name,
            "trigger": {"kind": "interval", "seconds": 600},
            "action": {"kind": "command", "command": ["look"]},
        }
        async_to_sync(studio.mutate_schedule)(parse_model(CreateSchedule, given | fields))


def detail(studio: Studio, name: str) -> ScheduleDetail:
    schedule_id = ScheduleRecord.objects.get(name=name).schedule_id
    return async_to_sync(studio.get_schedule)(schedule_id)


def act(browser: Client, action: str, *names: str) -> str:
    chosen = list(ScheduleRecord.objects.filter(name__in=names).values_list("pk", flat=True))
    return browser.post(SCHEDULES, {"action": action, "_selected_action": chosen}, follow=True).text


def listed(browser: Client, page: str, **query: str) -> list[str]:
    text = browser.get(page, query).text
    return re.findall(r'<th class="field-(?:name|firing_id)"><a href="[^"]*">([^<]*)<', text)


def errors(page: str) -> list[str]:
    return re.findall(r'class="error">([^<]*)<', page)


def history() -> list[str]:
    return [str(entry) for entry in LogEntry.objects.order_by("pk")]


def test_schedules_are_listed_by_name_filtered_and_searched(studio: Studio, browser: Client) -> None:
    create(studio, "b", "a", project="p")
    create(studio, "Nightly", trigger={"kind": "cron", "expression": "0 3 * * *"}, enabled=False)

    assert listed(browser, SCHEDULES) == ["Nightly", "a", "b"]
    assert listed(browser, SCHEDULES, trigger="cron") == ["Nightly"]
    assert listed(browser, SCHEDULES, enabled__exact="1", project="p") == ["a", "b"]
    assert listed(browser, SCHEDULES, q="NIGHT") == ["Nightly"]
    assert listed(browser, SCHEDULES, q=detail(studio, "a").schedule_id) == ["a"]


def test_a_schedule_links_to_its_firings_and_they_to_their_runs(studio: Studio, browser: Client) -> None:
    create(studio, "a", "b")
    act(browser, "fire", "a", "b")
    found = detail(studio, "a")

    page = browser.get(f"{SCHEDULES}{ScheduleRecord.objects.get(name='a').pk}/change/").text
    firings = browser.get(FIRINGS, {"schedule": found.schedule_id}).text

    assert f'href="{FIRINGS}?schedule={found.schedule_id}"' in page
    assert f'href="/admin/runs/runrecord/?q={found.last_run_id}"' in page
    assert "&quot;seconds&quot;: 600" in page
    assert f'href="/admin/runs/runrecord/?q={found.last_run_id}"' in firings
    assert listed(browser, FIRINGS, schedule=found.schedule_id) == [found.firings[0].firing_id]
    assert listed(browser, FIRINGS, q=str(found.last_run_id)) == [found.firings[0].firing_id]
    assert listed(browser, FIRINGS, q=found.firings[0].firing_id, outcome="skipped") == []


def test_what_was_said_is_shown_and_never_obeyed(studio: Studio, browser: Client) -> None:
    create(studio, HOSTILE, description=HOSTILE, action={"kind": "command", "command": ["look", HOSTILE]})
    act(browser, "fire", HOSTILE)

    pages = [
        browser.get(SCHEDULES).text,
        browser.get(f"{SCHEDULES}{ScheduleRecord.objects.get().pk}/change/").text,
        browser.get(FIRINGS).text,
        browser.get(f"{FIRINGS}{FiringRecord.objects.get().pk}/change/").text,
    ]

    assert all("&lt;script&gt;" in page and HOSTILE not in page for page in pages)


def test_schedules_are_disabled_and_enabled(studio: Studio, browser: Client) -> None:
    create(studio, "a", "b")

    page = act(browser, "disable", "a", "b")
    assert "Disabled: 2." in page
    assert [detail(studio, name).enabled for name in "ab"] == [False, False]

    page = act(browser, "enable", "b")
    assert "Enabled: 1." in page
    assert [detail(studio, name).enabled for name in "ab"] == [False, True]
    assert sorted(history()) == ["Changed “a” — disabled", "Changed “b” — disabled", "Changed “b” — enabled"]


def test_a_refused_fire_is_told_and_recorded_and_can_be_forced(studio: Studio, browser: Client) -> None:
    create(studio, "a")
    assert "Fired: 1." in act(browser, "fire", "a")

    refused = act(browser, "fire", "a")
    forced = act(browser, "fire_forced", "a")

    (error,) = errors(refused)
    assert error.startswith("Schedule a: schedule a was not fired: ")
    assert "Fired: 1." in forced
    assert [firing.outcome for firing in detail(studio, "a").firings] == ["fired", "skipped", "fired"]
    assert history() == ["Changed “a” — fired", "Changed “a” — fired, forced"]


def test_the_next_instant_is_skipped_where_it_is_known(studio: Studio, browser: Client) -> None:
    create(studio, "a")
    create(studio, "off", enabled=False)
    before = detail(studio, "a").next_fire_at

    page = act(browser, "skip_next", "a", "off")

    after = detail(studio, "a")
    assert "Skipped: 1." in page
    assert len(errors(page)) == 1
    assert before is not None
    assert after.next_fire_at == before + 600
    assert [(firing.outcome, firing.due_at) for firing in after.firings] == [("skipped", before)]


def test_a_row_that_cannot_be_read_is_shown_all_the_same(studio: Studio, browser: Client) -> None:
    create(studio, "a")
    ScheduleRecord.objects.update(trigger="{", action="[")

    page = browser.get(f"{SCHEDULES}{ScheduleRecord.objects.get().pk}/change/")

    assert listed(browser, SCHEDULES) == ["a"]
    assert page.status_code == 200
    (error,) = errors(act(browser, "disable", "a"))
    assert error.startswith("Schedule a: no schedule ")


def test_a_user_who_may_only_view_changes_nothing(studio: Studio) -> None:
    create(studio, "a")
    viewer = User.objects.create_user("eve", is_staff=True)
    viewer.user_permissions.set(
        Permission.objects.filter(content_type__app_label="schedules", codename__contains="view")
    )
    browser = Client()
    browser.force_login(viewer)

    for action in ("disable", "fire", "fire_forced", "skip_next"):
        act(browser, action, "a")

    assert (browser.get(SCHEDULES).status_code, browser.get(FIRINGS).status_code) == (200, 200)
    found = detail(studio, "a")
    assert (found.enabled, found.run_count) == (True, 0)
    assert async_to_sync(studio.list_firings)(found.schedule_id, FiringQuery()).items == ()
    assert not LogEntry.objects.exists()
