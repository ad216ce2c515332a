"""Programs in eSQL on Spark, in files, in explain and verify."""

import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import occurs
from occurs.connect.writers import write
from occurs.model.history import InputOptions
from occurs.plan.notes import notes

TEXT = """
LET x BE Read.v.
DEFINE Mean AS GET (THE AVERAGE OF *) FROM x ON A WINDOW OF 3.
DEFINE Big WITH ABOUT AS SELECT v, k FROM Read WHERE v > 3.
DEFINE PerKey AS SLICE EACH Read WITH (THE SUM OF *.v) ON k.
DEFINE Map AS SLICE Read WITH (THE SUM OF *.v) ON k.
DEFINE Out AS x + EVERY 4 TH OF x.
DEFINE Last AS THE LAST OF x.
DEFINE Verdict AS ALWAYS (x > 0).
DEFINE Lists AS THE LIST OF x.
DEFINE Mixed AS APPLY json_path($0, 'a') WITH THE JSON OF Read.j.
"""


def reads(n: int) -> pa.Table:
    keys = [None if i % 11 == 0 else "abc"[i % 3] for i in range(n)]
    documents = ['{"a": 1}', '{"a": "b"}', '{"a": [1, "c"]}', "{}"]
    return pa.table(
        {
            "type": ["Read"] * n,
            "time": list(range(n)),
            "v": [(i * 7) % 13 for i in range(n)],
            "k": keys,
            "j": [documents[i % 4] for i in range(n)],
        }
    )


def as_text(row: dict[str, Any]) -> str:
    """A row whose values do not depend on who gives them."""
    value = row.get("value")
    if isinstance(value, dict):
        row = {**row, "value": sorted(value.items())}
    elif isinstance(value, list):
        row = {**row, "value": _sorted(value)}
    return str(row)


@pytest.mark.spark
def test_spark_finds_what_this_process_finds(spark) -> None:
    program, table = occurs.parse(TEXT, "esql"), reads(60)
    here, there = program.detect(table), program.detect(spark.createDataFrame(table))
    for name in here:
        found = [r.asDict(recursive=True) for r in there[name].collect()]
        wanted = here.arrow(name).to_pylist()
        if name == "Mixed":  # what is of several types is text there
            wanted = [{**r, "value": _text(r["value"])} for r in wanted]
        assert sorted(map(as_text, found)) == sorted(map(as_text, wanted)), name


def _sorted(value: list[Any]) -> list[Any]:
    """Pairs of a map in their order; a list as it is."""
    pairs = all(isinstance(v, (list, tuple)) for v in value)
    return sorted(map(tuple, value)) if pairs else value


def _text(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def test_engine_and_reference_agree() -> None:
    found = occurs.parse(TEXT, "esql").verify(reads(40))
    assert found.equal, found.report


def test_all_kinds_of_columns_can_be_written(tmp_path) -> None:
    found = occurs.parse(TEXT, "esql").detect(reads(8))
    tables = {name: found.arrow(name) for name in found}
    write(str(tmp_path / "all.jsonl"), tables)
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    mixed = [line["value"] for line in lines if line["type"] == "Mixed"]
    assert mixed == [1, "b", '[1, "c"]', None] * 2
    write(str(tmp_path / "all.csv"), {"Mixed": tables["Mixed"], "Map": tables["Map"]})
    assert "Mixed,1,b" in (tmp_path / "all.csv").read_text().splitlines()
    write(str(tmp_path), tables)
    assert pq.read_table(tmp_path / "Mixed.parquet").column("value").to_pylist() == ["1", "b", '[1, "c"]', None] * 2


def test_explain_names_processors_and_keys() -> None:
    program = occurs.parse(TEXT, "esql")
    text = program.explain(reads(4))
    assert "PerKey: partitioned by key (Read by k)" in text
    assert "Mean: pipes over Read: Events -> Lift -> Window" in text
    assert ": row by row, without a shuffle" in text
    assert "Mean: Window: the last 3 items" in text


def test_what_needs_the_whole_order_is_said_to_run_in_one_partition() -> None:
    program = occurs.parse("DEFINE Mean AS GET (THE AVERAGE OF *) FROM Read.v ON A WINDOW OF 3.", "esql")
    history = program.checked.history(reads(4), InputOptions())
    (found,) = notes(program.checked.plan(history.schemas, history.kind))
    assert found.kind == "global-stage"
    assert "Window needs all items in order" in found.message
    assert "SLICE EACH" in (found.hint or "")


def test_pipes_read_what_other_languages_define_and_are_read_by_them() -> None:
    texts = [
        ("DEFINE Sum AS THE SUM OF Big.v.", None, "esql"),
        ("create schema Read(v int); insert into Big select a.v as v from pattern [every a=Read(v > 3)];", None, "epl"),
    ]
    program = occurs.Program(texts)
    found = program.detect(pa.table({"type": ["Read"] * 4, "time": [0, 1, 2, 3], "v": [5, 1, 4, 9]}))
    assert [(r["time"], r["value"]) for r in found.arrow("Sum").to_pylist()] == [(0, 5), (2, 9), (3, 18)]
