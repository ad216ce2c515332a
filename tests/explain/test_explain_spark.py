"""Why and why not of Spark DataFrames: the same answers, tables as DataFrames (why.md, sections 5 and 11)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.explain.test_questions import AT, EVENTS, RULES

import occurs
from occurs.connect.tables import to_arrow
from occurs.errors import UsageProblem
from occurs.explain import cutting

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


SLICED = """event Smoke(Area: string)
event Temp(Area: string, Value: int)
define Fire(Area) from Smoke(Area = $a) and each Temp(Area = $a, Value > 45) within 5 min from Smoke where Area = $a"""


def jobs_of(spark, group, run):
    """What ``run`` returns, and how many jobs it ran."""
    spark.sparkContext.setJobGroup(group, group)
    try:
        found = run()
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)
    return found, len(spark.sparkContext.statusTracker().getJobIdsForGroup(group))


def test_only_the_slice_is_collected(spark, tmp_path, monkeypatch):
    """Types, times, key and columns are filters of one plan; a second job counts rows and finds the clock."""
    rows = [
        {"type": t, "time": 60 * k, "Area": f"a{k % 5}", "Value": 40 + k % 9, "note": "x" * 9}
        for k in range(300) for t in ("Smoke", "Temp", "Rain")
    ]  # fmt: skip
    events = pa.Table.from_pylist(rows)
    spark.createDataFrame(events.to_pandas()).write.parquet(str(tmp_path / "events"))
    frame = spark.read.parquet(str(tmp_path / "events"))
    collected = []
    real = cutting.to_arrow
    monkeypatch.setattr(cutting, "to_arrow", lambda f: collected.append((f, real(f))) or collected[-1][1])
    program = occurs.parse(SLICED)
    question = {"where": {"Area": "a3"}, "between": 60 * 203, "time_unit": "s", "edits": 1}
    answer, jobs = jobs_of(spark, "sliced", lambda: program.why_not("Fire", frame, max_rows=100, **question))
    monkeypatch.undo()
    (plan, table), = collected  # fmt: skip
    assert set(table.column_names) == {"type", "time", "Area", "Value"}
    assert set(table["type"].to_pylist()) == {"Smoke", "Temp"}
    assert set(table["Area"].to_pylist()) == {"a3"}
    assert max(table["time"].to_pylist()) == 60 * 203
    pushed = plan._jdf.queryExecution().executedPlan().toString()
    filters = pushed[pushed.index("PushedFilters") :].splitlines()[0]
    assert "LessThanOrEqual(time,12180)" in filters
    assert "IsNotNull(Area)" in filters
    assert "EqualTo(A" in filters
    assert "In(type" in filters
    assert jobs <= 3
    here = program.why_not("Fire", events, max_rows=100, **question)
    assert [r.clauses for r in answer.reasons] == [r.clauses for r in here.reasons]
    assert answer.notes == here.notes
    assert answer.reasons
