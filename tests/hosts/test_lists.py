"""Columns of lists: one rule on all hosts of what is read, as what, and in which order rows with them come."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hostcases import here
from instream import How, InStream

import occurs
from occurs.connect.files import read_sources
from occurs.follow.wide import Expected, Pinned, wide
from occurs.model.history import InputOptions
from occurs.verify.compare import difference

DAY = dt.datetime(2020, 1, 2, tzinfo=dt.UTC)
#: a column, and the type in which it is read
READ = {
    "ints": (pa.array([[3, 1], None, [], [None, 2]], pa.list_(pa.int32())), pa.list_(pa.int64())),
    "large": (pa.array([["a"], None, [], [None]], pa.large_list(pa.large_string())), pa.list_(pa.string())),
    "fixed": (pa.array([[1, 2], [3, 4], None, [None, 6]], pa.list_(pa.int64(), 2)), pa.list_(pa.int64())),
    "floats": (pa.array([[0.5], None, [], [1.5]], pa.list_(pa.float32())), pa.list_(pa.float64())),
    "decimals": (
        pa.array([[Decimal("1.25")], None, [], [None]], pa.list_(pa.decimal128(5, 2))),
        pa.list_(pa.float64()),
    ),
    "truths": (pa.array([[True], None, [], [False, None]]), pa.list_(pa.bool_())),
    "times": (
        pa.array([[DAY], None, [], [None]], pa.list_(pa.timestamp("us", "UTC"))),
        pa.list_(pa.timestamp("us", "UTC")),
    ),
    "days": (pa.array([[DAY.date()], None, [], [None]], pa.list_(pa.date32())), pa.list_(pa.timestamp("us", "UTC"))),
    "nested": (pa.array([[[1], [2, 3]], None, [], [None, []]]), pa.list_(pa.list_(pa.int64()))),
    "coded": (
        pa.ListArray.from_arrays([0, 1, 1, 1, 2], pa.array(["a", "b"]).dictionary_encode()),
        pa.list_(pa.string()),
    ),
    "empty": (pa.array([[], None, [], [None]], pa.list_(pa.null())), pa.list_(pa.string())),
}
LEFT_OUT = {
    "maps": pa.array([[("a", 1)]] * 4, pa.map_(pa.string(), pa.int64())),
    "inside": pa.array([[[("a", 1)]]] * 4, pa.list_(pa.map_(pa.string(), pa.int64()))),
    "record": pa.array([{"a": 1}] * 4),
    "bytes": pa.array([[b"a"]] * 4),
}
TEXT = " ".join(
    f"DEFINE Of_{n} AS X0.{n}. DEFINE Size_{n} AS size(X0.{n}). DEFINE Each_{n} AS UNPACK X0.{n}." for n in READ
)
SLICES = " DEFINE Each AS SLICE EACH X0 WITH (THE COUNT OF *) ON ints. DEFINE Parts AS UNPACK X0.parts."
PARTS = pa.array([[{"a": 1, "b": "x"}], None, [], [{"a": None, "b": "y"}, None]])
OPTIONS: dict[str, Any] = {"time_unit": "s"}


def table(**columns: pa.Array) -> pa.Table:
    return pa.table({"time": range(4), **columns})


EVENTS = table(**{n: column for n, (column, _) in READ.items()}, parts=PARTS)


def test_every_layout_is_read_as_one_type() -> None:
    found = occurs.parse(TEXT, "esql").detect({"X0": EVENTS}, **OPTIONS)
    for name, (column, kind) in READ.items():
        got = found[f"Of_{name}"].column("value")
        assert got.type == kind, name
        assert got.to_pylist() == column.cast(kind).to_pylist(), name
        items = [v for row in column.cast(kind).to_pylist() for v in row or ()]
        assert found[f"Each_{name}"].column("value").to_pylist() == items, name


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_has_no_type_is_left_out(name: str) -> None:
    program = occurs.parse("DEFINE Out AS X0.v.", "esql")
    with pytest.raises(occurs.DefinitionProblem) as problem:
        program.detect({"X0": table(v=LEFT_OUT[name])}, **OPTIONS)
    assert problem.value.kind == "unknown-attribute"  # what is in a record is called `v.a`


def test_a_value_inside_of_a_list_that_does_not_fit() -> None:
    program = occurs.parse("DEFINE Out AS size(X0.v).", "esql")
    given = {"X0": table(v=pa.array([[1], [2**63], None, [3, 4]], pa.list_(pa.uint64())))}
    with pytest.raises(occurs.InputProblem, match="row 2: list value in column `v`") as problem:
        program.detect(given, **OPTIONS)
    assert problem.value.kind == "bad-value"
    found = program.detect(given, **OPTIONS, bad_rows="skip")
    assert (found["Out"].column("value").to_pylist(), found.counts["bad"]) == ([1, None, 2], 1)


def test_tables_of_one_type_with_unlike_lists() -> None:
    parts = [pa.array([[1], None]), pa.array([[0.5], []])]
    sources = [occurs.model.source.Source(pa.table({"time": [0, 1], "v": p}), "X0") for p in parts]
    found = occurs.parse("DEFINE Out AS mean(X0.v).", "esql").detect(sources, **OPTIONS)["Out"]
    assert sorted(found.column("value").to_pylist(), key=str) == [0.5, 1.0, None, None]


def test_rows_of_an_instant_come_in_the_order_of_their_lists() -> None:
    ordered = [None, [], [None, 9], [1], [1, None], [1, 0], [2]]
    program = occurs.parse("DEFINE Out AS THE LIST OF X0.v.", "esql")
    for turn in range(3):
        mixed = ordered[turn + 2 :] + ordered[: turn + 2]
        given = pa.table({"time": [0] * len(ordered), "v": pa.array(mixed, pa.list_(pa.int64()))})
        assert program.detect({"X0": given}, **OPTIONS)["Out"].column("value").to_pylist()[-1] == ordered


def test_languages_without_lists_leave_them_out() -> None:
    program = occurs.parse("define Out(n: int) from X0() as X where n = X.n;")
    given = EVENTS.append_column("n", pa.array([1, 2, 3, 4]))
    assert program.detect({"X0": given}, **OPTIONS)["Out"].column("n").to_pylist() == [1, 2, 3, 4]
    live = program.live({"X0": {"n": "int", "ints": "list<int>"}}, **OPTIONS)
    live.on_event("X0", 0, {"n": 1, "ints": [1]})
    assert [r["n"] for r in live.close()] == [1]


def test_one_by_one() -> None:
    kinds = {n: str(k).replace("item: ", "").replace("int64", "int") for n, (_, k) in READ.items()}
    kinds = {n: k.replace("double", "float").replace("[us, tz=UTC]", "") for n, k in kinds.items()}
    program = occurs.parse(TEXT, "esql")
    live = program.live({"X0": kinds}, **OPTIONS)
    rows = EVENTS.select([*READ]).to_pylist()
    found = [r for t, row in enumerate(rows) for r in live.on_event("X0", t, readable(row))] + live.close()
    wanted = program.detect({"X0": EVENTS}, **OPTIONS)
    for name in wanted:
        assert [r for r in found if r["type"] == name] == wanted[name].to_pylist(), name


def readable(row: dict[str, Any]) -> dict[str, Any]:
    """Python values as they are pushed: tuples and arrays for lists, instants, floats."""
    days = row["days"] and [d and dt.datetime(d.year, d.month, d.day, tzinfo=dt.UTC) for d in row["days"]]
    decimals = row["decimals"] and [d and float(d) for d in row["decimals"]]
    fixed = None if row["fixed"] is None else tuple(row["fixed"])
    floats = None if row["floats"] is None else np.array(row["floats"])
    return {**row, "days": days, "decimals": decimals, "fixed": fixed, "floats": floats}


@pytest.mark.parametrize("value", [[1.5], "1", [[1]], {"a": 1}, ["1"], 1])
def test_what_is_pushed_is_checked(value: Any) -> None:
    live = occurs.parse("DEFINE Out AS size(X0.v).", "esql").live({"X0": {"v": "list<int>"}}, **OPTIONS)
    with pytest.raises(occurs.InputProblem) as problem:
        live.on_event("X0", 0, {"v": value})
    assert problem.value.kind == "bad-value"
    with pytest.raises(occurs.UsageProblem, match="is not a type"):
        occurs.parse("DEFINE Out AS X0.v.", "esql").live({"X0": {"v": "list<thing>"}})


LINES = [
    '{"time": 0, "v": [1, 2], "when": ["2020-01-02"], "mixed": [1, "a"], "other": 1}',
    '{"time": 1, "v": [], "when": null, "mixed": [], "other": 2.5}',
    '{"time": 2, "v": [0.5, null], "when": ["soon", null], "mixed": null}',
]


@pytest.mark.parametrize("strange", ["", '{"time": 3, "v": null, "other": "x"}'])
def test_in_json_lines(tmp_path: Path, strange: str) -> None:
    """Whether one reader reads all of them at once, or, as one value has another type, one by one."""
    path = tmp_path / "X0.jsonl"
    path.write_text("\n".join([*LINES, strange]))
    program = occurs.parse("DEFINE Out AS mean(X0.v). DEFINE When AS UNPACK X0.when.", "esql")
    found = program.detect(read_sources([f"X0={path}"]), **OPTIONS, bad_rows="skip")
    assert found["Out"].column("value").to_pylist() == [1.5, None, 0.5]
    assert found["When"].column("value").to_pylist() == ["2020-01-02", "soon", None]
    assert found.counts["bad"] == bool(strange)
    with pytest.raises(occurs.DefinitionProblem):
        occurs.parse("DEFINE Out AS X0.mixed.", "esql").detect(read_sources([f"X0={path}"]), bad_rows="skip", **OPTIONS)


def test_followed_files(tmp_path: Path) -> None:
    first, second = (tmp_path / f"{n}.jsonl" for n in "ab")
    first.write_text("\n".join(LINES))
    program, options = occurs.parse("DEFINE Out AS mean(X0.v).", "esql"), InputOptions(time_unit="s", bad_rows="skip")
    sources = read_sources([f"X0={first}"])
    pinned = Pinned.of(program.checked, program.checked.history(sources, options), sources, options)
    assert Pinned.load(json.loads(json.dumps(pinned.entry()))) == pinned
    expected = Expected.of(program.checked, pinned, options, (None, None), False)
    assert expected.schema.field("c0").type == pa.list_(pa.float64())
    assert "c0 array<double>" in expected.ddl
    given = ["[1]", "null", '"x"', '["x"]']
    second.write_text("\n".join(f'{{"time": {7 + n}, "v": {v}}}' for n, v in enumerate(given)))
    rows = wide(read_sources([f"X0={second}"], schemas=pinned.schemas), expected)
    good = [(r["__time"], r["c0"]) for r in rows.to_pylist() if r["__state"] == 0]
    assert good == [(7, [1.0]), (8, None)]
    bad = [json.loads(r["__bad"]) for r in rows.to_pylist() if r["__state"] == 2]
    assert [(b["row"], b["found"][0]["n"]) for b in bad] == [(3, "v"), (4, "v")]


@pytest.mark.parametrize("way", [How(buckets=2, size=1, memory="forgetful"), How(buckets=3, size=2, memory="crash")])
def test_on_a_stream(way: How) -> None:
    program = occurs.parse(TEXT + SLICES, "esql")
    local = here(program, {"X0": EVENTS}, because=True, **OPTIONS)
    got = InStream(program, {"X0": EVENTS}, InputOptions(time_unit="s"), way).run().found
    # of what is not known what it is, as of lists that are all empty, values are text there
    assert difference(local, got) is None


@pytest.mark.spark
def test_on_spark(spark: Any) -> None:
    every = f"DEFINE All AS SELECT {', '.join(READ)} FROM X0. "
    program = occurs.parse(every + "DEFINE Days AS UNPACK X0.days." + SLICES, "esql")
    given = EVENTS
    for name, column in LEFT_OUT.items():
        given = given.append_column(name, column)
    frame = spark.createDataFrame(given)
    found = program.detect({"X0": frame}, with_label=True, **OPTIONS)
    # the value in the record is an attribute of its own, `record.a`, and so part of the labels; the others are not
    events = EVENTS.append_column("record", LEFT_OUT["record"])
    wanted = program.detect({"X0": events}, with_label=True, **OPTIONS)
    for name in wanted:
        assert sorted(map(str, found.arrow(name).to_pylist())) == sorted(map(str, wanted.arrow(name).to_pylist())), name
    with pytest.raises(occurs.DefinitionProblem):
        occurs.parse("DEFINE Out AS X0.record.", "esql").detect({"X0": frame}, **OPTIONS)
