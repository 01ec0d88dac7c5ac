"""What an application does, written down so that two of them can be compared."""

import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import Any, TypeVar, cast

from pydantic import BaseModel, JsonValue

from contract.application import StudioApplication
from contract.errors import StudioError
from contract.events import (
    HeartbeatFrame,
    StreamFrame,
)

E = TypeVar("E", bound=StudioError)

# Scenarios choose instants before this; every later one is read from a clock.
CHOSEN_INSTANTS_END = 1_600_000_000.0
# Identifiers that nobody chose, alone or in a sentence.
_GENERATED_ID = re.compile(r"\b[0-9a-f]{16}\b")
# An instant of a clock in a sentence, such as that of a conflict.
_CLOCK = re.compile(r"\b1[6-9][0-9]{8}\.[0-9]+\b")
# They hold row numbers, which depend on what else a store holds. Cursors of streams and windows do not.
_CURSORS_OF_ROWS = {"next_cursor"}
_ROW_NUMBERS = {"number"}
# Statistics of everything that a store holds.
_OF_THE_STORE = {"runs_total", "runs_by_status", "queue", "store"}


class Witness:
    """Hands every call on to an application and keeps `steps`: what was asked for, and what came of it."""

    def __init__(self, application: StudioApplication) -> None:
        self._application = application
        self.steps: list[tuple[str, JsonValue]] = []

    @property
    def application(self) -> StudioApplication:
        """The application that is watched."""
        return cast(StudioApplication, self)

    def met(self) -> set[tuple[str, str]]:
        """The operations that were called, each with the codes of its errors, or with `ok`."""
        return {(operation, cast(dict[str, str], outcome).get("code", "ok")) for operation, outcome in self.steps}

    def __getattr__(self, operation: str) -> Any:
        method = getattr(self._application, operation)
        follow = self._call if inspect.iscoroutinefunction(getattr(StudioApplication, operation)) else self._stream
        return lambda *arguments: follow(operation, method(*arguments))

    async def _call(self, operation: str, answer: Awaitable[BaseModel]) -> BaseModel:
        try:
            result = await answer
        except StudioError as error:
            self._keep(operation, error.body())
            raise
        self._keep(operation, result)
        return result

    async def _stream(self, operation: str, frames: AsyncIterator[StreamFrame]) -> AsyncIterator[StreamFrame]:
        """Keep every frame but the heartbeats after the first frame: how many there are depends on the time."""
        is_first = True
        try:
            async with aclosing(cast(AsyncGenerator[StreamFrame, None], frames)) as followed:
                async for frame in followed:
                    if is_first or not isinstance(frame.payload, HeartbeatFrame):
                        self._keep(operation, frame)
                    is_first = False
                    yield frame
        except StudioError as error:
            self._keep(operation, error.body())
            raise

    def _keep(self, operation: str, result: BaseModel) -> None:
        self.steps.append((operation, normalised(result.model_dump(mode="json"))))


def normalised(value: JsonValue, key: str = "") -> JsonValue:
    """Replace what no two applications have in common: the time, generated ids, and the numbers of rows."""
    if key in _OF_THE_STORE:
        return "<store>"
    if isinstance(value, dict):
        return {name: normalised(item, name) for name, item in value.items()} | _nobody_chose(value)
    if isinstance(value, list):
        return [normalised(item) for item in value]
    if isinstance(value, float) and key.endswith("at") and value > CHOSEN_INSTANTS_END:
        return "<clock>"
    if isinstance(value, str):
        return "<cursor>" if key in _CURSORS_OF_ROWS else _CLOCK.sub("<clock>", _GENERATED_ID.sub("<id>", value))
    return "<row>" if key in _ROW_NUMBERS else value


def _nobody_chose(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what depends on another field: the cursor of a run with a generated id, and what tells a real process."""
    found: dict[str, JsonValue] = {}
    if "stream_cursor" in value and _GENERATED_ID.fullmatch(str(value["run_id"])):
        found["stream_cursor"] = "<cursor>"
    if "runs_by_status" in value:
        found["schedules"] = "<store>"
    if "pid" in value and isinstance(began := value.get("started_at"), float) and began > CHOSEN_INSTANTS_END:
        found |= {"pid": "<pid>", "started_ticks": "<clock>"}
    return found


async def refused(kind: type[E], operation: Awaitable[object]) -> E:
    """Return the error that an operation raises, which must be of that kind."""
    try:
        await operation
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")


async def frames_of(frames: AsyncIterator[StreamFrame]) -> list[StreamFrame]:
    """Return a stream's frames to its end."""
    return [frame async for frame in frames]
