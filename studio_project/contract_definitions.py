"""What the recording of the contract does to definitions: commands over HTTP, and what people do to files by hand."""

from pathlib import Path
from typing import Final

from studio_project.contract_asgi import Request
from studio_project.contract_story import DEFINITIONS, Document, post

AGENT: Final = f"{DEFINITIONS}agent/reviewer"
PLAYBOOK: Final = f"{DEFINITIONS}playbook/nightly"
RECONCILIATIONS: Final = "/api/v1/reconciliations/"

_FIRST: Final = "---\ndescription: Reads changes\n---\nYou review changes.\nName every fault.\n"
_SECOND: Final = _FIRST.replace("Name every fault.", "Name the worst fault, and its line.")
_BY_HAND: Final = f"{_SECOND}Be brief.\n"
_STEPS: Final = "description: Reviews what the day has brought\nprompt: Review the changes of today.\n"


def save(path: str, content: str, **more: object) -> Request:
    """Return a save."""
    return Request(method="PUT", path=path, body={"content": content, **more})


# What is kept, by the name of its example, up to the edit by hand...
SAVED: Final[dict[str, Request]] = {
    "definition-created": save(AGENT, _FIRST, expected_version=0),
    "definition-saved": save(AGENT, _SECOND, expected_version=1, message="only the worst", actor="ada"),
}
# ... and after it.
READ: Final[dict[str, Request]] = {
    "definition-edited": Request(path=AGENT),
    "snapshot-result": post(f"{DEFINITIONS}snapshot", {"kind": "agent", "message": "what was there"}),
    "definitions-page": Request(path=DEFINITIONS, query="kind=agent"),
    "definition-detail": Request(path=AGENT),
    "definition-versions-page": Request(path=f"{AGENT}/versions/", query="limit=2"),
    "definition-version": Request(path=f"{AGENT}/versions/1"),
    "definition-diff": Request(path=f"{AGENT}/diff", query="from=1&to=2&context=1"),
    "definition-rolled-back": post(f"{AGENT}/rollback", {"version": 1, "expected_version": 3}),
    "definition-deleted": Request(method="DELETE", path=AGENT, query="expected_version=4&message=not%20used"),
}
# It cannot reach its file, because the folder of all playbooks leads nowhere.
UNWRITTEN: Final = save(PLAYBOOK, _STEPS)
RETRY: Final[Document] = {"action": "retry_write", "actor": "ada"}


def edit_by_hand(home: Path) -> None:
    """Change the agent's file, and add one whose name no definition can have."""
    agents = home / "agents"
    (agents / "reviewer.md").write_text(_BY_HAND, encoding="utf-8")
    (agents / "my notes.md").write_text("Buy milk.\n", encoding="utf-8")


def lose_playbooks(home: Path) -> None:
    """Let the folder of the playbooks be a link to a folder that is not there."""
    (home / "playbooks").symlink_to(home / "elsewhere")


def find_playbooks(home: Path) -> None:
    """Make the folder that the link leads to."""
    (home / "elsewhere").mkdir()
