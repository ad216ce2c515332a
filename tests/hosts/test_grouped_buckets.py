"""Records between the tasks of a stream, where there are many buckets: their number does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hostcases import here, labelled
from instream import How, InStream
from streamprograms import EVERYTHING, events

import occurs
from occurs.hosts.stream.bucket_rows import make_packer
from occurs.hosts.stream.grouped import GROUP, SLOTS, make_router
from occurs.hosts.stream.records import CLOCK, GROUPED, ROWS, Record, batch, records
from occurs.model.source import InputOptions

#: three lanes with keys of their own
LANES = """
define One(K) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k
define Two(G) from A(G = $g) and last B(G = $g) within 9 ms from A where G = $g
define Three(V) from A(V = $v) and last B(V = $v) within 9 ms from A where V = $v
"""
TASKS, BUCKETS, ROWS_OF_A_TASK = 64, 512, 10_000


def tasks(query: InStream) -> Iterator[list[pa.RecordBatch]]:
    """The records of each task, of which every one has the same number of rows."""
    rng = np.random.default_rng(1)
    places = [f"__b{p.lane.number}" for p in query.layout.paths]
    columns = dict.fromkeys(c for p in query.layout.paths for c in p.columns if not c.startswith("__"))
    for task in range(TASKS):
        time = np.arange(ROWS_OF_A_TASK, dtype=np.int64) + task
        found: dict[str, Any] = {"__state": pa.array(np.zeros(len(time), np.int32))}
        found |= {"__type": pa.array(rng.integers(0, 2, len(time)), pa.int16()), "__time": pa.array(time)}
        found |= {c: pa.array(rng.integers(0, 10**6, len(time))) for c in columns}
        found |= {b: pa.array(rng.integers(0, BUCKETS, len(time)).astype(np.int32)) for b in places}
        yield list(make_packer(query.layout, 0)(iter(pa.table(found).to_batches())))


def of_query(grouped: int) -> InStream:
    empty = pa.table({"time": pa.array([], pa.int64()), **{n: pa.array([], pa.int64()) for n in "KGV"}})
    how = How(buckets=BUCKETS, because=False, grouped=grouped)
    return InStream(occurs.parse(LANES), {"A": empty, "B": empty}, InputOptions(time_unit="ms"), how)


def test_records_and_bytes_do_not_grow_with_the_buckets() -> None:
    """64 tasks, 512 buckets, 3 lanes."""
    query = of_query(GROUP)
    assert len(query.layout.paths) == 3
    sent = [r for found in tasks(query) for b in found for r in records(b)]
    rows = TASKS * ROWS_OF_A_TASK
    assert {r.kind for r in sent} == {GROUPED}
    assert len(sent) <= 8 * TASKS + rows / 10_000
    width = sum(2 if column == "__type" else 8 for path in query.layout.paths for column in path.columns)
    assert sum(len(cast("bytes", r.blob)) for r in sent) <= 1.3 * width * rows
    arrived: list[Record] = []
    for router in {(r.bucket, r.lane) for r in sent}:
        own = batch(r for r in sent if (r.bucket, r.lane) == router)
        arrived += [r for b in make_router(query.layout)(iter([own])) for r in records(b)]
    assert {r.bucket for r in arrived} == set(query.layout.ids)
    assert sum(r.rows for r in arrived if r.kind == CLOCK) == rows
    clocks = [r for r in arrived if r.kind == CLOCK]
    assert len(clocks) <= SLOTS * BUCKETS
    assert {min(cast("int", r.lo) for r in clocks if r.bucket == b) for b in query.layout.ids} == {0}
    assert sum(1 for r in arrived if r.kind == ROWS) <= 3 * SLOTS * BUCKETS


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("memory", ["forgetful", "crash"])
def test_detections_are_those_of_direct_records(seed: int, memory: str) -> None:
    table = events(50, seed)
    tables = {t: table.filter([x == t for x in table["type"].to_pylist()]).drop_columns("type") for t in "ABC"}
    program = occurs.parse(EVERYTHING)
    found = []
    for grouped in (0, 2):
        how = How(buckets=5, size=20, delay=10, shuffled=True, memory=memory, seed=seed, grouped=grouped, late=True)
        query = InStream(program, tables, InputOptions(time_unit="ms"), how)
        answer = query.run()
        assert labelled(answer.found) == labelled(here(program, tables, because=True, time_unit="ms"))
        found.append((answer.total("rows"), answer.total("late"), answer.total("found")))
    assert found[0] == found[1]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_stream_on_spark_groups_its_buckets(live: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from filestream import cut, disordered, follow

    from occurs.hosts.stream import detect

    monkeypatch.setattr(detect, "DIRECT", 2)
    monkeypatch.setattr(detect, "GROUP", 2)
    table = disordered(events(60, 3), 10, 1)
    options: dict[str, Any] = {"time_unit": "ms", "because": True, "partitions": 3}
    got = follow(live, occurs.parse(LANES), cut(table, 2), tmp_path, watermark=10, **options)
    assert labelled(got.found) == labelled(here(occurs.parse(LANES), table, because=True, time_unit="ms"))
    assert (got.total("rows"), got.total("late"), got.runs) == (60, 0, 2)
