import json
import shutil
import socket
from contextlib import suppress
from io import StringIO
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.db import connection

from contract.definitions import SaveDefinition
from contract.errors import ReconciliationRequired
from runs.runtimes import Runtime
from studio_project.composition import build_studio
from studio_project.config import FILE_NAME, StudioConfig, current_config, load_config
from studio_project.doctor import Diagnosis, Setting
from studio_project.doctor_facts import database_facts, gather, home_facts, port_fault
from studio_project.home import LOCK_NAME, HomeLock, find_holder
from studio_project.machine import executables, folder_fault
from tests.fakes.clocks import FixedClock


def config_of(home: Path, **environ: str) -> StudioConfig:
    return load_config({"STUDIO_HOME": str(home), **environ})


def test_a_home_is_seen_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / FILE_NAME).write_text("")
    (home / FILE_NAME).chmod(0o640)

    facts = home_facts(home)

    assert (facts.is_folder, facts.is_writable, facts.mode, facts.file_mode) == (True, True, 0o700, 0o640)
    assert facts.free_bytes > 0


def test_looking_at_a_home_that_is_not_there_does_not_make_it(tmp_path: Path) -> None:
    facts = gather(config_of(tmp_path / "not" / "there"), FixedClock())

    assert (facts.home.is_folder, facts.home.is_writable, facts.home.mode) == (False, True, None)
    assert facts.database.absent
    assert not list(tmp_path.iterdir())


def test_a_home_that_is_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    facts = home_facts(tmp_path / "home")

    assert not facts.is_folder
    assert not facts.is_writable


@pytest.mark.django_db(transaction=True)
def test_the_database_tells_its_schema_and_its_size() -> None:
    connection.ensure_connection()

    facts = database_facts(current_config().model_copy(update={"database_url": _live_url()}))

    assert facts.fault is None
    assert facts.schema is not None
    assert (facts.schema.missing, facts.schema.unknown) == ((), ())
    assert facts.size_bytes > 0
    assert facts.journal_mode == ("wal" if connection.vendor == "sqlite" else None)
    assert facts.shrinks


@pytest.mark.django_db(transaction=True)
def test_the_pending_reconciliations_are_counted(tmp_path: Path) -> None:
    (tmp_path / "agents").symlink_to(tmp_path / "nowhere")
    config = current_config().model_copy(update={"home": tmp_path, "database_url": _live_url()})
    before = database_facts(config).reconciliations
    studio = build_studio(config)

    with suppress(ReconciliationRequired):
        async_to_sync(studio.save_file_definition)(SaveDefinition(kind="agent", name="scout", content="One."))
    async_to_sync(studio.close)()

    assert (before, database_facts(config).reconciliations) == (0, 1)


def test_a_port_that_is_taken_is_told_with_the_reason() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        assert port_fault("127.0.0.1", taken.getsockname()[1]) == "Address already in use"


def test_a_port_that_is_free_has_no_fault() -> None:
    assert port_fault("127.0.0.1", 0) is None


def test_executables_are_looked_for_where_the_processes_of_a_runtime_would(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    found, elsewhere, absolute, missing = (
        Runtime(name=name, executable=executable, templates={}, env=env)
        for name, executable, env in [
            ("found", "sh", {}),
            ("elsewhere", "tool", {"PATH": str(tmp_path)}),
            ("absolute", str(tool), {}),
            ("missing", "tool", {}),
        ]
    )

    places = executables({one.name: one for one in (found, elsewhere, absolute, missing)})

    assert places == {
        "found": shutil.which("sh"),
        "elsewhere": str(tool),
        "absolute": str(tool),
        "missing": None,
    }


def test_a_folder_for_runs_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    assert folder_fault(None) is None
    assert folder_fault(tmp_path) is None
    assert folder_fault(tmp_path / "none") == "No such file or directory"
    assert folder_fault(tmp_path / ("x" * 300)) == "File name too long"
    assert folder_fault(tmp_path / "file") == "is not a folder"


def test_a_home_without_a_lock_has_no_holder(tmp_path: Path) -> None:
    assert find_holder(tmp_path) is None


def test_a_daemon_that_serves_is_found(tmp_path: Path) -> None:
    lock = HomeLock(tmp_path).take(pid=7)
    lock.tell(pid=7, port=8765)

    holder = find_holder(tmp_path)

    assert holder is not None
    assert (holder.pid, holder.port) == (7, 8765)
    lock.release()
    assert find_holder(tmp_path) is None


def test_what_a_killed_daemon_left_is_no_holder(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text('{"pid": 7, "port": 8765}\n')

    assert find_holder(tmp_path) is None


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_every_setting_and_finding() -> None:
    out = run_doctor()

    assert "STUDIO_MAX_CONCURRENT" in out
    assert "ok   timezone    UTC" in out


@pytest.mark.django_db(transaction=True)
def test_the_command_prints_the_diagnosis_as_json() -> None:
    diagnosis = Diagnosis.model_validate_json(run_doctor("--json"))

    home = Setting(
        key="STUDIO_HOME",
        value=str(current_config().home),
        origin="env",
        meaning="folder of everything Studio keeps; only from the environment",
    )
    assert home in diagnosis.settings
    assert json.loads(run_doctor("--json"))["healthy"] == diagnosis.healthy


def run_doctor(*arguments: str) -> str:
    out = StringIO()
    with suppress(CommandError):  # the port of the default may be taken while this runs
        call_command("doctor", *arguments, stdout=out)
    return out.getvalue()


def _live_url() -> object:
    """The URL of the database that this test has, as the configuration would hold it."""
    name = str(connection.settings_dict["NAME"])
    url = f"sqlite://{name}" if connection.vendor == "sqlite" else f"postgresql:///{name}"
    return type(current_config().database_url)(url)
