"""The clock and the counts of a history from the footers of its Parquet files: as a scan would have them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

import occurs
from occurs.errors import InputProblem
from occurs.hosts.spark import footers as of_files
from occurs.hosts.spark.read import SparkSource
from occurs.options import InputOptions

#: the package has a function of this name, too
read = importlib.import_module("occurs.hosts.spark.read")
pytestmark = pytest.mark.spark

RULES = """define Fire(area: string) from Smoke(area => $a) and last Temp(area = $a, value > 45) within 5 min from Smoke
where area = $a;
define Alarm(area: string) from Fire() where area = Fire.area;"""
TYPES = ["Temp", "Smoke", "Other"]


def rows(times: Sequence[Any], types: Sequence[str | None], time: pa.DataType | None = None) -> pa.Table:
    n = len(times)
    columns = {"type": pa.array(types, pa.string()), "time": pa.array(times, time or pa.int64())}
    return pa.table({**columns, "area": ["hall"] * n, "value": [50] * n})


class Looks:
    """What a source says with footers and without; ``scans``: how often the rows were looked at with them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self._patch, self.scans = monkeypatch, 0
        self._survey = read.survey

    def _scan(self, *args: Any, **more: Any) -> Any:
        self.scans += 1
        return self._survey(*args, **more)

    def __call__(self, events: Any, rules: str = RULES, **options: Any) -> SparkSource:
        program, asked = occurs.parse(rules).checked, InputOptions(**options)
        sources = []
        for how in (of_files.footers, lambda *_: None):
            with self._patch.context() as patch:
                patch.setattr(read, "footers", how)
                patch.setattr(read, "survey", self._scan if not sources else self._survey)
                sources.append(read.read(program, events, asked))
        one, other = sources
        assert (one.clock, one.counts, one.schemas, one.notices) == (
            other.clock, other.counts, other.schemas, other.notices,
        )  # fmt: skip
        return one


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


def test_a_history_in_files_is_not_scanned(spark: Any, tmp_path: Path, looks: Looks) -> None:
    for n in range(3):
        part = rows(range(10 * n, 10 * n + 10), [TYPES[m % 3] for m in range(10)])
        pq.write_table(part, tmp_path / f"{n} ä.parquet", row_group_size=4)
    events = spark.read.parquet(str(tmp_path))
    source = looks(events, time_unit="s")
    assert (source.clock, source.counts["rows"], looks.scans) == ((0, 29), 30, 0)
    # other columns and names do not matter, nor do the ends of a clock that has all rows
    looks(events.select("value", "area", "time", "type"), time_unit="s", start=0, until=29)
    looks(events.withColumnRenamed("value", "v"), RULES.replace("value", "v"), time_unit="s")
    assert looks.scans == 0
    found = occurs.parse(RULES).detect(events, time_unit="s")
    local = occurs.parse(RULES).detect(pq.read_table(tmp_path), time_unit="s")
    times = found.arrow("Fire")["time"].to_pylist()
    assert sorted(times) == local.arrow("Fire")["time"].to_pylist()


def test_timestamps(spark: Any, tmp_path: Path, looks: Looks) -> None:
    for unit in ("us", "ms"):
        path = str(tmp_path / f"{unit}.parquet")
        times = [datetime(2024, 5, 1, 12, 0, n, tzinfo=UTC) for n in range(4)]
        pq.write_table(rows(times, ["Temp", "Smoke"] * 2, pa.timestamp(unit, "UTC")), path)
        assert looks(spark.read.parquet(path)).clock == (1_714_564_800_000_000, 1_714_564_803_000_000)
    assert looks.scans == 0


@pytest.mark.parametrize(
    "type", [pa.timestamp("us"), pa.date32(), pa.float64(), pa.string()], ids=["naive", "date", "float", "text"]
)
def test_times_that_have_to_be_converted_are_read(spark: Any, tmp_path: Path, looks: Looks, type: pa.DataType) -> None:
    path = str(tmp_path / "events.parquet")
    times = pa.array([0, 1], pa.int32() if type == pa.date32() else pa.int64()).cast(type)
    pq.write_table(rows([0, 1], ["Temp", "Smoke"]).set_column(1, "time", times), path)
    numbers = pa.types.is_floating(type) or pa.types.is_string(type)
    looks(spark.read.parquet(path), **({"time_unit": "s"} if numbers else {}))
    assert looks.scans == 1


def test_types_that_are_rare_or_absent(
    spark: Any, tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "_FIRST", 3)
    path = str(tmp_path / "events.parquet")
    pq.write_table(rows(range(9), ["Other"] * 8 + ["Smoke"]), path, row_group_size=4)
    source = looks(spark.read.parquet(path), time_unit="s")
    assert "unknown-type" in [p.kind for p in source.notices]  # Temp
    assert looks.scans == 0


def test_a_table_for_each_type(spark: Any, tmp_path: Path, looks: Looks) -> None:
    events = {}
    for t, times in ("Temp", [1, 5]), ("Smoke", [3, 9]):
        pq.write_table(rows(times, [t] * 2).drop_columns("type"), tmp_path / f"{t}.parquet")
        events[t] = spark.read.parquet(str(tmp_path / f"{t}.parquet"))
    source = looks(events, time_unit="s")
    assert (source.clock, source.counts["rows"], looks.scans) == ((1, 9), 4, 0)


BAD: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a null time": lambda t: pa.concat_tables([t, rows([None], ["Temp"])]),
    "a null type": lambda t: pa.concat_tables([t, rows([4], [None])]),
    "an empty type": lambda t: pa.concat_tables([t, rows([4], [""])]),
    "a value that does not fit": lambda t: t.set_column(3, "value", pa.array([1.5] * len(t))),
    "an end": lambda t: t.append_column("end", pa.array([2] * len(t))),
    "a label": lambda t: t.append_column("label", pa.array(["x"] * len(t))),
}


@pytest.mark.parametrize("what", BAD)
def test_rows_that_may_be_bad_are_read(spark: Any, tmp_path: Path, looks: Looks, what: str) -> None:
    path = str(tmp_path / "events.parquet")
    pq.write_table(BAD[what](rows([1, 2, 3], TYPES)), path)
    looks(spark.read.parquet(path), "event Temp(area: string, value: int)\n" + RULES, time_unit="s", bad_rows="skip")
    assert looks.scans == 1
    if "null" in what:
        with pytest.raises(InputProblem, match=what.removeprefix("a ")):
            looks(spark.read.parquet(path), time_unit="s")


def test_what_is_no_plain_read_of_files_is_scanned(spark: Any, tmp_path: Path, looks: Looks) -> None:
    events = rows(range(6), TYPES * 2)
    pq.write_table(events, tmp_path / "plain.parquet")
    pq.write_table(events, tmp_path / "untold.parquet", write_statistics=False)
    pq.write_to_dataset(events, str(tmp_path / "by type"), partition_cols=["type"])
    spark.read.parquet(str(tmp_path / "plain.parquet")).write.json(str(tmp_path / "json"))
    pq.write_table(events.rename_columns(["type", "TIME", "area", "value"]), tmp_path / "other.parquet")
    plain = spark.read.parquet(str(tmp_path / "plain.parquet"))
    for n, frame in enumerate(
        (
            spark.createDataFrame(events),
            plain.where("time > 2"),
            plain.withColumn("time", plain["time"] + 1),
            plain.union(plain),
            plain.limit(3),
            spark.read.schema(plain.schema).json(str(tmp_path / "json")),
            spark.read.parquet(str(tmp_path / "untold.parquet")),
            spark.read.parquet(str(tmp_path / "by type")),
            spark.read.schema(plain.schema).parquet(str(tmp_path / "plain.parquet"), str(tmp_path / "other.parquet")),
        ),
        1,
    ):
        looks(frame, time_unit="s")
        assert looks.scans == n
    looks(plain, time_unit="s", start=1)
    looks(plain, time_unit="s", until=4)
    assert looks.scans == n + 2


def test_files_of_which_spark_may_leave_out_rows_are_scanned(spark: Any, tmp_path: Path, looks: Looks) -> None:
    pq.write_table(rows(range(6), TYPES * 2), tmp_path / "e.parquet")
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        looks(spark.read.parquet(str(tmp_path)), time_unit="s")
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    assert looks.scans == 1


def test_too_many_files_are_scanned(
    spark: Any, tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        pq.write_table(rows([n], [TYPES[n]]), tmp_path / f"{n}.parquet")
    monkeypatch.setattr(of_files, "MOST", 2)
    looks(spark.read.parquet(str(tmp_path)), time_unit="s")
    assert looks.scans == 1


def test_a_footer_that_is_longer_than_what_is_read_first(
    spark: Any, tmp_path: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_files, "TAIL", 64)
    pq.write_table(rows(range(6), TYPES * 2), tmp_path / "e.parquet")
    assert looks(spark.read.parquet(str(tmp_path)), time_unit="s").clock == (0, 5)
    assert looks.scans == 0


def test_files_that_are_gone_or_torn_are_named_by_spark(spark: Any, tmp_path: Path, looks: Looks) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(rows(range(6), TYPES * 2), path)
    events = spark.read.parquet(str(path))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises((PySparkException, Py4JJavaError), match=r"events\.parquet"):
        looks(events, time_unit="s")
    path.unlink()
    with pytest.raises((PySparkException, Py4JJavaError), match=r"events\.parquet"):
        looks(events, time_unit="s")
    assert looks.scans == 2
