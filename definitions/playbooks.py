"""What a playbook's file may be: one YAML mapping with a closed set of keys."""

from collections.abc import Iterator, Mapping
from typing import Final

from contract.base import FieldFailure
from contract.errors import shown
from contract.limits import PROMPT_MAX_CHARS
from definitions.field_rules import (
    Rule,
    entry_of,
    flag,
    free,
    is_set,
    misfit,
    of_kind,
    text,
    text_of,
    text_or_flag,
    unknown_key,
    whole_number,
)
from definitions.playbook_sections import args, artifacts, links
from definitions.yaml_bounds import parse_yaml
from definitions.yaml_faults import fault_at
from definitions.yaml_nodes import YamlEntry, YamlNode

# A dash and an underscore are the same in a key. Bounds of the numbers: the peer's, which runs these files.
_RULES: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(
        ("agent", "argument_hint", "description", "effort", "model", "name", "pack", "permission_mode"), text
    ),
    "prompt": text_of(PROMPT_MAX_CHARS),
    **dict.fromkeys(("save", "team_attach", "team_mode"), text_or_flag),
    **dict.fromkeys(("bare", "bypass", "dry_run", "reactive", "show_graph", "with_synthesis", "yolo"), flag),
    "workers": whole_number(1, 32),
    "max_ops": whole_number(0, 50),
    "max_agents": whole_number(0, 50),
    "args": args,
    "artifacts": artifacts,
    "steps": of_kind("mapping", "sequence"),
    "links": free,  # judged beside the steps
    "use": free,
}
# The one key that people write with a dash.
_SPELLINGS: Final = tuple("argument-hint" if key == "argument_hint" else key for key in _RULES)


def playbook_failures(content: str) -> Iterator[FieldFailure]:
    """Yield the faults of a playbook's file."""
    document = parse_yaml(content)
    yield from document.failures
    root = document.root
    if root is not None and is_set(root):
        yield from _faults_of(root)
    elif not document.failures:
        yield FieldFailure(path=("content",), code="empty", message="is empty: a playbook is a YAML mapping")


def _faults_of(root: YamlNode) -> Iterator[FieldFailure]:
    if root.kind not in ("mapping", "refused"):
        yield misfit(root, (), ("mapping",))
    known: dict[str, YamlEntry] = {}
    for entry in root.entries:
        key = entry.key.replace("-", "_")
        if key not in _RULES:
            yield unknown_key(entry, (), _SPELLINGS, "a playbook")
        elif first := known.get(key):
            sentence = f"`{shown(entry.key)}` stands here already, as `{first.key}` in line {first.place.line}"
            yield fault_at(entry.place, (entry.key,), "duplicate", sentence)
        else:
            known[key] = entry
            yield from _RULES[key](entry.node, (entry.key,))
    if "links" in known:
        steps = known["steps"].node if "steps" in known else None
        yield from links(known["links"].node, ("links",), steps)


def has_prompt_of_its_own(content: str) -> bool:
    """Whether a sound playbook or flow says what is to be done."""
    root = parse_yaml(content).root
    entry = None if root is None else entry_of(root, "prompt")
    return entry is not None and is_set(entry.node)


def inline_flow_failures(flow_yaml: str) -> tuple[FieldFailure, ...]:
    """Return the faults of an inline flow, which is a YAML mapping of any keys; paths begin with `flow_yaml`."""
    document = parse_yaml(flow_yaml)
    failures = [*document.failures]
    root = document.root
    if root is not None and is_set(root) and root.kind not in ("mapping", "refused"):
        failures.append(misfit(root, (), ("mapping",)))
    elif not failures and (root is None or not is_set(root)):
        failures.append(FieldFailure(path=("content",), code="empty", message="is empty: a flow is a YAML mapping"))
    return tuple(fault.model_copy(update={"path": ("flow_yaml", *fault.path[1:])}) for fault in failures)
