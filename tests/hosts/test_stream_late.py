"""Rows that come too late, rows that are bad, rows outside the clock: left out and counted exactly, as if they had
never come."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hostcases import here, keywords, labelled
from instream import Answer, How, InStream
from tests.amount import amount
from tests.generators.random_tesla import random_program

import occurs
from occurs.errors import InputProblem, OccursError
from occurs.hosts.spark.parts import MISFIT
from occurs.hosts.stream import bucket_rows
from occurs.hosts.stream.records import ROWS, STRAYS
from occurs.model.history import InputOptions

Table = dict[str, pa.Table]
MS = InputOptions(time_unit="ms")
LAST = "define L(V) from A() and last B() within 50 ms from A where V = B.V"
#: lanes of several modes: B is read by all of them, C by none, A not by all
SEVERAL = """
define Same(K) from B(K = $k) and each A(K = $k) within 9 ms from B where K = $k
define Row(V) from B(V > 2) where V = B.V
define Any(V) from B() and last A() within 7 ms from B where V = A.V
define Once(V) from A() and last B() within 9 ms from A where V = B.V consuming B
define Pair(V) from B() and first A() within 6 ms from B where V = A.V consuming A
"""
#: the second stage has another key, and reads a type that the first does not
CHAIN = """
define One(K, G) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G
define Two(G) from C(G = $g) and each One(G = $g) within 20 ms from C where G = $g
"""


def events(rng: random.Random, n: int, types: str = "ABC", span: int = 40) -> Table:
    """``n`` events of each type."""
    out = {}
    for t in types:
        columns = {"time": [rng.randint(0, span) for _ in range(n)]}
        columns |= {c: [rng.randint(0, 3) for _ in range(n)] for c in "KGV"}
        out[t] = pa.table(columns)
    return out


def late_rows(parts: list[pa.Table], delay: int, got: Answer) -> Counter[str]:
    """The rows (``__data``) at or before the frontier that was there before their micro-batch."""
    newest: int | None = None
    least, frontier = 0, None
    out: Counter[str] = Counter()
    for part, answer in zip(parts, got.batches):
        good = part.filter(pc.equal(part.column("__state"), 0))
        times, data = good.column("__time").to_pylist(), good.column("__data").to_pylist()
        late = [frontier is not None and t <= frontier for t in times]
        out.update(d for d, missed in zip(data, late) if missed)
        known = [t for t, missed in zip(times, late) if not missed]
        least = min([least, *known]) if newest is not None else min(known, default=0)
        newest = max([*known, *([] if newest is None else [newest])], default=None)
        frontier = answer.figures["frontier"]
        complete = None if newest is None else newest - delay - 1
        # while nothing is complete there may be no frontier yet
        assert frontier == complete or (frontier is None and complete is not None and complete < least)
    return out


def without(tables: Table, late: Counter[str]) -> Table:
    gone = {(d["type"], d["row"]) for d in map(json.loads, late)}
    return {
        t: table.filter(pa.array([(t, n) not in gone for n in range(len(table))], pa.bool_()))
        for t, table in tables.items()
    }


def disordered(stream: InStream) -> list[pa.Table]:
    rows = stream.rows
    rows = rows.take(pa.array(stream.rng.sample(range(len(rows)), len(rows)), pa.int64()))
    size = stream.how.size or len(rows) or 1
    return [rows.slice(n, size) for n in range(0, len(rows), size)]


def check(program: occurs.Program, tables: Table, options: dict[str, Any], how: How) -> int:
    """Any disorder; the number of late rows."""
    stream = InStream(program, tables, InputOptions(**options), how)
    parts = disordered(stream)
    got = stream.run(parts)
    late = late_rows(parts, how.delay, got)
    assert got.total("late") == late.total()
    assert Counter(json.dumps(d) for d in got.late) == (late if how.late else Counter())
    assert got.total("rows") == len(stream.rows)
    rest = without(tables, late)
    wanted = here(program, rest, because=True, **options)
    assert labelled(got.found) == labelled(wanted), how
    return late.total()


@pytest.mark.share(3)
@pytest.mark.parametrize("rules", [LAST, SEVERAL, CHAIN])
@pytest.mark.parametrize("wanted", [False, True])
def test_late_rows_are_as_if_they_had_not_come(rules: str, wanted: bool) -> None:
    found = 0
    for seed in range(12):
        rng = random.Random(seed)
        tables = events(rng, 12)
        memory = rng.choice(("kept", "forgetful", "crash"))
        how = How(rng.choice((1, 3)), rng.choice((1, 4, 9)), rng.choice((0, 5, 15)), memory=memory, late=wanted)
        how = replace(how, seed=seed)
        found += check(occurs.parse(rules), tables, {"time_unit": "ms"}, how)
    assert found > 50


def test_rows_without_a_reader_are_dealt_to_all_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine of ten rows have no reader: no bucket gets many more bytes than another."""
    monkeypatch.setattr(bucket_rows, "SHARE", 64)
    times = np.arange(9_000)
    tables = {
        "A": pa.table({"time": times[::18], "K": times[::18] % 300}),
        "B": pa.table({"time": times[::18], "K": times[::18] % 300}),
        "Nobody": pa.table({"time": times}),
    }
    keyed = "define L(K) from A(K = $k) and last B(K = $k) within 50 ms from A where K = A.K"
    stream = InStream(occurs.parse(keyed), tables, MS, How(8, None, because=False))
    load = Counter[int]()
    for record in stream._packed(0, stream.rows, None, False):
        load[record.bucket] += len(record.blob or b"") if record.kind in (ROWS, STRAYS) else 0
    assert len(load) == 8
    assert max(load.values()) <= 1.2 * median(load.values())


def run_seed(seed: int) -> int:
    """A random program and a history in no order at all; the number of late rows, -1 if it is refused."""
    rng = random.Random(seed)
    case = random_program(rng)
    if not case.events or "Timer" in case.rules:
        return -1
    times = [e.time for e in case.events]
    tables, options = case.tables(), keywords(case)
    options.pop("until", None)
    time = next(iter(tables.values())).column("time")
    tables["Nobody"] = pa.table({"time": rng.choices(time.to_pylist(), k=4)}, schema=pa.schema([("time", time.type)]))
    span = max(times) - min(times)
    how = How(rng.choice((1, 2, 3)), rng.choice((1, 3, 7)), rng.choice((0, span // 8, span // 3)))
    how = replace(how, memory=rng.choice(("kept", "forgetful", "crash")), late=rng.random() < 0.7, seed=seed)
    try:
        return check(occurs.parse(case.rules), tables, options, how)
    except OccursError:
        return -1


def test_late_rows_of_random_programs() -> None:
    found = [run_seed(seed) for seed in range(amount(10, 30))]
    assert sum(n > 0 for n in found) > len(found) / 2


def test_late_rows_do_not_start_the_clock() -> None:
    program = occurs.parse("define T() from Timer(MS%5 == 0)")
    stream = InStream(program, {"A": pa.table({"time": [12, -1, 40]})}, MS, How(buckets=1, delay=10))
    rows = {t: stream.rows.slice(n, 1) for n, t in enumerate(stream.rows.column("__time").to_pylist())}
    got = stream.run([rows[12], pa.concat_tables([rows[-1], rows[40]])])
    first = 12 if got.total("late") else -1
    assert sorted(e.time for e in got.found) == [t for t in range(0, 45, 5) if t >= first]


# -- bad rows, rows outside the clock ----------------------------------------------------------------------------------
def with_bad(stream: InStream, times: list[int | None]) -> pa.Table:
    """Bad rows at these times, as the JVM finds them."""
    rows = []
    for n, t in enumerate(times):
        why = {"found": [{"r": MISFIT, "n": "V", "v": "x"}], "file": "f.csv", "row": n + 1, "data": "{}"}
        rows.append({"__type": "A", "__time": t, "__state": 2, "__bad": json.dumps(why)})
    return pa.Table.from_pylist(rows, schema=stream.schema)


def bad_answer(skip: bool) -> tuple[Answer, list[Any]]:
    tables = events(random.Random(3), 10)
    stream = InStream(occurs.parse(SEVERAL), tables, MS, How(buckets=3, skip=skip))
    parts = stream.cut()
    parts[1] = pa.concat_tables([parts[1], with_bad(stream, [10**6, None])])
    got = stream.run([with_bad(stream, [0]), *parts, with_bad(stream, [-5])])
    return got, labelled(here(occurs.parse(SEVERAL), tables, because=True, time_unit="ms"))


def test_bad_rows_are_left_out_and_do_not_move_the_clock() -> None:
    got, wanted = bad_answer(True)
    assert labelled(got.found) == wanted
    assert (got.total("bad"), got.total("rows"), got.total("late")) == (4, 34, 0)
    bad = pa.concat_tables([b.bad for b in got.batches])
    assert bad.column_names == ["reason", "file", "column", "value", "data", "row"]
    assert sorted(tuple(r.values()) for r in bad.to_pylist()) == [
        (MISFIT, "f.csv", "V", "x", "{}", 1),
        (MISFIT, "f.csv", "V", "x", "{}", 1),
        (MISFIT, "f.csv", "V", "x", "{}", 1),
        (MISFIT, "f.csv", "V", "x", "{}", 2),
    ]


def test_bad_rows_refuse_the_run() -> None:
    with pytest.raises(InputProblem) as caught:
        bad_answer(False)
    assert caught.value.kind == "bad-value"
    assert (caught.value.problems[0].file, caught.value.problems[0].row) == ("f.csv", 1)
    assert "skip" in str(caught.value.problems[-1].hint)


@pytest.mark.parametrize("size", [1, 7, None])
def test_rows_outside_the_clock(size: int | None) -> None:
    tables = events(random.Random(5), 10)
    ends = {"time_unit": "ms", "start": 10, "until": 25}
    outside = sum(not 10 <= t <= 25 for table in tables.values() for t in table.column("time").to_pylist())
    for buckets in (1, 3):
        how = How(buckets, size, 30, shuffled=True, memory="crash")
        got = InStream(occurs.parse(SEVERAL), tables, InputOptions(**ends), how).run()
        assert labelled(got.found) == labelled(here(occurs.parse(SEVERAL), tables, because=True, **ends))
        assert got.total("outside") == outside > 0
        assert got.total("late") == 0


def test_the_end_of_the_clock_is_reached_without_closing() -> None:
    """A row behind ``until`` by more than the delay says that the whole clock is complete."""
    program = occurs.parse("define Row(V) from A() where V = A.V")
    tables = {"A": pa.table({"time": [1, 20, 100], "V": [1, 2, 3]})}
    stream = InStream(program, tables, InputOptions(time_unit="ms", until=20), How(delay=10, size=1, buckets=1))
    found = [stream.query.read(stream.micro_batch(part)) for part in stream.cut()]
    assert [t for b in found for t in b.found["Row"].column("time").to_pylist()] == [1, 20]
