"""Detections of a micro-batch as its tasks write them, beside those that come to the driver."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.writers import typed
from occurs.hosts.stream.batches import MicroBatch, StreamQuery
from occurs.hosts.stream.records import FOUND, SCHEMA
from occurs.hosts.stream.spread import Spread, make_counter, make_rows, of_type


def sorted_rows(table: pa.Table) -> list[Any]:
    return sorted(table.to_pylist(), key=repr)


def compare(query: StreamQuery, records: pa.Table, got: MicroBatch, most: int) -> int:
    """Two tasks that hand on at most ``most`` bytes each: the counts, and every other output, are those of ``got``, and
    the tasks make the same rows.  Returns how many detections stayed with the tasks."""
    half = len(records) // 2
    tasks = [records.slice(0, half).to_batches(), records.slice(half).to_batches()]
    told = [b for task in tasks for b in make_counter(query.reported, most)(iter(task))]
    done = query.read(pa.Table.from_batches(told, schema=SCHEMA), Spread(None, query.reported))  # type: ignore[arg-type]
    assert done.counts == got.counts
    assert {t: done.newest(t) for t in done.counts} == {t: got.newest(t) for t in got.counts}
    assert done.figures == got.figures
    for one, other in ((done.timeouts, got.timeouts), (done.never, got.never)):
        assert {t: sorted_rows(table) for t, table in one.items()} == {t: sorted_rows(x) for t, x in other.items()}
    if done.spread is None:
        return 0
    assert not any(map(len, done.found.values()))
    for t, table in got.found.items():
        shapes = {lane: {t: own[t]} for lane, own in query.reported.items() if t in own}
        schema = typed(t, table.schema.empty_table()).schema
        make = make_rows(shapes, partial(of_type, t), schema)
        here = pc.is_in(records["lane"], pa.array(shapes, pa.int32()))
        found = records.filter(pc.and_(pc.equal(records["kind"], FOUND), here))
        made = pa.Table.from_batches(make(iter(found.to_batches())), schema=schema)
        assert sorted_rows(made) == sorted_rows(typed(t, table))
    return sum(done.spread.rows.values())
