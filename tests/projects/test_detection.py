"""What a folder claims."""

from contract.projects import DetectProject
from projects.detection import claimed

FOLDERS = ("/a/b", "/a", "/")
REMOTE = "git@host:team/thing.git"


def test_what_somebody_wrote_comes_before_where_it_came_from() -> None:
    assert claimed(DetectProject(folders=FOLDERS, configured="shop", remote_url=REMOTE)) == ("shop", "config")
    assert claimed(DetectProject(folders=FOLDERS, remote_url=REMOTE)) == ("host/team/thing", "git_remote")


def test_a_remote_that_is_a_folder_claims_nothing() -> None:
    assert claimed(DetectProject(folders=FOLDERS, remote_url="/srv/thing.git")) is None
    assert claimed(DetectProject(folders=FOLDERS)) is None
