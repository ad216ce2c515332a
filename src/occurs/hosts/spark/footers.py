"""What the footers of Parquet files say of their rows, so that no job has to read the rows for it.

A footer has for every column of a row group the number of nulls, the least and the greatest value.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from occurs.model.types import Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: files whose footers the driver reads one by one; for more a job of Spark is faster
MOST = 256
#: bytes at the end of a file that are read at once: most footers are not much longer, and an answer of Java beyond 8 kB
#: waits 40 ms for an acknowledgement of the first part
TAIL = 4_096

_RELATION = "org.apache.spark.sql.execution.datasources.LogicalRelation"
_FILES = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
_PROJECT = "org.apache.spark.sql.catalyst.plans.logical.Project"
#: microseconds from 1970 to 1900: what is before may be in the calendar that Spark once used
_REBASED = -2_208_988_800_000_000


@dataclass(frozen=True)
class Footers:
    """The rows of all files, and of columns without nulls the least and the greatest value: integers, microseconds
    since 1970, texts."""

    rows: int
    ends: Mapping[str, tuple[Any, Any]]


def footers(frame: DataFrame, columns: Mapping[str, Type]) -> Footers | None:
    """The figures of ``columns`` (name to type).  None if ``frame`` is anything but the rows of a few Parquet files, or
    if a footer lacks a figure."""
    if not hasattr(frame, "_jdf"):  # with Spark Connect the plan is on the server
        return None
    from py4j.protocol import Py4JJavaError

    if frame.sparkSession.conf.get("spark.sql.files.ignoreCorruptFiles", "false") == "true":
        return None  # Spark may leave out rows that a footer counts
    names = _stored(frame._jdf.queryExecution().optimizedPlan(), columns)
    files = frame.inputFiles() if names is not None else []
    if names is None or not 0 < len(files) <= MOST:
        return None
    rows = 0
    ends: dict[str, tuple[Any, Any]] = {}
    for file in files:
        try:
            footer = _footer(frame, file)
        except (Py4JJavaError, pa.ArrowException, OSError):
            return None  # Spark reads the file next, and says what is wrong with it
        places = {footer.schema.column(n).path: n for n in range(len(footer.schema.names))}
        if not places.keys() >= set(names.values()):
            return None
        for group in map(footer.row_group, range(footer.num_row_groups)):
            for column, name in names.items():
                place = places[name]
                own = _ends(group.column(place), footer.schema.column(place), columns[column])
                if own is None:
                    return None
                least, greatest = ends.get(column, own)
                ends[column] = min(least, own[0]), max(greatest, own[1])
        rows += footer.num_rows
    return Footers(rows, ends) if rows else None


def _stored(plan: Any, columns: Collection[str]) -> dict[str, str] | None:
    """The names that columns of a plan have in the Parquet files that it reads; None if it does anything else than to
    read them."""
    above = {str(a.name()): a.exprId() for a in _each(plan.output())}
    while plan.getClass().getName() == _PROJECT:
        plan = plan.child()
    if plan.getClass().getName() != _RELATION:
        return None
    relation = plan.relation()
    if relation.getClass().getName() != _FILES or relation.fileFormat().getClass().getName() != _PARQUET:
        return None
    below = list(_each(plan.output()))
    out = {}
    for column in columns:
        found = [str(a.name()) for a in below if column in above and a.exprId().equals(above[column])]
        if len(found) != 1:
            return None
        out[column] = found[0]
    return out


def _each(attributes: Any) -> list[Any]:
    """The elements of a sequence of Scala."""
    return [attributes.apply(n) for n in range(attributes.length())]


def _footer(frame: DataFrame, file: str) -> pq.FileMetaData:
    """The footer of a file at any address that the session reaches."""
    session: Any = frame.sparkSession
    path = session._jvm.org.apache.hadoop.fs.Path(session._jvm.java.net.URI(file))
    files = path.getFileSystem(session._jsc.hadoopConfiguration())
    size = files.getFileStatus(path).getLen()
    stream = files.open(path)
    try:

        def last(many: int) -> bytes:
            many = min(size, many)
            stream.seek(size - many)
            return b"".join(stream.readNBytes(min(TAIL, many - at)) for at in range(0, many, TAIL))

        tail = last(TAIL)
        needed = int.from_bytes(tail[-8:-4], "little") + 8
        tail = last(needed) if needed > len(tail) else tail[-needed:]
    finally:
        stream.close()
    return pq.read_metadata(pa.BufferReader(b"PAR1" + tail))


def _ends(chunk: Any, column: Any, kind: Type) -> tuple[Any, Any] | None:
    """The least and the greatest value of a column in a row group; None if there are nulls, or if they are not told."""
    told = chunk.statistics
    if told is None or not told.has_null_count or told.null_count or not told.has_min_max:
        return None
    logical = json.loads(column.logical_type.to_json())
    if kind is Type.TIMESTAMP:
        factor = {"milliseconds": 1_000, "microseconds": 1}.get(logical.get("timeUnit"))
        if factor is None or not logical["isAdjustedToUTC"] or told.min_raw * factor < _REBASED:
            return None
        return told.min_raw * factor, told.max_raw * factor
    whole = logical["Type"] in ("None", "Int") and column.physical_type in ("INT32", "INT64")
    return (told.min, told.max) if whole or (logical["Type"] == "String" and kind is Type.STRING) else None
