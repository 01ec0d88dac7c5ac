"""Bodies that no project and no retention command may have."""

WRONG_PROJECTS = (
    b"{}",
    b'{"name": null}',
    b'{"name": " a", "path": "here", "description": 7}',
    b'{"name": "a//b"}',
    b'{"name": "a/assign", "path": "/a\\u0000"}',
    b'{"name": "%s"}' % (b"x" * 201),
    b'{"name": "a\\ud800", "id": 1}',
)
WRONG_PATCHES = (
    b'{"name": null, "path": ""}',
    b'{"name": "detect"}',
    b'{"description": "\\u0000", "created_at": 1.0}',
    b'{"expected_updated_at": "1"}',
)
WRONG_ASSIGNMENTS = (
    b"{}",
    b'{"run_ids": []}',
    b'{"run_ids": ["a"], "unassigned": true}',
    b'{"run_ids": ["../a", 1, ""]}',
    b'{"run_ids": [%s]}' % b",".join([b'"r"'] * 1_001),
    b'{"unassigned": 1}',
)
WRONG_FOLDERS = (
    b"{}",
    b'{"folders": []}',
    b'{"folders": ["here", "/a\\u0000"]}',
    b'{"folders": ["/"], "configured": "a//b", "remote_url": ""}',
    b'{"folders": [%s]}' % b",".join([b'"/"'] * 201),
)
WRONG_PRUNES = (
    b"{}",
    b'{"older_than_seconds": "30d"}',
    b'{"older_than_seconds": -1}',
    b'{"older_than_seconds": 1e300}',
    b'{"older_than_seconds": true}',
    b'{"older_than_seconds": 1, "limit": 0, "dry_run": 1, "status": "failed"}',
    b'{"older_than_seconds": 1, "limit": 10001, "project": "", "cursor": 7, "before": 1}',
    b'{"older_than_seconds": 1, "status": [7, "a\\u0000"]}',
)
