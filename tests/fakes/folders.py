"""Folders that say what a test wants them to say."""

from contract.errors import StudioApplicationError
from contract.projects import DetectProject


class FakeFolders:
    """A FolderPort over what is known of folders; others say nothing."""

    def __init__(self) -> None:
        self.known: dict[str, DetectProject] = {}
        self.fault: StudioApplicationError | None = None

    def says(self, folder: str, *, configured: str | None = None, remote_url: str | None = None) -> None:
        above = [folder]
        while above[-1] != "/":
            above.append(above[-1].rpartition("/")[0] or "/")
        self.known[folder] = DetectProject(folders=tuple(above), configured=configured, remote_url=remote_url)

    async def survey(self, folder: str) -> DetectProject:
        if self.fault is not None:
            raise self.fault
        if folder not in self.known:
            self.says(folder)
        return self.known[folder]
