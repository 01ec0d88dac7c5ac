"""The coupling of decision D6: directed dependencies between its six components, kappa = edges / (6 * 5) < 0.3.

Components are the decision's own; each of our modules belongs to one by its name:

- web adapter: routers, consumers, admin pages and the HTTP bases of the shell, with the export that publishes what
  they serve;
- CLI adapter: management commands and their base;
- remote client adapter: contract/client.py with what it is made of;
- application services: `services`, topic modules, and the models, errors and ports of contract/ (the decision keeps
  them in the application's own package);
- state adapters: `state`, `models`, the StateDB executor and its change feed;
- file and scheduler adapters: `files`, `scheduler`, and the mechanics of execution.

The composition root is wiring: it names every adapter by its task, as do the entry points, the configuration, the
daemon's life, the adapters of clock and ids, and the demo, whose agent is a program outside of Studio as any other.
They are no component, and their edges are not counted.
"""

import re
from collections import defaultdict

import grimp
import pytest

from tests.architecture.source import APPS, PACKAGES

KAPPA_LIMIT = 0.3
_COMPONENTS = 6

_APP = f"(?:{'|'.join(APPS)})"
# The first pattern that matches the whole name of a module decides.
_PLACES = {
    "wiring": rf"({_APP}|{_APP}\.(apps|demo|demo_agent|demo_survey)|{_APP}\.migrations(\..+)?|studio_project"
    r"|studio_project\.(apps|asgi|composition|config|config_\w+|daemon|database_url|\w+_operations|scheduled_runs"
    r"|first_admin|home|logs|machine|schema|secret_key|part_process|reconciling|scheduling|settings|system|version"
    r"|worker))",
    "cli": rf"({_APP}|studio_project)\.management(\..+)?|studio_project\.(action_input|banner|cli|command_input"
    r"|commands|doctor\w*|frame_wording|paging|run_tailing|terminal|text_source|wording|yaml_values)",
    "remote": r"contract\.(client|remote_\w+|http_exchange|sse_parsing|stream_following)",
    "web": rf"{_APP}\.(api|consumers|admin)|studio_project\.(admin|admin_\w+|api|application|asgi_types|connection"
    r"|contract_\w+|error_pages|frame_encoding|http_errors|openapi|pieces|readiness|request_rules|security|server|sse|urls)",
    "state": rf"{_APP}\.(state|models)(\..+)?|studio_project\.(statedb|prepared_query|sqlite_connection|change_feed"
    r"|ordered_text|publishing)",
    "files": rf"{_APP}\.(files|execution|scheduler|processes|demo_files)(\..+)?",
    "services": rf"contract(\..+)?|{_APP}\..+",
}


def component_of(module: str) -> str | None:
    """Return the component a module belongs to, or None where nobody has said so yet."""
    return next((name for name, pattern in _PLACES.items() if re.fullmatch(pattern, module)), None)


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def test_every_module_belongs_to_a_component(graph: grimp.ImportGraph) -> None:
    homeless = {module for module in graph.modules if component_of(module) is None}

    assert not homeless, "give each its place in _PLACES"


def test_coupling_stays_under_the_decisions_limit(graph: grimp.ImportGraph) -> None:
    edges = _edges(graph)

    kappa = len(edges) / (_COMPONENTS * (_COMPONENTS - 1))

    shown = "\n".join(f"{a} -> {b}: {', '.join(sorted(imports)[:3])}" for (a, b), imports in sorted(edges.items()))
    assert kappa < KAPPA_LIMIT, f"kappa is {kappa:.2f}:\n{shown}"


def test_no_transport_reaches_files_and_no_rule_reaches_an_adapter(graph: grimp.ImportGraph) -> None:
    edges = _edges(graph)

    assert not edges.keys() & {("web", "files"), ("cli", "files"), ("cli", "state")}
    assert {target for source, target in edges if source == "services"} <= {"services"}


def _edges(graph: grimp.ImportGraph) -> dict[tuple[str, str], set[str]]:
    """The component pairs that depend on each other, with the imports that make them."""
    edges: dict[tuple[str, str], set[str]] = defaultdict(set)
    for importer in graph.modules:
        source = component_of(importer)
        for imported in graph.find_modules_directly_imported_by(importer):
            target = component_of(imported)
            if source and target and source != target and "wiring" not in {source, target}:
                edges[source, target].add(f"{importer} -> {imported}")
    return edges
