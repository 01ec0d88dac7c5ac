"""Every page of the admin, with data, over Django's own client."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from contract.actions import LaunchRun
from contract.definitions import SaveDefinition
from contract.errors import ReconciliationRequired
from contract.events import RecordEvents
from contract.parsing import parse_model
from contract.runs import StartRun
from contract.schedules import CreateSchedule, FireSchedule
from studio_project.admin import ReadOnlyAdmin
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = [
    {"type": "graph", "nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"source": "a", "target": "b"}]},
    {"type": "branch", "name": "scout", "agent_name": "Scout"},
    {"type": "message", "role": "user", "branch": "scout", "content": "<b>look</b>" * 100, "event_id": "e1"},
    {"type": "message", "role": "tool", "branch": "scout", "content": {"files": [1, 2]}},
    {"type": "signal", "kind": "NodeStarted", "op_id": "a", "payload": {"why": "now"}},
    {"type": "usage", "input_tokens": 3, "cost_usd": 0.25, "model": "m"},
    {"type": "artifact", "kind": "report", "name": "report", "content": {"ok": True}},
]
SCHEDULE = {
    "trigger": {"kind": "interval", "seconds": 600},
    "action": {"kind": "command", "command": ["look"]},
}
HOSTILE = ("r1", "%", "\x00", "x" * 300)
RUNS = "/admin/runs/runrecord/"
_REGISTERED = sorted(admin.site._registry.items(), key=lambda entry: entry[0].__name__)
_OURS = [(model, page) for model, page in _REGISTERED if isinstance(page, ReadOnlyAdmin)]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    # A link that leads nowhere: no playbook reaches its file.
    (tmp_path / "playbooks").symlink_to(tmp_path / "nowhere")
    config = current_config().model_copy(update={"home": tmp_path, "command_allowlist": ("look",)})
    studio = build_studio(config)
    set_studio(studio)
    yield studio
    async_to_sync(studio.close)()
    set_studio(None)


@pytest.fixture
def browser() -> Client:
    client = Client(raise_request_exception=True)
    client.force_login(User.objects.create_superuser("ada", password="secret"))
    return client


def record(studio: Studio, *run_ids: str) -> None:
    async def recorded() -> None:
        for run_id in run_ids:
            await studio.start_run(
                StartRun(run_id=run_id, name=f"Run {run_id}", tags=("nightly",), invocation_id="inv", project="p")
            )
            await studio.record_events(run_id, parse_model(RecordEvents, {"events": EVENTS}))
            await studio.launch_run(LaunchRun(kind="command", command=("look",), launch_key=f"launch-of-{run_id}"))
            schedule = await studio.mutate_schedule(parse_model(CreateSchedule, SCHEDULE | {"name": run_id}))
            await studio.fire_schedule(schedule.schedule_id, FireSchedule())
            await studio.save_file_definition(SaveDefinition(kind="agent", name=run_id, content="Look."))
            with suppress(ReconciliationRequired):
                await studio.save_file_definition(SaveDefinition(kind="playbook", name=run_id, content="prompt: Go.\n"))

    async_to_sync(recorded)()


def list_url(model: type[Model]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def url(model: type[Model], view: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{view}", args=args)


def test_every_record_type_is_registered() -> None:
    ours = {
        model
        for app in ("runs", "artifacts", "definitions", "workflows", "schedules", "projects")
        for model in apps.get_app_config(app).get_models()
    }

    assert ours == {model for model, _ in _OURS}


def test_every_list_opens(studio: Studio, browser: Client) -> None:
    record(studio, "r1")

    for model, _ in _REGISTERED:
        answer = browser.get(list_url(model))

        assert answer.status_code == 200, model
        if model is not Group:
            assert "0 selected" in answer.text or "1 " in answer.text, model


def test_every_record_can_be_read_and_shows_every_field(studio: Studio, browser: Client) -> None:
    record(studio, "r1")
    request = RequestFactory().get("/")

    for model, page in _OURS:
        row = model._default_manager.first()
        assert row is not None, f"the data of this test has no {model.__name__}"
        answer = browser.get(url(model, "change", row.pk))

        assert answer.status_code == 200, model
        fields = {
            getattr(field, "__name__", field) for _, group in page.get_fieldsets(request) for field in group["fields"]
        }
        assert fields >= {field.name for field in model._meta.concrete_fields}, model
        assert not [text for text in ("<textarea", 'name="_save"', "deletelink") if text in answer.text], model


def test_every_filter_and_search_opens(studio: Studio, browser: Client) -> None:
    record(studio, "r1")

    for model, page in _OURS:
        for filtering in page.list_filter:
            name = filtering if isinstance(filtering, str) else filtering.parameter_name
            parameter = f"{name}__exact" if isinstance(filtering, str) else str(name)
            for value in ("0",) if isinstance(filtering, str) else HOSTILE:
                assert browser.get(list_url(model), {parameter: value}).status_code == 200, (model, parameter)
        of_run = {"run": "r1"} if "run" in _parameters(page) else {}
        for query in ({"q": term} | more for term in HOSTILE for more in ({}, of_run)):
            assert browser.get(list_url(model), query).status_code == 200, (model, query)


def test_a_search_finds_runs_by_id_and_by_a_part_of_the_name_whatever_the_case(studio: Studio, browser: Client) -> None:
    record(studio, "r1", "r10")

    assert listed_runs(browser, q="r1") == ["r1"]
    assert listed_runs(browser, q="RUN R1") == ["r10", "r1"]
    assert listed_runs(browser, q="r_0") == []


def test_a_text_filter_keeps_the_other_filters_and_the_search(studio: Studio, browser: Client) -> None:
    record(studio, "r1")

    page = browser.get(RUNS, {"q": "run", "status": "running", "project": "p"}).text

    assert '<input type="hidden" name="q" value="run"><input type="hidden" name="status" value="running">' in page
    assert '<input type="text" name="project" value="p"' in page


def test_nothing_can_be_added_changed_or_deleted(studio: Studio, browser: Client) -> None:
    record(studio, "r1")

    for model, _ in _OURS:
        before = list(model._default_manager.values())
        pk = model._default_manager.values_list("pk", flat=True)[0]
        assert browser.get(url(model, "add")).status_code == 403, model
        for address in (url(model, "add"), url(model, "change", pk), url(model, "delete", pk)):
            assert browser.post(address, {"name": "x", "post": "yes"}).status_code == 403, address
        browser.post(list_url(model), {"action": "delete_selected", "_selected_action": [pk], "post": "yes"})
        assert list(model._default_manager.values()) == before, model


def test_a_list_takes_the_same_number_of_queries_however_long_it_is(studio: Studio, browser: Client) -> None:
    record(studio, "r1")
    short = {model: queries(browser, list_url(model)) for model, _ in _OURS}

    record(studio, *(f"more-{n}" for n in range(12)))

    assert {model: queries(browser, list_url(model)) for model, _ in _OURS} == short
    assert max(short.values()) <= 5


def test_lists_read_no_long_text_whole(studio: Studio, browser: Client) -> None:
    record(studio, "r1")

    for model, page in _OURS:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            browser.get(list_url(model))
        rows = [query["sql"] for query in asked if f'FROM "{model._meta.db_table}"' in query["sql"]]
        for field in (*page.json_fields, *page.text_fields, *page.heads):
            column = f'"{model._meta.db_table}"."{field}"'
            assert not [sql for sql in rows if f"{column}," in sql and f"({column}," not in sql], (model, field)


def test_a_run_links_to_the_lists_of_what_belongs_to_it(studio: Studio, browser: Client) -> None:
    record(studio, "r1", "r2")
    [run_model] = [model for model, _ in _OURS if model._meta.model_name == "runrecord"]
    page = browser.get(url(run_model, "change", run_model._default_manager.get(run_id="r1").pk)).text

    for name in ("branch", "message", "signal", "transition", "usage", "runtag", "graph", "eventreceipt"):
        address = reverse(f"admin:runs_{name}record_changelist") + "?run=r1"
        assert f'href="{address}"' in page
        listed = browser.get(address).text
        assert ">r1</a>" in listed
        assert ">r2</a>" not in listed


def test_recorded_markup_is_shown_and_never_obeyed(studio: Studio, browser: Client) -> None:
    record(studio, "r1")
    [messages] = [model for model, _ in _OURS if model._meta.model_name == "messagerecord"]

    pages = [
        browser.get(list_url(messages)).text,
        browser.get(url(messages, "change", messages._default_manager.get(role="user").pk)).text,
    ]

    assert all("&lt;b&gt;look" in page and "<b>look" not in page for page in pages)


@pytest.mark.parametrize("number", ["9" * 20, "-" + "9" * 20, "9" * 400])
def test_a_number_that_no_column_holds_finds_nothing(studio: Studio, browser: Client, number: str) -> None:
    record(studio, "r1")

    for model, _ in _REGISTERED:
        for view in ("change", "history", "delete"):
            assert browser.get(url(model, view, number)).status_code in (302, 403, 404), (model, view)
        for lookup in ("pk", "pk__gte", "pk__lt"):
            answer = browser.get(list_url(model), {lookup: number}, follow=True)
            assert answer.status_code == 200, (model, lookup)
    for name in ("transitionrecord", "messagerecord"):
        assert browser.get(f"/admin/runs/{name}/?run__exact={number}", follow=True).status_code == 200


@pytest.mark.parametrize("key", ["abc", "", "1.5", "\x00", "9" * 20, "-1", "9" * 5_000])
def test_an_action_on_what_can_be_no_record_changes_nothing(studio: Studio, browser: Client, key: str) -> None:
    record(studio, "r1")

    for model, page in _REGISTERED:
        before = model._default_manager.count()
        for action in ("delete_selected", *(page.actions or ())):
            answer = browser.post(list_url(model), {"action": action, "_selected_action": key}, follow=True)
            assert answer.status_code in (200, 403, 404), (model, action)
        assert model._default_manager.count() == before


def test_the_site_has_its_own_name(browser: Client) -> None:
    page = browser.get("/admin/").text

    assert "Studio" in page
    assert "Django administration" not in page


def test_the_administrator_can_change_the_password(browser: Client) -> None:
    new = {"old_password": "secret", "new_password1": "Qv7-longer-word", "new_password2": "Qv7-longer-word"}

    assert browser.post("/admin/password_change/", new).status_code == 302
    assert User.objects.get(username="ada").check_password("Qv7-longer-word")


def _parameters(page: ReadOnlyAdmin) -> set[str | None]:
    return {filtering.parameter_name for filtering in page.list_filter if not isinstance(filtering, str)}


def listed_runs(browser: Client, **query: str) -> list[str]:
    return re.findall(r'class="field-run_id"><a href="[^"]*">([^<]*)<', browser.get(RUNS, query).text)


def queries(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(address).status_code == 200
    return len(asked)
