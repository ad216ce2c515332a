"""occurs.sql on Spark: clauses in joins, common table expressions and subqueries, over batch and streaming tables."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import occurs

pytestmark = pytest.mark.spark

ROWS = [(1, "x", 12), (2, "x", 15), (3, "y", 7), (4, "x", 11), (5, "x", 9), (6, "y", 7), (7, "x", 13), (8, "y", 5)]
DOWN = """MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY t
  MEASURES FIRST(price) AS top, LAST(DOWN.price) AS low
  PATTERN (S DOWN+)
  DEFINE DOWN AS price < PREV(price) AND price > :least)"""
#: every row of a match
EACH = DOWN.replace("PATTERN", "ALL ROWS PER MATCH PATTERN")
COUNTED = "MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS TRUE)"


def queries(spark: Any) -> None:
    """All kinds of places in which a clause may stand; also run on Connect, in a process of its own."""
    quotes = spark.createDataFrame(ROWS, "t int, sym string, price bigint")
    quotes.createOrReplaceTempView("quotes")
    spark.createDataFrame([("x", "Xerox"), ("y", "Yoyo")], "sym string, name string").createOrReplaceTempView("names")
    args = {"least": 1, "most": 100, "brace": "{}"}

    def run(text: str) -> list[dict[str, Any]]:
        return [row.asDict() for row in occurs.sql(spark, text, args=args, partitions=2).collect()]

    joined = run(f"""SELECT name, top, low, :brace AS b, '{{quotes}}' AS c
      FROM quotes {DOWN} AS d JOIN names USING (sym) WHERE low < :most ORDER BY name""")
    shown = {"b": "{}", "c": "{quotes}"}
    assert joined == [{"name": "Xerox", "top": 15, "low": 9, **shown}, {"name": "Yoyo", "top": 7, "low": 5, **shown}]
    tables = run(f"""WITH twice AS (SELECT t, sym, price * 2 AS price FROM quotes),
      found AS (SELECT * FROM twice {DOWN})
      SELECT sym, low FROM found UNION ALL
      SELECT sym, low FROM (SELECT * FROM twice WHERE sym = 'x') q {DOWN} ORDER BY sym, low""")
    assert tables == [{"sym": s, "low": v} for s, v in (("x", 18), ("x", 18), ("y", 10))]
    nested = run(f"SELECT n FROM (SELECT t, sym FROM quotes {EACH}) {COUNTED}")
    assert nested == [{"n": 5}]
    assert run("SELECT count(*) AS n FROM quotes") == [{"n": 8}]
    every = occurs.sql(spark, f"SELECT * FROM quotes {EACH}", args=args)
    assert every.dtypes == [("sym", "string"), ("t", "int"), ("top", "bigint"), ("low", "bigint"), ("price", "bigint")]


def test_queries(spark: Any) -> None:
    queries(spark)


def test_problems_name_the_place_in_the_whole_text(spark: Any) -> None:
    spark.createDataFrame(ROWS, "t int, sym string, price bigint").createOrReplaceTempView("quotes")
    wrong = "MATCH_RECOGNIZE (ORDER BY t\n MEASURES prise AS p PATTERN (A) DEFINE A AS TRUE)"
    text = f"SELECT 1\nFROM quotes {DOWN}\nJOIN quotes {wrong}"
    with pytest.raises(occurs.DefinitionProblem, match="`quotes` has no column `prise`") as caught:
        occurs.sql(spark, text, args={"least": 1})
    assert (caught.value.kind, caught.value.line, caught.value.column) == ("unknown-attribute", 8, 11)


def test_times_of_spark(spark: Any) -> None:
    times = (
        "select timestamp_ntz'2024-01-01' + make_interval(0, 0, 0, id) AS at, cast(id % 3 AS int) AS v from range(6)"
    )
    text = f"""SELECT * FROM ({times}) MATCH_RECOGNIZE (
      ORDER BY at MEASURES LAST(at) AS ended, COUNT(*) AS n
      PATTERN (A B+) WITHIN INTERVAL '2' DAY DEFINE A AS v = 0, B AS v > 0)"""
    found = occurs.sql(spark, text)
    assert found.dtypes == [("ended", "timestamp_ntz"), ("n", "bigint")]
    assert [(str(r.ended)[:10], r.n) for r in found.collect()] == [("2024-01-03", 3), ("2024-01-06", 3)]


SKIPS = "MATCH_RECOGNIZE (ORDER BY t MEASURES 1 AS n AFTER MATCH SKIP TO FIRST A PATTERN (A B) DEFINE A AS TRUE)"


def test_problems_of_rows_that_spark_meets(spark: Any) -> None:
    frame = spark.createDataFrame(ROWS, "t int, sym string, price bigint").coalesce(1)
    frame.createOrReplaceTempView("quotes")
    found = occurs.sql(spark, f"SELECT n FROM quotes {SKIPS}", partitions=1)
    message = "in the match from time 1 on that is the first row"
    with pytest.raises(occurs.InputProblem, match=message) as caught, occurs.spark_errors():
        found.collect()
    assert caught.value.kind == "bad-skip"
    with pytest.raises(Exception, match=r"error\[bad-skip\]: `matches`: AFTER MATCH SKIP TO"):
        found.collect()


def test_a_stream_without_watermark(spark: Any) -> None:
    spark.readStream.format("rate").load().createOrReplaceTempView("ticking")
    text = f"SELECT n FROM ticking {SKIPS.replace('ORDER BY t', 'ORDER BY timestamp')}"
    with pytest.raises(occurs.UsageProblem, match="`ticking` is a stream without a watermark on `timestamp`") as caught:
        occurs.sql(spark, text)
    assert caught.value.kind == "bad-option"
    assert 'withWatermark("timestamp"' in str(caught.value.hint)


@pytest.fixture
def live(spark: Any) -> Iterator[Any]:
    """The Spark session, with as many partitions as there are buckets."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield spark
    spark.conf.set("spark.sql.shuffle.partitions", before)


def test_a_stream(live: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [f'{{"at": "2024-01-01T00:00:0{t}Z", "sym": "{s}", "price": {p}}}' for t, s, p in (*ROWS, (9, "z", 1))]
    (folder / "a.json").write_text("\n".join(lines))
    quotes = live.readStream.schema("at timestamp, sym string, price bigint").json(str(folder))
    quotes.withWatermark("at", "1 second").createOrReplaceTempView("arriving")
    found = occurs.sql(
        live,
        f"SELECT sym, low FROM arriving {DOWN.replace('ORDER BY t', 'ORDER BY at')}",
        args={"least": 1},
        partitions=2,
    )
    assert found.isStreaming
    query = (
        found.writeStream.format("memory").queryName("lows").option("checkpointLocation", str(tmp_path / "cp")).start()
    )
    try:
        query.processAllAvailable()
        # up to 7 all rows are known: 13 is no DOWN of x, and what follows 7 of y is open
        assert [r.asDict() for r in live.sql("SELECT * FROM lows").collect()] == [{"sym": "x", "low": 9}]
    finally:
        query.stop()


CONNECT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_queries_spark import queries
from occurs.connect.spark import local_session

spark = local_session()
assert "connect" in type(spark).__module__, type(spark)
queries(spark)
print("all equal")
"""


@pytest.mark.long
@pytest.mark.slow
def test_connect() -> None:
    env = {**os.environ, "SPARK_REMOTE": "local[2]"}
    command = [sys.executable, "-c", CONNECT, str(Path(__file__).parent)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.endswith("all equal\n"), done.stderr[-3000:]
