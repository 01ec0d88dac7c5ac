"""The admin's pages of artifacts: previews that nobody executes, and the verification of their runs."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from artifacts.models import ArtifactRecord
from contract.artifacts import ArtifactResult, SaveArtifact
from contract.runs import StartRun
from studio_project.composition import Studio, build_studio, set_studio
from studio_project.config import current_config

pytestmark = pytest.mark.django_db(transaction=True)

LIST = "/admin/artifacts/artifactrecord/"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    studio = build_studio(current_config().model_copy(update={"home": tmp_path}))
    set_studio(studio)
    async_to_sync(studio.start_run)(StartRun(run_id="r"))
    yield studio
    async_to_sync(studio.close)()
    set_studio(None)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="secret"))
    return client


def save(studio: Studio, name: str, **fields: Any) -> ArtifactResult:
    return async_to_sync(studio.save_artifact)(SaveArtifact(run_id="r", kind="k", name=name, **fields))


def page(browser: Client, name: str) -> str:
    number = ArtifactRecord.objects.get(name=name).pk
    return browser.get(f"{LIST}{number}/change/").text


def verify(browser: Client, *names: str) -> list[str]:
    chosen = list(ArtifactRecord.objects.filter(name__in=names).values_list("pk", flat=True))
    answer = browser.post(LIST, {"action": "verify", "_selected_action": chosen}, follow=True)
    return re.findall(r'<li class="(?:success|error|warning)">([^<]*)<', answer.text)


def test_a_text_is_shown_escaped(studio: Studio, browser: Client) -> None:
    save(studio, "n", path="a.html", data=b"<script>alert(1)</script>")

    shown = page(browser, "n")

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>alert" not in shown


def test_a_long_text_is_cut(studio: Studio, browser: Client) -> None:
    save(studio, "n", path="a.txt", data=b"x" * 900_000)

    shown = page(browser, "n")

    assert len(shown) < 100_000
    assert "… of 878.9" in shown


def test_an_image_is_named_and_never_shown(studio: Studio, browser: Client) -> None:
    save(studio, "n", path="a.png", data=b"\x89PNG\r\n\x1a\n")

    shown = page(browser, "n")

    assert "artifacts/r/a.png: image, image/png, 8" in shown
    assert "<img" not in shown.partition("<main")[2]


def test_what_cannot_be_shown_is_said(studio: Studio, browser: Client, tmp_path: Path) -> None:
    for name in ("gone", "other", "link"):
        save(studio, name, path=name, data=b"x")
    save(studio, "bare")
    folder = tmp_path / "artifacts" / "r"
    (folder / "gone").unlink()
    (folder / "other").write_bytes(b"y")
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/passwd")

    assert "artifacts/r/gone is not there" in page(browser, "gone")
    assert "is not the file that was recorded" in page(browser, "other")
    assert "symbolic link" in page(browser, "link")
    assert "root:" not in page(browser, "link")
    assert page(browser, "bare")


def test_verify_tells_what_is_not_as_it_was_recorded(studio: Studio, browser: Client, tmp_path: Path) -> None:
    for name in ("same", "other"):
        save(studio, name, path=name, data=b"x")
    assert verify(browser, "same") == ["Run r: 2 verified, 0 not as recorded."]
    (tmp_path / "artifacts" / "r" / "other").write_bytes(b"y")
    (tmp_path / "artifacts" / "r" / "stray").write_bytes(b"y")

    told = verify(browser, "same", "other")

    assert told == ["Run r: other is changed", "Run r: 2 verified, 1 not as recorded, 1 unregistered."]


def test_verify_tells_the_service_s_refusal(studio: Studio, browser: Client, tmp_path: Path) -> None:
    save(studio, "n")
    (tmp_path / "artifacts").mkdir(exist_ok=True)
    (tmp_path / "artifacts" / "r").symlink_to("/etc")

    [told] = verify(browser, "n")

    assert "symbolic link" in told
