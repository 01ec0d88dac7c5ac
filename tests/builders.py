"""Commands and events for tests: valid ones, of which a test names only what it is about."""

from itertools import pairwise
from typing import Any

from factory.base import Factory
from factory.declarations import Sequence

from contract.events import (
    ArtifactEvent,
    BranchEvent,
    GraphEdge,
    GraphEvent,
    GraphNode,
    MessageEvent,
    RecordEvents,
    RunEvent,
    SignalEvent,
    StatusEvent,
    UsageEvent,
)
from contract.runs import StartRun


def _numbered(pattern: str) -> Any:
    return Sequence(pattern.format)  # type: ignore[no-untyped-call]  # factory-boy annotates its factories only


class StartRunFactory(Factory[StartRun]):
    """A run with a name of its own."""

    class Meta:
        model = StartRun

    name = _numbered("run {}")


class MessageFactory(Factory[MessageEvent]):
    """A message with content of its own."""

    class Meta:
        model = MessageEvent

    role = "assistant"
    content = _numbered("message {}")


class SignalFactory(Factory[SignalEvent]):
    """A signal of a node of its own."""

    class Meta:
        model = SignalEvent

    kind = "NodeStarted"
    op_id = _numbered("node-{}")


def start_run(**fields: Any) -> StartRun:
    return StartRunFactory.build(**fields)


def message(content: Any = None, **fields: Any) -> MessageEvent:
    """Return a message; without content it gets a text of its own."""
    return MessageFactory.build(**(fields if content is None else {"content": content, **fields}))


def messages(count: int, **fields: Any) -> list[MessageEvent]:
    return MessageFactory.build_batch(count, **fields)


def signal(**fields: Any) -> SignalEvent:
    return SignalFactory.build(**fields)


def branch(name: str, **fields: Any) -> BranchEvent:
    return BranchEvent(name=name, **fields)


def usage(cost_usd: float | None = None, **fields: Any) -> UsageEvent:
    return UsageEvent(cost_usd=cost_usd, **fields)


def artifact(name: str = "report", **fields: Any) -> ArtifactEvent:
    return ArtifactEvent(**{"kind": "document", "name": name, **fields})


def graph(*node_ids: str) -> GraphEvent:
    """Return a graph whose nodes stand in one line."""
    nodes = tuple(GraphNode(id=node_id) for node_id in node_ids)
    edges = tuple(GraphEdge(source=left, target=right) for left, right in pairwise(node_ids))
    return GraphEvent(nodes=nodes, edges=edges)


def status(wanted: str, **fields: Any) -> StatusEvent:
    return StatusEvent.model_validate({"status": wanted, **fields})


def batch(*events: RunEvent) -> RecordEvents:
    return RecordEvents(events=events)
