"""``openapi.json``: the calls and their shapes, as the endpoints are marked with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.routing import BaseRoute, Route

from occurs import __version__
from occurs.studio.http import Call
from occurs.studio.shapes import ErrorAnswer

_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")


def described(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    """The calls as OpenAPI 3.1."""
    found = [(route, getattr(route.endpoint, "call", Call())) for route in routes if isinstance(route, Route)]
    kinds: dict[Any, Any] = {ErrorAnswer: None}
    for _, call in found:
        kinds |= {kind: None for kind in (call.body, call.query, call.answer) if kind is not None}
    schemas, components = msgspec.json.schema_components(list(kinds), ref_template="#/components/schemas/{name}")
    schema = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route, call in found:
        path = "/api/v1" + _PARAMETER.sub(r"{\1}", route.path)
        for method in sorted((route.methods or {"GET"}) - {"HEAD"}):
            paths.setdefault(path, {})[method.lower()] = _operation(route, call, schema, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Occurs Studio", "version": __version__},
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "occurs-PORT"},
            },
        },
    }


def _operation(route: Route, call: Call, schema: dict[Any, Any], components: dict[str, Any]) -> dict[str, Any]:
    summary = (route.endpoint.__doc__ or "").strip().split("\n")[0]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(route.path)
    ]
    if call.query is not None:
        of = schema[call.query]
        of = components[of["$ref"].rpartition("/")[2]] if "$ref" in of else of
        required = of.get("required", [])
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": kind}
            for name, kind in of["properties"].items()
        ]
    success: dict[str, Any] = {"description": summary}
    if call.status != 204:
        if call.text is not None:
            success["content"] = {call.text: {"schema": {"type": "string"}}}
        else:
            success["content"] = {"application/json": {"schema": schema.get(call.answer, {})}}
    wrong = {"application/json": {"schema": schema[ErrorAnswer]}}
    out: dict[str, Any] = {
        "operationId": route.name,
        "summary": summary,
        "responses": {str(call.status): success, "default": {"description": "refused", "content": wrong}},
    }
    if parameters:
        out["parameters"] = parameters
    if call.body is not None:
        kind = "text/plain" if call.text is not None else "application/json"
        out["requestBody"] = {"required": True, "content": {kind: {"schema": schema[call.body]}}}
    return out
