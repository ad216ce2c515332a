"""Rows of the input in the reference semantics: their values as declared, and their order (common.md, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from occurs.errors import InputProblem
from occurs.expr.reference import clean
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type


def as_declared(event: Occurrence, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """The attributes of an input event as its schema has them: missing ones null, NaN null, whole numbers cast."""
    schema = schemas.get(event.type)
    if schema is None:
        return {n: clean(v) for n, v in event.attributes.items()}
    return {n: _cast(event, n, clean(event.attributes.get(n)), t) for n, t in schema.attributes}


def _cast(event: Occurrence, name: str, value: Any, type_: Type) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and type_ in (Type.INT, Type.FLOAT):
        try:
            cast = int(value) if type_ is Type.INT else float(value)
        except (OverflowError, ValueError):  # an infinite or too great number
            cast = None
        if cast != value:
            raise InputProblem.of("bad-value", f"{event.type}.{name}: {value} is not a valid {type_}", value=value)
        return cast
    return value


def place(row: Occurrence) -> tuple[Any, ...]:
    """The place of a row within its instant: sequence (null least), type, values in the order of attribute names."""
    values = tuple(_ascending(row.attributes[name]) for name in sorted(row.attributes))
    return _ascending(row.sequence), row.type, values


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, then by value."""
    return () if value is None else (value,)
