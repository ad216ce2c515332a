"""Pipes of Python on Spark, functions of Python among them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from occurs import pipes
from occurs.pipes import fn, ltl

VALUES = [7, 1, 2, 4, 3, 0, 5, 9, 6]


@pytest.mark.spark
def test_pipes_give_the_same_on_spark(spark):
    @pipes.function(inputs=(float,), outputs=(float,))
    def twice(a):
        return a * 2

    x = pipes.source("X0").v
    program = pipes.program(
        twice(x + x.decimate(4)).named("Out"),
        x.slice_each(fn("$0 MOD 2"), lambda p: p.cumulate(fn.add)).named("Sums"),
        ltl.F(x > 6).at_end("finite").named("High", about=True),
    )
    table = pa.table({"time": pa.array(range(len(VALUES)), pa.int64()), "v": VALUES})
    expected = program.detect({"X0": table}, time_unit="s")
    found = program.detect({"X0": spark.createDataFrame(list(enumerate(VALUES)), "time long, v long")}, time_unit="s")
    assert list(found) == ["Out", "Sums", "High"]
    for name, rows in expected.items():
        here = [tuple(r.values()) for r in rows.to_pylist()]
        assert sorted(map(tuple, found[name].collect())) == sorted(here)
        assert here
