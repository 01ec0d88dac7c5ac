"""Input about artifacts that is refused."""

WRONG_ARTIFACTS = (
    b"{}",
    b'{"kind": "k", "name": "n"}',
    b'{"run_id": "r", "invocation_id": "i", "kind": "k", "name": "n"}',
    b'{"invocation_id": "i", "kind": "k", "name": "n", "path": "x"}',
    b'{"run_id": "r", "kind": "k", "name": "n", "data": "aGk="}',
    b'{"run_id": "r", "kind": "k", "name": "n", "path": "x", "data": "a"}',
    b'{"run_id": "r", "kind": "k", "name": "n", "path": "x", "data": 7, "sha256": "sha256:00"}',
    b'{"run_id": "r", "kind": "k", "name": "n", "path": "x", "sha256": "%s"}' % (b"0" * 63),
    *(
        b'{"run_id": "r", "kind": "k", "name": "n", "path": %s}' % path
        for path in (
            b'""',
            b'"/etc/passwd"',
            b'"../x"',
            b'"a/../x"',
            b'"a//x"',
            b'"a/"',
            b'"."',
            b'"a\\\\b"',
            b'"C:x"',
            b'"C:\\\\x"',
            b'"\\\\\\\\host\\\\share"',
            b'"a\\u0000"',
            b'"\\ud800"',
            b'"a\\nb"',
            b"7",
            b'"%s"' % (b"x" * 1_025),
        )
    ),
    b'{"run_id": "../x", "kind": "-", "name": "", "media_type": "x", "colour": "blue"}',
    b'{"run_id": "r", "kind": "k", "name": "n", "content": "\\u0000"}',
    b'{"run_id": "r", "kind": "k", "name": "n", "content": [%s]}' % b",".join([b"1"] * 6_000),
    b'{"run_id": "r", "kind": "k", "name": "n", "content": "%s"}' % (b"x" * 1_048_577),
    b'{"run_id": "r", "kind": "k", "name": "n", "path": "x", "data": "%s"}' % (b"AAAA" * 349_526),
)
WRONG_PREVIEWS = (
    *(f"preview_limit_bytes={number}" for number in ("", "abc", "0", "-1", "1.0", "1e2", "1_000", "9" * 30, "1048577")),
    "include_preview=yes",
    "artifact_id=b",
    "path=..%2Fx",
)
