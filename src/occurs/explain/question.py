"""A question about detections: their type, values of attributes, and when (why.md, sections 2 and 12)."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import OccursError, UsageProblem, did_you_mean
from occurs.model.ticks import instant
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.model.values import short

#: columns of detections that are no attributes
SPECIAL = frozenset(("type", "time", "end", "label", "because", "query", "about", "final"))


@dataclass(frozen=True)
class Question:
    """Is there a row of ``type`` with these values whose time lies in [``first``, ``last``] (ticks)?

    ``where``: values as columns hold them, timestamps as ticks.  ``given``: as they were given.  ``bounded``: whether
    a time was given.
    """

    type: str
    where: Mapping[str, Any]
    first: int
    last: int
    kind: TimeKind
    given: Mapping[str, Any] = field(default_factory=dict)
    bounded: bool = True

    @classmethod
    def of(
        cls, type: str, where: Mapping[str, Any] | None, between: Any, schema: Schema, kind: TimeKind,
        clock: tuple[int, int] | None,
    ) -> Question:  # fmt: skip
        """From the arguments of ``why_not``.  Raises UsageProblem."""
        given = {} if where is None else where
        if not isinstance(given, Mapping):
            raise UsageProblem.of(
                "bad-option", f"where must be a mapping from attributes to values, not {short(where)}"
            )
        values = {}
        for name, value in given.items():
            if name not in schema:
                hint = did_you_mean(str(name), schema.names, "attributes")
                raise UsageProblem.of("unknown-attribute", f"`{type}` has no attribute `{name}`", hint=hint)
            values[name] = _value(type, name, value, schema[name])
        first, last = clock if clock is not None else (0, 0)
        if between is not None:
            first, last = _between(between, kind)
        return cls(type, values, first, last, kind, dict(given), between is not None)

    def fitting(self, table: pa.Table, opaque: frozenset[str] = frozenset()) -> pa.Table:
        """The rows that answer the question; ``opaque``: attributes whose values are not looked at."""
        return table.filter(self.fits(table, opaque))

    def fits(self, table: pa.Table, opaque: frozenset[str] = frozenset()) -> pa.ChunkedArray:
        """Whether each row answers the question; ``opaque``: attributes whose values are not looked at."""
        time = table["time"].cast(pa.int64())
        end = time
        if "end" in table.column_names:
            end = pc.fill_null(table["end"].cast(pa.int64()), 2**63 - 1)
        mask = pc.and_(pc.less_equal(time, self.last), pc.greater_equal(end, self.first))
        names = [n for n in self.where if n not in opaque]
        if not names or not len(table):
            return mask
        at = pc.indices_nonzero(mask)
        near = table.select(names).take(at)
        kept = np.ones(len(near), np.bool_)
        for name in names:
            kept &= _are(near[name], self.where[name])
        out = np.zeros(len(table), np.bool_)
        out[at.to_numpy()[kept]] = True
        return pa.chunked_array([pa.array(out)])


def _are(column: pa.ChunkedArray, value: Any) -> np.ndarray:
    """Where a column has a value."""
    of = column.type
    whole = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    if (isinstance(value, str) and pa.types.is_string(of)) or (whole and pa.types.is_int64(of)):
        return pc.fill_null(pc.equal(column, value), False).to_numpy()
    return np.array([same(v, value) for v in plain(column)], np.bool_)


def plain(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column, timestamps as microseconds."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    elif pa.types.is_duration(column.type):
        column = column.cast(pa.int64())
    return list(column.to_pylist())


def distinct(column: pa.ChunkedArray) -> list[Any]:
    """The different values of a column."""
    if not pa.types.is_nested(column.type):
        return plain(pc.unique(column))
    found: dict[str, Any] = {}
    for value in column.to_pylist():
        found.setdefault(repr(value), value)
    return list(found.values())


def same(one: Any, other: Any) -> bool:
    """Equal as values of attributes: null is null, numbers by value, a boolean is not a number."""
    if one is None or other is None:
        return one is None and other is None
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one == other
    return bool(one == other)


def _value(type: str, name: str, value: Any, kind: Type) -> Any:
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if value is None or (isinstance(value, float) and value != value):
        return None
    fits = {
        Type.INT: isinstance(value, int | float) and not isinstance(value, bool),
        Type.FLOAT: isinstance(value, int | float) and not isinstance(value, bool),
        Type.STRING: isinstance(value, str),
        Type.BOOL: isinstance(value, bool),
    }.get(kind, True)
    if kind is Type.TIMESTAMP:
        try:
            return value if isinstance(value, int) and not isinstance(value, bool) else instant(value, TimeKind(), name)
        except OccursError:
            fits = False
    if isinstance(value, dt.datetime | dt.date) and kind is not Type.TIMESTAMP and kind is not Type.NULL:
        fits = False
    if not fits:
        raise UsageProblem.of("type-mismatch", f"`{type}.{name}` is {kind}, and cannot be {short(value)}")
    return value


def _between(between: Any, kind: TimeKind) -> tuple[int, int]:
    pair = between if isinstance(between, tuple | list) else (between, between)
    if len(pair) != 2:
        raise UsageProblem.of("bad-option", f"between must be one instant or two, not {short(between)}")
    ticks = []
    for value in pair:
        if hasattr(value, "item") and not isinstance(value, str):
            value = value.item()
        try:
            ticks.append(instant(value, kind, "between"))
        except OccursError as error:
            raise UsageProblem.of("bad-option", error.message, hint=error.hint) from error
    if ticks[0] > ticks[1]:
        raise UsageProblem.of("bad-option", f"between: {pair[0]} is later than {pair[1]}")
    return ticks[0], ticks[1]
