"""Why and why not of row patterns (why.md, section 6)."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from tests.explain.test_worked import reasons, table

import occurs

FALLS = """SELECT * FROM Tick MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY time
  MEASURES FIRST(A.price) AS p, LAST(B.price) AS q
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B{2,3}) WITHIN INTERVAL '10' SECOND
  DEFINE A AS A.price > 10, B AS B.price < PREV(B.price) AND B.price >= 5
)"""


def ticks(*prices: int, step: int = 1000) -> str:
    return " ".join(f"Tick@{(i + 1) * step}(sym='x',price={p})" for i, p in enumerate(prices))


@pytest.mark.parametrize(
    ("prices", "step", "question", "expected"),
    [
        ((12, 11, 4), 1000, {"between": 3000}, ("threshold", "6:62", "B.price >= 4")),
        ((9, 8, 7), 1000, {"between": 3000}, ("threshold", "6:15", "A.price >= 9")),
        ((12, 11), 1000, {"between": 2000}, ("count", "5:15", "{1,3}")),
        ((12, 11, 9, 8, 7), 1000, {"where": {"q": 7, "p": 12}}, ("count", "5:15", "{2,4}")),
        ((12, 11, 9), 6000, {"between": 18_000}, ("window", "5:29", "INTERVAL '12' SECOND")),
        ((20, 15, 12, 11, 9), 1000, {"where": {"p": 12}}, ("choice", "4:3", "AFTER MATCH SKIP TO NEXT ROW")),
    ],
)  # fmt: skip
def test_a_clause_of_a_row_pattern(prices, step, question, expected):
    found = reasons(FALLS, "match_recognize", ticks(*prices, step=step), "matches", edits=1, **question)
    found = [r[0] for r in found]
    assert expected in found


def test_the_messages_of_a_row_pattern():
    program = occurs.parse(FALLS, "match_recognize")

    def messages(*prices: int, step: int = 1000, **question):
        answer = program.why_not("matches", table(ticks(*prices, step=step)), edits=1, time_unit="ms", **question)
        return {c.kind: c.message for r in answer.reasons for c in r.clauses}

    assert messages(12, 11, 4)["threshold"] == "B.price = 4 at 3000, needed >= 5"
    assert messages(12, 11)["count"] == "1 row matches B, but at least 2 must"
    assert messages(12, 11, 9, 8, 7, where={"q": 7, "p": 12})["count"] == "4 rows match B, but at most 3 may"
    assert "12 s before" in messages(12, 11, 9, step=6000)["window"]
    assert "belongs to matches at" in messages(20, 15, 12, 11, 9, where={"p": 12})["choice"]


def test_why_a_row_pattern_matched():
    program = occurs.parse(FALLS, "match_recognize")
    events = table(ticks(12, 11, 9))
    row = program.detect(events, time_unit="ms", with_label=True)["matches"].to_pylist()[0]
    answer = program.why(row, events, time_unit="ms")
    rows = [(n.role, json.loads(n.attributes)["price"]) for n in answer.nodes if n.kind == "event"]
    assert rows == [("A", 12), ("B", 11), ("B", 9)]
    assert len(answer.leaves) == 3
    assert answer.nodes[0].label == row["label"]
    clauses = [(n.place, n.found) for n in answer.nodes if n.kind == "clause"]
    assert ("rules:6:15", "12") in clauses


@pytest.mark.spark
def test_a_row_pattern_on_spark(spark):
    program = occurs.parse(FALLS, "match_recognize")
    events = table(ticks(12, 11, 4))
    frame = spark.createDataFrame(events.to_pandas())
    answer, here = (program.why_not("matches", e, time_unit="ms", edits=1) for e in (frame, events))
    assert [r.clauses for r in answer.reasons] == [r.clauses for r in here.reasons]
    assert isinstance(here.table, pa.Table)
    assert answer.reasons
