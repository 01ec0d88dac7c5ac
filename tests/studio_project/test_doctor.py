from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from studio_project.config import PREFIX, StudioConfig, load_config
from studio_project.doctor import (
    FREE_FAIL_BYTES,
    FREE_WARN_BYTES,
    WAL_WARN_BYTES,
    DatabaseFacts,
    Diagnosis,
    Facts,
    Finding,
    HomeFacts,
    diagnose,
)
from studio_project.home import Holder
from studio_project.schema import SchemaState

HOME = HomeFacts(
    path=Path("/h"), is_folder=True, is_writable=True, mode=0o700, file_mode=None, free_bytes=FREE_WARN_BYTES
)
DATABASE = DatabaseFacts(schema=SchemaState(missing=(), unknown=()), version="SQLite 3", journal_mode="wal")
WELL = Facts(
    home=HOME,
    database=DATABASE,
    holder=None,
    port_fault=None,
    script="/bin/studio",
    executables={"li": "/bin/li", "claude": "/bin/claude", "codex": "/bin/codex"},
    root_fault=None,
    now=datetime(2026, 11, 30, 9, 0, tzinfo=UTC),
    software="Studio 1",
)


def config(**environ: str) -> StudioConfig:
    return load_config({"STUDIO_HOME": "/h", **{f"STUDIO_{name.upper()}": value for name, value in environ.items()}})


def findings(facts: Facts, **environ: str) -> dict[str, Finding]:
    return {finding.subject: finding for finding in diagnose(config(**environ), facts).findings}


def home(**changes: Any) -> Facts:
    return replace(WELL, home=replace(HOME, **changes))


def database(**changes: Any) -> Facts:
    return replace(WELL, database=replace(DATABASE, **changes))


def test_a_studio_that_is_well_has_only_good_findings() -> None:
    diagnosis = diagnose(config(), WELL)

    assert diagnosis.healthy
    assert {finding.level for finding in diagnosis.findings} == {"ok"}


@pytest.mark.parametrize(
    ("facts", "subject", "level"),
    [
        (home(mode=None, is_folder=False), "home", "warn"),
        (home(mode=None, is_folder=False, is_writable=False), "home", "fail"),
        (home(is_folder=False), "home", "fail"),
        (home(is_writable=False), "home", "fail"),
        (home(mode=0o750), "home", "warn"),
        (home(file_mode=0o644), "studio.toml", "warn"),
        (home(free_bytes=FREE_WARN_BYTES - 1), "disk", "warn"),
        (home(free_bytes=FREE_FAIL_BYTES - 1), "disk", "fail"),
        (replace(WELL, database=DatabaseFacts(absent=True)), "database", "warn"),
        (replace(WELL, database=DatabaseFacts(fault="refused")), "database", "fail"),
        (database(schema=SchemaState(missing=("runs.0001_initial",), unknown=())), "schema", "warn"),
        (database(schema=SchemaState(missing=(), unknown=("runs.0009_later",))), "schema", "fail"),
        (database(journal_mode="delete"), "journal", "warn"),
        (database(shrinks=False), "room", "warn"),
        (database(wal_bytes=WAL_WARN_BYTES + 1), "journal", "warn"),
        (database(reconciliations=2), "definitions", "warn"),
        (replace(WELL, port_fault="Address already in use"), "port", "fail"),
        (replace(WELL, script=None), "command", "warn"),
    ],
)
def test_what_is_not_well_has_its_level_and_a_remedy(facts: Facts, subject: str, level: str) -> None:
    finding = findings(facts)[subject]

    assert finding.level == level
    assert finding.remedy
    assert diagnose(config(), facts).healthy == (level != "fail")


@pytest.mark.parametrize(
    ("environ", "level"),
    [
        ({}, "ok"),
        ({"auth_token": "a"}, "ok"),
        ({"auth_token": "a", "auth_read_token": "b", "host": "0.0.0.0"}, "ok"),  # noqa: S104 (never bound here)
        ({"auth_read_token": "b"}, "warn"),
        ({"host": "192.0.2.1", "insecure": "true"}, "warn"),
        ({"host": "192.0.2.1"}, "fail"),
    ],
)
def test_who_may_come_in_is_judged_by_address_and_tokens(environ: dict[str, str], level: str) -> None:
    assert findings(WELL, **environ)["access"].level == level


def test_a_daemon_that_holds_the_home_is_named_instead_of_its_port_being_taken() -> None:
    served = findings(replace(WELL, holder=Holder(pid=7, port=8765)))

    assert served["daemon"].detail == "serves this home: pid 7, port 8765"
    assert "port" not in served


def test_any_free_port_is_told_as_such() -> None:
    assert "any free one" in findings(WELL, port="0")["port"].detail


def test_postgresql_has_no_journal_to_judge() -> None:
    assert "journal" not in findings(database(journal_mode=None))


def runtimes(**executables: str | None) -> Facts:
    return replace(WELL, executables=dict(WELL.executables) | executables)


def told_of_runtimes(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(finding.level, finding.detail) for finding in diagnosis.findings if finding.subject == "runtime"]


def test_every_runtime_is_told_with_its_place_and_its_kinds() -> None:
    told = told_of_runtimes(diagnose(config(), WELL))

    assert told == [
        ("ok", "li is /bin/li, for agent, flow, fanout, play, flow_yaml"),
        ("ok", "claude is /bin/claude, for agent"),
        ("ok", "codex is /bin/codex, for agent"),
    ]


def test_a_shipped_runtime_that_is_not_there_is_noted_and_the_default_one_is_warned_of() -> None:
    facts = runtimes(claude=None, codex=None)

    told = told_of_runtimes(diagnose(config(default_runtime="claude"), facts))

    assert told[1:] == [
        ("warn", "claude cannot be used for agent: there is no executable claude"),
        ("note", "codex cannot be used for agent: there is no executable codex"),
    ]
    assert diagnose(config(default_runtime="claude"), facts).healthy


def test_a_runtime_of_ones_own_that_is_not_there_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "studio.toml").write_text('[runtimes.li]\nexecutable = "/opt/li"\n')
    described = load_config({"STUDIO_HOME": str(tmp_path)})

    [finding, *_] = [one for one in diagnose(described, runtimes(li=None)).findings if one.subject == "runtime"]

    assert finding.level == "warn"
    assert finding.detail.endswith("there is no executable /opt/li")
    assert finding.remedy == "install it, or set executable in [runtimes.li] to its path"


def test_a_configured_folder_of_runs_is_judged_and_without_one_there_is_nothing_to_judge() -> None:
    assert "root" not in findings(WELL)
    assert findings(WELL, execution_root="/w")["root"].level == "ok"
    refused = findings(replace(WELL, root_fault="does not exist"), execution_root="/w")["root"]
    assert (refused.level, refused.detail) == ("warn", "/w: does not exist")


def test_deadlines_are_told_as_one_where_they_are_equal() -> None:
    def told(deadlines: str) -> str:
        settings = diagnose(config(deadline_seconds=deadlines), WELL).settings
        return next(setting.value for setting in settings if setting.key == "STUDIO_DEADLINE_SECONDS")

    assert told("90.5") == "90.5"
    assert told("agent=60") == "agent=60, flow=7200, fanout=7200, play=7200, flow_yaml=7200, command=7200"


@pytest.mark.parametrize(
    ("pending", "told"),
    [
        (0, "no reconciliation is pending"),
        (1, "1 reconciliation is pending: saved to the history, and not in the file"),
        (1_200, "1,200 reconciliations are pending: saved to the history, and not in the file"),
    ],
)
def test_pending_reconciliations_are_counted_and_the_way_to_them_is_told(pending: int, told: str) -> None:
    finding = findings(database(reconciliations=pending))["definitions"]

    assert finding.detail == told
    assert finding.remedy == ("`studio definition reconcile` lists what is pending" if pending else None)


def test_a_schema_that_does_not_tell_of_reconciliations_has_none_to_judge() -> None:
    assert "definitions" not in findings(database(reconciliations=None))


def test_every_setting_is_told_with_its_origin() -> None:
    settings = {setting.key: setting for setting in diagnose(config(port="1", allowed_hosts="a,b"), WELL).settings}

    assert set(settings) == {PREFIX + name.upper() for name in StudioConfig.model_fields}
    assert all(setting.meaning for setting in settings.values())
    assert (settings["STUDIO_PORT"].value, settings["STUDIO_PORT"].origin) == ("1", "env")
    assert (settings["STUDIO_HOST"].value, settings["STUDIO_HOST"].origin) == ("127.0.0.1", "default")
    assert settings["STUDIO_ALLOWED_HOSTS"].value == "a, b"
    assert settings["STUDIO_INSECURE"].value == "false"


def test_no_secret_is_told() -> None:
    diagnosis = diagnose(
        config(
            auth_token="s3cret-a",
            auth_read_token="s3cret-b",
            database_url="postgresql://u:s3cret-c@h/d",
            url="http://u:s3cret-d@studio.example/",
        ),
        WELL,
    )

    told = diagnosis.model_dump_json()
    assert "s3cret" not in told
    assert "postgresql://u@h/d" in told
    assert "http://studio.example/" in told


@pytest.mark.parametrize(
    ("missing", "level", "told"),
    [
        ((), "ok", "its tables are there"),
        (("runs.0002_later",), "ok", "its tables are there"),
        (("procrastinate.0001_initial",), "warn", "its tables are missing"),
    ],
)
def test_the_bound_queue_is_told_with_its_tables(missing: tuple[str, ...], level: str, told: str) -> None:
    facts = database(schema=SchemaState(missing=missing, unknown=()))

    finding = findings(facts, QUEUE="procrastinate", DATABASE_URL="postgresql://h/n")["queue"]

    assert (finding.level, finding.detail.endswith(told)) == (level, True)


def test_a_local_queue_needs_nothing() -> None:
    assert findings(WELL)["queue"].level == "ok"
