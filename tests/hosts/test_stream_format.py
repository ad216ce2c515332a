"""The saved state of a stream, as every version since 2 of the format has written it, stays readable; version 1, which
Occurs 0.1 wrote, is refused.

``state/v2.arrow``: the pieces of all buckets after half of a history.  ``state/v2-spark.tar.gz``: a checkpoint of Spark
after the same half.  ``python tests/hosts/test_stream_format.py`` writes both, once, for a new version of the format.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostcases import labelled
from instream import Answer, How, InStream, Store

import occurs
from occurs.engine.state import VERSION, meta_from_ipc
from occurs.errors import CheckpointProblem
from occurs.model.history import InputOptions
from occurs.verify.compare import occurrences_of

FOLDER = Path(__file__).parent / "state"
RULES = """
event A(k: int, v: float, s: string)
event B(k: int, v: float, s: string)
define Last(k, v, s) from A(k = $k) and last B(k = $k) within 20 ms from A where k = A.k, v = B.v, s = B.s
define Quiet(k) from B(k = $k) and not A(k = $k) within 9 ms from B where k = B.k
define Mean(k, m) from A(k = $k) where k = A.k, m = AVG(B(k = $k).v) within 25 ms from A
define Once(k, s) from A(k = $k) and first B(k = $k) within 30 ms from A where k = A.k, s = B.s consuming B
define Any(n) from A() and each Last() within 12 ms from A where n = Last.k
"""
HOW = How(size=6, buckets=2, divide=1, share=0)
#: Spark's checkpoints name the files of their state by whole paths: they can be read in one place only
PLACE = Path("/tmp/occurs-saved-state")


def history() -> pa.Table:
    rows = []
    for n in range(60):
        values = {"k": n * 7 % 3, "v": None if n % 11 == 0 else n / 4, "s": None if n % 13 == 0 else f"s{n % 5}é"}
        rows.append({"type": "AB"[n * 5 % 7 % 2], "time": n * n % 4 + 3 * n, **values})
    schema = [("type", pa.string()), ("time", pa.int64()), ("k", pa.int64()), ("v", pa.float64()), ("s", pa.string())]
    return pa.Table.from_pylist(sorted(rows, key=lambda r: r["time"]), schema=pa.schema(schema))


def tables() -> dict[str, pa.Table]:
    rows = history()
    return {t: rows.filter(pa.compute.equal(rows.column("type"), t)).drop_columns("type") for t in "AB"}


def stream() -> InStream:
    return InStream(occurs.parse(RULES), tables(), InputOptions(time_unit="ms"), HOW)


def wanted() -> list[Any]:
    found = occurs.parse(RULES).detect(history(), time_unit="ms", because=True)
    return occurrences_of({t: found.arrow(t) for t in found})


def go(query: InStream, parts: list[pa.Table], *, closing: bool) -> Answer:
    out = Answer()
    for rows, last in [(p, False) for p in parts] + [(query.rows.slice(0, 0), True)] * closing:
        out.found += occurrences_of(query.query.read(query.micro_batch(rows, last)).found)
    return out


def half(query: InStream) -> tuple[list[pa.Table], list[pa.Table]]:
    order = pa.compute.sort_indices(query.rows, sort_keys=[("__time", "ascending"), ("__type", "ascending")])
    query.rows = query.rows.take(order)
    parts = query.cut()
    return parts[:5], parts[5:]


@pytest.mark.parametrize("version", range(2, VERSION + 1))
def test_pieces_of_every_version_are_read(version: int) -> None:
    query = stream()
    done, rest = half(query)
    before = go(stream(), done, closing=False)
    with pa.ipc.open_file(FOLDER / f"v{version}.arrow") as file:
        saved = file.read_all().to_pylist()
    for row in saved:
        store = query.stores.setdefault((row["depth"], row["bucket"]), Store())
        if row["name"] == "":
            store.set_meta(row["data"])
            assert meta_from_ipc(row["data"])["version"] == version
        else:
            store.pieces[row["name"]] = row["data"]
    assert labelled(before.found + go(query, rest, closing=True).found) == labelled(wanted())


def test_what_version_0_1_wrote_is_refused() -> None:
    with pa.ipc.open_file(FOLDER / "v1.arrow") as file:
        saved = file.read_all().to_pylist()
    metas = [row["data"] for row in saved if row["name"] == ""]
    assert metas
    for meta in metas:
        with pytest.raises(CheckpointProblem, match=r"Occurs 0\.1 wrote the saved state") as caught:
            meta_from_ipc(meta)
        assert caught.value.problems[0].hint == "use an empty state, or replay from history"


def write_pieces() -> None:
    query = stream()
    go(query, half(query)[0], closing=False)
    rows = []
    for (depth, bucket), store in query.stores.items():
        rows.append({"depth": depth, "bucket": bucket, "name": "", "data": store.value})
        rows += [{"depth": depth, "bucket": bucket, "name": n, "data": d} for n, d in store.pieces.items()]
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(FOLDER / f"v{VERSION}.arrow", table.schema) as writer:
        writer.write_table(table)


# -- Spark's checkpoints -----------------------------------------------------------------------------------------------
def follow(spark: Any, folder: Path, number: int, part: pa.Table) -> list[Any]:
    """One more file, and what a query over the checkpoint in ``folder`` finds with it."""
    (folder / "in").mkdir(exist_ok=True)
    path = folder / "in" / f"{number}.parquet"
    pq.write_table(part, path)
    os.utime(path, (1e9 + number, 1e9 + number))
    source = spark.readStream.schema("type string, time bigint, k bigint, v double, s string")
    frame = source.parquet(str(folder / "in"))
    found = occurs.parse(RULES).detect(frame, time_unit="ms", watermark="1 ms", partitions=2, because=True)
    rows: list[pa.Table] = []
    query = found.query()
    writer = query.frame.writeStream.foreachBatch(lambda batch, number: rows.append(batch.toArrow()))
    run = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    run.awaitTermination()
    return [e for table in rows for e in occurrences_of(query.read(table).found)]


def parts() -> tuple[pa.Table, pa.Table]:
    """Half of the history, and the rest with a row behind it that moves the clock."""
    rows = history()
    end = pa.Table.from_pylist([{"type": "End", "time": 10_000}], schema=rows.schema)
    return rows.slice(0, 30), pa.concat_tables([rows.slice(30), end])


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("version", range(2, VERSION + 1))
def test_checkpoints_of_every_version_are_continued(spark: Any, tmp_path: Path, version: int) -> None:
    first, rest = parts()
    before = follow(spark, tmp_path, 0, first)
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    try:
        with tarfile.open(FOLDER / f"v{version}-spark.tar.gz") as tar:
            tar.extractall(PLACE, filter="data")
        after = follow(spark, PLACE, 1, rest)
    finally:
        shutil.rmtree(PLACE)
    assert labelled(before + after) == labelled(wanted())


def write_checkpoint() -> None:
    from occurs.connect.spark import local_session

    spark = local_session("local[2]", spark__sql__shuffle__partitions="2")
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir()
    follow(spark, PLACE, 0, parts()[0])
    spark.stop()
    with tarfile.open(FOLDER / f"v{VERSION}-spark.tar.gz", "w:gz") as tar:
        tar.add(PLACE / "checkpoint", "checkpoint")
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    write_pieces()
    write_checkpoint()
    sys.exit(0)
