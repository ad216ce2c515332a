"""pandas, Arrow, Polars, DuckDB, Ibis and narwhals tables in, the same kind out."""

from __future__ import annotations

from typing import Any

import duckdb
import ibis
import narwhals as nw
import narwhals.stable.v1 as nw_v1
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import occurs
from occurs.connect.tables import kind_of, like, to_arrow, to_spark
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
        lambda t: duckdb.connect().from_arrow(t),
        lambda t: ibis.memtable(t),
        lambda t: nw.from_native(t),
        lambda t: nw.from_native(pl.from_arrow(t)),
        lambda t: nw.from_native(pl.from_arrow(t).lazy()),
        lambda t: nw.from_native(duckdb.connect().from_arrow(t)),
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


def test_a_relation_of_duckdb_comes_back_on_the_same_connection():
    connection = duckdb.connect()
    connection.execute("create table events as select 1 as time, 'a' as s")
    found = like(connection.table("events"), TABLE)
    assert isinstance(found, duckdb.DuckDBPyRelation)
    assert found.join(connection.table("events"), "time").fetchall() == [(1, 2**60, "a", "a")]
    assert found.filter("time > 1").fetchall() == [(2, None, None)]
    assert connection.execute("select view_name from duckdb_views() where not internal").fetchall() == []


def test_an_ibis_table_comes_back_as_one():
    for table in (ibis.memtable(TABLE), ibis.polars.connect({"x": pl.DataFrame(TABLE)}).table("x")):
        found = like(table, TABLE)
        assert isinstance(found, ibis.Table)
        assert found.filter(found.time > 1).to_pyarrow().to_pylist() == [{"time": 2, "v": None, "s": None}]
    assert to_arrow(table).to_pylist() == TABLE.to_pylist()
    with pytest.raises(UsageProblem, match="unsupported table"):
        kind_of(table.time)


@pytest.mark.parametrize("narwhals", [nw, nw_v1])
def test_a_narwhals_frame_comes_back_with_what_it_had_inside(narwhals):
    insides = [
        pl.DataFrame(TABLE), pl.LazyFrame(TABLE.to_pydict()), TABLE, TABLE.to_pandas(),
        duckdb.connect().from_arrow(TABLE), ibis.memtable(TABLE),
    ]  # fmt: skip
    for inside in insides:
        frame = narwhals.from_native(inside)
        found = like(frame, TABLE)
        assert type(found) is type(frame)
        assert type(found.to_native()) is type(inside)
        assert to_arrow(found).to_pylist() == TABLE.to_pylist()


def test_a_frame_that_only_narwhals_knows_comes_back_by_narwhals(monkeypatch):
    """As of Modin, cuDF and others, which are not installed here."""
    monkeypatch.setattr("occurs.connect.tables._native", lambda frame: None)
    for frame in (nw.from_native(pl.DataFrame(TABLE)), nw.from_native(pl.LazyFrame(TABLE.to_pydict()))):
        assert to_arrow(frame).to_pylist() == TABLE.to_pylist()
        assert like(frame, TABLE).to_native().to_arrow().to_pylist() == TABLE.to_pylist()


@pytest.mark.parametrize(
    "made",
    [
        lambda t: duckdb.connect().from_arrow(t),
        lambda t: ibis.memtable(t),
        lambda t: nw.from_native(pl.from_arrow(t)),
        lambda t: nw.from_native(duckdb.connect().from_arrow(t)),
    ],
)
def test_detections_are_tables_of_the_kind_of_the_events(made):
    program = occurs.parse("define Hot(v) from Temp(v > 5) where v = Temp.v")
    events = made(pa.table({"type": ["Temp", "Temp"], "time": [1, 2], "v": [5, 6]}))
    for given in (events, {"Temp": events}):
        found = program.detect(given, time_unit="s")["Hot"]
        assert type(found) is type(events)
        assert to_arrow(found).select(["time", "v"]).to_pylist() == [{"time": 2, "v": 6}]
    why = program.why({"type": "Hot", "time": 2, "v": 6}, events, time_unit="s")
    assert "Temp" in str(why)


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


@pytest.mark.spark
@pytest.mark.parametrize("sizes", [(3, 0, 2), (0, 0, 4, 1, 0, 3), (0,)])
def test_no_row_is_lost_behind_an_empty_batch(spark: Any, sizes: tuple[int, ...]) -> None:
    """Spark's own ``createDataFrame`` ends at the first batch without rows."""
    chunks = [pa.array(range(10 * n, 10 * n + size), pa.int64()) for n, size in enumerate(sizes)]
    table = pa.table({"V": pa.chunked_array(chunks, pa.int64())})
    frame = to_spark(spark, table)
    assert sorted(row.V for row in frame.collect()) == sorted(table["V"].to_pylist())
    assert frame.columns == ["V"]
