"""Files out: merged by time, nulls kept, whole or not at all."""

from __future__ import annotations

import datetime as dt
import json

import pyarrow as pa
import pytest

from occurs.connect.files import read_sources
from occurs.connect.writers import check_target, in_order, write, write_rows
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.history import normalise

UTC = pa.timestamp("us", "UTC")
TABLES = {
    "X": pa.table({"time": pa.array([0, 2], UTC), "v": [1.0, None], "s": ['a"b,\nü', ""]}),
    "Empty": pa.table({"time": pa.array([], UTC), "q": pa.array([], pa.int64())}),
    "Y": pa.table({"time": pa.array([1, 1_500_000], UTC), "v": [1, 7], "because": [[{"role": "A", "n": 3}], None]}),
}


def test_what_comes_in_no_order():
    """By query, then by time, what still holds behind what has ended, nulls first."""
    rows = [(5, 9, "a", 10), (5, None, "a", 10), (5, 9, None, 10), (7, 8, "a", 10), (2, 3, "b", 20)]
    mixed = pa.table(dict(zip(("time", "end", "s", "query"), map(list, zip(*rows[::-1])))))
    assert [tuple(r.values()) for r in in_order(mixed).to_pylist()] == [rows[2], rows[0], rows[1], rows[3], rows[4]]
    plain = mixed.drop_columns(["query", "end"])
    assert in_order(plain).column("s").to_pylist() == ["b", None, "a", "a", "a"]


def test_json_lines(tmp_path):
    write(str(tmp_path / "o.jsonl"), TABLES)
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert rows == [
        {"type": "X", "time": "1970-01-01T00:00:00Z", "v": 1.0, "s": 'a"b,\nü'},
        {"type": "Y", "time": "1970-01-01T00:00:00.000001Z", "v": 1, "because": [{"role": "A", "n": 3}]},
        {"type": "X", "time": "1970-01-01T00:00:00.000002Z", "v": None, "s": ""},
        {"type": "Y", "time": "1970-01-01T00:00:01.5Z", "v": 7, "because": None},
    ]
    assert [type(r["v"]) for r in rows] == [float, int, type(None), int]


@pytest.mark.parametrize("name", ["o.csv", "o.jsonl", "o.parquet", "folder"])
def test_what_is_written_can_be_read(tmp_path, name):
    tables = {k: t.drop_columns("because") if "because" in t.column_names else t for k, t in TABLES.items()}
    write(str(tmp_path / name), tables)
    found = normalise(read_sources([str(tmp_path / name)]))
    assert found.tables["X"].select(["time", "s"]).to_pylist() == [
        {"time": 0, "s": 'a"b,\nü'},
        {"time": 2, "s": ""},
    ]
    assert found.tables["Y"]["v"].to_pylist() == [1, 7]


def test_csv_has_one_header_and_nulls_are_empty(tmp_path):
    write(str(tmp_path / "o.csv"), TABLES)
    text = (tmp_path / "o.csv").read_text()
    assert text.startswith("type,time,v,s,q,because\n")
    assert 'X,1970-01-01T00:00:00.000002Z,,"",,\n' in text
    assert '"[{""role"": ""A"", ""n"": 3}]"' in text


def test_simultaneous_rows_stay_in_evaluation_order(tmp_path):
    tables = {n: pa.table({"time": [5, 5], "v": [1, 2]}) for n in ("B", "A")}
    write(str(tmp_path / "o.csv"), tables)
    assert (tmp_path / "o.csv").read_text() == "type,time,v\nB,5,1\nB,5,2\nA,5,1\nA,5,2\n"


def test_nothing_found(tmp_path):
    empty = {"A": pa.table({"time": pa.array([], pa.int64()), "v": pa.array([], pa.string())})}
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        write(str(tmp_path / name), empty)
        write(str(tmp_path / name), {})
    assert (tmp_path / "o.jsonl").read_text() == ""


def test_types_that_cannot_share_a_parquet_file_go_to_a_directory(tmp_path):
    tables = {"A": pa.table({"time": [1], "v": ["x"]}), "B": pa.table({"time": [1], "v": [1]})}
    with pytest.raises(UsageProblem, match="directory"):
        write(str(tmp_path / "o.parquet"), tables)
    assert list(tmp_path.iterdir()) == []  # whole or not at all
    write(str(tmp_path / "o"), tables)
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["A.parquet", "B.parquet"]


def test_a_type_cannot_leave_the_directory(tmp_path):
    write(str(tmp_path / "o"), {"../x": pa.table({"time": [1]})})
    assert [p.name for p in tmp_path.iterdir()] == ["o"]


def test_targets_are_checked_before_the_work(tmp_path):
    with pytest.raises(UsageProblem, match="suffix"):
        check_target(str(tmp_path / "o.xls"))
    with pytest.raises(UsageProblem, match="no directory"):
        check_target(str(tmp_path / "no" / "o.csv"))
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(ResourceProblem):
        write(str(tmp_path / "d.csv"), TABLES)


def test_bad_rows_are_written_without_a_type(tmp_path):
    table = pa.table({"reason": ["unreadable line"], "row": [3], "value": [None]})
    write_rows(str(tmp_path / "bad.csv"), table)
    assert (tmp_path / "bad.csv").read_text() == "reason,row,value\nunreadable line,3,\n"
    write_rows(str(tmp_path / "bad.jsonl"), table)
    assert json.loads((tmp_path / "bad.jsonl").read_text()) == {"reason": "unreadable line", "row": 3, "value": None}
    write_rows(str(tmp_path / "bad.parquet"), None)


def test_floats_and_times_in_text(tmp_path):
    table = pa.table(
        {
            "time": pa.array([dt.datetime(2024, 1, 5, 12, 0, 0, 120000)], UTC),
            "a": [float("inf")], "b": [1e20], "c": [-0.0], "d": [True],
        }
    )  # fmt: skip
    write(str(tmp_path / "o.jsonl"), {"A": table})
    row = json.loads((tmp_path / "o.jsonl").read_text())
    assert row == {"type": "A", "time": "2024-01-05T12:00:00.12Z", "a": None, "b": 1e20, "c": 0.0, "d": True}
