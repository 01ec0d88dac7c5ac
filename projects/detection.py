"""Which project a folder says that it belongs to."""

from contract.projects import DetectionSource, DetectProject
from projects.remotes import project_of_remote


def claimed(found: DetectProject) -> tuple[str, DetectionSource] | None:
    """Return the name that a folder gives, and by what; None leaves it to the paths of projects.

    What somebody wrote into a file counts before where the repository came from.
    """
    if found.configured is not None:
        return found.configured, "config"
    name = None if found.remote_url is None else project_of_remote(found.remote_url)
    return None if name is None else (name, "git_remote")
