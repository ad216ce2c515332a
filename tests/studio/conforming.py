"""Answers of the studio compared with what ``openapi.json`` says of them."""

from __future__ import annotations

from typing import Any

import httpx


def answer_conforms(answer: httpx.Response, described: dict[str, Any], method: str, path: str) -> None:
    """An answer is as the description says; ``path`` is as it is written there, below ``/api/v1``."""
    components = described["components"]["schemas"]
    schema = components["ErrorAnswer"]
    if f"/api/v1{path}" in described["paths"]:
        responses = described["paths"][f"/api/v1{path}"][method]["responses"]
        schema = responses.get(str(answer.status_code), responses["default"])["content"]["application/json"]["schema"]
    conforms(answer.json(), schema, components)


def conforms(value: Any, schema: dict[str, Any], components: dict[str, Any]) -> None:
    """A value is as a JSON schema says, as far as msgspec writes schemas."""
    if "$ref" in schema:
        return conforms(value, components[schema["$ref"].rpartition("/")[2]], components)
    if "anyOf" in schema:
        for one in schema["anyOf"]:
            try:
                return conforms(value, one, components)
            except AssertionError:
                continue
        raise AssertionError((value, schema))
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}
    if "enum" in schema:
        assert value in schema["enum"]
    elif "type" in schema:
        names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        assert isinstance(value, tuple(bool if n == "boolean" else kinds[n] for n in names)), (value, schema)
    if isinstance(value, dict):
        missing = set(schema.get("required", [])) - value.keys()
        assert not missing, missing
        for name, item in value.items():
            more = schema.get("additionalProperties", {})
            conforms(item, schema.get("properties", {}).get(name, more if isinstance(more, dict) else {}), components)
    if isinstance(value, list):
        for item in value:
            conforms(item, schema.get("items") or {}, components)
    return None
