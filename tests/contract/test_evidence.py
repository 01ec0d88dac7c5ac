"""Bodies of evidence: stored as they are, unless they are unfit or so rich that every reader would pay for it."""

import json

import pytest

from contract.errors import ValidationFailure
from contract.events import MessageEvent, RecordEvents
from contract.evidence import fitted_body
from contract.limits import COMMAND_VALUES_MAX, EVIDENCE_VALUES_MAX, FIELD_FAILURES_MAX, SAFE_INTEGER_MAX
from contract.parsing import parse_model, strict_json_loads
from contract.runs import StartRun


def failures(model: type, data: object) -> list[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(ValidationFailure) as refused:
        parse_model(model, data)
    return [(failure.path, failure.code) for failure in refused.value.field_errors]


@pytest.mark.parametrize("body", [{"a": [1, 2.5, None, True, "ä"]}, [], {}, [[[]]], "text", 5, None, 10**30])
def test_a_fit_body_stays_as_it_is_and_its_size_is_counted(body: object) -> None:
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))

    assert fitted_body(body) == (body, False, len(text.encode()))


def test_a_body_with_something_unfit_is_repaired_and_marked() -> None:
    body, changed, _ = fitted_body({"a": ["\x00", "\ud800", "ok"]})

    assert (body, changed) == ({"a": ["�", "�", "ok"]}, True)


def test_a_body_that_only_spells_an_escape_is_not_marked_as_changed_in_content() -> None:
    body, _, _ = fitted_body(["\\u0000"])

    assert body == ["\\u0000"]


@pytest.mark.parametrize("leaf", [[], 1, "x"])
def test_a_body_rich_in_values_is_kept_as_its_json_text(leaf: object) -> None:
    value = [leaf] * EVIDENCE_VALUES_MAX

    body, changed, size = fitted_body(value)

    assert changed
    assert isinstance(body, str)
    assert json.loads(body) == value
    assert size == len(body)


def test_an_unfit_body_rich_in_values_is_kept_as_repaired_text() -> None:
    body, changed, _ = fitted_body(["\ud800"] * 1_000)

    assert changed
    assert isinstance(body, str)
    assert json.loads(body) == ["�"] * 1_000


@pytest.mark.parametrize(
    "data",
    [
        {"events": [{"type": "x"}] * COMMAND_VALUES_MAX},
        {"events": [{"type": "message", "role": "user", "content": "x"} | {f"k{n}": 1 for n in range(30_000)}]},
        {"events": [{"type": "graph", "nodes": [{}] * 200}] * 150},
    ],
)
def test_a_batch_with_more_values_than_any_needs_is_refused_with_one_fault(data: object) -> None:
    assert failures(RecordEvents, data) == [((), "too_large")]


def test_a_command_with_more_values_than_any_needs_is_refused_with_one_fault() -> None:
    assert failures(StartRun, {f"k{n}": 1 for n in range(30_000)}) == [((), "too_large")]


def test_a_body_rich_in_values_does_not_count_as_a_rich_command() -> None:
    data = {"events": [{"type": "message", "role": "user", "content": [1] * (COMMAND_VALUES_MAX * 2)}]}

    assert isinstance(parse_model(RecordEvents, data).events[0], MessageEvent)


def test_the_content_of_an_artifact_is_bounded_in_values() -> None:
    data = {"events": [{"type": "artifact", "kind": "k", "name": "n", "content": [1] * EVIDENCE_VALUES_MAX}]}

    assert failures(RecordEvents, data) == [(("events", 0, "content"), "too_large")]


def test_no_more_than_a_hundred_faults_are_named() -> None:
    assert len(failures(StartRun, {f"k{n}": 1 for n in range(5_000)})) == FIELD_FAILURES_MAX


@pytest.mark.parametrize("kind", ['"message","role":"user","content":1', '"signal","kind":"k","payload":1'])
@pytest.mark.parametrize("size", [SAFE_INTEGER_MAX + 1, 2**63, 10**400])
def test_a_claimed_size_that_no_store_can_hold_is_refused(kind: str, size: int) -> None:
    raw = f'{{"events":[{{"type":{kind},"size_bytes":{size}}}]}}'.encode()

    assert [path for path, _ in failures(RecordEvents, strict_json_loads(raw))] == [("events", 0, "size_bytes")]
