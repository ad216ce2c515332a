"""Labels and constituents in every form of output, the same on both hosts."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from occurs.cli._output import rich_trees
from occurs.loading import load

#: an attribute of every type; `What` is null for one of the two
RULES = """event Smoke(Area: string)
event Temp(Area: string, Value: float, At: timestamp, N: int, Ok: bool)
define Fire(Area, Value, At, N, Ok, What)
from   Smoke(Area = $a) and each Temp(Area = $a) within 5 min from Smoke
where  Area = $a, Value = Temp.Value, At = Temp.At, N = Temp.N, Ok = Temp.Ok, What = nullif(Temp.Area, 'b,"c"')
"""
EVENTS = '''type,time,Area,Value,At,N,Ok
Temp,2024-01-05T09:00:00Z,a,50,2024-01-05T08:00:00.5Z,9007199254740993,true
Temp,2024-01-05T09:00:00Z,"b,""c""",0.1,2024-01-05T08:00:00Z,-1,false
Smoke,2024-01-05T09:04:00Z,a,,,,
Smoke,2024-01-05T09:04:00Z,"b,""c""",,,,
'''
HOSTS = ["local", pytest.param("spark", marks=pytest.mark.spark)]
FORMS = ["o.csv", "o.jsonl", "o.parquet", "folder"]
PARTS = pa.list_(
    pa.struct(
        [
            ("role", pa.string()),
            ("type", pa.string()),
            ("time", pa.timestamp("us", "UTC")),
            ("end", pa.timestamp("us", "UTC")),
            ("label", pa.string()),
            ("attributes", pa.string()),
        ]
    )
)


@pytest.fixture
def found(occurs, here):
    """``found(host, form)``: the file that a run with --because writes."""
    (here / "fire.tesla").write_text(RULES)
    (here / "events.csv").write_text(EVENTS)

    def run(host, form, *options):
        arguments = ("--events", "events.csv", "--out", form, "--overwrite", *(options or ("--because",)))
        done = occurs("run", "fire.tesla", "--host", host, *arguments)
        assert done.status == 0, done.err
        return here / form

    return run


@pytest.fixture
def table(found):
    return pq.read_table(found("local", "o.parquet"))


def test_parquet_keeps_the_types(found, table):
    utc = pa.timestamp("us", "UTC")
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    plain = {"type": pa.string(), "time": utc, "Area": pa.string(), "Value": pa.float64(), "At": utc, "N": pa.int64()}
    more = {"Ok": pa.bool_(), "What": pa.string(), "label": pa.string(), "because": PARTS}
    assert types == plain | more
    assert table["N"].to_pylist() == [9007199254740993, -1]
    assert pq.read_table(found("local", "folder")).equals(table)


def test_the_other_forms_say_the_same(found, table):
    rows = [json.loads(line) for line in found("local", "o.jsonl").read_text().splitlines()]
    assert [r["label"] for r in rows] == table["label"].to_pylist()
    assert [r["N"] for r in rows] == [9007199254740993, -1]
    assert [r["At"] for r in rows] == ["2024-01-05T08:00:00.5Z", "2024-01-05T08:00:00Z"]
    assert [(r["Value"], r["Ok"], r["What"]) for r in rows] == [(50.0, True, "a"), (0.1, False, None)]
    assert [p["attributes"] for p in rows[0]["because"]] == [
        {"Area": "a"},
        {"Area": "a", "At": "2024-01-05T08:00:00.5Z", "N": 9007199254740993, "Ok": True, "Value": 50.0},
    ]
    for row, parts in zip(rows, table["because"].to_pylist(), strict=True):
        assert [[*p] for p in row["because"]] == [["role", "type", "time", "end", "label", "attributes"]] * 2
        assert [(p["role"], p["type"], p["label"], p["attributes"]) for p in row["because"]] == [
            (p["role"], p["type"], p["label"], json.loads(p["attributes"])) for p in parts
        ]
        assert [(p["time"], p["end"]) for p in row["because"]] == [
            ("2024-01-05T09:04:00Z", None),
            ("2024-01-05T09:00:00Z", None),
        ]
    written = list(csv.DictReader(io.StringIO(found("local", "o.csv").read_text())))
    assert [json.loads(r.pop("because")) for r in written] == [r["because"] for r in rows]
    assert [r["N"] for r in written] == ["9007199254740993", "-1"]
    assert [r["Area"] for r in written] == ["a", 'b,"c"']


def test_a_terminal_shows_them(table):
    out = io.StringIO()
    Console(file=out, width=160).print(rich_trees("Fire", table))
    assert out.getvalue() == """Fire: 2
Fire  2024-01-05T09:04:00Z  Area = "a", Value = 50.0, At = "2024-01-05T08:00:00.5Z", N = 9007199254740993, Ok = true, What = "a"
├── Smoke  2024-01-05T09:04:00Z  Area = "a"
└── Temp   2024-01-05T09:00:00Z  Area = "a", At = "2024-01-05T08:00:00.5Z", N = 9007199254740993, Ok = true, Value = 50.0
Fire  2024-01-05T09:04:00Z  Area = "b,\\"c\\"", Value = 0.1, At = "2024-01-05T08:00:00Z", N = -1, Ok = false
├── Smoke  2024-01-05T09:04:00Z  Area = "b,\\"c\\""
└── Temp   2024-01-05T09:00:00Z  Area = "b,\\"c\\"", At = "2024-01-05T08:00:00Z", N = -1, Ok = false, Value = 0.1

"""  # noqa: E501


def test_a_terminal_shows_intervals_and_roles(here):
    (here / "m.epl").write_text("insert into M select 1 as n from pattern [a=A -> (b=B and not C)]")
    (here / "w.phen").write_text("input event A(v), C(v).\nstate on(V) : A(V) ~> C(V).\nstate all(V) : on(V).\n")
    out = io.StringIO()
    program = load(here / "m.epl", here / "w.phen")
    tables = {t: pa.table({"time": at, "v": pa.array(at, pa.int64())}) for t, at in [("A", [1]), ("B", [5])]}
    found = program.detect({**tables, "C": tables["A"].slice(0, 0)}, time_unit="s", because=True)
    for type in ("M", "all"):
        Console(file=out, width=160).print(rich_trees(type, found.arrow(type)))
    assert out.getvalue() == """M: 1
M  5  n = 1
├── a: A   1       v = 1
├── b: B   5       v = 5
└── not C  2 to 4  rows = 0

all: 1
all  1 to ..  V = 1
└── on(V)  1  V = 1

"""


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_can_be_read_again(occurs, found, here, form):
    path = found("local", form, "--label")
    (here / "again.tesla").write_text("define Again(N, At) from Fire(Value > 1 and Ok) where N = Fire.N, At = Fire.At")
    done = occurs("run", "again.tesla", "--host", "local", "--events", path.name)
    assert done.status == 0, done.err
    [row] = [json.loads(line) for line in done.out.splitlines()]
    at = "2024-01-05T08:00:00.5Z"
    assert row == {"type": "Again", "time": "2024-01-05T09:04:00Z", "N": 9007199254740993, "At": at}


@pytest.mark.long
@pytest.mark.spark
def test_spark_writes_the_same(found, spark):
    for form in FORMS:
        for options in (("--because",), ("--label",)):
            here, there = found("local", form, *options), found("spark", "spark-" + form, *options)
            # the two are of one time: Spark orders them by their values, not by what they are made of
            if form.endswith((".csv", ".jsonl")):
                assert sorted(there.read_text().splitlines()) == sorted(here.read_text().splitlines())
            else:
                one, other = (pq.read_table(path).sort_by("label") for path in (here, there))
                assert one.equals(other)


@pytest.mark.long
@pytest.mark.spark
def test_spark_reports_in_order_of_time(occurs, here, spark):
    (here / "a.tesla").write_text("define X(V) from A(K = $k) where V = A.V")
    rows = [f"A,{(7 * i) % 100},{i % 13},{i % 3}" for i in range(100)]
    (here / "a.csv").write_text("\n".join(["type,time,K,V", *rows, *rows]) + "\n")
    done = occurs("run", "a.tesla", "--host", "spark", "--events", "a.csv", "--time-unit", "s")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [(r["time"], r["V"]) for r in found] == sorted((7 * i % 100, i % 3) for i in [*range(100)] * 2)
