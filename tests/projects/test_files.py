"""What the disk says of a folder: real folders, and no program is run in them."""

import os
from pathlib import Path

import pytest

from contract.errors import ValidationFailure
from contract.limits import PROJECT_FOLDERS_MAX
from projects.files import DiskFolders, survey_folder

URL = "git@host:team/thing.git"
CONFIG = f'[remote "origin"]\n\turl = {URL}\n'


def repository(folder: Path, config: str | None = CONFIG) -> Path:
    """Make what git makes of a folder, as far as it is looked at; return its `.git`."""
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    if config is not None:
        (git / "config").write_text(config)
    return git


def configure(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".studio.toml").write_text(text, encoding="utf-8")


def state_of(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def fault_of(folder: Path) -> str:
    with pytest.raises(ValidationFailure) as caught:
        survey_folder(str(folder))
    (failure,) = caught.value.field_errors
    assert failure.path == (".studio.toml",)
    return failure.message


def test_a_folder_is_told_with_all_above_it(tmp_path: Path) -> None:
    found = survey_folder(f"{tmp_path}/a/../a/b/")

    assert found.folders == tuple(map(str, (tmp_path / "a/b", tmp_path / "a", tmp_path, *tmp_path.parents)))


def test_a_link_is_told_as_it_was_named_and_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real/deep")

    folders = survey_folder(str(tmp_path / "link")).folders

    assert folders[:2] == (str(tmp_path / "link"), str(tmp_path / "real/deep"))
    assert str(tmp_path / "real") in folders


def test_the_nearest_configuration_that_names_a_project_counts(tmp_path: Path) -> None:
    configure(tmp_path, 'project = "outer"\n')
    configure(tmp_path / "a", 'project = "team/inner é"\n[other]\nkey = 1\n')
    configure(tmp_path / "a/b", "key = 1\n")

    assert survey_folder(str(tmp_path / "a/b/c")).configured == "team/inner é"
    assert survey_folder(str(tmp_path)).configured == "outer"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("project = \nx = 1\n", "line 1"),
        ("x = " + "[" * 50_000, "is nested too deeply"),
        ("project = 1\n", "project: Input should be a valid string"),
        ('project = "a//b"\n', "project: must not hold empty"),
        ('project = ""\n', "project: String should have at least 1 character"),
        ("x" * 70_000, "has more than 65536 bytes"),
    ],
)
def test_a_configuration_that_says_something_unusable_is_told_with_its_place(
    tmp_path: Path, text: str, said: str
) -> None:
    configure(tmp_path, text)

    message = fault_of(tmp_path / "a")

    assert message.startswith(f"{tmp_path}/.studio.toml: ")
    assert said in message


def test_a_configuration_that_is_no_text_or_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / ".studio.toml").write_bytes(b'project = "\xff"')
    assert "decode" in fault_of(tmp_path)
    (tmp_path / ".studio.toml").unlink()
    (tmp_path / ".studio.toml").mkdir()
    assert "is no regular file" in fault_of(tmp_path) or "directory" in fault_of(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".studio.toml")

    assert "is no regular file" in fault_of(tmp_path)


def test_the_nearest_repository_counts_whatever_it_says(tmp_path: Path) -> None:
    repository(tmp_path)
    repository(tmp_path / "a/inner", config="[core]\n")

    assert survey_folder(str(tmp_path / "a")).remote_url == URL
    assert survey_folder(str(tmp_path / "a/inner/src")).remote_url is None


def test_a_folder_that_is_only_called_so_is_no_repository(tmp_path: Path) -> None:
    repository(tmp_path)
    (tmp_path / "a/.git").mkdir(parents=True)

    assert survey_folder(str(tmp_path / "a")).remote_url == URL


def test_a_worktree_has_the_remote_of_its_repository(tmp_path: Path) -> None:
    git = repository(tmp_path / "main")
    own = git / "worktrees/feature"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text("ref: refs/heads/feature\n")
    tree = tmp_path / "feature"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")

    assert survey_folder(str(tree)).remote_url == URL


def test_a_submodule_has_its_own_remote(tmp_path: Path) -> None:
    git = repository(tmp_path, config='[remote "origin"]\nurl = https://host/outer\n')
    module = git / "modules/lib"
    module.mkdir(parents=True)
    (module / "config").write_text(CONFIG)
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/.git").write_text("gitdir: ../.git/modules/lib\n")

    assert survey_folder(str(tmp_path / "lib")).remote_url == URL
    assert survey_folder(str(tmp_path)).remote_url == "https://host/outer"


@pytest.mark.parametrize("pointer", ["gitdir: /nowhere\n", "", "gitdir: \0\n", "x" * 10_000, "gitdir: .git\n"])
def test_a_pointer_to_nowhere_gives_no_remote(tmp_path: Path, pointer: str) -> None:
    (tmp_path / ".git").write_text(pointer)

    assert survey_folder(str(tmp_path)).remote_url is None


@pytest.mark.parametrize("config", [None, "", "#" * 1_100_000, "[remote", f'[remote "o"]\nurl = host:{"x" * 5_000}\n'])
def test_a_configuration_of_git_without_a_usable_url_gives_no_remote(tmp_path: Path, config: str | None) -> None:
    repository(tmp_path, config)

    assert survey_folder(str(tmp_path)).remote_url is None


def test_bytes_that_are_no_text_are_harmless(tmp_path: Path) -> None:
    git = repository(tmp_path)
    (git / "config").write_bytes(b'[remote "origin"]\n\turl = host:a\xff\n\tx = \x00\n')

    assert survey_folder(str(tmp_path)).remote_url == "host:a\ufffd"


def test_a_folder_that_is_not_there_says_what_those_above_say(tmp_path: Path) -> None:
    configure(tmp_path, 'project = "shop"\n')

    assert survey_folder(str(tmp_path / "no/such/folder")).configured == "shop"


@pytest.mark.parametrize("folder", ["", "a", "./a", "~/a", "/a\0b", "/a\ud800"])
def test_a_folder_has_to_be_an_absolute_path(folder: str) -> None:
    with pytest.raises(ValidationFailure):
        survey_folder(folder)


def test_no_more_folders_are_told_than_can_be_asked_about(tmp_path: Path) -> None:
    deep = str(tmp_path) + "/a" * 300

    assert len(survey_folder(deep).folders) == PROJECT_FOLDERS_MAX


async def test_nothing_is_written(tmp_path: Path) -> None:
    repository(tmp_path)
    configure(tmp_path, 'project = "shop"\n')
    before = state_of(tmp_path)

    found = await DiskFolders().survey(str(tmp_path))

    assert (found.configured, found.remote_url) == ("shop", URL)
    assert state_of(tmp_path) == before
