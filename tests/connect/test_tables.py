"""pandas, Arrow and Polars tables in, the same kind out."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from occurs.connect.tables import kind_of, like, to_arrow
from occurs.errors import InputProblem, UsageProblem

TABLE = pa.table({"time": [1, 2], "v": [2**60, None], "s": ["a", None]})


@pytest.mark.parametrize(
    "made",
    [
        lambda t: t,
        lambda t: t.to_batches()[0],
        lambda t: t.to_reader(),
        lambda t: pl.from_arrow(t),
        lambda t: pl.from_arrow(t).lazy(),
        lambda t: pd.DataFrame({"time": [1, 2], "v": pd.array([2**60, None], "Int64"), "s": ["a", None]}),
    ],
)
def test_all_kinds_come_in(made):
    assert to_arrow(made(TABLE)).to_pylist() == TABLE.to_pylist()


def test_the_same_kind_comes_out():
    frame = like(pd.DataFrame(), TABLE)
    assert isinstance(frame, pd.DataFrame)
    assert frame["v"][0] == 2**60  # not through a float
    assert frame["time"].dtype == "int64"
    assert isinstance(like(pl.DataFrame(), TABLE), pl.DataFrame)
    assert isinstance(like(pl.LazyFrame(), TABLE), pl.LazyFrame)
    assert like(TABLE, TABLE) is TABLE


def test_a_named_index_is_a_column_and_nan_is_null():
    frame = pd.DataFrame({"v": [1.0, float("nan")]}, index=pd.Index([3, 4], name="time"))
    assert to_arrow(frame).to_pylist() == [{"time": 3, "v": 1.0}, {"time": 4, "v": None}]


def test_what_is_no_table():
    with pytest.raises(UsageProblem, match=r"unsupported table: builtins\.int"):
        kind_of(3)
    with pytest.raises(InputProblem, match=r"column `v` has values of different kinds \(int, str\)"):
        to_arrow(pd.DataFrame({"v": [1, "x"]}))


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[1, 2, 3]], columns=["time", "k", "k"])
    with pytest.raises(InputProblem, match="two columns are called `k`"):
        to_arrow(frame, "A")
