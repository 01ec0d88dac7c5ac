"""What becomes of an edit by hand: a version that follows what the history has, or nothing."""

from contract.definitions import FileDefinition
from definitions.content import sha256_of
from definitions.services.captures import capture_of
from definitions.services.ports import Capture, DefinitionHead

NESTED = "agents/a/a.md"
HEAD = DefinitionHead(
    kind="agent",
    name="a",
    relative_path=NESTED,
    version=3,
    version_id="v3",
    sha256=sha256_of("three"),
    file_sha256=sha256_of("three"),
    size_bytes=5,
    created_at=1.0,
    updated_at=2.0,
)
FILE = FileDefinition(
    kind="agent", name="a", relative_path="agents/a.md", content="by hand", sha256=sha256_of("by hand"), version=0
)


def captured(head: DefinitionHead | None, current: FileDefinition | None) -> Capture | None:
    return capture_of("agent", "a", head, current, at=5.0, actor="ann", message="after lunch")


def test_a_file_without_a_history_begins_one() -> None:
    capture = captured(None, FILE)

    assert capture is not None
    assert (capture.after, capture.at, capture.file_sha256) == (0, 5.0, FILE.sha256)
    assert capture.draft.model_dump() == {
        "kind": "agent",
        "name": "a",
        "relative_path": "agents/a.md",
        "content": "by hand",
        "content_sha256": FILE.sha256,
        "message": "after lunch",
        "origin": "external",
        "deleted": False,
        "actor": "ann",
    }


def test_an_edited_file_follows_the_newest_version_at_the_place_where_it_stands() -> None:
    capture = captured(HEAD, FILE)

    assert capture is not None
    assert (capture.after, capture.draft.relative_path) == (3, "agents/a.md")


def test_a_file_that_is_gone_is_a_deletion_where_it_stood() -> None:
    capture = captured(HEAD, None)

    assert capture is not None
    assert (capture.after, capture.file_sha256) == (3, None)
    assert (capture.draft.deleted, capture.draft.content, capture.draft.relative_path) == (True, "", NESTED)
    assert capture.draft.content_sha256 == sha256_of("")


def test_what_went_as_it_came_is_nothing() -> None:
    assert captured(None, None) is None
