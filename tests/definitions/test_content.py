"""What a definition's content may be, and its measures."""

import hashlib
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.definitions import DefinitionKind
from contract.errors import ValidationFailure
from contract.limits import DEFINITION_MAX_BYTES, FIELD_FAILURES_MAX
from definitions.content import check_content, sha256_of, size_of

# Of the processor, also where every line is traced. All of it takes less than one; what escapes a bound takes minutes.
_SECONDS_MAX = 5

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
_KINDS = st.sampled_from(["agent", "playbook"])


@pytest.mark.parametrize("content", ["", "ä€😀", "\ufeffa\r\nb", "no newline at the end"])
def test_hash_and_size_are_of_the_bytes_as_they_are(content: str) -> None:
    raw = content.encode("utf-8")

    assert sha256_of(content) == hashlib.sha256(raw).hexdigest()
    assert size_of(content) == len(raw)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("agent", "You review.\n"),
        ("agent", "\ufeff---\r\nmodel: x\r\n---\r\nYou review."),
        ("playbook", "\ufeffname: x\r\nprompt: y"),
    ],
)
def test_proper_content_passes(kind: DefinitionKind, content: str) -> None:
    check_content(kind, content)


@pytest.mark.parametrize("kind", ["agent", "playbook"])
def test_size_is_measured_in_bytes_before_anything_is_parsed(kind: DefinitionKind) -> None:
    content = "[" * (DEFINITION_MAX_BYTES - 1) + "ä"

    with pytest.raises(ValidationFailure) as raised:
        check_content(kind, content)

    [failure] = raised.value.field_errors
    assert (failure.path, failure.code, failure.line) == (("content",), "too_large", None)
    assert failure.message == "has 1,048,577 bytes; at most 1,048,576 are possible"


def test_content_of_exactly_the_bound_passes() -> None:
    check_content("agent", "x" * DEFINITION_MAX_BYTES)


def test_faults_come_in_the_order_of_their_places() -> None:
    with pytest.raises(ValidationFailure) as raised:
        check_content("playbook", "name: x\npromt: y\nworkers: 0\nuse: !x 1\nname: z\n")

    failures = raised.value.field_errors
    assert [(fault.line, fault.code) for fault in failures] == [
        (2, "unknown_key"),
        (3, "range"),
        (4, "tag"),
        (5, "duplicate"),
    ]
    assert str(raised.value) == (
        "content.promt: line 2, column 1: `promt` is not a key of a playbook; did you mean `prompt`? (and 3 more)"
    )


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(f"key{n}: 1" for n in range(5_000)),
        "\n".join(f"? {'k' * 9_000}{n}\n: 1" for n in range(110)),
        "links:\n"
        + "- {from: stop_a, to: stop_b}\n" * 500
        + "steps: {"
        + ",".join(f"step_{n}: 1" for n in range(30))
        + "}",
        "links:\n" + "- {from: a, to: b}\n" * 1_000 + "steps: {" + ",".join(f"s{n}: 1" for n in range(3_000)) + "}",
    ],
    ids=["many keys", "long keys", "many links", "many links and steps"],
)
def test_many_faults_are_told_in_bounded_time_and_space(content: str) -> None:
    began = process_time()
    with pytest.raises(ValidationFailure) as raised:
        check_content("playbook", content)
    took = process_time() - began

    assert len(raised.value.field_errors) == FIELD_FAILURES_MAX
    assert len(raised.value.body().model_dump_json()) < 100_000
    assert took < _SECONDS_MAX


@given(_KINDS, _TEXTS)
def test_any_text_passes_or_is_refused_with_places(kind: DefinitionKind, content: str) -> None:
    try:
        check_content(kind, content)
    except ValidationFailure as refused:
        for failure in refused.field_errors:
            assert failure.path[0] == "content"
            assert (failure.line is None) == (failure.code in ("empty", "too_large"))


@given(st.lists(st.sampled_from(["name: x", "promt: y", "use: [1", "  a: b", "", "workers: 0"]), max_size=6))
def test_how_lines_end_changes_neither_verdict_nor_places(lines: list[str]) -> None:
    unix, windows = (_refusal("playbook", line_break.join(lines)) for line_break in ("\n", "\r\n"))

    assert unix == windows


def _refusal(kind: DefinitionKind, content: str) -> list[tuple[str, int | None, int | None]]:
    try:
        check_content(kind, content)
    except ValidationFailure as refused:
        return [(failure.code, failure.line, failure.column) for failure in refused.field_errors]
    return []
