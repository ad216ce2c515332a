"""A look at files of events: types, first rows, bad rows; only the head of large files is read."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from occurs.services import peek, peeking

UNIT = {"time_unit": "s"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_types_rows_and_the_range_of_times(folder):
    (folder / "rows.csv").write_text("type,time,room,v\nA,7,x,1\n\nB,2,\"y\nz\",2\nA,3,x,\n")
    found = peek(["rows.csv"], UNIT)
    assert [(t.name, t.schema, t.rows, t.first, t.last) for t in found.types] == [
        ("A", {"room": "string", "v": "int"}, 2, 3, 7),
        ("B", {"room": "string", "v": "int"}, 1, 2, 2),
    ]
    assert [(r.type, r.time, r.values["v"], r.line, r.row) for r in found.rows] == [
        ("A", 7, 1, 2, 1), ("B", 2, 2, 4, 2), ("A", 3, None, 6, 3),
    ]  # fmt: skip
    assert found.problems == ()
    assert len(peek(["rows.csv"], UNIT, 2).rows) == 2


def test_intervals_and_timestamps(folder):
    rows = [{"time": "2024-01-05T09:00:00Z", "end": "2024-01-05T10:00:00Z"}, {"time": "2024-01-06T09:00:00Z"}]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = peek(["A=a.jsonl"])
    assert [(r.time, r.end) for r in found.rows] == [
        ("2024-01-05T09:00:00Z", "2024-01-05T10:00:00Z"), ("2024-01-06T09:00:00Z", None)
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["big.csv", "big.csv.gz", "big.jsonl", "big.json", "big.parquet"])
def test_of_a_large_file_only_the_head_is_read(folder, monkeypatch, name):
    monkeypatch.setattr(peeking, "HEAD", 4_000)
    monkeypatch.setattr(peeking, "_BATCH", 100)
    rows = [{"time": i, "v": f"value {i}"} for i in range(5_000)]
    if name.startswith("big.csv"):
        data = ("time,v\n" + "".join(f"{r['time']},{r['v']}\n" for r in rows)).encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    elif name == "big.parquet":
        pq.write_table(pa.Table.from_pylist(rows), folder / name, row_group_size=100)
    else:
        texts = [json.dumps(r) for r in rows]
        (folder / name).write_text("\n".join(texts) if name == "big.jsonl" else f"[{','.join(texts)}]")
    found = peek([f"A={name}"], UNIT, 3)
    assert found.problems == ()
    last = 4_999 if name in ("big.csv", "big.jsonl", "big.parquet") else None
    assert [(t.name, t.rows, t.first, t.last) for t in found.types] == [("A", None, 0, last)]
    assert [r.values for r in found.rows] == [{"v": f"value {i}"} for i in range(3)]
    assert [r.line for r in found.rows] == ([None] * 3 if name in ("big.json", "big.parquet") else
                                            [n + (".csv" in name) for n in (1, 2, 3)])  # fmt: skip


def test_the_range_of_a_long_file_is_that_of_its_beginning_and_its_end(folder, monkeypatch):
    monkeypatch.setattr(peeking, "HEAD", 2_000)
    monkeypatch.setattr(peeking, "TAIL", 1_000)
    rows = [f"{'AB'[i % 2]},{i},x" for i in range(1_000)]
    rows[0], rows[-1], rows[-3] = "A,5000,x", "C,1,x", "B,torn,x"
    (folder / "rows.csv").write_text("type,time,v\n" + "\n".join(rows) + "\n")
    found = peek(["rows.csv"], {**UNIT, "bad_rows": "skip"})
    assert [(t.name, t.first, t.last) for t in found.types] == [("A", 2, 5000), ("B", 1, 995)]
    (folder / "rows.csv").write_text("type,time,v\n" + "A,1,x\n" * 500 + 'A,2,"' + "y" * 2_000)
    assert [(t.first, t.last) for t in peek(["rows.csv"], UNIT).types] == [(1, None)]


def test_bad_rows_are_told_and_a_bad_file_hides_no_good_one(folder):
    (folder / "good.csv").write_text("type,time,v\nA,1,1\nA,never,2\nA,3\n")
    (folder / "bad.csv").write_text("type,v\nB,1\n")
    found = peek(["good.csv", "bad.csv", "no.csv"], UNIT)
    assert [p.kind for p in found.problems] == ["missing-file"]
    found = peek(["good.csv", "bad.csv"], UNIT)
    assert [r.type for r in found.rows] == ["A"]
    assert ("missing-column", "bad.csv") in [(p.kind, p.file) for p in found.problems]
    for bad_rows, severity in (("error", "error"), ("skip", "warning")):
        found = peek(["good.csv"], {**UNIT, "bad_rows": bad_rows})
        assert [(p.severity, p.kind, p.row) for p in found.problems] == [
            (severity, "bad-time", 2), (severity, "bad-value", 3)
        ]  # fmt: skip
        assert [r.row for r in found.rows] == [1]


@pytest.mark.parametrize("event", ["../rows.csv", "/etc/passwd", "-", "A=-", "out/x.csv"])
def test_nothing_is_said_about_files_elsewhere(folder, event):
    (folder / "out").symlink_to("/etc")
    (problem,) = peek([event]).problems
    assert (problem.kind, problem.hint) == ("forbidden-path", None)


def test_unknown_options_are_told(folder):
    (problem,) = peek([], {"zome": 1}).problems
    assert (problem.kind, problem.hint) == ("bad-option", "did you mean `zone`?")
