"""Sets of schedules as YAML files: read with the place of every fault, and written so that they read the same."""

from datetime import tzinfo
from typing import Any

import yaml

from contract.errors import ValidationFailure
from contract.parsing import parse_model
from contract.schedule_sets import ApplySchedules, ScheduleSet
from contract.schedules import ScheduleSpec
from studio_project.yaml_values import read_yaml

# A line is broken nowhere but where the text breaks it.
_WIDTH = 1_000_000
_DEFAULTS = {name: field.default for name, field in ScheduleSpec.model_fields.items() if not field.is_required()}


class SetFile:
    """A set as somebody wrote it."""

    def __init__(self, text: str, *, zone: tzinfo) -> None:
        """Read the YAML; instants without a zone are those of `zone`. ValidationFailure with every place."""
        self._values = read_yaml(text, zone=zone)
        if not isinstance(self._values.value, dict):
            raise ValidationFailure.at(code="mapping", message="must be a mapping with `schedules`, a list of them")

    def command(self, *, dry_run: bool) -> ApplySchedules:
        """Return what is to be applied. ValidationFailure with paths into the set, and their places."""
        try:
            found = parse_model(ScheduleSet, self._values.value)
            return parse_model(ApplySchedules, {"schedules": found.schedules, "dry_run": dry_run})
        except ValidationFailure as failure:
            raise self.placed(failure) from None

    def placed(self, failure: ValidationFailure) -> ValidationFailure:
        """Return faults of the set with their places."""
        return self._values.placed(failure)


def set_text(found: ScheduleSet) -> str:
    """Return a set as YAML, without what goes without saying."""
    whole = {"schedules": [_spoken(spec) for spec in found.schedules]}
    text: str = yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=_WIDTH)
    return text


def _spoken(spec: ScheduleSpec) -> dict[str, Any]:
    said = spec.model_dump(mode="json")
    for name, default in _DEFAULTS.items():
        if getattr(spec, name) == default:
            del said[name]
    # What follows on it is as it was said: a null there is somebody's word.
    return said | {"action": spec.action.model_dump(mode="json", exclude_defaults=True)}
