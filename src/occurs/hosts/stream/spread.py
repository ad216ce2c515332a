"""Detections of a micro-batch that stay with its tasks: they are written from there, and this process gets numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from occurs.connect.sparktables.write import storable
from occurs.connect.writers import Tables, in_order, one_table, typed
from occurs.hosts.stream.records import COUNTED, FOUND, Record, batch, from_blob, records, to_blob
from occurs.hosts.stream.shapes import Shape, cut

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: bytes of detections that the tasks of a micro-batch give to this process together; where there are more, all stay
MOST = 1 << 26
Batches = Iterator[pa.RecordBatch]
#: lane by lane the types that are found there
Shapes = Mapping[int, Mapping[str, Shape]]


@dataclass
class Spread:
    """The detections of a micro-batch as DataFrames, type by type; tasks make them from the ``records``, which are
    computed once.  ``rows``: of each type; ``newest``: the greatest time of each, in ticks."""

    records: DataFrame
    shapes: Shapes
    rows: dict[str, int] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)

    def add(self, type: str, rows: int, newest: int) -> None:
        """Count detections of a type."""
        self.rows[type] = self.rows.get(type, 0) + rows
        self.newest[type] = max(newest, self.newest.get(type, newest))

    def __iter__(self) -> Iterator[str]:
        """The types of which there are detections."""
        return iter(self.rows)

    def __getitem__(self, type: str) -> DataFrame:
        return self.made(partial(of_type, type), [type])

    def together(self) -> DataFrame:
        """The detections of all types, each with its type.  Raises UsageProblem (``schema-conflict``)."""
        return self.made(one_table)

    def made(self, make: Callable[[Tables], pa.Table], types: Iterable[str] | None = None) -> DataFrame:
        """What ``make`` makes of the detections of some types, or of all; it gets those of a record at a time."""
        from pyspark.sql import functions as F

        wanted = None if types is None else set(types)
        shapes = {
            lane: {t: shape for t, shape in own.items() if wanted is None or t in wanted}
            for lane, own in self.shapes.items()
        }
        shapes = {lane: own for lane, own in shapes.items() if own}
        schema = storable(make({t: shape.schema.empty_table() for own in shapes.values() for t, shape in own.items()}))
        ddl = self.records.sparkSession.createDataFrame(schema).schema
        mine = (F.col("kind") == FOUND) & F.col("lane").isin(list(shapes))
        return self.records.where(mine).mapInArrow(make_rows(shapes, make, schema.schema), ddl)


def of_type(type: str, tables: Tables) -> pa.Table:
    """The detections of one type, as a table has them."""
    return typed(type, tables[type])


def make_counter(shapes: Shapes, most: int) -> Callable[[Batches], Batches]:
    """The function that runs over the records of a task: once it has seen more than ``most`` bytes of detections, it
    hands on the numbers of detections in place of those of the types in ``shapes``."""
    counted = {lane: {shape.number: t for t, shape in own.items()} for lane, own in shapes.items()}

    def count(batches: Batches) -> Batches:
        seen = 0
        for b in batches:
            kinds = b.column("kind").to_numpy(zero_copy_only=False)
            if not (kinds == FOUND).any():
                yield b
                continue
            for r in records(b):
                seen += len(r.blob or b"") if r.kind == FOUND else 0
                if r.kind == FOUND and seen > most:
                    yield batch(_counted(r, counted.get(r.lane, {})))
                else:
                    yield batch([r])

    return count


def _counted(r: Record, types: Mapping[int, str]) -> Iterator[Record]:
    """Numbers of the rows of some ``types``, by their numbers, and a record of the other rows."""
    assert r.blob is not None
    table = from_blob(r.blob)
    number, time = (table.column(c).to_numpy() for c in ("__type", "__time"))
    here, rows = np.unique(number, return_counts=True)
    newest = np.full(int(here[-1]) + 1 if len(here) else 0, np.iinfo(np.int64).min)
    np.maximum.at(newest, number, time)
    found = [(types[n], int(k), int(newest[n])) for n, k in zip(here.tolist(), rows, strict=True) if n in types]
    if found:
        yield Record(COUNTED, r.bucket, r.lane, found=sum(k for _, k, _ in found), blob=json.dumps(found).encode())
    rest = ~np.isin(number, list(types))
    if rest.any():
        yield Record(FOUND, r.bucket, r.lane, found=int(rest.sum()), blob=to_blob(table.filter(pa.array(rest))))


def make_rows(shapes: Shapes, make: Callable[[Tables], pa.Table], schema: pa.Schema) -> Callable[[Batches], Batches]:
    """The function that makes rows of FOUND records in a task."""

    def rows(batches: Batches) -> Batches:
        for b in batches:
            for r in records(b):
                tables = {} if r.blob is None else dict(cut([from_blob(r.blob)], shapes[r.lane]))
                if tables:
                    made = make({t: in_order(table) for t, table in tables.items()})
                    yield from _with_columns(made, schema).combine_chunks().to_batches()

    return rows


def _with_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """With all columns of a schema, null where the table has none."""
    own = set(table.column_names)
    columns = [table.column(f.name).cast(f.type) if f.name in own else pa.nulls(len(table), f.type) for f in schema]
    return pa.table(columns, schema=pa.schema([f.with_nullable(True) for f in schema]))
