"""The runs that every daemon under measurement holds: the same for the same numbers, whoever stores them."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

TERMINAL: Final = ("completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled")
# What a machine that has run agents for a month shows: most work ends well. Out of a hundred.
_STATUSES: Final = (
    ("completed",) * 70 + ("failed",) * 12 + ("cancelled",) * 6 + ("timed_out",) * 5
    + ("aborted",) * 4 + ("completed_empty",) * 3
)  # fmt: skip
_KINDS: Final = ("agent",) * 12 + ("play",) * 4 + ("flow",) * 3 + ("fanout",)
PROJECTS: Final = tuple(f"team/service-{number:02}" for number in range(20))
AGENTS: Final = tuple(f"agent-{number:02}" for number in range(30))
PLAYBOOKS: Final = tuple(f"playbook-{number:02}" for number in range(12))
TAGS: Final = tuple(f"tag-{number:02}" for number in range(40))
_MODELS: Final = (("sonnet", "anthropic"), ("gpt", "openai"), ("qwen", "local"))
_TASKS: Final = ("Review module", "Fix the build of", "Write tests for", "Explain", "Migrate", "Document")

# One run in a hundred is an orphan: `running`, with a process of this host that is gone.
ORPHAN_EVERY: Final = 100
# One in two hundred has this word in its name: what the search that hits looks for.
RARE_WORD: Final = "Heisenbug"
ABSENT_WORD: Final = "no run has this in its name"
_RARE_EVERY: Final = 200
# The first few runs are long conversations, one in five is a short one, the others have none stored.
LONG_RUNS: Final = 5
LONG_MESSAGES: Final = 2_000
_SHORT_EVERY: Final = 5
SHORT_MESSAGES: Final = 5
_RUNS_PER_INVOCATION: Final = 50
SPAN_SECONDS: Final = 30 * 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeededRun:
    """One run with everything that a list shows or filters by. Instants in epoch seconds, `number` from 0."""

    number: int
    run_id: str
    kind: str
    name: str
    status: str
    is_orphan: bool
    agent_name: str
    playbook_name: str | None
    project: str | None
    model: str
    provider: str
    invocation_id: str
    tags: tuple[str, ...]
    started_at: float
    ended_at: float | None
    cost_micros: int | None
    message_count: int

    @property
    def updated_at(self) -> float:
        """When something last changed."""
        return self.started_at if self.ended_at is None else self.ended_at


def run_id(number: int) -> str:
    """Return the identifier of a seeded run."""
    return f"seed-{number:07}"


def invocation_id(number: int) -> str:
    """Return the identifier of the invocation that caused a seeded run."""
    return f"seed-inv-{number // _RUNS_PER_INVOCATION:06}"


def long_run() -> str:
    """Return one of the long conversations."""
    return run_id(0)


def short_run() -> str:
    """Return a run with a short conversation."""
    return run_id(LONG_RUNS * _SHORT_EVERY)


def seeded_runs(count: int, *, until: float) -> Iterator[SeededRun]:
    """Yield `count` runs, oldest first, the last of them started just before `until`."""
    for number in range(count):
        yield _run(number, until - SPAN_SECONDS * (count - number) / count, until)


def _run(number: int, started_at: float, until: float) -> SeededRun:
    is_orphan = number % ORPHAN_EVERY == ORPHAN_EVERY // 2
    status = "running" if is_orphan else _STATUSES[_chance(number, "status", len(_STATUSES))]
    model, provider = _MODELS[_chance(number, "model", len(_MODELS))]
    return SeededRun(
        number=number,
        run_id=run_id(number),
        kind=_KINDS[_chance(number, "kind", len(_KINDS))],
        name=_name(number),
        status=status,
        is_orphan=is_orphan,
        agent_name=AGENTS[_chance(number, "agent", len(AGENTS))],
        playbook_name=_one_or_none(number, PLAYBOOKS),
        project=_one_or_none(number, PROJECTS),
        model=model,
        provider=provider,
        invocation_id=invocation_id(number),
        tags=_tags(number),
        started_at=started_at,
        ended_at=None if is_orphan else min(until, started_at + 5 + _chance(number, "duration", 1_800)),
        cost_micros=_cost(number),
        message_count=_message_count(number),
    )


def _chance(number: int, what: str, sides: int) -> int:
    """Throw a die that falls the same way every time."""
    return zlib.crc32(f"{what} {number}".encode()) % sides


def _name(number: int) -> str:
    word = f" {RARE_WORD}" if number % _RARE_EVERY == 0 else ""
    return f"{_TASKS[_chance(number, 'task', len(_TASKS))]} {number}{word}"


def _one_or_none(number: int, names: tuple[str, ...]) -> str | None:
    """One run in eleven has none."""
    found = _chance(number, names[0], 11 * len(names))
    return None if found % 11 == 0 else names[found % len(names)]


def _tags(number: int) -> tuple[str, ...]:
    count = _chance(number, "tag count", 4)
    return tuple(sorted({TAGS[_chance(number, f"tag {place}", len(TAGS))] for place in range(count)}))


def _cost(number: int) -> int | None:
    cost = _chance(number, "cost", 5_000_000)
    return None if cost % 3 == 0 else cost


def _message_count(number: int) -> int:
    if number < LONG_RUNS:
        return LONG_MESSAGES
    return SHORT_MESSAGES if number % _SHORT_EVERY == 0 else 0


def message_text(number: int, position: int) -> str:
    """Return about 300 characters, as an agent's answer of three sentences has."""
    return f"{number}/{position}: " + "the change compiles, its tests pass, the review found nothing. " * 5
