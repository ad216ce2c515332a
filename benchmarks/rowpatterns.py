"""Row patterns (MATCH_RECOGNIZE): whole calls beside the conditions and the kernel alone, steps per row, a peer.

All rates are of CPU-seconds of one process, Arrow on one thread, Arrow in and Arrow out.  The workloads are those that
DuckDB published for the clause: random walks and uniform values with fixed seeds.
"""

from __future__ import annotations

import importlib.util
import time as clock
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

import occurs
from benchmarks.report import Report, ratio
from occurs.hosts.local import history_rows
from occurs.operators.contract import Call
from occurs.operators.kernels import row_tables as T
from occurs.operators.rowpattern.operator import RowMatcher
from occurs.operators.rowpattern.run import Run
from occurs.operators.rowpattern.state import Kept
from occurs.options import InputOptions
from occurs.plan.stage import Stage

#: a whole call takes at most so many times the conditions and the kernel alone
WHOLE = 2.5
V_SHAPE = "MEASURES FIRST(price) AS top, LAST(DOWN.price) AS low, LAST(UP.price) AS up PATTERN (S DOWN+ UP+) "
V_SHAPE += "DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"
_ALL = "v >= 0"
#: name -> (rows, clause)
WORKLOADS = {
    "scan": (2_000_000, f"ORDER BY time {V_SHAPE}"),
    "partitions, by key": (2_000_000, f"PARTITION BY sym ORDER BY time {V_SHAPE}"),
    "partitions, by time": (2_000_000, f"PARTITION BY sym ORDER BY time {V_SHAPE}"),
    "partitions, shuffled": (2_000_000, f"PARTITION BY sym ORDER BY time {V_SHAPE}"),
    "quantifier": (500_000, "ORDER BY time MEASURES COUNT(*) AS k, SUM(A.v) AS s, LAST(C.v) AS c "
        "PATTERN (A{2,5} B{1,3}? (C | A)+) DEFINE A AS v < 0.5, B AS v >= 0.3 AND v < 0.8, C AS v > 0.6"),
    "catastrophic, A* A* A* B": (500_000, "ORDER BY time MEASURES COUNT(*) AS k AFTER MATCH SKIP TO NEXT ROW "
        f"PATTERN (A* A* A* B) DEFINE A AS {_ALL}, B AS v < 0"),
    "catastrophic, (A+)+ B": (500_000, "ORDER BY time MEASURES COUNT(*) AS k AFTER MATCH SKIP TO NEXT ROW "
        f"PATTERN ((A+)+ B) DEFINE A AS {_ALL}, B AS v < 0"),
    "navigation": (200_000, "ORDER BY time MEASURES A.v AS a, LAST(B.v) AS b, C.v AS c AFTER MATCH SKIP TO NEXT ROW "
        "PATTERN (A B* C) DEFINE B AS B.v <= 0.99 * A.v, C AS C.v > 0.99 * A.v"),
}  # fmt: skip
#: recorded: seconds of DuckDB (16 cores of an M-series laptop) and of Trino 476
PUBLISHED = {"scan": (0.146, 1.48), "partitions, by key": (0.057, 1.21), "quantifier": (0.072, 0.29),
             "navigation": (0.055, 0.44)}  # fmt: skip


def table(name: str, rows: int) -> pa.Table:
    """The rows of a workload."""
    rng = np.random.default_rng(20)
    price = 100 + np.cumsum(rng.normal(size=rows))
    if not name.startswith("partitions"):
        return pa.table({"time": np.arange(rows), "price": price, "v": rng.random(rows)})
    keys = max(1, rows // 100)
    sym = np.repeat(np.arange(keys), -(-rows // keys))[:rows] if "key" in name else rng.integers(0, keys, rows)
    found = pa.table({"time": np.arange(rows), "sym": sym, "price": price})
    return found.take(pa.array(rng.permutation(rows))) if "shuffled" in name else found


@dataclass(frozen=True)
class Prepared:
    """A workload planned for its rows."""

    program: occurs.Program
    table: pa.Table
    stage: Stage
    options: InputOptions

    @classmethod
    def of(cls, name: str, rows: int) -> Prepared:
        program = occurs.parse(f"SELECT * FROM Q MATCH_RECOGNIZE ({WORKLOADS[name][1]})", language="match_recognize")
        options, given = InputOptions(), table(name, rows)
        history = program.checked.history({"Q": given}, options)
        return cls(program, given, program.checked.plan(history.schemas, history.kind), options)

    def detect(self) -> int:
        """A whole call; how many matches it detects."""
        return len(self.program.detect({"Q": self.table})["matches"])

    @cached_property
    def operator(self) -> RowMatcher:
        (found,) = self.stage.operators
        assert isinstance(found, RowMatcher)
        return found

    def call(self) -> Call:
        """All rows in one call."""
        history = self.program.checked.history({"Q": self.table}, self.options)
        assert history.clock is not None
        start, until = history.clock
        return Call(history_rows(self.stage, history, False), None, until, start, history.kind, True)

    def searched(self, call: Call) -> tuple[float, int]:
        """CPU-seconds of the conditions and the kernel, and the steps of the search."""
        run = Run(self.operator, Kept.fresh(self.operator.matching.partition), call)
        start = clock.process_time()
        *_, work = run.search()
        return clock.process_time() - start, int(work[0][T.R_TOTAL])


def seconds(run: Callable[[], Any]) -> float:
    """CPU-seconds of this process."""
    start = clock.process_time()
    result = run()
    used = clock.process_time() - start
    del result
    return used


def whole_calls(quick: bool, repetitions: int) -> Report:
    """Every workload: a whole call beside the conditions and the kernel alone, and beside one sort of the keys."""
    out = Report(
        "Row patterns: whole calls, Arrow in and out; rows per CPU-second",
        [("workload", ""), ("rows", ",d"), ("matches", ",d"), ("detect", ",.0f"), ("conditions + kernel", ",.0f"),
         ("ratio", ".2f"), ("sort of keys", ".3f"), ("steps / row", ".1f"), ("ns / step", ".1f")],
        notes=[f"ratio: detect / (conditions + kernel), wanted: at most {WHOLE}; sort of keys: CPU-seconds of one "
               "NumPy sort by (key, time)"],
    )  # fmt: skip
    for name, (rows, _) in WORKLOADS.items():
        rows = rows // 10 if quick else rows
        prepared = Prepared.of(name, rows)
        found, call = prepared.detect(), prepared.call()
        detect, alone, steps, sort = [], [], 0, []
        for _ in range(repetitions):
            detect.append(seconds(prepared.detect))
            used, steps = prepared.searched(call)
            alone.append(used)
            if "sym" in prepared.table.column_names:
                keys = [prepared.table.column(n).to_numpy() for n in ("time", "sym")]
                sort.append(seconds(lambda keys=keys: np.lexsort(keys)))  # type: ignore[misc]
        whole, kernel = median(detect), max(median(alone), 1e-9)
        out.add(name, rows, found, rows / whole, rows / kernel, ratio(whole, kernel), median(sort) if sort else None,
                steps / rows, kernel / max(steps, 1) * 1e9)  # fmt: skip
    return out


def growth(sizes: list[int]) -> Report:
    """Patterns that are exponential or quadratic elsewhere: steps per row at growing sizes."""
    names = [n for n in WORKLOADS if n.startswith("catastrophic")]
    out = Report(
        "Row patterns: steps of the search per row where the history grows; flat is wanted",
        [("workload", ""), *((f"{n:,} rows", ".2f") for n in sizes)],
    )
    for name in names:
        cells = []
        for n in sizes:
            prepared = Prepared.of(name, n)
            cells.append(prepared.searched(prepared.call())[1] / n)
        out.add(name, *cells)
    return out


CROSS = (
    "ORDER BY time MEASURES A.price AS a, B.price AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A X* B) "
    "DEFINE X AS X.price <= A.price + 1, B AS B.price > A.price + 1"
)


def peer(quick: bool) -> Report | None:
    """pandas-match-recognize, if it is installed: rows per CPU-second, and whether it detects as many matches."""
    if importlib.util.find_spec("pandas_match_recognize") is None:
        return None
    from pandas_match_recognize import match_recognize  # type: ignore[import-not-found]

    out = Report(
        "Row patterns: beside pandas-match-recognize; rows per CPU-second",
        [("workload", ""), ("rows", ",d"), ("ours", ",.0f"), ("theirs", ",.0f"), ("ratio", ",.0f"), ("matches", ",d"),
         ("their matches", ",d")],
    )  # fmt: skip
    for name, rows, clause in (("V shape", 50_000, f"ORDER BY time {V_SHAPE}"), ("cross variable", 5_000, CROSS)):
        rows = rows // 10 if quick else rows
        given = table("scan", rows).drop_columns(["v"])
        program = occurs.parse(f"SELECT * FROM Q MATCH_RECOGNIZE ({clause})", language="match_recognize")
        ours = len(program.detect({"Q": given})["matches"])
        mine = median(seconds(lambda p=program, t=given: p.detect({"Q": t})["matches"]) for _ in range(5))  # type: ignore[misc]
        frame, got = given.to_pandas(), []
        query = f"SELECT * FROM Q MATCH_RECOGNIZE ({clause.replace('MEASURES', 'MEASURES', 1)})"
        used = seconds(lambda q=query, f=frame, g=got: g.append(len(match_recognize(q, f))))  # type: ignore[misc]
        out.add(name, rows, rows / mine, rows / used, ratio(used, mine), ours, got[0])
    return out


def duckdb_peer(quick: bool) -> Report | None:
    """DuckDB on one thread, if it is installed: rows per CPU-second, the matches in an Arrow table, and whether there
    are as many.  A version that has no MATCH_RECOGNIZE is named in a note."""
    if importlib.util.find_spec("duckdb") is None:
        return None
    import duckdb

    out = Report(
        "Row patterns: beside DuckDB on one thread; rows per CPU-second",
        [("workload", ""), ("rows", ",d"), ("ours", ",.0f"), ("theirs", ",.0f"), ("ratio", ",.2f"), ("matches", ",d"),
         ("their matches", ",d")],
    )  # fmt: skip
    for name in PUBLISHED:
        rows, clause = WORKLOADS[name]
        rows = rows // 10 if quick else rows
        prepared = Prepared.of(name, rows)
        query = f"SELECT * FROM Q MATCH_RECOGNIZE ({clause})"
        with duckdb.connect() as database:
            database.execute("SET threads = 1")
            database.register("given", prepared.table)
            database.execute("CREATE TABLE Q AS SELECT * FROM given")

            def theirs(run: Any = database, text: str = query) -> pa.Table:
                return run.execute(text).to_arrow_table()

            try:
                count = theirs().num_rows
            except duckdb.ParserException:
                out.notes.append(f"DuckDB {duckdb.__version__} has no MATCH_RECOGNIZE: its parser rejects the clause.")
                return out
            ours, mine, other = prepared.detect(), [], []
            for _ in range(3 if quick else 5):
                mine.append(seconds(prepared.detect))
                other.append(seconds(theirs))
        used, needed = median(mine), median(other)
        out.add(name, rows, rows / used, rows / needed, ratio(needed, used), ours, count)
    return out


def reports(quick: bool) -> Iterator[Report]:
    """All tables."""
    yield whole_calls(quick, 3 if quick else 5)
    yield growth([5_000, 50_000] if quick else [50_000, 500_000, 5_000_000])
    for found in (peer(quick), duckdb_peer(quick)):
        if found is not None:
            yield found
