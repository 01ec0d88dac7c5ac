"""Admin pages of projects: names of every kind, the way to their runs, and what may be done."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.test import Client

from contract.projects import CreateProject
from contract.runs import StartRun
from projects.models import ProjectRecord
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/projects/projectrecord/"
NAMES = ("github.com/team/thing", "100%/é b", "a?b#c&d=e", "日本")


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


def create(studio: Studio, *names: str) -> None:
    for name in names:
        async_to_sync(studio.create_project)(CreateProject(name=name))


def remove(browser: Client, *names: str) -> str:
    chosen = list(ProjectRecord.objects.filter(name__in=names).values_list("pk", flat=True))
    return browser.post(LIST, {"action": "remove", "_selected_action": chosen}, follow=True).text


@pytest.mark.parametrize("name", NAMES)
def test_a_project_is_shown_and_leads_to_its_runs(studio: Studio, browser: Client, name: str) -> None:
    async_to_sync(studio.start_run)(StartRun(run_id="its-run", project=name))
    async_to_sync(studio.start_run)(StartRun(run_id="another"))
    pk = ProjectRecord.objects.get(name=name).pk

    listed, page = browser.get(LIST), browser.get(f"{LIST}{pk}/change/")
    way = f"/admin/runs/runrecord/?{urlencode({'project': name})}"
    runs = browser.get(way).text

    for answer in (listed, page):
        assert answer.status_code == 200
        assert way.replace("&", "&amp;") in answer.text
    assert "its-run" in runs
    assert "another" not in runs


def test_a_search_finds_a_part_of_a_name_whatever_its_case(studio: Studio, browser: Client) -> None:
    create(studio, "Shöp", "other")

    page = browser.get(LIST, {"q": "SHÖ"}).text

    assert "Shöp" in page
    assert "other" not in page


def test_a_project_without_runs_is_removed_and_one_with_runs_is_not(studio: Studio, browser: Client) -> None:
    create(studio, "empty/one")
    async_to_sync(studio.start_run)(StartRun(run_id="r", project="used/one"))

    page = remove(browser, "empty/one", "used/one")

    assert re.findall(r'class="error">([^<]*)<', page) == [
        "Project used/one: project used/one has 1 run: detach them, or keep it"
    ]
    assert "Removed: 1." in page
    assert list(ProjectRecord.objects.values_list("name", flat=True)) == ["used/one"]


def test_who_may_only_look_removes_nothing(studio: Studio) -> None:
    create(studio, "a")
    reader = User.objects.create_user("eve", password="secret", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_projectrecord"))
    browser = Client()
    browser.force_login(reader)

    remove(browser, "a")

    assert ProjectRecord.objects.count() == 1
