"""`doctor`: which settings are in effect and where they came from, and whether everything is as it should be."""

from typer import Exit

from studio_project.commands import AsJson, StudioCommand
from studio_project.config import current_config
from studio_project.doctor import Diagnosis, Finding, diagnose
from studio_project.doctor_facts import gather
from studio_project.system import SystemClock
from studio_project.terminal import Styled, Table, Terminal

_UNHEALTHY = 1
_STYLES = {"ok": "green", "note": "dim", "warn": "yellow", "fail": "bold red"}


class Command(StudioCommand):
    """Explain the effective settings and check what they point to."""

    help = (
        "Explain the effective settings and check what they point to. Changes nothing; ends with 1 if anything fails."
    )

    def handle(self, *, as_json: AsJson = False) -> None:
        """Print settings and findings."""
        config = current_config()
        diagnosis = diagnose(config, gather(config, SystemClock()))
        if as_json:
            self.terminal.model(diagnosis)
        else:
            _print(diagnosis, self.terminal)
        if not diagnosis.healthy:
            raise Exit(_UNHEALTHY)


def _print(diagnosis: Diagnosis, terminal: Terminal) -> None:
    rows = [(setting.key, setting.value, setting.origin, setting.meaning) for setting in diagnosis.settings]
    headers = ("SETTING", "VALUE", "FROM", "MEANING")
    terminal.table(Table(headers=headers, rows=rows, empty="", elastic={"MEANING"}))
    terminal.line()
    for finding in diagnosis.findings:
        _print_finding(finding, terminal)


def _print_finding(finding: Finding, terminal: Terminal) -> None:
    terminal.line(Styled(f"{finding.level:<5}", _STYLES[finding.level]), f"{finding.subject:<12}{finding.detail}")
    if finding.remedy is not None:
        terminal.line(f"{'':<17}-> {finding.remedy}")
