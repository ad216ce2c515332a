"""Programs on Structured Streaming: the detections of the local host, micro-batch by micro-batch, over restarts."""

from __future__ import annotations

import datetime as dt
import os
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from filestream import Folder, Followed, collected, cut, disordered, follow, ticks
from hostcases import all_cases, bare, combined, here, labelled, on_spark
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from streamprograms import EVERYTHING, events

import occurs
from occurs.hosts.spark import shipped
from occurs.model.time import TimeKind
from occurs.verify.compare import difference, occurrences_of
from processes import workers

pytestmark = pytest.mark.spark
KEYED = "define CE(K, V) from A(K = $k) and each B(K = $k) within 5 ms from A where K = $k, V = B.V"


def alike(got: Followed, tables: Any, **options: Any) -> int:
    wanted = here(got.program, tables, because=True, **options)
    assert labelled(got.found) == labelled(wanted)
    return len(wanted)


OPTIONS: dict[str, Any] = {"time_unit": "ms", "because": True, "partitions": 2}


@pytest.mark.long
def test_a_keyed_program(live: Any, tmp_path: Path) -> None:
    table = disordered(events(30), 10, 1)
    got = follow(live, occurs.parse(KEYED), cut(table, 2), tmp_path, watermark=10, **OPTIONS)
    assert alike(got, table, time_unit="ms") > 0
    assert (got.total("rows"), got.total("late"), got.runs) == (30, 0, 2)


def many(number: int) -> occurs.Program:
    return occurs.parse("\n".join(
        f"define R{n}(K) from A(K = $k, V > {n}) and last B(K = $k) within {n} ms from A where K = $k"
        for n in range(number)
    ))  # fmt: skip


@pytest.mark.slow
def test_plan_is_no_part_of_a_large_function(live: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark broadcasts large functions, and the driver cannot read that of the operator then."""
    setting, conf = "spark.broadcast.UDFCompressionThreshold", live.sparkContext._jsc.sc().conf()
    program, table = many(40), disordered(events(30), 10, 1)
    assert len(cloudpickle.dumps(program.checked.plan(None, TimeKind()))) > 20_000
    monkeypatch.setattr(shipped, "LARGE", 1_000)
    conf.set(setting, "20000b")
    try:
        got = follow(live, program, cut(table, 2), tmp_path, watermark=10, **OPTIONS)
    finally:
        conf.remove(setting)
    assert alike(got, table, time_unit="ms") > 0


@pytest.mark.slow
@pytest.mark.long
def test_plan_of_more_than_a_megabyte(live: Any, tmp_path: Path) -> None:
    program, table = many(1_700), disordered(events(30), 10, 1)
    assert len(cloudpickle.dumps(program.checked.plan(None, TimeKind()))) > 1 << 20
    got = follow(live, program, cut(table, 2), tmp_path, watermark=10, **OPTIONS)
    assert alike(got, table, time_unit="ms") > 0


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("number", [1, 4])
def test_everything(live: Any, tmp_path: Path, number: int) -> None:
    table = disordered(events(90, number), 10, 1)
    got = follow(live, occurs.parse(EVERYTHING), cut(table, number), tmp_path, watermark=10, **OPTIONS)
    assert alike(got, table, time_unit="ms") > 100
    assert len({e.type for e in got.found}) == 8


def stamped(table: pa.Table) -> pa.Table:
    times = pa.array([t * 1_000_000 for t in ticks(table)], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    return table.set_column(1, "time", times)


SUBSCRIBED = """
event A(K: int, V: int)
event B(K: int, V: int)
event C(V: int)
define CE(K, W) from A(K = $k) and each B(K = $k) within 5 s from A where K = $k, W = B.time
define Hidden(V) from C(V > 1) where V = C.V
Subscribe(CE, K > 0)
Subscribe(C)
"""


@pytest.mark.slow
def test_a_stream_per_type_with_a_watermark_of_its_own(live: Any, tmp_path: Path) -> None:
    """Timestamps, a mapping of streams, ``withWatermark``, ``start``, subscriptions, ``together``."""
    table = stamped(events(60, 3))
    frames, tables = {}, {}
    for t in "ABC":
        mine = table.filter(pa.array([x == t for x in table.column("type").to_pylist()])).drop_columns(["type"])
        tables[t] = mine
        folder = Folder(tmp_path / t)
        for part in cut(disordered(mine, 8_000_000, 5), 3):
            folder.put(part)
        last = max(ticks(table)) + 100_000_000  # a row that says that all others are there
        end = {f.name: [None] for f in mine.schema} | {"time": [last]}
        folder.put(pa.table(end, schema=mine.schema))
        # files of one number come together: none of three disordered streams is further behind than all of them
        frames[t] = folder.stream(live, mine.schema).withWatermark("time", "60 seconds")
    ends = {"start": dt.datetime(1970, 1, 1, 0, 0, 3, tzinfo=dt.UTC)}
    program = occurs.parse(SUBSCRIBED)
    found = program.detect(frames, with_label=True, partitions=2, **ends)
    assert tuple(found) == ("CE", "C")
    rows = collected(live, found.together(), tmp_path)
    local = program.detect(tables, with_label=True, **ends)
    for t in found:
        mine = rows.filter(pc.equal(rows.column("type"), t)).select(local.arrow(t).schema.names)
        wanted = occurrences_of({t: local.arrow(t)})
        assert difference(wanted, occurrences_of({t: mine})) is None
        assert wanted


@pytest.mark.slow
def test_side_outputs_and_only(live: Any, tmp_path: Path) -> None:
    """``late``, ``bad``, ``only``, and the figures in the progress of a query."""
    rules = EVERYTHING + "\n".join(f"event {t}(K: int, G: int, V: int)" for t in "ABC")
    schema = pa.schema([("type", pa.string()), ("time", pa.int64()), *((c, pa.float64()) for c in "KGV")])
    good = [("A", 10, 1), ("B", 9, 1), ("B", 30, 2), ("Nobody", 40, None)]
    late = [("A", 12, 2), ("Nobody", 34, 1), ("B", 34, 3)]
    more = [("B", 36, 1), ("A", 37, 1), ("Nobody", 60, 1)]

    def table(rows: list[Any]) -> pa.Table:
        columns = zip(*((t, time, k, k, k) for t, time, k in rows))
        return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema)], schema=schema)

    folder = Folder(tmp_path / "in")
    for rows in (good, [*late, ("A", 35, 2.5), (None, 1, 1), *more]):
        folder.put(table(rows))
    program = occurs.parse(rules)
    options = {"time_unit": "ms", "partitions": 2, "watermark": 5, "bad_rows": "skip"}
    found = program.detect(folder.stream(live, schema), only=["Same"], **options)
    assert list(found) == ["Same"]
    local = program.detect(table([*good, *more]), time_unit="ms", only=["Same"], bad_rows="skip")
    rows = collected(live, found["Same"], tmp_path)
    assert difference(occurrences_of({"Same": local.arrow("Same")}), occurrences_of({"Same": rows})) is None
    assert len(rows) == 2
    missed = collected(live, found.late, tmp_path)
    assert missed.schema.names == schema.names
    assert sorted(tuple(r.values())[:3] for r in missed.to_pylist()) == sorted(late)
    bad = collected(live, found.bad, tmp_path)
    assert sorted((r["reason"], r["column"], r["value"] or "") for r in bad.to_pylist()) == [
        ("null type", "type", ""),
        *(("value does not fit", c, "2.5") for c in "GKV"),
    ]
    query = found["Same"].writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination()
    figures = [p.observedMetrics["occurs"].asDict() for p in query.recentProgress if p.observedMetrics]
    assert [f["rows"] for f in figures] == [4, 8]
    assert sum(f["late"] for f in figures) == 3
    assert sum(f["bad"] for f in figures) == 2
    assert figures[-1]["frontier"] == 54
    assert program.detect(folder.stream(live, schema), **{**options, "bad_rows": "error"}).bad is None


@pytest.mark.slow
def test_bad_rows_refuse_the_query(live: Any, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    table = pa.table({"type": ["A"], "time": pa.array([None], pa.int64()), "K": [1], "V": [1]})
    folder.put(table)
    found = occurs.parse(KEYED).detect(folder.stream(live, table.schema), time_unit="ms", partitions=2)
    with pytest.raises(Exception, match="null time"):
        collected(live, found["CE"], tmp_path)


@pytest.mark.slow
@pytest.mark.long
def test_state_is_arrow(live: Any, tmp_path: Path) -> None:
    table = events(40, 2)
    got = follow(live, occurs.parse(EVERYTHING), cut(table.sort_by("time"), 2), tmp_path, **OPTIONS)
    reader = live.read.format("statestore").option("path", str(got.checkpoint))
    pieces = reader.option("stateVarName", "pieces").load().selectExpr("user_map_value.value AS value").toArrow()
    meta = reader.option("stateVarName", "meta").load().selectExpr("value.value AS value").toArrow()
    assert len(meta) == 2
    assert len(pieces) > 2
    for blob in [*pieces.column("value").to_pylist(), *meta.column("value").to_pylist()]:
        assert pa.ipc.open_stream(blob).read_all().num_columns >= 1


@pytest.mark.slow
@pytest.mark.long
def test_a_restart_in_the_middle(live: Any, tmp_path: Path) -> None:
    """Four starts from one checkpoint, the last without anything new."""
    table = disordered(events(80, 7), 12, 2)
    ends = {"start": 5, "until": 55}
    options = {**OPTIONS, "watermark": 12, **ends}
    got = Followed(live, occurs.parse(EVERYTHING), Folder(tmp_path / "in"), table.schema, tmp_path / "c", options)
    for part in cut(table, 3):
        got.folder.put(part)
        got.run()
    got.run()
    got.close()
    assert alike(got, table, time_unit="ms", **ends) > 100
    assert got.runs == 5


@pytest.mark.slow
@pytest.mark.long
def test_a_killed_worker(live: Any, tmp_path: Path) -> None:
    """Python workers are killed while micro-batches run; what fails is started again."""
    table = disordered(events(80, 9), 12, 2)
    options = {**OPTIONS, "watermark": 12}
    got = Followed(live, occurs.parse(EVERYTHING), Folder(tmp_path / "in"), table.schema, tmp_path / "c", options)
    for part in cut(table, 3):
        got.folder.put(part)
    failed = 0
    for progress in (0, 1):
        before = len(got.batches)
        query = got.start()
        while query.isActive and len(got.batches) < before + progress:
            time.sleep(0.01)
        while query.isActive:
            for worker in workers(os.getpid()):
                try:
                    os.kill(worker, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.1)
        try:
            query.awaitTermination()
        except StreamingQueryException:
            failed += 1
    assert failed > 0
    got.run()
    got.close()
    assert alike(got, table, time_unit="ms") > 100


# -- many programs -----------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1])
def test_many_cases(live: Any, tmp_path: Path, number: int) -> None:
    batch = sorted(combined(all_cases())[0], key=lambda b: -len(b.cases))[number]
    span = max(ticks(batch.table)) - min(ticks(batch.table))
    table = disordered(batch.table, span // 3, number)
    options = {**batch.options, "because": True, "partitions": 2, "watermark": ticks_of(span // 3, batch.options)}
    got = follow(live, batch.program, cut(table, 1 + 2 * number), tmp_path, **options)
    assert difference(batch.expected, bare(got.found)) is None
    assert alike(got, batch.table, **batch.options) > 20


def ticks_of(delay: int, options: dict[str, Any]) -> Any:
    """A delay as the option ``watermark`` takes it: ticks, or a duration if times are timestamps."""
    return delay if options["time_unit"] else dt.timedelta(microseconds=delay)


def test_keys_of_unlike_kinds(spark: Any) -> None:
    """The batch host, too: a position of the key that is text in one type and a number in another."""
    rules = """
define P(K) from A(K = $k) and last A(K = $k) as a within 9 ms from A where K = $k
define P(K) from C(V = $v) and last C(V = $v) as c within 9 ms from C where K = C.K
"""
    tables = {
        "A": pa.table({"time": [1, 2], "K": ["a", "a"]}),
        "C": pa.table({"time": [1, 2], "K": ["a", "a"], "V": [1, 1]}),
    }
    program = occurs.parse(rules)
    assert len(here(program, tables, time_unit="ms")) == 2
    assert len(on_spark(spark, program, tables, time_unit="ms")) == 2
