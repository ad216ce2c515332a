"""Long histories are sampled: slices have about as many rows each, and the rows of a frequent key are divided."""

from __future__ import annotations

import random
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hostcases import bare, here, labelled, on_spark

import occurs
from occurs.hosts.spark import sample as sampling
from occurs.hosts.spark.inlets import inlets_of
from occurs.hosts.spark.read import read
from occurs.hosts.spark.run import distributed
from occurs.hosts.spark.shares import slices
from occurs.model.source import InputOptions
from occurs.plan.partitioning import groups
from occurs.verify.compare import difference

EACH = "define L(k, v) from A(k = $k) and each B(k = $k) within 5 ms from A where k = A.k, v = B.v"
LAST = "define N(v) from A() and last B() within 5 ms from A where v = B.v"
USING = "define U(k, v) from A(k = $k) and last B(k = $k) within 5 ms from A where k = A.k, v = B.v consuming B"
TWO = USING + "\n" + USING.replace("define U", "define W").replace("last", "first")
PARTITIONS = 4


def history(part: float, rows: int = 3_000, *, texts: bool = True, least: int = 0) -> dict[str, pa.Table]:
    """Rows of two types, of which ``part`` have one key, and most are in a tenth of the time."""
    rng = random.Random(1)
    found: dict[str, list[Any]] = {"A": [], "B": []}
    for i in range(rows):
        k = 7 if rng.random() < part else 8 + rng.randrange(500)
        time = least + (rng.randrange(rows) if rng.random() < 0.2 else rng.randrange(rows // 10))
        found["AB"[i % 2]].append({"time": time, "k": f"k{k}" if texts else k, "v": i % 7})
    return {t: pa.Table.from_pylist(own) for t, own in found.items()}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LEAST", 1_000)
    monkeypatch.setattr(sampling, "DRAWN", 2_000)


def alike(spark: Any, text: str, tables: dict[str, pa.Table], partitions: int = PARTITIONS) -> int:
    """The number of detections: the same on both hosts, labels included."""
    program = occurs.parse(text)
    expected = here(program, tables, because=True, time_unit="ms")
    found = on_spark(spark, program, tables, partitions=partitions, because=True, time_unit="ms")
    assert labelled(found) == labelled(expected)
    assert difference(bare(expected), bare(found)) is None
    return len(expected)


def loads(spark: Any, text: str, tables: dict[str, pa.Table]) -> tuple[list[int], list[int]]:
    """Rows that the engines of each partition get: without a sample, and with one."""
    from pyspark.sql import functions as F

    checked = occurs.parse(text).checked
    frames = {t: spark.createDataFrame(table) for t, table in tables.items()}
    source = read(checked, frames, InputOptions(time_unit="ms"))
    stage = checked.plan(source.schemas, source.kind)
    (group,) = groups(stage.definitions, stage)
    inlets = inlets_of(group, source, (), False)
    out = []
    for drawn in (None, sampling.samples([group], source, PARTITIONS, False)[0]):
        frame, _ = distributed(source.frame, group, source.clock, inlets, PARTITIONS, sample=drawn)
        counted = dict(frame.groupBy(F.spark_partition_id()).count().collect())
        out.append([counted.get(n, 0) for n in range(PARTITIONS)])
    return out[0], out[1]


def uneven(found: list[int]) -> float:
    """The greatest load by the median one."""
    return max(found) / median(found)


@pytest.mark.spark
@pytest.mark.parametrize("text", [EACH, TWO], ids=["by time", "by rules"])
@pytest.mark.parametrize("texts", [True, False], ids=["text", "number"])
def test_frequent_key_is_divided_without_another_answer(spark: Any, text: str, texts: bool) -> None:
    assert alike(spark, text, history(0.8, texts=texts)) > 500


@pytest.mark.spark
def test_load_of_a_frequent_key(spark: Any) -> None:
    before, after = loads(spark, EACH, history(0.8))
    assert uneven(before) > 5
    assert uneven(after) < 1.5
    # as long as the overlaps are short, few rows are there twice
    assert sum(after) < 1.1 * sum(before)


@pytest.mark.spark
def test_slices_have_as_many_rows_each(spark: Any) -> None:
    """Nine tenths of the rows are in a tenth of the time, and it ends with one row far from all others."""
    tables = history(0.0)
    far = pa.table({"time": [10**9], "k": ["far"], "v": [1]})
    tables["B"] = pa.concat_tables([tables["B"], far.cast(tables["B"].schema)])
    before, after = loads(spark, LAST, tables)
    assert max(before) > 0.9 * sum(before)
    assert uneven(after) < 1.5
    assert alike(spark, LAST, tables) > 500


@pytest.mark.spark
def test_key_that_cannot_be_divided_is_reported(spark: Any) -> None:
    program = occurs.parse(USING)
    frames = {t: spark.createDataFrame(table) for t, table in history(0.8).items()}
    found = program.detect(frames, time_unit="ms", partitions=PARTITIONS)
    (problem,) = [p for p in found.notices if p.kind == "frequent-key"]
    assert '% of the events have one key, A.k = B.k = "k7": one of 4 partitions evaluates them all' in problem.message
    assert str(problem.hint).startswith("more partitions do not help; it cannot be divided: ")


@pytest.mark.spark
def test_retention_as_long_as_the_history_is_reported(spark: Any) -> None:
    program = occurs.parse(EACH.replace("5 ms", "1 h"))
    frames = {t: spark.createDataFrame(table) for t, table in history(0.8, 1_500).items()}
    found = program.detect(frames, time_unit="ms", partitions=PARTITIONS)
    (problem,) = [p for p in found.notices if p.kind == "frequent-key"]
    assert "the history is too short for slices" in str(problem.hint)


def test_slices_of_a_sample() -> None:
    """They cover the clock, only the last may be shorter than the overlap, each tick is in the slice of its cell."""
    rng = random.Random(3)
    for _ in range(300):
        first = rng.choice([0, -50, 10**12])
        last = first + rng.choice([1, 5, 100, 10_000, 10**9])
        partitions, overlap = rng.choice([2, 3, 8, 500]), rng.choice([0, 1, 7, 1_000])
        low, high = sorted(rng.randint(first, last) for _ in range(2))
        times = np.sort([rng.randint(low, high) for _ in range(rng.choice([1, 3, 400]))])
        cut = slices((first, last), overlap, partitions, times)
        ends = cut.ends
        assert (ends[0][0], ends[-1][1]) == (first, last)
        assert len(ends) <= partitions
        assert all(b[0] == a[1] + 1 for a, b in pairwise(ends))
        assert all(end - begin + 1 >= overlap for begin, end in ends[:-1])
        for tick in (*times.tolist(), first, last, *(e for end in ends for e in end)):
            cell = min(max((tick - cut.origin) // cut.cell, 0), len(cut.slice_of) - 1)
            begin, end = ends[cut.slice_of[cell]]
            assert begin <= tick <= end
