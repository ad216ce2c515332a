"""Values in records (objects of JSON, structs of Arrow and Spark) are attributes called ``a.b``, in every language."""

from __future__ import annotations

import json

import pandas as pd
import polars
import pyarrow as pa
import pytest

import occurs
from occurs.connect.files import read_sources
from occurs.errors import DefinitionProblem, InputProblem
from occurs.model.types import Schema, Type

ROWS = [
    {"time": 1, "user": {"id": 1, "name": "Ada", "geo": {"lat": 1.5}}, "n": 5},
    {"time": 2, "user": {"id": 2, "name": "2024-01-05", "geo": None}, "n": 6},
    {"time": 3, "user": None, "n": 7},
]
TABLE = pa.Table.from_pylist(ROWS)
#: language, rules, the rows of X without type and time
PROGRAMS = [
    ("tesla", "define X(V) from A(user.id > 1) where V = A.user.name", [{"V": "2024-01-05"}]),
    ("tesla", "define X(V) from A(`user.geo.lat` > 1 and user.id = $u) where V = $u", [{"V": 1}]),
    (
        "tesla",
        "event A(user.id: int, user.name: string, n: int) define X(V, M) from A(user.id is null) as Z "
        "and last A(user.id < Z.n) as O within 5 s from Z "
        "where V = O.user.id, M = MAX(A(user.id > 0).user.id) within 5 s from Z",
        [{"V": 2, "M": 2}],
    ),
    ("epl", "insert into X select b.user.id from pattern "
     "[every a=A(user.geo.lat > 1) -> b=A(user.id = a.user.id + 1)];", [{"id": 2}]),
    ("epl", "create schema A (user.id int, n int); insert into X select user.id as V from A(user.id < n);",
     [{"V": 1}, {"V": 2}]),
    ("phenesthe", "input event A(user.id, ...). event X(V, N) : A(V, n = N, ...) and V > 1.", [{"V": 2, "N": 6}]),
    ("phenesthe", "input event A(user.name: string, ...). event X(V) : A(user.name = V, ...) and V < 'B'.",
     [{"V": "2024-01-05"}, {"V": "Ada"}]),
    ("ftl", "event A(user.id int, n int) trigger t: eventually [x <- A.user.id] (x = 2) emit X(V = 1)", [{"V": 1}]),
    ("ftl", "state A(user.id int, n int) trigger t: eventually (user.id = 2) emit X(V = 1)", [{"V": 1}]),
    ("esql", "DEFINE `X` AS A.`user.id` WHERE $0 < 9.", [{"value": 1}, {"value": 2}]),
    ("esql", "DEFINE `X` AS A.user.id WHERE $0 < 2.", [{"value": 1}]),
    ("esql", "DEFINE `X` AS A.user.geo.lat WHERE $0 > 1.", [{"value": 1.5}]),
    ("esql", "DEFINE `X` AS SELECT user.name AS name, n FROM (A WHERE user.id = 2).", [{"name": "2024-01-05", "n": 6}]),
    ("esql", "DEFINE `X` AS APPLY $0.user.id + $0.n WITH (A WHERE $0.user.id = 2).", [{"value": 8}]),
]  # fmt: skip


def found(program, events):
    table = program.detect(events, time_unit="s").arrow("X")
    rows = table.drop_columns(["type", "time"]).to_pylist()
    return sorted(rows, key=repr)


@pytest.mark.parametrize(("language", "rules", "expected"), PROGRAMS)
def test_every_language_reads_values_in_records(language, rules, expected, tmp_path):
    program = occurs.parse(rules, language)
    assert found(program, {"A": TABLE}) == expected
    assert program.verify({"A": TABLE}, time_unit="s").equal
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert found(program, read_sources([f"A={tmp_path / 'a.jsonl'}"], schemas=program.declared)) == expected


def test_tables_of_the_python_world_alike():
    program = occurs.parse("define X(V) from A(user.id > 1) where V = A.user.name")
    for frame in (pd.DataFrame(ROWS), polars.DataFrame(ROWS)):
        assert list(program.detect({"A": frame}, time_unit="s")["X"]["V"]) == ["2024-01-05"]


def test_events_one_by_one_alike():
    rule = "define X(V) from A(user.id > 1) where V = A.user.name"
    program = occurs.parse(f"event A(user.id: int, user.name: string) {rule}")
    events = [{"type": "A", **row} for row in ROWS]
    assert [d["V"] for d in program.stream(events, time_unit="s")] == ["2024-01-05"]


@pytest.mark.spark
@pytest.mark.slow
def test_structs_of_spark_alike(spark):
    schema = "time long, user struct<id: long, name: string, geo: struct<lat: double>>, n long"
    frame = spark.createDataFrame(ROWS, schema)
    for language, rules, expected in PROGRAMS:
        if not any(s in rules for s in ("M = MAX", "geo.lat > 1", "SELECT user")):  # one of a kind is enough
            made = occurs.parse(rules, language).detect({"A": frame}, time_unit="s")["X"].collect()
            rows = [{k: v for k, v in row.asDict().items() if k not in ("type", "time")} for row in made]
            assert sorted(rows, key=repr) == expected, rules
    nested = frame.selectExpr("struct('A' as kind, time as at) as meta", "user")
    program = occurs.parse("define X(V) from A(user.id > 1) where V = A.user.name")
    [row] = program.detect(nested, type="meta.kind", time="meta.at", time_unit="s")["X"].collect()
    assert (row["time"], row["V"]) == (2, "2024-01-05")
    every = occurs.parse("insert into X select * from A(user.id > 1);", "epl").detect({"A": frame}, time_unit="s")["X"]
    assert every.columns[2:] == ["user.id", "user.name", "user.geo.lat", "n"]
    assert every.collect()[0]["user.id"] == 2
    with pytest.raises(InputProblem, match="the column `time` is of type struct"):
        program.detect({"A": frame.selectExpr("struct(time as at) as time", "user")}, time_unit="s")


def test_special_columns_may_be_in_records(tmp_path):
    lines = [{"meta": {"kind": "A", "at": row["time"]}, "user": row["user"]} for row in ROWS]
    lines.append({"meta": {"kind": "B", "at": 9}, "user": None})
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    program = occurs.parse("define X(V) from A(user.id > 1) and not B() within 5 s from A where V = A.user.name")
    options = occurs.model.source.InputOptions(type="meta.kind", time="meta.at")
    sources = read_sources([str(tmp_path / "a.jsonl")], options=options)
    table = program.detect(sources, type="meta.kind", time="meta.at", time_unit="s").arrow("X")
    assert table["V"].to_pylist() == ["2024-01-05"]
    assert sources[1].table.column_names == ["meta.kind", "meta.at", "user.id", "user.name", "user.geo.lat"]


def test_lines_of_mixed_kinds_alike(tmp_path):
    """Where a column mixes kinds, lines are read one by one."""
    rows = [*ROWS, {"time": 4, "user": {"id": "seven", "name": "Bob"}, "n": 8}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    declared = {"A": Schema((("user.id", Type.INT), ("user.name", Type.STRING)))}
    [source] = read_sources([f"A={tmp_path / 'a.jsonl'}"], schemas=declared)
    assert source.table["user.id"].to_pylist() == [1, 2, None, None]
    assert source.table["user.name"].to_pylist() == ["Ada", "2024-01-05", None, "Bob"]
    assert source.misfits == {"user.id": {3: '"seven"'}}


@pytest.mark.parametrize("declared", [None, Type.INT])
def test_an_object_where_others_have_values_fits_nowhere(tmp_path, declared):
    rows = [{"time": 1, "user": {"id": 1}}, {"time": 2, "user": {"id": {"old": 2}}}, {"time": 3, "user": 3}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    schemas = {"A": Schema((("user.id", declared),))} if declared else {}
    [source] = read_sources([f"A={tmp_path / 'a.jsonl'}"], schemas=schemas)
    assert source.table["user.id"].to_pylist() == [1, None, None]
    assert source.misfits["user.id"] == {1: '{"old": 2}'}
    assert source.misfits["user"] == {0: '{"id": 1}', 1: '{"id": {"old": 2}}'}
    program = occurs.parse("event A(user.id: int) define X(V) from A() where V = A.user.id")
    with pytest.raises(InputProblem, match=r"`user\.id` of `A` must be int, not \{'old': 2\}"):
        list(program.stream([{"type": "A", "time": 1, "user": {"id": {"old": 2}}}], time_unit="s"))


def test_a_name_with_a_point_and_a_record_are_told_apart():
    twice = TABLE.append_column("user.id", pa.array([1, 2, 3]))
    with pytest.raises(InputProblem, match=r"two columns are called `user\.id`"):
        occurs.parse("define X() from A(user.id > 1)").detect({"A": twice}, time_unit="s")


@pytest.mark.parametrize(
    ("language", "rules", "hint"),
    [
        ("tesla", "define X() from A(user.idd > 1)", "did you mean `user.id`"),
        ("tesla", "define X(V) from A() where V = A.user.nam", "did you mean `user.name`"),
        ("epl", "insert into X select a.user.nam as V from pattern [every a=A];", "did you mean `user.name`"),
        ("epl", "insert into X select a.n as V from pattern [every a=A(user.idd = 1)];", "did you mean `user.id`"),
        ("esql", "DEFINE Out AS A.user.idd.", "`` .`user.id` ``"),
    ],
)
def test_names_in_records_that_are_mistyped(language, rules, hint):
    with pytest.raises(DefinitionProblem) as caught:
        occurs.parse(rules, language).detect({"A": TABLE}, time_unit="s")
    assert hint in str(caught.value.hint)


def test_a_name_of_an_event_that_is_mistyped_is_no_record():
    with pytest.raises(DefinitionProblem, match="no event of this rule is called `Smok`"):
        occurs.parse("define X() from Smoke() and last A(v > Smok.v) within 5 s from Smoke")


@pytest.mark.spark
def test_messages_of_kafka_have_values_in_records(spark):
    from pyspark.sql import functions as F

    from occurs.connect.kafka.source import _part

    texts = ['[{"user": {"id": 7}}]', '[{"user.id": 8, "user": {"id": 9}}]', '[{"user": null}]', '[{"user": [1]}]']
    frame = spark.createDataFrame([(t,) for t in texts], "t string").select(F.parse_json("t").alias("list"))
    found = frame.select(F.try_variant_get(_part("user.id"), "$", "int").alias("id")).collect()
    assert sorted((row.id for row in found), key=str) == [7, 8, None, None]
