"""Detections of many types on their way into this process: one job for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from occurs.hosts.spark.shipped import Shipped
from occurs.hosts.spark.wide import by_type

#: columns up to which all types travel side by side.  With more, most of them are null in each row, and a null takes
#: as much memory as a value: then each type travels with its own columns.
MOST_COLUMNS = 64
#: the columns that :class:`Packer` makes
PACKED = "type string, rows binary"


def rows_by_type(table: pa.Table, types: Sequence[str]) -> dict[str, pa.Table]:
    """The rows of each type that has rows; ``types``: the names behind the numbers in ``__type``."""
    return dict(by_type(table, table.column("__type"), types)) if len(table) else {}


@dataclass(frozen=True)
class Packer(Shipped):
    """A function for ``mapInArrow``: rows of all types to one Arrow stream for each type of a batch.

    Attributes:
        columns: The columns of each type, in the order of their numbers.
    """

    columns: tuple[tuple[str, tuple[str, ...]], ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition."""
        own = dict(self.columns)
        for batch in batches:
            packed: dict[str, bytes] = {}
            for type, rows in rows_by_type(pa.Table.from_batches([batch]), list(own)).items():
                table = rows.select(list(own[type])).combine_chunks()
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, table.schema) as writer:
                    writer.write(table)
                packed[type] = sink.getvalue().to_pybytes()
            if packed:
                arrays = [pa.array(packed.keys(), pa.string()), pa.array(packed.values(), pa.binary())]
                yield pa.RecordBatch.from_arrays(arrays, names=["type", "rows"])


def unpacked(packed: pa.Table) -> dict[str, pa.Table]:
    """The rows of each type that has rows, out of what :class:`Packer` made of them."""
    parts: dict[str, list[pa.Table]] = {}
    for type, blob in zip(packed.column("type").to_pylist(), packed.column("rows").to_pylist(), strict=True):
        parts.setdefault(type, []).append(pa.ipc.open_stream(blob).read_all())
    return {type: pa.concat_tables(own) for type, own in parts.items()}
