"""The values that a question about detections names: texts, read by the types of the attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.errors import UsageProblem, did_you_mean
from occurs.model.ticks import parse_timestamps
from occurs.model.types import Schema, Type

if TYPE_CHECKING:
    from occurs.program import Program


def schema_of(
    program: Program, type: str, names: Mapping[str, Any], events: Any, keywords: Mapping[str, Any]
) -> Schema | None:
    """The schema of a defined type, None if no definition makes it.

    ``names``: the attributes that are asked for; the events, with the input options ``keywords``, are looked at if the
    rules alone do not say what these are.
    """
    checked = program.checked
    schema = checked.defined_schema(type)
    unknown = schema is None or any(schema.get(name) in (None, Type.NULL) for name in names)
    if unknown and type in checked.defined:
        from occurs.explain.input import Input

        adjusted, source = Input.of(checked, events, keywords)
        history = adjusted.history(source.events, source.options)
        schema = adjusted.bind(history.schemas, history.kind).schemas[type]
    return schema


def value_of(type: str, name: str, text: str | None, schema: Schema | None, option: str = "") -> Any:
    """The value of an attribute that a text names; None is null.

    Raises UsageProblem for an attribute that the type does not have, and for a text that is not a value of it; the
    message begins with ``option``, where the text was given.
    """
    if schema is not None and name not in schema:
        hint = did_you_mean(name, schema.names, "attributes")
        raise UsageProblem.of("unknown-attribute", f"`{type}` has no attribute `{name}`", hint=hint)
    if text is None:
        return None
    of = Type.STRING if schema is None else schema[name]
    wrong = f"{option}: `{name}` is {of}" if option else f"`{name}` is {of}, and cannot be `{text}`"
    try:
        if of is Type.INT:
            return int(text) if text.lstrip("+-").isdecimal() else float(text)
        if of is Type.FLOAT:
            return float(text)
    except ValueError:
        raise UsageProblem.of("type-mismatch", wrong) from None
    if of is Type.BOOL:
        if text.lower() not in ("true", "false"):
            raise UsageProblem.of("type-mismatch", wrong, hint="true or false")
        return text.lower() == "true"
    if of is Type.TIMESTAMP:
        found = parse_timestamps(pa.chunked_array([pa.array([text])])).cast(pa.int64())[0].as_py()
        if found is None:
            raise UsageProblem.of("type-mismatch", wrong)
        return found
    return text
