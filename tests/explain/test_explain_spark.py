"""Why and why not of Spark DataFrames: the same answers, tables as DataFrames (why.md, sections 5 and 11)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.explain.test_questions import AT, EVENTS, RULES

import occurs
from occurs.connect.tables import to_arrow
from occurs.errors import UsageProblem

pytestmark = pytest.mark.spark


def test_the_answer_is_that_of_this_process(spark):
    program = occurs.parse(RULES, name="fire.tesla")
    frame = spark.createDataFrame(EVENTS.to_pandas()).repartition(3)
    declared = occurs.parse(f"event Temp(Area: string, Value: int)\n{RULES}", name="fire.tesla")
    answer, expected = (declared.why_not("Fire", given, between=AT) for given in (frame, EVENTS))
    assert [r.clauses for r in answer.reasons] == [r.clauses for r in expected.reasons]
    table = to_arrow(answer.table)
    assert table["message"].to_pylist() == expected.table["message"].to_pylist()
    added = answer.reasons[1]
    assert added.events.count() == 4
    assert declared.detect(added.events)["Fire"].count() == 1
    found = program.why_not("Fire", added.events, between=AT)
    assert found.found
    assert found.rows.count() == 1


def test_a_row_of_spark_is_explained(spark):
    program = occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value")
    events = spark.createDataFrame(pa.table({"type": ["Temp", "Rain"], "time": [60, 61], "Value": [50, 1]}).to_pandas())
    row = program.detect(events, time_unit="s", with_label=True)["Hot"].collect()[0]
    answer = program.why(row, events, time_unit="s")
    assert answer.nodes[0].label == row["label"]
    assert answer.table.count() == 3


def test_a_stream_cannot_be_explained(spark, tmp_path):
    stream = spark.readStream.schema("type string, time long, Value long").json(str(tmp_path))
    with pytest.raises(UsageProblem, match="streaming") as caught:
        occurs.parse("define Hot(v) from Temp(Value > 45) where v = Temp.Value").why_not("Hot", stream, time_unit="s")
    assert "frontier" in (caught.value.hint or "")


def test_rows_of_types_that_are_not_read_move_the_clock(spark):
    rules = "insert into Out select a.v as v from pattern [every a=A -> (timer:interval(5 sec) and not A)];"
    events = pa.table({"type": ["A", "X"], "time": [1, 9], "v": [1, 2]})
    frame = spark.createDataFrame(events.to_pandas())
    program = occurs.parse(rules, "epl")
    assert program.why_not("Out", frame, between=6, time_unit="s").found
    assert program.why_not("Out", events, between=6, time_unit="s").found
