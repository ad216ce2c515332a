"""A history in Parquet for the Spark job, written once, piece by piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.workload import splitmix64

KEYS = 1000
#: rows that are made and written at a time
PIECE = 500_000

SCHEMA = pa.schema([("time", pa.int64()), ("type", pa.string()), ("key", pa.int64()), ("v", pa.int64())])

#: how far the rule looks back, in ms
WITHIN = 60_000
#: reads four in five events and drops one in ten of them; nearly every T1 finds a T2
RULE = (
    f"define CE(Key, V) from T1(key = $k, v > 9) and last T2(key = $k, v > 9) within {WITHIN} ms from T1 "
    "where Key = $k, V = T2.v"
)
READ = ("T1", "T2")
ABOVE = 9


def piece(first: int, count: int) -> pa.Table:
    """Events ``first`` .. ``first + count - 1``, 1 ms apart: T1 and T2 two in five each, T3 .. T10 the rest; 1000 keys,
    v 0 .. 99."""
    draws = (splitmix64(3 * first, 3 * count) >> np.uint64(33)).reshape(count, 3)
    kind = (draws[:, 0] % np.uint64(40)).astype(np.int64)
    type = np.where(kind < 16, 1, np.where(kind < 32, 2, kind - 29))
    names = pa.array([f"T{t}" for t in range(1, 11)])
    return pa.table(
        [
            pa.array(np.arange(first + 1, first + count + 1)),
            names.take(pa.array(type - 1)),
            pa.array((draws[:, 1] % np.uint64(KEYS)).astype(np.int64)),
            pa.array((draws[:, 2] % np.uint64(100)).astype(np.int64)),
        ],
        schema=SCHEMA,
    )


def parquet(folder: Path, n: int) -> Path:
    """The file with the first ``n`` events; made if it is not there, under another name until it is whole."""
    path = folder / f"events-{n}.parquet"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, SCHEMA) as writer:
        for first in range(0, n, PIECE):
            writer.write_table(piece(first, min(PIECE, n - first)))
    part.rename(path)
    return path
