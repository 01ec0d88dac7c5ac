"""Runs lionagi's real command line up to where work would begin, and tells what it would have worked on.

A program of its own, `python -m tests.runs.li_listener`: each line on its standard input is a JSON object {"argv",
"stdin"}, each answer a line {"told", "exit"}. `told` is what the function was called with that would have called a
model, null when nothing would. It changes its process (signals, standard streams), which is why it is one.
"""

import io
import json
import sys
from collections.abc import Callable, Coroutine
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from typing import Any, Final

Told = dict[str, Any]

# What would work, by module of lionagi, and what each answers when it has: (result, provider, branch, status, session)
# for an agent, (result, status) for the others.
_WORKERS: Final[dict[str, dict[str, object]]] = {
    "lionagi.cli.agent": {"_run_agent": ("", "", "", "completed", None)},
    "lionagi.cli.orchestrate": {"_run_flow": ("", "completed"), "_run_fanout": ("", "completed")},
}


class Listener:
    """Stands where work would begin."""

    def __init__(self) -> None:
        self.told: Told | None = None
        for module, workers in _WORKERS.items():
            for name, answer in workers.items():
                setattr(import_module(module), name, self._worker(name.removeprefix("_run_"), answer))
        self._main: Callable[[list[str]], int] = import_module("lionagi.cli.main").main

    def run(self, argv: list[str], stdin: bytes) -> dict[str, Any]:
        """Give lionagi an argument list (without the executable) and a standard input."""
        self.told = None
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            try:
                code: object = self._main(argv)
            except SystemExit as ended:
                code = ended.code
        return {"told": self.told, "exit": code, "said": said.getvalue()}

    def _worker(self, name: str, answer: object) -> Callable[..., Coroutine[Any, Any, object]]:
        async def told(*arguments: object, **options: object) -> object:
            # An agent is told its model and prompt by place, the others all by name.
            self.told = dict(zip(("model_spec", "prompt"), arguments, strict=False)) | options | {"command": name}
            return answer

        return told


def _answer(listener: Listener, line: bytes) -> bytes:
    asked = json.loads(line)
    return json.dumps(listener.run(asked["argv"], asked["stdin"].encode())).encode() + b"\n"


if __name__ == "__main__":
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    one = Listener()
    for line in asked:
        answers.write(_answer(one, line))
        answers.flush()
