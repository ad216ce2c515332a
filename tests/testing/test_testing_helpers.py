"""The generators, the case files' notation and the comparison of detections."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pyarrow as pa
import pytest
from tests.generators.histories import benchmark_events, bulk_events, cut, random_history, split_by_type

from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type
from occurs.testing.cases import KINDS, Case, load_cases, parse_events, parse_time
from occurs.verify.compare import difference, occurrences_of

SCHEMAS = {"A": Schema((("K", Type.STRING), ("V", Type.INT))), "B": Schema((("X", Type.FLOAT),))}


def test_events_in_text() -> None:
    a, b, c, d = parse_events("# a comment\nA@3#2(V=-1, K='a, (b')  B@-5\n  C@1m(X=2.5,Y=null)*2")
    assert a == Occurrence("A", 3, {"V": -1, "K": "a, (b"}, 2)
    assert b == Occurrence("B", -5)
    assert c == d == Occurrence("C", 60000, {"X": 2.5, "Y": None})


@pytest.mark.parametrize(
    ("text", "unit", "ticks"),
    [
        ("5", "ms", 5),
        ("1m30s", "s", 90),
        ("-2h", "min", -120),
        ("1.5s", "ms", 1500),
        ("1970-01-02", "d", 1),
        ("2024-03-31T02:30:00+01:00", "timestamp", 1711848600000000),
    ],
)
def test_times_in_text(text: str, unit: str, ticks: int) -> None:
    assert parse_time(text, KINDS[unit]) == ticks


@pytest.mark.parametrize("text", ["A", "A@", "A@1(", "A@1(V)", "A@1(V=)", "A@1.5", "A@1q", "1@A"])
def test_events_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"not an? "):
        parse_events(text)


def test_tables_of_a_case() -> None:
    case = Case("x", "", tuple(parse_events("A@1(V=1) A@2#7(V=2.5,F=true) B@3")))
    tables = case.tables()
    assert tables["A"].schema.names == ["time", "sequence", "V", "F"]
    assert tables["A"].to_pydict() == {"time": [1, 2], "sequence": [None, 7], "V": [1.0, 2.5], "F": [None, True]}
    assert tables["B"].schema.names == ["time", "sequence"]
    assert difference(case.events, occurrences_of({"B": tables["B"].drop_columns(["sequence"])})) is not None


def test_files_of_cases(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("# T\n## one\nwhy\n```tesla\ndefine A() from B()\n```\n```in\nB@1s\n```\n```error\nsyntax\n```\n")
    (case,) = load_cases(tmp_path)
    assert (case.name, case.text, case.error, case.expected, case.line) == ("one", "why", "syntax", None, 2)
    file.write_text("## two\n```tesla\n```\n")
    with pytest.raises(ValueError, match=r"x\.md:1"):
        load_cases(file)


def test_differences() -> None:
    def rows(text: str) -> list[Occurrence]:
        return parse_events(text)

    assert difference(rows("A@1(V=1) A@1(V=1)"), rows("A@1(V=1)*2")) is None
    assert difference(rows("A@1(V=1)"), rows("A@1(V=1.0)")) is None
    assert difference(rows("A@1(V=0.3,W=null)"), rows("A@1(W=null,V=0.30000000000000004)")) is None
    assert difference(rows("A@1(V=1)"), rows("A@1(V=true)")) is not None
    assert difference(rows("A@1(V=null)"), rows("A@1(V=0)")) is not None
    assert difference(rows("A@1(V='1')"), rows("A@1(V=1)")) is not None
    text = difference(rows("A@1(V=1)*2 B@2"), rows("A@1(V=1) B@3"))
    assert text == "missing (2):\n  A@1(V=1)\n  B@2()\nunexpected (1):\n  B@3()"


def test_tables_become_events() -> None:
    times = pa.array([1_000_000], pa.timestamp("us", tz="UTC"))
    assert occurrences_of({"A": pa.table({"type": ["A"], "time": times, "V": [1]})}) == [
        Occurrence("A", 1_000_000, {"V": 1})
    ]


def test_the_benchmark_has_its_published_checksum() -> None:
    table = benchmark_events(100_000)
    columns = [table.column(c).to_pylist() for c in ("time", "type", "key", "v")]
    text = "ts,type,key,v\n" + "".join(f"{t},{n[1:]},{k},{v}\n" for t, n, k, v in zip(*columns, strict=True))
    assert hashlib.md5(text.encode()).hexdigest() == "4d687089b6184d77f35a6a6bbf83736b"


def test_bulk_events_keep_their_promises() -> None:
    table = bulk_events(5000, seed=1, keys=5, skew=1.0, per_instant=3.0, nulls=0.1, disorder=10)
    assert table.equals(bulk_events(5000, seed=1, keys=5, skew=1.0, per_instant=3.0, nulls=0.1, disorder=10))
    times = table.column("time").to_pylist()
    assert times != sorted(times)
    assert 2 < 5000 / len(set(times)) < 5
    assert 0.05 < table.column("V").null_count / 5000 < 0.15
    assert sum(t.num_rows for t in split_by_type(table).values()) == 5000


def test_small_histories_and_their_cuts() -> None:
    rng = random.Random(3)
    events = random_history(rng, SCHEMAS, 40, nulls=0.2)
    assert {type(v) for e in events for v in e.attributes.values()} == {str, int, float, type(None)}
    pieces = cut(rng, events)
    assert sum(len(rows) for _, rows in pieces) == 40
    assert all(e.time <= frontier for frontier, rows in pieces for e in rows)
