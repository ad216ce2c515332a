"""Detections of many types come to the driver by one job, whatever their number; those for tables never do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import occurs
from occurs.connect.tables import to_arrow
from occurs.connect.writers import in_order
from occurs.hosts.spark import result

pytestmark = pytest.mark.spark


def rules(types: int, attribute: str = "v") -> str:
    """One definition per type; ``{n}`` in the attribute makes it the type's own."""
    names = (attribute.format(n=n) for n in range(types))
    return "\n".join(f"define D{n}({a}) from A(x = {n}) where {a} = A.x" for n, a in enumerate(names))


def jobs(spark: Any, run: Callable[[], Any]) -> tuple[Any, int]:
    """What ``run`` returns, and how many jobs it started."""
    context = spark.sparkContext
    context.setJobGroup("counted", "counted")
    before = set(context.statusTracker().getJobIdsForGroup("counted"))
    try:
        found = run()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    return found, len(set(context.statusTracker().getJobIdsForGroup("counted")) - before)


def detected(spark: Any, text: str, types: int, **options: Any) -> Any:
    table = pa.table({"type": ["A"] * 60, "time": range(60), "x": [n % types for n in range(60)]})
    program = occurs.parse(text, language="tesla")
    return program.detect(spark.createDataFrame(table), time_unit="s", partitions=2, **options)


@pytest.mark.parametrize("types", [8, pytest.param(1_000, marks=pytest.mark.long)])
def test_jobs_do_not_grow_with_the_types(spark: Any, types: int) -> None:
    (one, _), few = jobs(spark, detected(spark, rules(1), 1).collected)
    found = detected(spark, rules(types), types)
    (tables, partial), many = jobs(spark, found.collected)
    found.unpersist()
    assert many <= few + 1  # of the cache that types share
    assert (len(one["D0"]), partial) == (60, {})
    assert {name: len(table) for name, table in tables.items()} == {
        f"D{n}": len(range(n, 60, types)) for n in range(types)
    }


def test_each_type_has_the_columns_of_its_table(spark: Any) -> None:
    """Though types share the columns in which their attributes come to the driver."""
    text = rules(3, "v{n}") + "\ndefine E(at, v0) from A(x = 9) where at = A.time, v0 = 'text'"
    found = detected(spark, text, 3, because=True)
    tables, _ = found.collected()
    assert [len(t) for t in tables.values()] == [20, 20, 20, 0]
    for name, table in tables.items():
        expected = in_order(to_arrow(found[name]))
        assert in_order(table).schema == expected.schema
        assert in_order(table).equals(expected)
    assert found.counted() == {"D0": 20, "D1": 20, "D2": 20, "E": 0}
    found.unpersist()


def test_side_by_side_each_attribute_is_that_of_its_type(spark: Any) -> None:
    text = rules(2, "v{n}") + "\ndefine Both(v1, w) from A(x = 1) where v1 = A.x, w = A.x + 10"
    found = detected(spark, text, 2)
    rows = to_arrow(found.together("D0", "D1", "Both")).to_pylist()
    seen = {(row["type"], row["v0"], row["v1"], row["w"]) for row in rows}
    assert seen == {("D0", 0, None, None), ("D1", None, 1, None), ("Both", None, 1, 11)}
    assert {tuple(row) for row in to_arrow(found.together("D0", "D1")).to_pylist()} == {("type", "time", "v0", "v1")}
    found.unpersist()


@pytest.mark.slow
def test_detections_for_a_table_stay_in_the_cluster(
    spark: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """``run --out`` writes a table, and a folder at an address, from the tasks."""
    from occurs.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.tesla").write_text(rules(3))
    (tmp_path / "events.csv").write_text("type,time,x\n" + "".join(f"A,{n},{n % 3}\n" for n in range(60)))
    monkeypatch.setattr(result.Result, "collected", lambda self, types: pytest.fail("rows came to the driver"))
    run = ["run", "rules.tesla", "-e", "events.csv", "--time-unit", "s", "--host", "spark", "--out"]
    try:
        with pytest.raises(SystemExit) as ended:
            main([*run, "table:collected_all?provider=parquet"])
        err = capsys.readouterr().err
        assert ended.value.code == 0, err
        assert "60 events read, 60 detections (D0: 20, D1: 20, D2: 20) in" in err
        address = f"file://{tmp_path}/found"
        for more, status in (((), 0), ((), 2), (("--overwrite",), 0)):
            with pytest.raises(SystemExit) as ended:
                main([*run, address, *more])
            err = capsys.readouterr().err
            assert ended.value.code == status, err
            assert ("the folder already has Parquet files" in err) == (status == 2)
        assert (tmp_path / "found" / "D1.parquet" / "_SUCCESS").exists()
        assert [tuple(r) for r in spark.read.parquet(f"{address}/D1.parquet").orderBy("time").collect()] == [
            ("D1", n, 1) for n in range(1, 60, 3)
        ]
        rows = spark.table("collected_all").orderBy("time").collect()
        assert [tuple(r) for r in rows] == [(f"D{n % 3}", n, n % 3) for n in range(60)]
    finally:
        spark.sql("drop table if exists collected_all")
