"""Files in: nulls and empty texts, inferred types, torn lines, what is missing."""

from __future__ import annotations

import gzip
import weakref

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from occurs.connect.csvfile import read_csv
from occurs.connect.files import read_sources
from occurs.connect.places import Place, places, split_type
from occurs.errors import InputProblem, UsageProblem
from occurs.model.history import InputOptions, normalise
from occurs.model.types import Schema, Type


@pytest.fixture
def put(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def history(*events, schemas=None, **options):
    options = InputOptions(**options)
    return normalise(read_sources(events, schemas=schemas, options=options), schemas=schemas, options=options)


def test_csv_tells_null_from_empty_text(put):
    [source] = read_sources([put("a.csv", 'time,v,s\n1,,""\n2,5,\n3,6,NA\n')])
    assert source.table.to_pylist() == [
        {"time": 1, "v": None, "s": ""},
        {"time": 2, "v": 5, "s": None},
        {"time": 3, "v": 6, "s": "NA"},
    ]


def test_csv_types_see_the_whole_column(put):
    lines = "".join(f"{i},{i}\n" for i in range(3_000_000))
    [source] = read_sources([put("a.csv", "time,v\n" + lines + "3000000,x\n")])
    assert source.table.schema.types == [pa.int64(), pa.string()]
    assert source.table["v"][-1].as_py() == "x"


def test_csv_text_declared_as_text_stays_as_written(put):
    path = put("a.csv", "type,time,room,at\nA,1,007,12:30\nB,2,8,12:31\n")
    found = history(path, schemas={"A": Schema((("room", Type.STRING),))})
    assert found.tables["A"]["room"].to_pylist() == ["007"]
    assert found.tables["B"].to_pylist() == [{"time": 2, "room": 8, "at": "12:31"}]


def test_csv_torn_lines_are_bad_rows_and_others_keep_their_numbers(put):
    path = put("a.csv", 'type,time,v\nA,1,"two\nlines"\nA,2\nA,x,3\nA,4,5,6\n')
    found = history(path, bad_rows="skip")
    assert found.tables["A"].to_pylist() == [{"time": 1, "v": "two\nlines"}]
    assert [(r["reason"], r["row"], r["file"]) for r in found.bad.to_pylist()] == [
        ("unreadable time", 3, path),
        ("unreadable line", 2, path),
        ("unreadable line", 4, path),
    ]
    with pytest.raises(InputProblem, match="row 2: this line cannot be read: 'A,2'"):
        history(path)


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
def test_an_empty_csv_is_an_error_and_a_header_alone_is_not(put, text):
    for path in (put("a.csv", text), put("a.csv.gz", gzip.compress(text.encode()))):
        with pytest.raises(InputProblem, match="the file is empty") as caught:
            read_sources([path])
        assert caught.value.kind == "missing-column"
    assert history(put("b.csv", "type,time,v\n")).tables == {}


def test_files_that_are_not_what_they_seem(put):
    with pytest.raises(InputProblem, match=r"row 1: this line cannot be read: .*\\xff"):
        history("A=" + put("a.jsonl", b'{"time": 1, "s": "\xff"}\n'))
    with pytest.raises(InputProblem, match="it starts as a JSON array, but"):
        read_sources([put("a.json", '[{"time": 1}, {')])
    torn = gzip.compress(b'{"time": 1}\n' * 9)
    for name in ("a.jsonl.gz", "a.csv.gz"):
        with pytest.raises(InputProblem, match=f"{name} cannot be read"):
            read_sources([put(name, torn[:-9])])
        with pytest.raises(InputProblem, match=f"{name} cannot be read"):
            read_sources([put(name, torn[:12] + bytes(9) + torn[21:])])
    with pytest.raises(InputProblem, match="it is not UTF-8"):
        read_sources([put("a.csv", b"time,\xff\n1,a\n")])
    with pytest.raises(InputProblem, match="cannot be read"):
        read_sources([put("a.parquet", "time\n1\n")])
    with pytest.raises(InputProblem, match="cannot be read"):
        read_sources([put("a.csv.gz", "time\n1\n")])


@pytest.mark.parametrize("declared", [None, Type.STRING])
def test_csv_bytes_that_are_no_text_are_bad_rows(put, declared):
    path = put("a.csv", b"time,s,n\n1,a,1\n2,\xff,2\nx\n4,b,4\n")
    schemas = {"A": Schema((("s", declared), ("n", Type.INT)))} if declared else None
    found = history("A=" + path, schemas=schemas, bad_rows="skip")
    assert found.tables["A"].to_pylist() == [{"time": 1, "s": "a", "n": 1}, {"time": 4, "s": "b", "n": 4}]
    assert [(r["reason"], r["row"], r["column"]) for r in found.bad.to_pylist()] == [
        ("value does not fit", 2, "s"),
        ("unreadable line", 3, None),
    ]
    with pytest.raises(InputProblem, match=r"row 2: b'\\xff', not UTF-8, in column `s`, which is string"):
        history("A=" + path, schemas=schemas)


@pytest.mark.parametrize("declared", [None, Type.STRING])
def test_a_torn_line_of_bytes_that_are_no_text_has_its_number(put, declared):
    text = "time,s,né\n1,é,1\n2,\xff\n3,b,3\n4,\xff,4\n5,d,5,\xff\n".encode("latin-1")
    text = text.replace(b"n\xe9", "né".encode()).replace(b"\xe9,1", "é,1".encode())
    schemas = {"A": Schema((("s", declared), ("né", Type.INT)))} if declared else None
    for path in (put("a.csv", text), put("a.csv.gz", gzip.compress(text))):
        found = history("A=" + path, schemas=schemas, bad_rows="skip")
        assert found.tables["A"].to_pylist() == [{"time": 1, "s": "é", "né": 1}, {"time": 3, "s": "b", "né": 3}]
        assert [(r["reason"], r["row"], r["value"]) for r in found.bad.to_pylist()] == [
            ("value does not fit", 4, "b'\\xff', not UTF-8,"),
            ("unreadable line", 2, "2,\\xff"),
            ("unreadable line", 5, "5,d,5,\\xff"),
        ]
        assert (found.counts["rows"], found.counts["bad"]) == (5, 3)


def test_csv_bytes_that_are_no_text_far_down(put):
    lines = b"".join(b"%d,%d\n" % (i, i) for i in range(1_300_000))
    found = history("A=" + put("a.csv", b"time,v\n" + lines + b"1300000,\xff\n"), bad_rows="skip")
    assert found.counts["bad"] == 1
    assert found.schemas["A"]["v"] is Type.INT


def test_json_lines_that_are_no_text_are_torn(put):
    path = put("a.jsonl", b'{"time":1,"s":"a"}\n{"time":2,"s":"\xff"}\n{"time"\n{"time":4,"s":"b"}\n')
    found = history("A=" + path, bad_rows="skip")
    assert found.tables["A"]["time"].to_pylist() == [1, 4]
    assert [(r["reason"], r["row"]) for r in found.bad.to_pylist()] == [("unreadable line", 2), ("unreadable line", 3)]


@pytest.mark.share(4)
@pytest.mark.parametrize("depth", [101, 2_000, 100_000])
@pytest.mark.parametrize("key", ["v", "unread"])
@pytest.mark.parametrize(("opening", "closing"), ["[]", ('{"a":', "}")])
def test_json_values_that_nest_too_deep_are_bad_rows(put, depth, key, opening, closing):
    deep = opening * depth + "1" + closing * depth
    rows = ['{"type":"A","time":1,"v":1}', f'{{"type":"A","time":2,"{key}":{deep}}}', '{"type":"A","time":3,"v":3}']
    torn = f'{{"type":"A","time":4,"v":{opening * depth}'
    schemas = {"A": Schema((("v", Type.INT),))}
    for name, text in (("a.jsonl", "\n".join([*rows, torn])), ("a.json", "[" + ",\n".join([*rows, torn]))):
        for declared in (None, schemas):
            found = history(put(name, text), schemas=declared, bad_rows="skip")
            assert found.tables["A"].to_pylist() == [{"time": 1, "v": 1}, {"time": 3, "v": 3}]
            assert [(r["reason"], r["row"]) for r in found.bad.to_pylist()] == [
                ("unreadable line", 2),
                ("unreadable line", 4),
            ]
            assert (found.counts["rows"], found.counts["bad"]) == (4, 2)
        with pytest.raises(InputProblem, match="row 2: this line cannot be read"):
            history(put(name, text), schemas=schemas)


def test_json_values_nest_as_deep_as_the_bound(put):
    deep = "[" * 98 + "]" * 98
    found = history(put("a.jsonl", f'{{"type":"A","time":1,"v":1,"d":{deep}}}\n'), bad_rows="skip")
    assert found.tables["A"].to_pylist() == [{"time": 1, "v": 1}]


def test_json_lines_are_typed_per_event_type(put):
    path = put("a.jsonl", '{"type":"A","time":1,"v":1}\n\n{"type":"B","time":2,"v":"x"}\n{"type":"B","time":3}\n')
    found = history(path)
    assert found.tables["A"].to_pylist() == [{"time": 1, "v": 1}]
    assert found.tables["B"].to_pylist() == [{"time": 2, "v": "x"}, {"time": 3, "v": None}]
    assert (found.schemas["A"]["v"], found.schemas["B"]["v"]) == (Type.INT, Type.STRING)


def test_json_text_that_looks_like_a_time_stays_text(put):
    path = put("a.jsonl", '{"type":"A","time":"2024-01-05T12:00:00Z","day":"2024-01-05"}\n')
    found = history(path)
    assert found.tables["A"].to_pylist() == [{"time": 1_704_456_000_000_000, "day": "2024-01-05"}]


def test_a_key_that_all_objects_of_a_type_lack_is_null(put):
    path = put("a.jsonl", '{"type":"A","time":1}\n{"type":"B","time":2,"v":2}\n')
    found = history(path, schemas={"A": Schema((("v", Type.INT),))})
    assert found.tables["A"].to_pylist() == [{"time": 1, "v": None}]
    with pytest.raises(InputProblem, match="missing"):
        history(path, schemas={"A": Schema((("w", Type.INT),))})


def test_torn_and_mixed_json_lines_are_bad_rows(put):
    lines = ['{"type":"A","time":1,"v":1}', '{"type":"A",', "", "[1]", '{"type":"A","time":4,"v":"x"}', '{"time":5}']
    path = put("a.jsonl", "\n".join(lines))
    found = history(path, bad_rows="skip")
    assert found.tables["A"].to_pylist() == [{"time": 1, "v": 1}]
    assert sorted((r["row"], r["reason"], r["value"]) for r in found.bad.to_pylist()) == [
        (2, "unreadable line", '{"type":"A",'),
        (4, "unreadable line", "[1]"),
        (5, "value does not fit", '"x"'),
        (6, "null type", None),
    ]
    with pytest.raises(InputProblem, match=r'row 5: "x" in column `v`, which is int'):
        history(path)


def test_mixed_json_is_read_as_declared(put):
    path = put("a.jsonl", '{"time":1,"v":1}\n{"time":2,"v":"x"}\n{"time":3,"v":2.0}\n')
    found = history("A=" + path, schemas={"A": Schema((("v", Type.STRING),))}, bad_rows="skip")
    assert found.tables["A"]["v"].to_pylist() == ["x"]
    found = history("A=" + path, schemas={"A": Schema((("v", Type.INT),))}, bad_rows="skip")
    assert found.tables["A"]["v"].to_pylist() == [1, 2]


def test_a_bad_row_of_json_takes_no_other_with_it(put):
    lines = [
        '{"time":1,"k":"v"}', '{"time":"xx","k":"w"}', '{"time":3,"k":NaN}', '{"time":4,"k":"\\ud800"}',
        '{"time":5,"k":"x","k":"y"}', '{"time":6,"k":7}',
    ]  # fmt: skip
    schemas = {"A": Schema((("k", Type.NULL),))}  # an attribute whose type nobody says
    found = history("A=" + put("a.jsonl", "\n".join(lines)), schemas=schemas, bad_rows="skip")
    assert found.tables["A"]["time"].to_pylist() == [1, 3, 5]
    assert found.tables["A"]["k"].to_pylist() == ["v", None, "y"]
    assert found.bad.to_pydict()["row"] == [2, 4, 6]
    with pytest.raises(InputProblem, match="row 2: 7 in column `k`, which is string"):
        history("A=" + put("b.jsonl", lines[0] + "\n" + lines[5]), schemas=schemas)


def test_a_csv_column_in_which_nothing_is_text(put):
    path = put("a.csv", b"time,k\n1,\xe9\n2,\n")
    with pytest.raises(InputProblem, match=r"row 1: b'\\xe9', not UTF-8, in column `k`"):
        history("A=" + path)
    found = history("A=" + path, bad_rows="skip")
    assert found.tables["A"].to_pylist() == [{"time": 2, "k": None}]


def test_a_json_array_and_compressed_files(put):
    array = put("a.json", '[{"type":"A","time":1},\n {"type":"A","time":2}]')
    packed = put("b.jsonl.gz", gzip.compress(b'{"type":"A","time":3}\n'))
    csv = put("c.csv.gz", gzip.compress(b"type,time\nA,4\n"))
    assert history(array, packed, csv).tables["A"]["time"].to_pylist() == [1, 2, 3, 4]


def test_a_directory_is_all_its_files(put, tmp_path):
    (tmp_path / "sub").mkdir()
    pq.write_table(pa.table({"time": [1]}), tmp_path / "sub" / "part-0.parquet")
    put("z.csv", "time\n2\n")
    put("_SUCCESS", "")
    put(".z.csv.crc", "x")
    sources = read_sources([f"A={tmp_path}"])
    assert [(s.type, s.table.num_rows) for s in sources] == [("A", 1), ("A", 1)]


def test_what_is_missing_is_named_with_its_neighbours(put, tmp_path):
    put("events.csv", "time\n1\n")
    with pytest.raises(InputProblem) as caught:
        read_sources([str(tmp_path / "event.csv"), str(tmp_path / "no" / "a.csv")])
    assert [p.kind for p in caught.value.problems] == ["missing-file", "missing-file"]
    assert "did you mean `events.csv`?" in str(caught.value)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputProblem, match="no event files"):
        read_sources([str(tmp_path / "nothing")])
    with pytest.raises(UsageProblem, match="suffix"):
        places([put("a.txt", "")])
    with pytest.raises(UsageProblem, match="kafka"):
        places(["kafka://host/topic"])


def test_a_type_before_a_path(put):
    assert split_type("Smoke=a=b.csv") == ("Smoke", "a=b.csv")
    assert split_type("data/day=1/a.csv") == (None, "data/day=1/a.csv")
    assert split_type(put("x=1.csv", ""))[0] is None
    with pytest.raises(UsageProblem):
        split_type("=a.csv")


def test_no_thread_of_arrow_holds_what_belongs_to_python(tmp_path, monkeypatch):
    """One that gives it back when Python has begun to end would abort the process, whatever its exit status."""
    (tmp_path / "a.csv").write_text("time,a\n1,2\n")
    handlers, options = [], csv.ParseOptions

    def noted(*, invalid_row_handler, **others):
        handlers.append(weakref.ref(invalid_row_handler))
        return options(invalid_row_handler=invalid_row_handler, **others)

    monkeypatch.setattr(csv, "ParseOptions", noted)
    alive = []
    for _ in range(100):
        read_csv(Place(tmp_path / "a.csv", "csv"), (), InputOptions())
        alive.append(handlers[-1]() is not None)
    assert not any(alive)
