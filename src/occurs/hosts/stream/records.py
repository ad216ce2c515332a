"""What travels between the parts of a stream: few records, each with a table of many rows in Arrow IPC.

Spark moves rows of Python one by one; so the rows of a bucket travel as one binary value (a *blob*).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

#: kinds of records: into a bucket ROWS of a lane, CLOCK, STRAYS (rows that no definition reads), and of history REPLAY
#: (rows of a lane) and REPLAY_CLOCK; GROUPED is for many buckets, and becomes ROWS and CLOCK before it reaches them;
#: COUNTED comes behind all stages, for rows of FOUND that stay with the tasks; the others pass
ROWS, CLOCK, STRAYS, FOUND, LATE, BAD, FIGURES, REPLAY, REPLAY_CLOCK, FREQUENT, SIZES, GROUPED, COUNTED = range(13)
#: kinds that a bucket passes on as they are
PASSED = (FOUND, LATE, BAD, FIGURES, FREQUENT, SIZES)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the stream between stages; which fields mean something depends on ``kind``.

    bucket: where it goes, of GROUPED the number of the group.  lane: of ROWS and FOUND, of GROUPED the router.  lo, hi:
    least and greatest time (CLOCK), frontier and newest time (FIGURES).  last: the greatest time or end (to a later
    stage, of history; else the blob has the ends).  rows, bad, outside, empty (end = time): of the input (CLOCK,
    FIGURES); late, found, waiting, kept, size and read (bytes of state written, and read from Spark's store): FIGURES.
    closing: nothing comes any more (CLOCK).  blob: of FIGURES the definitions that began anew and of SIZES the rows of
    state by definition and by type of the past, as JSON; of FREQUENT the keys of a lane with many rows; of GROUPED
    records; of COUNTED the type, the number and the newest time of rows, as JSON.
    """

    kind: int
    bucket: int
    lane: int = 0
    lo: int | None = None
    hi: int | None = None
    last: int | None = None
    rows: int = 0
    bad: int = 0
    outside: int = 0
    empty: int = 0
    late: int = 0
    found: int = 0
    waiting: int = 0
    kept: int = 0
    size: int = 0
    read: int = 0
    closing: bool = False
    blob: bytes | None = None


_ARROW = {"blob": pa.binary(), "closing": pa.bool_(), "kind": pa.int32(), "bucket": pa.int32(), "lane": pa.int32()}
SCHEMA = pa.schema([(f.name, _ARROW.get(f.name, pa.int64())) for f in fields(Record)])
NAMES = SCHEMA.names
_SPARK = {"blob": "binary", "closing": "boolean", "kind": "int", "bucket": "int", "lane": "int"}
DDL = ", ".join(f"{name} {_SPARK.get(name, 'bigint')}" for name in NAMES)


def batch(records: Iterable[Record]) -> pa.RecordBatch:
    """Records as Arrow."""
    rows = list(records)
    columns = [pa.array([getattr(r, f.name) for r in rows], f.type) for f in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def records(rows: pa.RecordBatch | pa.Table) -> Iterator[Record]:
    """Arrow as records; columns that are no fields are left out."""
    for row in rows.select(NAMES).to_pylist():
        yield Record(**row)


def of_row(row: Mapping[str, Any] | Any) -> Record:
    """A Spark row as a record."""
    return Record(**{name: row[name] for name in NAMES})


def to_blob(table: pa.Table | pa.RecordBatch) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write(table)
    return sink.getvalue().to_pybytes()


def from_blob(blob: bytes) -> pa.Table:
    return pa.ipc.open_stream(blob).read_all()
