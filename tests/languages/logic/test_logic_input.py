"""Triggers and their input: what is refused, left out or counted; what is kept, in words; limits."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import occurs
from occurs.cli import main

TABLE = "table T (k string key, v int)\n"


def rows(*given: dict[str, object]) -> dict[str, pa.Table]:
    names = dict.fromkeys(n for r in given for n in r)
    return {"T": pa.Table.from_pylist([{n: r.get(n) for n in names} for r in given])}


def test_an_op_that_is_none_is_a_bad_row() -> None:
    program = occurs.parse(TABLE + "trigger t: eventually T(a) > 5", language="ftl")
    table = rows({"time": 1, "k": "a", "v": 9, "op": "x"}, {"time": 2, "k": "a", "v": 9, "op": None})
    with pytest.raises(occurs.InputProblem) as caught:
        program.detect(table, time_unit="s")
    assert "unknown op" in caught.value.message
    found = program.detect(table, time_unit="s", bad_rows="skip")
    assert found["t"].column("time").to_pylist() == [2]
    assert found.counts["bad: unknown op"] == 1


def test_what_is_accepted_and_counted() -> None:
    # SQL that joins is judged state by state
    text = "trigger t for each y in (select k from T): exists (select 1 from T a join T b on a.k = b.k where a.k = :y)"
    program = occurs.parse(TABLE + text, language="ftl")
    table = rows(
        {"time": 1, "k": "a", "v": 1, "op": "insert"}, {"time": 2, "k": "a", "v": 2, "op": "I"},
        {"time": 3, "k": "b", "v": None, "op": "delete"}, {"time": 4, "k": None, "v": 2, "op": "c"},
    )  # fmt: skip
    counts = program.detect(table, time_unit="s").counts
    assert counts["inserts of present rows: T"] == 1
    assert counts["deletes of absent rows: T"] == 1
    assert counts["rows without a key"] == 1


BOUNDED = "bounded by the windows of the rules"


@pytest.mark.parametrize(
    ("formula", "words", "size"),
    [
        ("eventually p", [], "constant"),
        ("eventually[>=5] p", [], BOUNDED),
        ("[x <- a] eventually b > x", ["x: every value, without limit [unbounded]"], "grows without bound"),
        ("[x <- a] always within 10 [y <- b] eventually within 5 a > x + y",
         ["x: for 15 ticks after its assignment", "y: for 5 ticks after its assignment"], BOUNDED),
        ("[t0 <- time] [x <- a] eventually (b > x and time <= t0 + 7)",
         ["x: for 7 ticks after its assignment"], BOUNDED),
    ],
)  # fmt: skip
def test_what_is_kept_in_words(formula: str, words: list[str], size: str) -> None:
    told = occurs.parse(f"trigger t: {formula}", language="ftl").explain()
    for word in words:
        assert f"  t: {word}" in told
    assert f"  state size: {size}\n" in told


def test_bounds_can_be_required() -> None:
    program = occurs.parse("trigger t: [x <- a] eventually b > x", language="ftl")
    table = pa.table({"time": [1], "a": [1], "b": [2]})
    assert len(program.detect(table, time_unit="s")["t"]) == 1
    with pytest.raises(occurs.DefinitionProblem) as caught:
        program.detect(table, time_unit="s", require_bounds=True)
    assert "unbounded-state" in {p.kind for p in caught.value.problems}


OVERLOAD = TABLE + "trigger t for each y in (select k from T): eventually ([x <- T(y)] nexttime T(y) > x)"


@pytest.mark.parametrize("depth", [101, 2_000, 100_000])
def test_rows_of_a_feed_that_nest_too_deep(depth: int) -> None:
    deep = '{"k": ' + "[" * depth + "]" * depth + "}"
    feed = {"time": [1, 2], "table": ["T", "T"], "op": ["c", "u"]}
    with pytest.raises(occurs.InputProblem, match="row 2: `row` is not valid JSON"):
        occurs.changes(pa.table({**feed, "row": ['{"k": "a"}', deep]}))
    program = occurs.parse(TABLE + "trigger t: eventually T(a) > 5", language="ftl")
    rows = pa.table({"time": [1], "k": ["a"], "v": [9], "op": ["u"], "old": [deep]})
    with pytest.raises(occurs.InputProblem, match="`old` is not a JSON object"):
        program.detect({"T": rows}, time_unit="s")
    with pytest.raises(occurs.InputProblem, match="`old` is not a JSON object"):
        program.verify({"T": rows}, time_unit="s")


@pytest.mark.parametrize("form", ["json", "struct", "map"])
def test_a_feed_of_changes(form: str) -> None:
    given = [("c", {"k": "a", "v": 1}), ("c", {"k": "b", "v": 5}), ("u", {"k": "a", "v": 3}), ("d", {"k": "b"})]
    made: object = [json.dumps(r) for _, r in given]
    if form == "struct":
        made = pa.array([r for _, r in given], pa.struct([("k", pa.string()), ("v", pa.int64())]))
    elif form == "map":
        made = pa.array([[(n, str(v)) for n, v in r.items()] for _, r in given], pa.map_(pa.string(), pa.string()))
    feed = pa.table({"at": [1, 2, 3, 4], "what": ["T"] * 4, "do": [op for op, _ in given], "row": made})
    tables = occurs.changes(feed, time="at", table="what", op="do")
    assert tables["T"].column_names[:2] == ["time", "op"]
    found = occurs.parse(OVERLOAD, language="ftl").detect(tables, time_unit="s")
    assert found["t"].to_pylist() == [{"type": "t", "time": 3, "y": "a"}]


def test_a_feed_with_old_rows() -> None:
    feed = pa.table({"time": [1, 2], "table": ["T"] * 2, "op": ["c", "u"], "row": ['{"k": "a", "v": 1}'] * 2,
                     "old": [None, '{"k": "b", "v": 1}']})  # fmt: skip
    assert occurs.changes(feed, old="old")["T"].column("old").to_pylist() == [None, '{"k": "b", "v": 1}']
    for wrong in ({"row": "rows"}, {"old": "before"}):
        with pytest.raises(occurs.InputProblem):
            occurs.changes(feed, **wrong)
    with pytest.raises(occurs.InputProblem):
        occurs.changes(feed.set_column(3, "row", pa.array(["x", "{}"])))
    with pytest.raises(occurs.InputProblem, match="`v` of `T` has values of different types: row 1: 1, row 2: 'b'"):
        occurs.changes(feed.set_column(3, "row", pa.array(['{"v": 1}', '{"v": "b"}'])))


def test_a_feed_of_maps_of_texts() -> None:
    rows = pa.array([[("k", "01"), ("v", "1")], [("k", "7"), ("v", "2")]], pa.map_(pa.string(), pa.string()))
    feed = pa.table({"time": [1, 2], "table": ["T"] * 2, "op": ["c", "u"], "row": rows})
    assert [c.to_pylist() for c in occurs.changes(feed)["T"].columns[2:]] == [["01", "7"], [1, 2]]
    texts = [[("k", "1"), ("v", "1")], [("k", "1"), ("v", "02")]]
    feed = feed.set_column(3, "row", pa.array(texts, pa.map_(pa.string(), pa.string())))
    program = occurs.parse(OVERLOAD, language="ftl")
    assert program.detect(occurs.changes(feed, program=program), time_unit="s").arrow("t")["y"].to_pylist() == ["1"]


@pytest.mark.spark
def test_a_feed_on_spark(spark: object) -> None:
    feed = pa.table(
        {"time": [1, 2], "table": ["T"] * 2, "op": ["c", "u"], "row": ['{"k": "a", "v": 1}', '{"k": "a", "v": 3}']}
    )
    program = occurs.parse(OVERLOAD, language="ftl")
    frame = spark.createDataFrame(feed)
    with pytest.raises(occurs.UsageProblem):
        occurs.changes(frame)
    found = program.detect(occurs.changes(frame, program=program), time_unit="s")
    assert found.arrow("t").to_pylist() == [{"type": "t", "time": 2, "y": "a"}]


def test_how_large_a_formula_may_be(tmp_path: Path) -> None:
    text = "trigger t: eventually [x <- a] nexttime (" + " or ".join(["a > x"] * 70) + ")"
    with pytest.raises(occurs.DefinitionProblem) as caught:
        occurs.parse(text, language="ftl")
    assert "--max-formula" in str(caught.value)
    program = occurs.parse(text, language="ftl", max_formula=100)
    assert len(program.detect(pa.table({"time": [1, 2], "a": [1, 2]}), time_unit="s")["t"]) == 1
    (tmp_path / "t.ftl").write_text(text)
    for option, status in (([], 2), (["--max-formula", "100"], 0)):
        assert CliRunner().invoke(main, ["check", str(tmp_path / "t.ftl"), *option]).exit_code == status


OPS = (None, "insert", "c", "update", "delete", "d", "upsert")


def test_changes_without_effect_are_counted_alike_over_columns_and_state_by_state() -> None:
    instances = TABLE + "trigger t for each y in (select k from T): "
    columns = occurs.parse(instances + "eventually T(y) > 5 continue", language="ftl")
    states = occurs.parse(instances + "exists (select 1 from T a join T b on a.k = b.k where a.k = :y)", language="ftl")
    assert "vectorised" in columns.explain()
    assert "state by state" in states.explain()
    text = pa.string()
    typed = pa.schema([("time", pa.int64()), ("k", text), ("v", pa.int64()), ("op", text), ("old", text)])
    total: Counter[str] = Counter()
    for seed in range(30):
        rng = random.Random(seed)
        history = []
        for time in range(1, rng.randint(2, 30)):
            key, op = rng.choice("abc"), rng.choice(OPS)
            old = json.dumps({"k": rng.choice("abc"), "v": 1}) if op == "update" and rng.random() < 0.5 else None
            if rng.random() < 0.06:
                key, op, old = None, "truncate", None
            history.append({"time": time, "k": key, "v": rng.randint(0, 9), "op": op, "old": old})
        table = {"T": pa.Table.from_pylist(history, typed)}
        counts = columns.detect(table, time_unit="s").counts
        assert counts == states.detect(table, time_unit="s").counts, (seed, history)
        total.update(counts)
    assert total["inserts of present rows: T"] > 20
    assert total["deletes of absent rows: T"] > 20
