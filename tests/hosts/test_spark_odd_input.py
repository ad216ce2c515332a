"""Type columns that no one expects, and input that is likely not meant: Spark says what this process says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import occurs
from occurs.errors import DefinitionProblem, InputProblem

pytestmark = pytest.mark.spark
RULES = "event A(v: int)\ndefine X(v) from A() where v = A.v"
GOOD = {"type": ["A", "A"], "time": [1, 2], "v": [1, 2]}


@pytest.mark.slow
def test_type_columns_that_name_no_types(spark: Any) -> None:
    program = occurs.parse(RULES)
    for column in (
        pa.array([["A"], None]), pa.array([{"a": 1}, None]),
        pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array([1, None], pa.duration("us")),
    ):  # fmt: skip
        table = pa.table({**GOOD, "type": column})
        for events in (table, spark.createDataFrame(table)):
            with pytest.raises(InputProblem, match="cannot name event types") as caught:
                program.detect(events, time_unit="s", bad_rows="skip")
            assert caught.value.kind == "bad-value"
    table = pa.table({**GOOD, "type": pa.array([b"A", b"\xff"])})
    for events in (table, spark.createDataFrame(table)):
        found = program.detect(events, time_unit="s", bad_rows="skip")
        assert (found.counts["bad"], found.counts["bad: unreadable type"]) == (1, 1)
        with pytest.raises(InputProblem, match="unreadable type in column `type`"):
            program.detect(events, time_unit="s")


@pytest.mark.slow
def test_warnings_about_input(spark: Any) -> None:
    program = occurs.parse(RULES + "\ndefine Y(v: int) from A() and last B() within 5 s from A where v = A.v")

    def warned(events: Any, **options: Any) -> list[tuple[str, str, int | None]]:
        found = program.detect(events, **options)
        return sorted((p.kind, p.message, p.line) for p in found.notices if p.severity == "warning")

    epoch = pa.table({"type": ["A"], "time": [1_700_000_000], "v": [1]})
    own = pa.table({"time": [1], "v": [1]})
    for events, options, kinds in (
        (epoch, {"time_unit": "ms"}, ["unknown-type", "unlikely-time"]),
        (epoch, {"time_unit": "s"}, ["unknown-type"]),
        ({"A": own, "B": own}, {"time_unit": "s"}, []),
        ({"A": own, "B": own, "Aa": own}, {"time_unit": "s"}, ["unread-type"]),
    ):
        frames = {t: spark.createDataFrame(f) for t, f in events.items()} if isinstance(events, dict) else None
        frames = spark.createDataFrame(events) if frames is None else frames
        here, there = warned(events, **options), warned(frames, **options)
        assert [kind for kind, *_ in there] == kinds
        assert there == here
        if kinds:
            with pytest.raises(DefinitionProblem):
                program.detect(frames, strict=True, **options)


@pytest.mark.slow
def test_a_trigger_with_names_of_no_type_over_a_table_of_types(spark: Any) -> None:
    table = pa.table({"type": ["Temp", "Temp"], "time": [1, 2], "v": [1, 5]})
    hints = []
    for events in (table, spark.createDataFrame(table)):
        found = occurs.parse("past trigger p: v > 3", "ptl").detect(events, time_unit="s")
        hints += [p.hint for p in found.notices if p.kind == "unknown-type"]
        declared = occurs.parse("state Temp(v int);\npast trigger p: v > 3", "ptl").detect(events, time_unit="s")
        assert [p.kind for p in declared.notices if p.kind == "unknown-type"] == []
    assert hints[0] == hints[1]
    assert "columns of rows of type `state`" in hints[0]


@pytest.mark.slow
def test_rows_of_a_feed_that_are_not_json(spark: Any) -> None:
    rules = "table T (k string key, v int)\ntrigger t for each y in (select k from T): once (T(y) > 5)\n"
    program = occurs.parse(rules, language="ptl")
    good = ['{"k": "a", "v": 9}', '{"k": "a", "unread": [["[["]]}', None]
    torn = ['{"k": "b", ', '{"k": "b", "v": "x"}', "nonsense"]
    torn += ['{"k": "b", "v": 9, "unread": ' + "[" * n + "]" * n + "}" for n in (100, 2_000, 100_000)]
    rows = [*good, *torn]
    feed = pa.table({"time": list(range(len(rows))), "table": ["T"] * len(rows), "op": ["u"] * len(rows), "row": rows})
    frame = occurs.changes(spark.createDataFrame(feed.slice(0, 2)), program=program)
    assert program.detect(frame, time_unit="s")["t"].count() == 1
    frame = occurs.changes(spark.createDataFrame(feed), program=program)
    found = program.detect(frame, time_unit="s", bad_rows="skip")
    assert (found.counts["rows"], found.counts["bad"]) == (len(rows), len(torn))
    assert sorted(r["value"] for r in found.bad.collect()) == sorted(torn)
    assert [tuple(r) for r in found["t"].select("time", "y").collect()] == [(0, "a")]
    with pytest.raises(InputProblem, match="the row is not JSON of the declared columns"):
        program.detect(frame, time_unit="s")
