"""Keys that have a large part of the rows.

All rows of a key are in one bucket, so a frequent key keeps one task busy while others are idle.  Every bucket looks at
a sample of the rows that a micro-batch brings, and names the keys with many of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from occurs.hosts.frequent import Frequent
from occurs.hosts.stream.layout import Layout, Path

#: rows of a bucket from which on a look costs little beside its work, and rows of a sample
LEAST, SAMPLE = 10_000, 512
#: a key with this part of the rows of a bucket is named, and at most so many
PART, MOST = 0.05, 10


def frequent(path: Path, layout: Layout, tables: Sequence[pa.Table]) -> bytes | None:
    """The keys that have many of the rows of a bucket in a lane, as JSON; None if there are none, or few rows."""
    total = sum(t.num_rows for t in tables)
    if path.lane.group.mode != "keyed" or total < LEAST:
        return None
    step = total // SAMPLE
    found: Counter[tuple[Any, ...]] = Counter()
    taken = skip = 0
    for table in tables:
        at = range(skip, table.num_rows, step)
        skip = (skip - table.num_rows) % step
        taken += len(at)
        found.update(_keys(path, layout, table.take(pa.array(at, pa.int64()))))
    common = [[list(key), n * total // taken] for key, n in found.most_common(MOST) if n >= PART * taken]
    return json.dumps(common, default=str).encode() if common else None


def _keys(path: Path, layout: Layout, table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """The key of every row that has one."""
    key = path.lane.group.stage.key
    columns: dict[str, list[str | None]] = {}
    for inlet in path.inlets:
        if not inlet.derived and inlet.type in key:
            there = {n: c for n, _, c in inlet.columns}
            columns[inlet.type] = [there.get(n) for n in key[inlet.type]]
    used = {c for names in columns.values() for c in names if c is not None}
    values = {c: table.column(c).to_pylist() for c in used}
    for row, code in enumerate(table.column("__type").to_pylist()):
        names = columns.get(layout.types[code] if isinstance(code, int) else code)
        if names is not None:
            yield tuple(None if c is None else values[c][row] for c in names)


def frequent_keys(blob: bytes, layout: Layout, lane: int) -> list[Frequent]:
    """What :func:`frequent` found in a bucket."""
    path = next(p for p in layout.paths if p.lane.number == lane)
    group, parts = path.lane.group, path.lane.parts
    types = tuple(sorted(group.stage.defined))
    split = group.split
    if parts > 1:
        split = f"its rules are divided into {parts} parts, each in a bucket"
    elif len(group.independent) > 1:
        split += "; in a new checkpoint, --divide N (Python: divide=N) divides its rules"
    return [Frequent(tuple(key), dict(group.stage.key), types, n, split, parts) for key, n in json.loads(blob)]
