"""The reference semantics of pipes over the tables of a history (for ``occurs verify``)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from occurs.languages.esql.semantics import values as plain
from occurs.languages.esql.semantics.documents import Document, Json
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.types import Schema, Type
from occurs.operators.process import values as engine
from occurs.operators.process.columns import column_of
from occurs.operators.process.kinds import Kind
from occurs.operators.process.outputs import column, columns_of
from occurs.operators.process.tree import Definition


def rows_of(history: History, types: Collection[str]) -> list[Occurrence]:
    """The events of some types; timestamps are int microseconds."""
    rows = occurrences({t: history.tables[t] for t in sorted(types & history.tables.keys())})
    return [replace(o, attributes={n: _taken(v) for n, v in o.attributes.items()}) for o in rows]


def _taken(value: Any) -> Any:
    return tuple(map(_taken, value)) if isinstance(value, list) else value


def tables_of(definition: Definition, kind: Kind, schema: Schema, found: Sequence[Occurrence]) -> pa.Table:
    """The rows of a definition as a table: int64 ``time`` and its columns."""
    mine = [o for o in found if o.type == definition.name]
    names, arrays = ["time"], [pa.array([o.time for o in mine], pa.int64())]
    for name, of in columns_of(kind):
        values = [_value(o.attributes.get(name)) for o in mine]
        names.append(name)
        arrays.append(column(column_of(values), of).cast(schema[name]).output())
    if definition.about:
        about = pa.array([o.attributes["about"] for o in mine], pa.int64())
        names.append("about")
        arrays.append(about.cast(pa.timestamp("us", "UTC")) if schema["about"] is Type.TIMESTAMP else about)
    return pa.Table.from_arrays(arrays, names=names)


def _value(value: Any) -> Any:
    """A value of the reference as tables take it."""
    match value:
        case tuple():
            return tuple(map(_value, value))
        case plain.Set():
            return engine.Set(tuple(map(_value, value)))
        case plain.Bag():
            return engine.Bag(tuple(map(_value, value)))
        case plain.Map():
            return engine.Map(tuple((_value(k), _value(v)) for k, v in value.items))
        case plain.Record():
            return engine.Record(tuple((n, _value(v)) for n, v in value.columns))
        case plain.Troolean():
            return engine.Troolean(value.value)
        case Document() | Json():
            return value.source
    return value
