import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from contract.definitions import (
    DefinitionKind,
    DefinitionQuery,
    DefinitionVersion,
    ReconciliationDetail,
    ReconciliationQuery,
    SaveDefinition,
)
from contract.errors import ReconciliationRequired
from definitions.models import DefinitionRecord, DefinitionVersionRecord, ReconciliationRecord
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

DEFINITIONS = "/admin/definitions/definitionrecord/"
VERSIONS = "/admin/definitions/definitionversionrecord/"
INBOX = "/admin/definitions/reconciliationrecord/"
HOSTILE = "<script>alert('&')</script>"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """No playbook reaches its file while `playbooks` leads to a folder that is not there."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "playbooks").symlink_to(tmp_path / "away")
    return tmp_path / "home"


@pytest.fixture
def studio(home: Path) -> Iterator[Studio]:
    studio = build_studio(current_config().model_copy(update={"home": home}))
    set_studio(studio)
    yield studio
    async_to_sync(studio.close)()
    set_studio(None)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="secret"))
    return client


def save(studio: Studio, name: str, *contents: str, kind: DefinitionKind = "agent") -> None:
    for content in contents:
        with suppress(ReconciliationRequired):
            async_to_sync(studio.save_file_definition)(SaveDefinition(kind=kind, name=name, content=content))


def unwritten(studio: Studio, name: str) -> str:
    """Save a playbook that does not reach its file; return its reconciliation."""
    save(studio, name, "prompt: Go.\n", kind="playbook")
    (found,) = async_to_sync(studio.list_reconciliations)(ReconciliationQuery(name=name)).items
    return found.id


def mend(home: Path) -> Path:
    (home.parent / "away").mkdir()
    return home.parent / "away"


def versions(studio: Studio, name: str, kind: str = "agent") -> list[DefinitionVersion]:
    count = DefinitionRecord.objects.get(kind=kind, name=name).latest_version
    return [async_to_sync(studio.get_definition_version)(kind, name, number) for number in range(1, count + 1)]


def reconciliation(studio: Studio, reconciliation_id: str) -> ReconciliationDetail:
    return async_to_sync(studio.get_reconciliation)(reconciliation_id)


def act(browser: Client, page: str, action: str, *chosen: int, reason: str = "") -> str:
    data = {"action": action, "reason": reason, "_selected_action": chosen}
    return browser.post(page, data, follow=True).text


def resolve(browser: Client, action: str, *ids: str, reason: str = "") -> str:
    chosen = ReconciliationRecord.objects.filter(reconciliation_id__in=ids).values_list("pk", flat=True)
    return act(browser, INBOX, action, *chosen, reason=reason)


def definition_key(name: str) -> int:
    return DefinitionRecord.objects.get(name=name).pk


def version_key(name: str, version: int) -> int:
    return DefinitionVersionRecord.objects.get(definition__name=name, version=version).pk


def errors(page: str) -> list[str]:
    return re.findall(r'class="error">([^<]*)<', page)


def listed(page: str) -> list[str]:
    return re.findall(r'<th class="field-(?:name|version|reconciliation_id)"><a href="[^"]*">([^<]*)<', page)


def history_of(record: str) -> list[str]:
    return [str(entry) for entry in LogEntry.objects.filter(content_type__model=record).order_by("pk")]


# ---- definitions


def test_the_list_links_to_the_history_of_each_definition(studio: Studio, browser: Client) -> None:
    save(studio, "scout", "One.", "Two.")
    save(studio, "other", "One.")

    page = browser.get(DEFINITIONS).text
    history = browser.get(VERSIONS, {"kind": "agent", "name": "scout"}).text

    assert f'href="{VERSIONS}?kind=agent&amp;name=scout">2 versions</a>' in page
    assert listed(history) == ["2", "1"]


def test_definitions_are_filtered_by_what_is_pending_and_deleted(studio: Studio, browser: Client) -> None:
    save(studio, "scout", "One.")
    save(studio, "gone", "One.")
    unwritten(studio, "nightly")
    act(browser, DEFINITIONS, "delete", definition_key("gone"))

    found = {
        str(query): sorted(listed(browser.get(DEFINITIONS, query).text))
        for query in ({"pending": "yes"}, {"pending": "no"}, {"deleted": "yes"}, {"deleted": "no", "kind": "agent"})
    }

    assert list(found.values()) == [["nightly"], ["gone", "scout"], ["gone"], ["scout"]]


def test_a_deletion_is_a_version_by_the_user_and_removes_the_file(studio: Studio, browser: Client, home: Path) -> None:
    save(studio, "scout", "One.")

    page = act(browser, DEFINITIONS, "delete", definition_key("scout"), reason="not used")

    assert "Deleted: 1." in page
    assert not (home / "agents" / "scout.md").exists()
    deletion = versions(studio, "scout")[-1]
    assert (deletion.deleted, deletion.actor, deletion.message) == (True, "admin:ada", "not used")
    assert history_of("definitionrecord") == ["Changed “agent/scout” — deleted"]


def test_a_deletion_of_what_is_gone_tells_the_services_refusal(studio: Studio, browser: Client) -> None:
    save(studio, "scout", "One.")
    act(browser, DEFINITIONS, "delete", definition_key("scout"))

    page = act(browser, DEFINITIONS, "delete", definition_key("scout"))

    assert errors(page) == ["Definition agent/scout: no definition agent/scout"]
    assert len(versions(studio, "scout")) == 2


def test_a_snapshot_captures_an_edit_by_hand_and_says_what_it_cannot_take(
    studio: Studio, browser: Client, home: Path
) -> None:
    save(studio, "scout", "One.")
    save(studio, "odd", "One.")
    (home / "agents" / "scout.md").write_text("By hand.")
    (home / "agents" / "odd.md").write_bytes(b"\xff")

    page = act(browser, DEFINITIONS, "snapshot", definition_key("scout"), definition_key("odd"))

    assert versions(studio, "scout")[-1].content == "By hand."
    assert "Captured: agent/scout (version 2)." in page
    (error,) = errors(page)
    assert error.startswith("Definition agent/odd: agents/odd.md is not UTF-8")
    assert history_of("definitionrecord") == ["Changed “agent/scout” — snapshot"]


# ---- versions


def test_a_version_shows_its_content_and_its_changes_escaped(studio: Studio, browser: Client) -> None:
    save(studio, "scout", "One.\n", f"{HOSTILE}\n")

    page = browser.get(f"{VERSIONS}{version_key('scout', 2)}/change/").text

    assert HOSTILE not in page
    assert "1 removed, 1 added." in page
    assert re.search(r"background: [^>]*>-One\.<", page)
    assert re.search(r"background: [^>]*>\+&lt;script&gt;", page)
    assert re.search(r"<pre[^>]*>&lt;script&gt;", page)


@pytest.mark.parametrize(
    ("against", "told"),
    [
        ("", "Against version 2:"),
        ("1", "Against version 1:"),
        ("0", "Against version 0 (nothing):"),
        ("3", "The two are equal."),
        ("99", "There is no version 99."),
        ("9" * 18, f"There is no version {'9' * 18}."),
        ("9" * 400, "Against version 2:"),
        ("-1", "Against version 2:"),
        ("٣", "Against version 2:"),
        ("<b>\x00", "Against version 2:"),
    ],
)
def test_a_version_is_compared_with_the_one_asked_for(studio: Studio, browser: Client, against: str, told: str) -> None:
    save(studio, "scout", "One.", "Two.", "Three.")

    page = browser.get(f"{VERSIONS}{version_key('scout', 3)}/change/", {"against": against} if against else {}).text

    assert told in page
    assert '<a href="?against=1">1</a> <a href="?against=2">2</a>' in page


def test_a_rollback_appends_the_version_chosen(studio: Studio, browser: Client, home: Path) -> None:
    save(studio, "scout", "One.", "Two.")

    page = act(browser, VERSIONS, "rollback", version_key("scout", 1), reason="was better")

    assert "Rolled back: 1." in page
    assert (home / "agents" / "scout.md").read_text() == "One."
    newest = versions(studio, "scout")[-1]
    assert (newest.version, newest.origin, newest.actor, newest.message) == (3, "rollback", "admin:ada", "was better")
    assert history_of("definitionversionrecord") == ["Changed “version 1” — rolled back to this version"]


def test_a_rollback_takes_one_version_and_tells_the_services_refusal(studio: Studio, browser: Client) -> None:
    save(studio, "scout", "One.")
    act(browser, DEFINITIONS, "delete", definition_key("scout"))

    both = act(browser, VERSIONS, "rollback", version_key("scout", 1), version_key("scout", 2))
    deletion = act(browser, VERSIONS, "rollback", version_key("scout", 2))

    assert errors(both) == ["Choose one version to roll back to."]
    (error,) = errors(deletion)
    assert error.startswith("Version 2 of agent/scout: version 2 of scout records a deletion")
    assert len(versions(studio, "scout")) == 2


# ---- reconciliations


def test_the_inbox_has_the_pending_ones_first(studio: Studio, browser: Client) -> None:
    first, second, third = (unwritten(studio, name) for name in ("a", "b", "c"))
    resolve(browser, "dismiss", third, reason="not needed")

    assert listed(browser.get(INBOX).text) == [second, first, third]
    assert listed(browser.get(INBOX, {"status": "resolved"}).text) == [third]


def test_a_retry_writes_the_file(studio: Studio, browser: Client, home: Path) -> None:
    reconciliation_id = unwritten(studio, "nightly")
    folder = mend(home)

    page = resolve(browser, "retry_write", reconciliation_id)

    assert "Written: 1." in page
    assert (folder / "nightly.playbook.yaml").read_text() == "prompt: Go.\n"
    found = reconciliation(studio, reconciliation_id)
    assert (found.resolution, found.actor) == ("retry_write", "admin:ada")
    assert history_of("reconciliationrecord") == [f"Changed “{reconciliation_id}” — retry_write"]


def test_a_retry_that_fails_again_is_told_of_each_one(studio: Studio, browser: Client) -> None:
    ids = [unwritten(studio, name) for name in ("a", "b")]

    page = resolve(browser, "retry_write", *ids)

    assert len(errors(page)) == 2
    assert all("the file was not written" in error for error in errors(page))
    assert [reconciliation(studio, found).attempts for found in ids] == [2, 2]
    assert history_of("reconciliationrecord") == []


def test_the_file_that_was_made_by_hand_is_accepted(studio: Studio, browser: Client, home: Path) -> None:
    reconciliation_id = unwritten(studio, "nightly")
    (mend(home) / "nightly.playbook.yaml").write_text("prompt: By hand.\n")

    refused = resolve(browser, "retry_write", reconciliation_id)
    accepted = resolve(browser, "accept_file", reconciliation_id, reason="it is right")

    assert "was changed since the write failed" in errors(refused)[0]
    assert "Accepted: 1." in accepted
    newest = versions(studio, "nightly", "playbook")[-1]
    assert (newest.content, newest.origin, newest.actor) == ("prompt: By hand.\n", "external", "admin:ada")
    assert history_of("reconciliationrecord") == [f"Changed “{reconciliation_id}” — accept_file: it is right"]


def test_a_dismissal_needs_a_reason(studio: Studio, browser: Client) -> None:
    reconciliation_id = unwritten(studio, "nightly")

    refused = resolve(browser, "dismiss", reconciliation_id)
    dismissed = resolve(browser, "dismiss", reconciliation_id, reason="was a trial")

    assert errors(refused) == [f"Reconciliation {reconciliation_id}: reason: a dismissal needs a reason"]
    assert "Dismissed: 1." in dismissed
    found = reconciliation(studio, reconciliation_id)
    assert (found.resolution, found.reason, found.actor) == ("dismiss", "was a trial", "admin:ada")


def test_a_reconciliation_shows_its_log_and_what_can_be_done_now(studio: Studio, browser: Client, home: Path) -> None:
    reconciliation_id = unwritten(studio, "nightly")
    resolve(browser, "retry_write", reconciliation_id)
    (mend(home) / "nightly.playbook.yaml").write_text("prompt: By hand.\n")
    key = ReconciliationRecord.objects.get(reconciliation_id=reconciliation_id).pk

    page = browser.get(f"{INBOX}{key}/change/").text

    told = "possible now: Accept the file as a new version; Dismiss, with a reason (the actions are in the list: <a "
    assert told in page
    assert page.count(">playbook/nightly<") == 1
    assert page.count('class="readonly"><a href') == 2  # the definition and the version, once each
    assert '<ul style="margin: 0; padding: 0"><li>' in page
    assert page.count("something that is no regular file stands in its place") >= 2
    assert "failed by admin:ada" in page


def test_a_user_who_may_only_view_changes_nothing(studio: Studio) -> None:
    save(studio, "scout", "One.", "Two.")
    reconciliation_id = unwritten(studio, "nightly")
    viewer = User.objects.create_user("eve", is_staff=True)
    viewer.user_permissions.set(
        Permission.objects.filter(content_type__app_label="definitions", codename__contains="view")
    )
    browser = Client()
    browser.force_login(viewer)

    for page in (DEFINITIONS, VERSIONS, INBOX):
        assert browser.get(page).status_code == 200
    act(browser, DEFINITIONS, "delete", definition_key("scout"))
    act(browser, VERSIONS, "rollback", version_key("scout", 1))
    resolve(browser, "dismiss", reconciliation_id, reason="no")

    agents = async_to_sync(studio.list_definitions)(DefinitionQuery(kind="agent"))
    assert [agent.version for agent in agents.items] == [2]
    assert reconciliation(studio, reconciliation_id).status == "pending"
    assert not LogEntry.objects.exists()
