"""What this machine has for runs."""

from pathlib import Path

from runs.runtimes import SHIPPED, Runtime
from studio_project.machine import LocalMachine, executables, folder_fault


def runtime(name: str, executable: str, folder: Path) -> Runtime:
    return Runtime(name=name, executable=executable, templates=SHIPPED["claude"].templates, env={"PATH": str(folder)})


def test_executables_are_found_on_the_path_of_their_processes(tmp_path: Path) -> None:
    (tmp_path / "tool").touch(mode=0o755)
    (tmp_path / "text").touch(mode=0o644)
    runtimes = {name: runtime(name, name, tmp_path) for name in ("tool", "text", "gone")}

    found = executables(runtimes)

    assert found == {"tool": str(tmp_path / "tool"), "text": None, "gone": None}
    assert LocalMachine(runtimes).usable_runtimes() == {"tool"}


def test_a_folder_can_be_used_or_has_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    machine = LocalMachine({})

    faults = [machine.folder_fault(str(path)) for path in (tmp_path, tmp_path / "gone", tmp_path / "file")]

    assert faults == [None, "No such file or directory", "is not a folder"]


def test_no_folder_has_no_fault() -> None:
    assert folder_fault(None) is None
