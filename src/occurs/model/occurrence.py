"""One event as a Python object: what reference semantics take and give (no engine works on these)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class Occurrence:
    """An event: its type, time (ticks), attributes and identity.

    ``label`` is the number of the input row, ``(rule index, labels of the constituents)`` of a derived event, or
    ``("Timer", time)``.  Input need not set it.
    """

    type: str
    time: int
    attributes: Mapping[str, Any] = field(default_factory=dict)
    sequence: int | None = None
    label: tuple[Any, ...] = ()
    constituents: tuple[Occurrence, ...] = ()


def columns_of(table: pa.Table) -> dict[str, list[Any]]:
    """The columns of a table as plain values; timestamps are int microseconds."""
    columns = zip(table.column_names, table.columns, strict=True)
    return {n: (c.cast(pa.int64()) if pa.types.is_timestamp(c.type) else c).to_pylist() for n, c in columns}


def attributes_of(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """The attributes of every row of :func:`columns_of`."""
    names = [n for n in columns if n not in ("time", "sequence", "label", "end")]
    return [{n: columns[n][i] for n in names} for i in range(len(columns["time"]))]


def occurrences(tables: Mapping[str, pa.Table]) -> list[Occurrence]:
    """The rows of a history's tables as the reference semantics take them; timestamps are int microseconds."""
    out = []
    for name, table in tables.items():
        columns = columns_of(table)
        sequence = columns.get("sequence", [None] * len(table))
        rows = zip(columns["time"], attributes_of(columns), sequence, strict=True)
        out += [Occurrence(name, time, attributes, number) for time, attributes, number in rows]
    return out
