"""Every text case on Spark, in one partition and in eight, with labels and constituents as on the local host."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hostcases import Batch, all_cases, bare, combined, here, in_few_jobs, keywords, labelled, on_spark

import occurs
from occurs.testing.cases import Case
from occurs.verify.compare import difference

pytestmark = pytest.mark.spark
BATCHES, ALONE = combined(all_cases())
#: of those that run alone, the ones that are also in the fast run
FAST = {"W16 Timer", "W23 nulls", "an empty history", "undecided in a role", "a clock without events"}
NOTHING = pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64()), "V": pa.array([], pa.int64())})


def test_all_cases_are_here() -> None:
    names = [c.name for b in BATCHES for c in b.cases] + [c.name for c in ALONE]
    assert sorted(names) == sorted(c.name for c in all_cases())
    assert len(ALONE) < len(names) / 3


def check(spark: Any, batch: Batch, partitions: int, because: bool) -> None:
    options = {**batch.options, "because": because}
    local = batch.program.detect(batch.table, **options)
    found = batch.program.detect(spark.createDataFrame(batch.table), partitions=partitions, **options)
    rows = in_few_jobs(found, {t: local.arrow(t).schema for t in local})
    found.unpersist()
    assert difference(batch.expected, bare(rows)) is None
    if because:
        assert labelled(rows) == labelled(here(batch.program, batch.table, **options))


@pytest.mark.parametrize("because", [False, True])
def test_worked_examples(quick: Any, because: bool) -> None:
    """Without labels, columns that nobody reads stay outside of Python."""
    batches, _ = combined(c for c in all_cases() if c.name.startswith("W"))
    for batch in batches:
        check(quick, batch, 8, because)


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=[pytest.mark.long] if n > 1 else []) for n in range(len(BATCHES))],
    ids=lambda n: BATCHES[n].name,
)
@pytest.mark.parametrize(("partitions", "because"), [(1, True), pytest.param(8, False, marks=pytest.mark.long)])
def test_many_cases(quick: Any, number: int, partitions: int, because: bool) -> None:
    check(quick, BATCHES[number], partitions, because)


def _alone(number: int, case: Case) -> Any:
    marks = [] if case.name in FAST else [pytest.mark.slow, *[pytest.mark.long] * (number % 3 > 0)]
    return pytest.param(case, marks=marks, id=case.name)


@pytest.mark.parametrize("case", [_alone(n, c) for n, c in enumerate(ALONE)])
@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 8])
def test_one_case(quick: Any, case: Case, partitions: int) -> None:
    program, options = occurs.parse(case.rules), keywords(case)
    tables: Any = case.tables() or NOTHING
    if case.error is not None:
        with pytest.raises(occurs.OccursError) as caught:
            on_spark(quick, program, tables, partitions=partitions, **options)
        assert caught.value.kind == case.error
        return
    rows = on_spark(quick, program, tables, partitions=partitions, because=True, **options)
    assert difference(case.expected or (), bare(rows)) is None
    assert labelled(rows) == labelled(here(program, tables, because=True, **options))
