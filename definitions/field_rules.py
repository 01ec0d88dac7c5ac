"""Rules for single values of a definition's YAML, shared by agents and playbooks. A null value means not set."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from contract.base import FieldFailure, Path
from contract.errors import shown
from definitions.yaml_faults import fault_at
from definitions.yaml_nodes import KIND_WORDS, Kind, YamlEntry, YamlNode

# Comparing words is quadratic, and a file may be wrong a hundred times.
_COMPARED_CHARS_MAX: Final = 40
_COMPARED_WORDS_MAX: Final = 30

# Judges a value that stands under these keys.
Rule = Callable[[YamlNode, Path], Iterable[FieldFailure]]


def free(_node: YamlNode, _keys: Path) -> Iterable[FieldFailure]:
    """Take any value."""
    return ()


def of_kind(*kinds: Kind) -> Rule:
    """Take values of these kinds."""

    def rule(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
        if node.kind not in (*kinds, "null", "refused"):
            yield misfit(node, keys, kinds)

    return rule


def required(kind: Kind) -> Rule:
    """Take values of that kind only; null is none."""

    def rule(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
        if node.kind not in (kind, "refused"):
            yield misfit(node, keys, (kind,))

    return rule


def text_of(max_chars: int) -> Rule:
    """Take text of at most so many characters."""

    def rule(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
        yield from text(node, keys)
        if node.kind == "str" and len(node.value) > max_chars:
            length = f"{len(node.value):,}"
            yield fault_at(node.place, keys, "too_long", f"has {length} characters; at most {max_chars:,} are possible")

    return rule


def whole_number(lowest: int, highest: int | None = None) -> Rule:
    """Take whole numbers from `lowest` to `highest`, both included; true and false are none."""
    bounds = f"from {lowest} to {highest}" if highest is not None else f"of at least {lowest}"

    def rule(node: YamlNode, keys: Path) -> Iterator[FieldFailure]:
        if node.kind == "int":
            if node.value < lowest or (highest is not None and node.value > highest):
                yield fault_at(node.place, keys, "range", f"must be a whole number {bounds}")
        elif node.kind not in ("null", "refused"):
            yield fault_at(node.place, keys, "type", f"must be a whole number {bounds}, not {KIND_WORDS[node.kind]}")

    return rule


text: Rule = of_kind("str")
flag: Rule = of_kind("bool")
text_or_flag: Rule = of_kind("str", "bool")


def misfit(node: YamlNode, keys: Path, kinds: Iterable[Kind]) -> FieldFailure:
    """Build the failure of a value that is of none of these kinds."""
    wanted = " or ".join(KIND_WORDS[kind] for kind in kinds)
    # A scalar that was meant as text became something else only because it stands there without quotes.
    hint = ": quote it" if "str" in kinds and node.kind in ("bool", "int", "float", "timestamp") else ""
    return fault_at(node.place, keys, "type", f"must be {wanted}, not {KIND_WORDS[node.kind]}{hint}")


def known_entries(node: YamlNode, keys: Path, rules: Mapping[str, Rule]) -> Iterator[FieldFailure]:
    """Judge the entries that have a rule; others are free."""
    for entry in node.entries:
        yield from rules.get(entry.key, free)(entry.node, (*keys, entry.key))


def closed_entries(node: YamlNode, keys: Path, rules: Mapping[str, Rule], owner: str) -> Iterator[FieldFailure]:
    """Judge the entries, and refuse those that have no rule: they are no keys of an `owner`."""
    for entry in node.entries:
        if entry.key in rules:
            yield from rules[entry.key](entry.node, (*keys, entry.key))
        else:
            yield unknown_key(entry, keys, rules, owner)


def unknown_key(entry: YamlEntry, keys: Path, known: Collection[str], owner: str) -> FieldFailure:
    """Build the failure of a key that an `owner` does not have; it suggests the nearest known one."""
    sentence = f"`{shown(entry.key)}` is not a key of {owner}{suggestion(entry.key, known)}"
    return fault_at(entry.place, (*keys, entry.key), "unknown_key", sentence)


def suggestion(word: str, known: Collection[str]) -> str:
    """Return the end of a sentence that suggests the known word most like this one; nothing where none is near."""
    if len(word) > _COMPARED_CHARS_MAX or len(known) > _COMPARED_WORDS_MAX:
        return ""
    near = get_close_matches(word.lower(), known, n=1)
    return f"; did you mean `{near[0]}`?" if near else ""


def entry_of(node: YamlNode, key: str) -> YamlEntry | None:
    """Return the entry of that key, if it is set."""
    return next((entry for entry in node.entries if entry.key == key and is_set(entry.node)), None)


def is_set(node: YamlNode) -> bool:
    """Whether a value is more than null."""
    return node.kind != "null"
