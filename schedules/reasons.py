"""The reason codes of firings and of disabled schedules: a closed registry of `area.outcome.detail` names."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class FiringReason:
    """A code's outcome and its sentence."""

    outcome: str
    sentence: str


FIRING_REASONS: Final[dict[str, FiringReason]] = {
    "schedule.fired.due": FiringReason("fired", "Its instant had come."),
    "schedule.fired.missed": FiringReason("fired", "Its instant was missed, and the policy says to run once."),
    "schedule.fired.manual": FiringReason("fired", "A person fired it."),
    "schedule.fired.forced": FiringReason("fired", "A person fired it, whatever its policy and caps say."),
    "schedule.fired.event": FiringReason("fired", "A poll found a new event."),
    "schedule.fired.chain": FiringReason("fired", "It follows on a run that has ended."),
    "schedule.skipped.missed": FiringReason("skipped", "Its instant was missed, and the policy says to skip."),
    "schedule.skipped.overlap": FiringReason("skipped", "A run of the schedule was still open."),
    "schedule.skipped.budget": FiringReason("skipped", "The budget was spent; the schedule is disabled."),
    "schedule.skipped.max_runs": FiringReason("skipped", "All runs were started; the schedule is disabled."),
    "schedule.skipped.refused": FiringReason("skipped", "The action could not be executed as it is."),
    "schedule.skipped.by_operator": FiringReason("skipped", "A person skipped it."),
    "schedule.skipped.chain_depth": FiringReason("skipped", "The chain was as deep as a chain may be."),
    "schedule.deferred.capacity": FiringReason("deferred", "As many runs were open as may be; it stays due."),
}

DISABLED_REASONS: Final[dict[str, str]] = {
    "schedule.disabled.budget": "The budget is spent: raise it to go on.",
    "schedule.disabled.max_runs": "All runs were started: raise max_runs to go on.",
    "schedule.disabled.exhausted": "No further instant will come.",
    "schedule.disabled.poisoned": "What is stored cannot be evaluated: change the trigger or the action.",
    "schedule.disabled.dropped": "The applied set of schedules does not have it.",
}
