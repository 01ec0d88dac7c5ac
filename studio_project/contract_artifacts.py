"""What the recording of the contract does to artifacts: one saved over HTTP, and a file that nobody registered."""

import base64
from pathlib import Path
from typing import Final

from studio_project.contract_asgi import Request
from studio_project.contract_story import RUN, Document

ARTIFACTS: Final = "/api/v1/artifacts/"

_TEXT: Final = "# Findings\n\nOne test is missing; see `café.py`.\n"
SAVED: Final = Request(
    method="PUT",
    path=ARTIFACTS,
    body={
        "run_id": "demo-1",
        "kind": "report",
        "name": "findings",
        "path": "reports/findings.md",
        "content": {"missing": 1},
        "data": base64.b64encode(_TEXT.encode()).decode(),
    },
)
LISTED: Final = Request(path=f"{RUN}/artifacts", query="kind=report&limit=2")
VERIFIED: Final = Request(path=f"{RUN}/artifacts/verification")


def detail(artifact_id: str) -> Request:
    """Return the request for the beginning of an artifact, cut within the one character that has two bytes."""
    cut = len(_TEXT.partition("é")[0].encode()) + 1
    return Request(path=f"{ARTIFACTS}{artifact_id}", query=f"include_preview=true&preview_limit_bytes={cut}")


def content(artifact_id: str) -> Request:
    """Return the request for its bytes."""
    return Request(path=f"{ARTIFACTS}{artifact_id}/content")


def content_example(request: Request, status: int, headers: Document, body: bytes) -> Document:
    """Return an answer that is no JSON as an example."""
    asked = {"method": request.method, "target": request.target}
    return {"request": asked, "status": status, "headers": headers, "body": body.decode()}


def leave_a_file(home: Path) -> None:
    """Put a file into the folder of the run that no artifact names."""
    (home / "artifacts" / "demo-1" / "reports" / "draft.md").write_text("Not yet.\n", encoding="utf-8")
