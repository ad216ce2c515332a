"""Every text case on Spark, in one partition and in eight, with labels and constituents as on the local host."""

from __future__ import annotations

from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hostcases import Batch, all_cases, bare, combined, here, in_few_jobs, keywords, labelled, on_spark

import occurs
from many import check_all
from occurs.testing.cases import Case
from occurs.verify.compare import difference

pytestmark = pytest.mark.spark
#: of the cases that run alone, those of the fast run
FAST = {"W16 Timer", "W23 nulls", "an empty history", "undecided in a role", "a clock without events"}
NOTHING = pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "V": pa.array([], pa.int64())})


@cache
def batches_and_alone() -> tuple[list[Batch], list[Case]]:
    return combined(all_cases())


def test_all_cases_are_here() -> None:
    batches, alone = batches_and_alone()
    names = [c.name for b in batches for c in b.cases] + [c.name for c in alone]
    assert sorted(names) == sorted(c.name for c in all_cases())
    assert {c.name for c in alone} >= FAST
    assert len(alone) < len(names) / 3


def check(spark: Any, batch: Batch, partitions: int, because: bool) -> None:
    options = {**batch.options, "because": because}
    local = batch.program.detect(batch.table, **options)
    found = batch.program.detect(spark.createDataFrame(batch.table), partitions=partitions, **options)
    rows = in_few_jobs(found, {t: local.arrow(t).schema for t in local})
    found.unpersist()
    assert difference(batch.expected, bare(rows)) is None
    if because:
        assert labelled(rows) == labelled(here(batch.program, batch.table, **options))


@pytest.mark.parametrize("because", [pytest.param(False, marks=pytest.mark.slow), True])
def test_worked_examples(spark: Any, because: bool) -> None:
    """Without labels, columns that nobody reads stay outside of Python."""
    batches, _ = combined(c for c in all_cases() if c.name.startswith("W"))
    for batch in batches:
        check(spark, batch, 8, because)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, pytest.param(None, marks=pytest.mark.long, id="others")])
@pytest.mark.parametrize(("partitions", "because"), [(1, True), pytest.param(8, False, marks=pytest.mark.long)])
def test_many_cases(spark: Any, number: int | None, partitions: int, because: bool) -> None:
    batches, _ = batches_and_alone()
    for batch in batches[2:] if number is None else [batches[number]]:
        check(spark, batch, partitions, because)


@pytest.mark.parametrize(
    "part",
    ["fast", pytest.param(0, marks=pytest.mark.slow), *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))],
)
@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 8])
def test_cases_that_run_alone(spark: Any, part: Any, partitions: int) -> None:
    _, alone = batches_and_alone()
    rest = [c for n, c in enumerate(alone) if n % 3 == part and c.name not in FAST]
    cases = [c for c in alone if c.name in FAST] if part == "fast" else rest
    check_all(cases, lambda case: check_one(spark, case, partitions), lambda case: case.name)


def check_one(spark: Any, case: Case, partitions: int) -> None:
    program, options = occurs.parse(case.rules), keywords(case)
    tables: Any = case.tables() or NOTHING
    if case.error is not None:
        with pytest.raises(occurs.OccursError) as caught:
            on_spark(spark, program, tables, partitions=partitions, **options)
        assert caught.value.kind == case.error
        return
    rows = on_spark(spark, program, tables, partitions=partitions, because=True, **options)
    assert difference(case.expected or (), bare(rows)) is None
    assert labelled(rows) == labelled(here(program, tables, because=True, **options))
