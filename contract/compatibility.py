"""What the additive rule of the contract forbids between two versions of openapi.json or of routes.json.

Within a major version a new endpoint, a new optional field and a wider bound are compatible. Everything that
`Rule` names is not: it needs a new major version and a migration of the clients.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from contract.schema_compatibility import Breach, Direction, Json, Rule, SchemaComparison

_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch", "trace"})
_PARAMETER: Final = re.compile(r"{([^}]*)}")
_AUTH: Final = "x-auth"

Operations = dict[str, dict[str, Json]]


def breaches(old: Json, new: Json) -> list[Breach]:
    """Compare two documents of one kind. Raises ValueError for documents of two kinds, or of none."""
    if "openapi" in old and "openapi" in new:
        return list(_openapi_breaches(old, new))
    if "routes" in old and "routes" in new:
        return list(_routes_breaches(old, new))
    raise ValueError("compare two openapi.json or two routes.json")


# ---- openapi.json ----------------------------------------------------------------------------------------------


def _openapi_breaches(old: Json, new: Json) -> Iterator[Breach]:
    schemas = SchemaComparison(_components(old), _components(new))
    olds, news = _operations(old), _operations(new)
    yield from _missing(olds, news)
    for path in sorted(olds.keys() & news.keys()):
        for method in sorted(olds[path].keys() & news[path].keys()):
            where = f"{method.upper()} {path}"
            before, after = olds[path][method], news[path][method]
            yield from _changed(Rule.AUTH_CHANGED, where, before.get(_AUTH), after.get(_AUTH))
            yield from _parameter_breaches(schemas, before, after, where)
            yield from _body_breaches(schemas, before.get("requestBody"), after.get("requestBody"), where)
            yield from _answer_breaches(schemas, before.get("responses", {}), after.get("responses", {}), where)


def _components(document: Json) -> Json:
    components: Json = document.get("components", {}).get("schemas", {})
    return components


def _operations(document: Json) -> Operations:
    """Return operations by path and method. The names of path parameters are not on the wire and are blanked."""
    return {
        _PARAMETER.sub("{}", path): {
            method: {**operation, "path_names": _PARAMETER.findall(path)}
            for method, operation in item.items()
            if method in _METHODS
        }
        for path, item in document["paths"].items()
    }


def _missing(olds: Mapping[str, Mapping[str, Any]], news: Mapping[str, Mapping[str, Any]]) -> Iterator[Breach]:
    for path, methods in sorted(olds.items()):
        other = path.removesuffix("/") if path.endswith("/") else f"{path}/"
        if path not in news and other in news:
            yield Breach(rule=Rule.SLASH_CHANGED, where=path, what=f"is {other}")
        elif path not in news:
            yield Breach(rule=Rule.PATH_REMOVED, where=path, what="is gone")
        else:
            for method in sorted(methods.keys() - news[path].keys()):
                yield Breach(rule=Rule.METHOD_REMOVED, where=f"{method.upper()} {path}", what="is gone")


def _changed(rule: Rule, where: str, before: object, after: object) -> Iterator[Breach]:
    if before != after:
        yield Breach(rule=rule, where=where, what=f"was {before}, is {after}")


def _parameter_breaches(schemas: SchemaComparison, old: Json, new: Json, where: str) -> Iterator[Breach]:
    olds, news = _parameters(old), _parameters(new)
    for place in sorted(olds.keys() - news.keys()):
        yield Breach(rule=Rule.FIELD_REMOVED, where=f"{where} {place}", what="is gone")
    for place, parameter in sorted(news.items()):
        before = olds.get(place)
        if parameter.get("required") and not (before and before.get("required")):
            yield Breach(rule=Rule.NOW_REQUIRED, where=f"{where} {place}", what="is required")
        if before is not None:
            inner = (before.get("schema", {}), parameter.get("schema", {}))
            yield from schemas.breaches(*inner, f"{where} {place}", Direction.REQUEST)


def _parameters(operation: Json) -> dict[str, Json]:
    """Return parameters by place and name: `query limit`, `header last-event-id`, and `path 0` by position."""
    names: list[str] = operation["path_names"]
    found: dict[str, Json] = {}
    for parameter in operation.get("parameters", ()):
        place, name = parameter["in"], parameter["name"]
        if place == "path":
            name = str(names.index(name))
        found[f"{place} {name.lower() if place == 'header' else name}"] = parameter
    return found


def _body_breaches(schemas: SchemaComparison, old: Json | None, new: Json | None, where: str) -> Iterator[Breach]:
    if new is not None and new.get("required") and not (old and old.get("required")):
        yield Breach(rule=Rule.NOW_REQUIRED, where=f"{where} body", what="is required")
    if old is not None and new is None:
        yield Breach(rule=Rule.FIELD_REMOVED, where=f"{where} body", what="is gone")
    elif old is not None and new is not None:
        yield from _content_breaches(schemas, old, new, f"{where} body", Direction.REQUEST)


def _answer_breaches(schemas: SchemaComparison, olds: Json, news: Json, where: str) -> Iterator[Breach]:
    yield from _changed(Rule.SUCCESS_CHANGED, where, *(", ".join(_successes(each)) for each in (olds, news)))
    for status in sorted(olds.keys() & news.keys()):
        yield from _content_breaches(schemas, olds[status], news[status], f"{where} {status}", Direction.ANSWER)


def _successes(answers: Json) -> list[str]:
    return sorted(status for status in answers if status.startswith("2"))


def _content_breaches(
    schemas: SchemaComparison, old: Json, new: Json, where: str, direction: Direction
) -> Iterator[Breach]:
    olds, news = old.get("content", {}), new.get("content", {})
    for media_type in sorted(olds.keys() - news.keys()):
        yield Breach(rule=Rule.MEDIA_TYPE_REMOVED, where=where, what=media_type)
    for media_type in sorted(olds.keys() & news.keys()):
        inner = (olds[media_type].get("schema", {}), news[media_type].get("schema", {}))
        yield from schemas.breaches(*inner, where, direction)


# ---- routes.json -----------------------------------------------------------------------------------------------


def _routes_breaches(old: Json, new: Json) -> Iterator[Breach]:
    olds, news = _routes(old), _routes(new)
    yield from _missing(olds, news)
    for path in sorted(olds.keys() & news.keys()):
        for method in sorted(olds[path].keys() & news[path].keys()):
            yield from _route_breaches(olds[path][method], news[path][method], f"{method} {path}")
    statuses = new.get("error_statuses", {})
    for code, status in sorted(old.get("error_statuses", {}).items()):
        yield from _changed(Rule.ERROR_STATUS_CHANGED, code, status, statuses.get(code))
    yield from _changed(Rule.SLASH_CHANGED, "other spelling", old.get("other_spelling"), new.get("other_spelling"))


def _routes(document: Json) -> Operations:
    routes: Operations = {}
    for route in document["routes"]:
        routes.setdefault(_PARAMETER.sub("{}", route["path"]), {})[route["method"]] = route
    return routes


def _route_breaches(old: Json, new: Json, where: str) -> Iterator[Breach]:
    yield from _changed(Rule.SLASH_CHANGED, where, old.get("slash"), new.get("slash"))
    yield from _changed(Rule.AUTH_CHANGED, where, old.get("auth"), new.get("auth"))
    yield from _changed(Rule.SUCCESS_CHANGED, where, old.get("success"), new.get("success"))
    before, after = old.get("stream"), new.get("stream")
    if before is None or after is None:
        yield from _changed(Rule.STREAM_CHANGED, where, *("a stream" if each else "none" for each in (before, after)))
        return
    yield from _changed(Rule.TERMINAL_CHANGED, where, before.get("terminal"), after.get("terminal"))
    yield from _changed(Rule.RECONNECT_CHANGED, where, before.get("reconnect"), after.get("reconnect"))
