"""`studio-demo-agent`: surveys a folder and tells it as run events on its standard output, one JSON line an event.

A program of its own, as any agent is: it knows the events, and nothing of the daemon, of Django or of the database.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from contract.errors import ValidationFailure
from contract.events import RunEvent
from runs.demo_survey import survey

Write = Callable[[str], object]
Pause = Callable[[float], object]

PACE_SECONDS_MAX: Final = 60.0
# Of the run-event protocol (docs/run-events.md).
_MARK: Final = {"studio": 1}
_EXIT_INVALID: Final = 2
_EXIT_LOST: Final = 1
# What a shell says of a process that Ctrl-C ended.
_EXIT_INTERRUPTED: Final = 130


def main() -> int:
    """Survey as the command line says.

    Returns 2 for what is no folder, 1 when nobody listens any more, 130 on Ctrl-C.
    """
    options = _options(sys.argv[1:])
    try:
        tell(options.folder, pace_seconds=options.pace, write=_write_out, pause=time.sleep)
    except ValidationFailure as failure:
        sys.stderr.write(f"studio-demo-agent: {failure}\n")
        return _EXIT_INVALID
    except KeyboardInterrupt:
        return _EXIT_INTERRUPTED
    except BrokenPipeError:
        # So that the interpreter's own last flush meets no fault again (Python, `signal`: Note on SIGPIPE).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_LOST
    return 0


def tell(root: Path, *, pace_seconds: float, write: Write, pause: Pause) -> None:
    """Write the events of a survey of `root`, and pause for `pace_seconds` after each step.

    Raises ValidationFailure when `root` is no folder, and has then written nothing.
    """
    for step in survey(root):
        for event in step:
            write(event_line(event))
        pause(pace_seconds)


def event_line(event: RunEvent) -> str:
    """Return an event as the protocol has it: ASCII, with its end of line, and without what goes without saying."""
    fields = event.model_dump(mode="json", exclude_defaults=True, exclude={"size_bytes"})
    return json.dumps(_MARK | {"type": event.type} | fields) + "\n"


def _write_out(line: str) -> None:
    """Write a line so that it is read now: a pipe would be filled first."""
    sys.stdout.write(line)
    sys.stdout.flush()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="studio-demo-agent",
        description="Survey a folder and tell it as run events, one JSON line an event. Nothing leaves this machine.",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), help="the folder to survey; it is only read (default: this one)"
    )
    parser.add_argument(
        "--pace", type=_seconds, default=0.5, metavar="SECONDS", help="time to watch after each step (default: 0.5)"
    )
    return parser.parse_args(arguments)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= PACE_SECONDS_MAX:  # false for NaN too
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to {PACE_SECONDS_MAX:g}")
    return seconds


if __name__ == "__main__":
    sys.exit(main())
