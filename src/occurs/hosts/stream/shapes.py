"""Records of detections as tables, type by type, with the columns that users see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.outputs import because_type
from occurs.hosts.spark.wide import kinds_of
from occurs.hosts.stream.layout import Path
from occurs.model.types import Type


@dataclass(frozen=True)
class Shape:
    """How users see the rows of a type.  ``number``: of the type in its lane; ``name``: what users call it;
    ``columns``: those of wide rows that are the columns of ``schema`` behind the first, ``type``."""

    number: int
    name: str
    schema: pa.Schema
    columns: tuple[str, ...]

    @classmethod
    def of(
        cls, path: Path, type: str, number: int, name: str, label: bool, because: bool, query: bool = False
    ) -> Shape:
        stage, wide = path.lane.group.stage, path.wide
        schema = stage.schemas[type]
        time = pa.timestamp("us", tz="UTC") if stage.kind.timestamp else pa.int64()
        fields = [("time", time, "__time")]
        fields += [("end", time, "__end")] if schema.lasting else []
        for (n, t), (_, kind) in zip(schema, kinds_of(schema)):  # what is of several types is text
            fields.append((n, pa.string() if kind is Type.STRING else schema.arrow_of(n, t), wide.physical[type, n]))
        fields += [("query", time, "__query")] if query else []
        fields += [("final", pa.bool_(), "__final")] if wide.final else []
        fields += [("label", pa.string(), "__label")] if label else []
        fields += [("because", because_type(stage.kind), "__because")] if because else []
        columns = pa.schema([("type", pa.string()), *((n, t) for n, t, _ in fields)])
        return cls(number, name, columns, tuple(c for _, _, c in fields))


def cut(parts: Sequence[pa.Table], shapes: Mapping[str, Shape]) -> Iterator[tuple[str, pa.Table]]:
    """The wide rows of a lane type by type, each in order of time, with the columns that users see.

    All rows are sorted at once, and a column is cast once for all types that have it: a type costs little more than
    the cuts of its columns.
    """
    whole = pa.concat_tables(parts)
    keys = [n for n in ("__type", "__query", "__time", "__end", "__label") if n in whole.column_names]
    whole = whole.take(pc.sort_indices(whole, sort_keys=[(n, "ascending") for n in keys])).combine_chunks()
    number = whole.column("__type").to_numpy()
    bounds = np.searchsorted(number, np.arange(number[-1] + 2)).tolist()
    cast: dict[tuple[str, pa.DataType], pa.ChunkedArray] = {}
    for t, shape in shapes.items():
        first, after = bounds[shape.number : shape.number + 2] if shape.number <= number[-1] else (0, 0)
        if first == after:
            continue
        columns = [pa.repeat(pa.scalar(shape.name), after - first)]
        for column, type in zip(shape.columns, shape.schema.types[1:], strict=True):
            values = cast.get((column, type))
            if values is None:
                values = whole.column(column)
                # an attribute without any value travels as text
                values = pa.chunked_array([pa.nulls(len(whole))]) if pa.types.is_null(type) else values.cast(type)
                cast[column, type] = values
            columns.append(values.slice(first, after - first))
        yield t, pa.Table.from_arrays(columns, schema=shape.schema)
