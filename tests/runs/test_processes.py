"""Which process is meant: by pid, start and boot, whatever the wall clock says."""

import os

import pytest

from contract.events import ProcessIdentity
from runs.processes import LocalProcesses, identify

AN_HOUR = 3_600.0


def own(**changes: object) -> ProcessIdentity:
    return identify(os.getpid()).model_copy(update=changes)


def an_hour_off() -> float:
    started_at = own().started_at
    assert started_at is not None
    return started_at + AN_HOUR


def test_a_process_that_lives_is_known_as_itself() -> None:
    assert LocalProcesses().alive(LocalProcesses().own()) is True


def test_a_wall_clock_that_was_set_makes_nobody_look_gone() -> None:
    assert LocalProcesses().alive(own(started_at=an_hour_off())) is True


def test_one_tick_makes_another_process() -> None:
    ticks = own().started_ticks
    assert ticks is not None

    assert LocalProcesses().alive(own(started_ticks=ticks + 1)) is False


@pytest.mark.parametrize("changes", [{"started_ticks": None}, {"boot_id": None}])
def test_without_ticks_of_this_boot_the_wall_clock_decides(changes: dict[str, object]) -> None:
    assert LocalProcesses().alive(own(**changes)) is True
    assert LocalProcesses().alive(own(**changes, started_at=an_hour_off())) is False


def test_a_process_of_another_boot_is_gone() -> None:
    assert LocalProcesses().alive(own(boot_id="another-boot")) is False


def test_a_pid_alone_says_nothing() -> None:
    assert LocalProcesses().alive(own(started_at=None, started_ticks=None)) is None


def test_a_process_elsewhere_cannot_be_looked_at() -> None:
    elsewhere = own(host="another-host")

    assert LocalProcesses().alive(elsewhere) is None
    assert LocalProcesses().elsewhere(elsewhere)
