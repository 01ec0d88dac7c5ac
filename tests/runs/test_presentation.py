"""What people read of runs."""

from datetime import timedelta, timezone

import pytest

from contract.events import (
    DoneFrame,
    ErrorFrame,
    HeartbeatFrame,
    MessageView,
    ShutdownFrame,
    SignalView,
)
from contract.runs import (
    InvocationDetail,
    RunSummary,
)
from runs.management import presentation
from studio_project.frame_wording import frame_lines
from studio_project.terminal import Line

ZONE = timezone(timedelta(hours=2))
AT = 1_700_000_000.0


def plain(lines: list[Line]) -> list[str]:
    return ["".join(part.text for part in line) for line in lines]


def run(status: str = "running", health: str | None = None, cancel_requested_at: float | None = None) -> RunSummary:
    nothing = dict.fromkeys(
        ("playbook_name", "agent_name", "invocation_kind", "invocation_id", "project", "ended_at", "updated_at")
    )
    return RunSummary.model_validate(
        {
            **nothing,
            "run_id": "r1",
            "status": status,
            "effective_health": health,
            "started_at": AT,
            "cancel_requested_at": cancel_requested_at,
        }
    )


@pytest.mark.parametrize(
    ("summary", "words"),
    [
        (run("completed"), "completed"),
        (run(health="healthy"), "running"),
        (run(health="stale"), "running, stale"),
        (run(health="stale", cancel_requested_at=AT), "running, cancelling"),
        (run("cancelled", cancel_requested_at=AT), "cancelled"),
    ],
)
def test_a_status_says_what_a_run_is_really_doing(summary: RunSummary, words: str) -> None:
    assert presentation.status_words(summary) == words


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0s"), (59.94, "59.9s"), (61, "1m01s"), (3599, "59m59s"), (3600, "1h00m"), (90_061, "25h01m"), (-5, "0.0s")],
)
def test_a_duration_has_its_two_largest_units(seconds: float, text: str) -> None:
    assert presentation.took(AT, AT + seconds) == text


def test_what_is_not_known_is_a_dash_and_never_zero() -> None:
    assert presentation.took(None, AT) == presentation.took(AT, None) == "-"
    assert presentation.money(None) == "-"
    assert presentation.money(0.0) == "$0.0000"


def test_a_message_s_later_lines_are_set_in_and_its_controls_escaped() -> None:
    view = MessageView(seq=1, branch="b", role="tool", content="a\x1b]0;x\x07\r\n\tb\n", recorded_at=AT)

    assert plain(list(frame_lines(view, "r1", ZONE))) == [
        "00:13:20 b tool: a\\x1b]0;x\\x07",
        "        b",
    ]


def test_a_withheld_body_says_its_size() -> None:
    view = MessageView(seq=1, branch="b", role="tool", withheld=True, size_bytes=5_000_000, recorded_at=AT)

    assert plain(list(frame_lines(view, "r1", ZONE))) == ["00:13:20 b tool:  [5000000 bytes, not all shown]"]


def test_a_signal_is_one_line() -> None:
    signal = SignalView(seq=1, kind="Note", branch="b", payload="x", recorded_at=AT)
    bare = SignalView(seq=1, kind="Note", branch="b", recorded_at=AT)

    assert plain(list(frame_lines(signal, "r1", ZONE))) == ["00:13:20 b Note x"]
    assert plain(list(frame_lines(bare, "r1", ZONE))) == ["00:13:20 b Note"]


def test_frames_that_end_a_stream_say_how_and_heartbeats_nothing() -> None:
    said = [
        plain(list(frame_lines(frame, "r1", ZONE)))
        for frame in (
            DoneFrame(status="failed"),
            HeartbeatFrame(),
            ShutdownFrame(),
            ErrorFrame(code="internal", retryable=False),
        )
    ]

    assert said == [
        ["run r1 ended: failed"],
        [],
        ["the stream ended with shutdown"],
        ["the stream ended with error"],
    ]


def test_an_invocation_says_when_more_runs_are_left_out() -> None:
    invocation = InvocationDetail(
        invocation_id="i1",
        kind="agent",
        status="running",
        run_count=500,
        open_run_count=1,
        created_at=AT,
        runs=(),
        runs_truncated=True,
    )

    lines = plain(presentation.invocation_lines(invocation, ZONE))

    assert lines[0] == "invocation  i1"
    assert lines[-1].startswith("the newest runs follow")
