"""The shared workload on Spark: the counts and checksums of the table, rules over the same events in one program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from benchmarks.workload import FAMILIES, GOLDEN, Golden, constants, events

import occurs

pytestmark = pytest.mark.spark


def check(spark: Any, cases: Iterable[Golden], partitions: int) -> None:
    """Every case with its figures: counted and summed by Spark."""
    from pyspark.sql import functions as F

    cases = list(cases)
    (size,) = {c.events for c in cases}
    text = "\n".join(c.text.replace("define CE", f"define W{number}_CE") for number, c in enumerate(cases))
    frame = spark.createDataFrame(events(size).table())
    found = occurs.parse(text).detect(frame, time_unit="ms", partitions=partitions)
    assert len(found) == sum(c.rules for c in cases)
    rows = found.together()
    sums = [n for n in ("V", "V1", "V2", "Avg") if n in rows.columns]
    asked = [F.count(F.lit(1)).alias("n"), *(F.coalesce(F.sum(n), F.lit(0)).alias(n) for n in sums)]
    per_type = {row["type"]: row for row in rows.groupBy("type").agg(*asked).collect()}
    found.unpersist()
    for number, case in enumerate(cases):
        names, summed = FAMILIES[case.family]
        mine = [per_type.get(f"W{number}_{constants(j).output}") for j in range(case.rules)]
        count = sum(row["n"] for row in mine if row is not None)
        checksum = sum(row[n] for row in mine if row is not None for n in names[-summed:])
        case.check(count, checksum)


def of(rules: range, size: int, *families: str) -> list[Golden]:
    return [g for g in GOLDEN if g.rules in rules and g.events == size and (not families or g.family in families)]


@pytest.mark.slow
def test_single_rules(usual_spark: Any) -> None:
    cases = of(range(1, 2), 100_000)
    assert {c.family for c in cases} == set(FAMILIES) - {"seq5"}
    check(usual_spark, cases, 8)


@pytest.mark.slow
def test_a_chain_without_a_key_in_slices_of_time(usual_spark: Any) -> None:
    """Fewer events than the table has: as many as this process finds."""
    from benchmarks import workload

    table, text = events(500).table(), workload.rules("seq5", 20, 25)
    found = occurs.parse(text).detect(table, time_unit="ms")
    spread = occurs.parse(text).detect(usual_spark.createDataFrame(table), time_unit="ms", partitions=5)
    counts = dict(spread.together().groupBy("type").count().collect())
    assert counts == {t: found.count(t) for t in found if found.count(t)}
    assert sum(counts.values()) > 100


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 8])
def test_a_wide_window(usual_spark: Any, partitions: int) -> None:
    check(usual_spark, of(range(1, 2), 50_000), partitions)


@pytest.mark.long
@pytest.mark.slow
def test_a_hundred_rules(usual_spark: Any) -> None:
    check(usual_spark, of(range(100, 101), 100_000), 8)


@pytest.mark.slow
@pytest.mark.parametrize("rules", [pytest.param(n, marks=pytest.mark.long) for n in (100, 1000)])
def test_many_rules_over_fewer_events(usual_spark: Any, rules: int) -> None:
    check(usual_spark, of(range(rules, rules + 1), 20_000), 4)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("size", [10_000, 5_000])
def test_thousands_of_rules(usual_spark: Any, size: int) -> None:
    for case in of(range(5000, 5001), size):
        check(usual_spark, [case], 4)
