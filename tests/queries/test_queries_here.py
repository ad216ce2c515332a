"""occurs.sql over tables of this process: names, kinds of tables, times, parameters and problems."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import occurs

#: columns with names that mean something to a program, and an order that is not `time`
QUOTES = pa.table(
    {
        "day": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "label": pa.array(["a", "a", "a", "b", "a"]),
        "time": [9, 8, 7, 6, 5],
        "price": pa.array([12, 9, 7, 3, 10], pa.int16()),
    }
)
DIP = "PATTERN (S DOWN+ UP) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"


def query(body: str, table: str = "quotes", select: str = "*") -> str:
    return f"SELECT {select} FROM {table} MATCH_RECOGNIZE (PARTITION BY label ORDER BY day {body})"


def test_the_result_has_the_columns_of_select() -> None:
    found = occurs.sql({"quotes": QUOTES}, query(f"MEASURES FIRST(day) AS type, MIN(price) AS time {DIP}"))
    assert found.to_pylist() == [{"label": "a", "type": 1, "time": 7}]


def test_all_rows_have_the_columns_of_the_table_with_their_types() -> None:
    found = occurs.sql({"quotes": QUOTES}, query(f"MEASURES COUNT(*) AS n ALL ROWS PER MATCH {DIP}"))
    assert found.column_names == ["label", "day", "n", "time", "price"]
    assert [found.schema.field(n).type for n in ("day", "n", "price")] == [pa.int32(), pa.int64(), pa.int16()]
    assert found.column("time").to_pylist() == [9, 8, 7, 5]


def test_select_and_where() -> None:
    text = query(f"MEASURES MIN(price) AS low, LAST(price) AS high {DIP}", select="high - low AS gap, label AS who")
    assert occurs.sql({"quotes": QUOTES}, text).to_pylist() == [{"gap": 3, "who": "a"}]
    assert occurs.sql({"quotes": QUOTES}, f"{text} WHERE low > 7").num_rows == 0


def test_names_of_tables_ignore_case() -> None:
    assert occurs.sql({"Quotes": QUOTES}, query(DIP, "QUOTES")).num_rows == 1
    with pytest.raises(occurs.DefinitionProblem, match="there is no table"):
        occurs.sql({"Quotes": QUOTES}, query(DIP, '"QUOTES"'))


def test_parameters() -> None:
    text = query(
        "MEASURES :text AS t, :none AS z, :number * 2 AS n PATTERN (S DOWN+ UP)"
        " DEFINE DOWN AS price < PREV(price) AND :yes, UP AS price > :number AND day - S.day <= 9"
    )
    args = {"text": "it's", "none": None, "number": 8.5, "yes": True}
    found = occurs.sql({"quotes": QUOTES}, text, args=args)
    assert found.to_pylist() == [{"label": "a", "t": "it's", "z": None, "n": 17.0}]
    with pytest.raises(occurs.DefinitionProblem, match="no value for the parameter `:yes`"):
        occurs.sql({"quotes": QUOTES}, text, args={k: v for k, v in args.items() if k != "yes"})
    with pytest.raises(occurs.UsageProblem, match="cannot be"):
        occurs.sql({"quotes": QUOTES}, text, args={**args, "text": object()})


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Rome"])
def test_times_come_back_as_they_were(zone: str | None) -> None:
    times = pa.array([datetime(2024, 1, d, tzinfo=UTC) for d in range(1, 6)], pa.timestamp("ms", tz=zone))
    table = QUOTES.set_column(0, "day", times)
    text = query(
        "MEASURES LAST(day) AS ended PATTERN (S DOWN+ UP) WITHIN INTERVAL '5' DAY"
        " DEFINE DOWN AS price < PREV(price), UP AS day - FIRST(day) <= :most AND day > :since"
    )
    args = {"most": timedelta(days=4), "since": datetime(2024, 1, 2, tzinfo=UTC)}
    found = occurs.sql({"quotes": table}, text, args=args)
    assert found.schema.field("ended").type == pa.timestamp("ms", tz=zone)
    assert found.column("ended").cast(pa.timestamp("ms", tz="UTC")).to_pylist() == [datetime(2024, 1, 5, tzinfo=UTC)]


def test_integers_with_a_unit() -> None:
    text = query(f"MEASURES COUNT(*) AS n {DIP}").replace(") DEFINE", ") WITHIN INTERVAL '3' MINUTE DEFINE")
    found = occurs.sql({"quotes": QUOTES}, text, time_unit="min")
    assert found.to_pylist() == [{"label": "a", "n": 3}]  # from day 1 to day 5 it is more
    with pytest.raises(occurs.DefinitionProblem) as caught:
        occurs.sql({"quotes": QUOTES}, text)
    assert caught.value.kind == "missing-unit"


def test_kinds_of_tables() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    text = query(f"MEASURES MIN(price) AS low {DIP}")
    frame = occurs.sql({"quotes": QUOTES.to_pandas()}, text)
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("records") == [{"label": "a", "low": 7}]
    other = occurs.sql({"quotes": polars.from_arrow(QUOTES)}, text)
    assert isinstance(other, polars.DataFrame)
    assert other.to_dicts() == [{"label": "a", "low": 7}]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (query(DIP).replace("ORDER BY day", ""), "unsupported", "no ORDER BY"),
        (query(DIP).replace("ORDER BY day", "ORDER BY label"), "type-mismatch", "the time of a row"),
        (query(DIP).replace("ORDER BY day", "ORDER BY dya"), "unknown-attribute", "no column `dya`"),
        (query(DIP, select="time"), "unknown-attribute", "no column `time`"),
        (query("MEASURES prise AS p " + DIP), "unknown-attribute", "`quotes` has no column `prise`"),
        (query(DIP) + " GROUP BY label", "unsupported", "GROUP BY"),
        (query(DIP) + ";" + query(DIP), "unsupported", "2 queries"),
        ("SELECT 1", "syntax", "expected"),
        (query(DIP, "orders"), "unknown-name", "no table `orders`"),
    ],
)
def test_problems(text: str, kind: str, message: str) -> None:
    with pytest.raises(occurs.OccursError, match=message) as caught:
        occurs.sql({"quotes": QUOTES}, text)
    assert caught.value.kind == kind


def test_columns_that_cannot_be_read() -> None:
    table = QUOTES.append_column("tags", pa.array([["x"]] * 5))
    assert occurs.sql({"quotes": table}, query(f"MEASURES MIN(price) AS low {DIP}")).num_rows == 1
    with pytest.raises(occurs.DefinitionProblem, match="cannot read the type of `tags`"):
        occurs.sql({"quotes": table}, query(f"ALL ROWS PER MATCH {DIP}"))
    with pytest.raises(occurs.DefinitionProblem, match="no column `tags`"):
        occurs.sql({"quotes": table}, query(f"MEASURES tags AS t {DIP}"))


@pytest.mark.parametrize("where", [None, 5, "spark"])
def test_where_it_cannot_run(where: Any) -> None:
    with pytest.raises(occurs.UsageProblem, match="cannot run in"):
        occurs.sql(where, query(DIP))
