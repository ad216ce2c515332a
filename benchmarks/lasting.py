"""Intervals: the maritime definitions of Phenesthe, in this process and on Spark.

The ships are those of :mod:`examples.maritime.ais`, or real ones from a file.  All eight definitions run in every case:
four states from one event to another, one intersection, and three formulas of relations within relations.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
import pyarrow.parquet as pq
from examples.maritime.ais import maritime

import occurs
from benchmarks.report import Report
from benchmarks.timing import Job, alternate, stopwatch
from occurs.engine.calls import Calls
from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.hosts.local import BUDGET, calls, history_rows, run_history
from occurs.model.history import History, InputOptions
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage
from occurs.program import Program
from occurs.verify.reference import expected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DEFINITIONS = Path(__file__).parent.parent / "examples" / "maritime" / "maritime.phen"
#: state -> the events from which to which it holds, and what tells one binding from another
RANGES = {
    "stopped": ("stop_start", "stop_end", ("vessel",)),
    "underway": ("fast", "slow", ("vessel",)),
    "in_port": ("entersPort", "leavesPort", ("vessel", "area")),
    "in_fishing_area": ("entersFishingArea", "leavesFishingArea", ("vessel", "area")),
}
VESSELS, DAYS, EVERY = 500, 3.0, 300
#: by this cost per event may grow with the history; so many times that of one call may calls of a thousand events cost
FLAT, SMALL = 1.3, 3.0

Tables = Mapping[str, pa.Table]


def ships(vessels: int = VESSELS, days: float = DAYS, every: int = EVERY) -> dict[str, pa.Table]:
    """The events that the definitions read, by type; time in whole seconds."""
    made = maritime(vessels, days, seed=2, every=every)
    return {t: _seconds(made[t]) for begin, end, _ in RANGES.values() for t in (begin, end)}


def _seconds(table: pa.Table) -> pa.Table:
    return table.set_column(0, "time", pc.divide(table["time"].cast(pa.int64()), 1_000_000))


def from_file(path: Path) -> dict[str, pa.Table]:
    """The same from a CSV file (``.gz`` or not) with the columns type, time (seconds), vessel, area."""
    known = pv.ConvertOptions(column_types={"type": pa.string(), "area": pa.string()}, strings_can_be_null=True)
    rows = pv.read_csv(path, convert_options=known)
    out = {}
    for begin, end, key in RANGES.values():
        for t in (begin, end):
            out[t] = rows.filter(pc.equal(rows["type"], t)).select(["time", *key]).combine_chunks()
    return out


def size(tables: Tables) -> int:
    return sum(len(t) for t in tables.values())


def part(tables: Tables, count: int) -> dict[str, pa.Table]:
    """About the first ``count`` events."""
    times = np.sort(np.concatenate([t["time"].to_numpy() for t in tables.values()]))
    last = int(times[min(count, len(times)) - 1])
    return {name: t.filter(pc.less_equal(t["time"], last)) for name, t in tables.items()}


@dataclass(frozen=True)
class Ready:
    """The program planned for events in memory."""

    tables: Tables
    program: Program
    history: History
    stage: Stage

    @classmethod
    def of(cls, tables: Tables) -> Ready:
        program = occurs.load(DEFINITIONS)
        history = program.checked.history(tables, InputOptions(time_unit="s"))
        return cls(tables, program, history, program.checked.plan(history.schemas, history.kind))

    @property
    def clock(self) -> tuple[int, int]:
        """The first and the last instant."""
        assert self.history.clock is not None
        return self.history.clock

    def rows(self) -> dict[str, Rows]:
        """The rows of every type in the total order; fresh ones, as columns remember what was computed."""
        return history_rows(self.stage, self.history, labelled=False)

    def cut(self, rows: Mapping[str, Rows], budget: int) -> list[tuple[int, Mapping[str, Rows]]]:
        """(frontier, rows up to it) of calls with about ``budget`` events."""
        return list(calls(rows, self.clock[1], budget))

    def advance(self, cut: Sequence[tuple[int, Mapping[str, Rows]]]) -> list[TypeRows]:
        """All calls of a new engine."""
        engine, (start, until) = Engine(self.stage), self.clock
        return [engine.advance(rows, frontier, start, closing=frontier == until) for frontier, rows in cut]

    def columns(self, done: list[TypeRows]) -> list[pa.Table]:
        """What was found, a table per type."""
        calls = Calls(self.stage, done)
        return [calls.table(t) for t in self.stage.reported]

    def found(self) -> dict[str, int]:
        """How many rows every definition gives."""
        done = self.advance([(self.clock[1], self.rows())])
        return {t: sum(d.count(t) for d in done) for t in self.stage.reported}

    # -- jobs: the seconds of what counts -----------------------------------------------------------------------------
    def engine(self) -> float:
        """Rows in order, and columns out: one call."""
        rows = self.rows()
        return stopwatch(lambda: self.columns(self.advance([(self.clock[1], rows)])))

    def in_calls(self, budget: int) -> float:
        """The same in calls of about ``budget`` events."""
        cut = self.cut(self.rows(), budget)
        return stopwatch(lambda: self.columns(self.advance(cut)))

    def whole(self, budget: int | None = None) -> float:
        """From the tables as they were loaded: intake, order, engine, columns; in one call, or in calls of about
        ``budget`` events."""

        def run() -> list[pa.Table]:
            history = self.program.checked.history(self.tables, InputOptions(time_unit="s"))
            return self.columns(run_history(self.stage, history, budget=BUDGET if budget is None else budget))

        return stopwatch(run)

    def detect(self) -> float:
        """``program.detect``: that, and the plan."""

        def run() -> list[pa.Table]:
            found = self.program.detect(self.tables, time_unit="s")
            return [found[t] for t in found]

        return stopwatch(run)

    def reference(self) -> float:
        """The reference semantics."""
        return stopwatch(lambda: expected(self.program.checked, self.history))

    def idle(self, times: int = 100) -> float:
        """An ``advance`` with nothing to do, in the middle of the history."""
        engine, (start, until) = Engine(self.stage), self.clock
        middle = start + (until - start) // 2
        rows = self.rows()
        engine.advance({t: r.slice(0, int(np.searchsorted(r.time, middle, "right"))) for t, r in rows.items()}, middle)

        def run() -> None:
            for number in range(times):
                engine.advance({}, middle + 1 + number, start)

        return stopwatch(run) / times


# -- sort and shift ----------------------------------------------------------------------------------------------------
def sort_and_shift(begin: pd.DataFrame, end: pd.DataFrame, key: tuple[str, ...]) -> pd.DataFrame:
    """``begin ~> end`` as a user of pandas would say it: all marks in order, without those that repeat the last."""
    by = list(key)
    marks = pd.concat([begin.assign(ends=False), end.assign(ends=True)], ignore_index=True)
    marks = marks.sort_values([*by, "time", "ends"])
    marks = marks[~marks.duplicated([*by, "time"])]  # at an instant with both it begins, or goes on
    marks = marks[(marks[by] != marks[by].shift()).any(axis=1) | (marks["ends"] != marks["ends"].shift())]
    marks["end"] = marks["time"].shift(-1).where((marks[by] == marks[by].shift(-1)).all(axis=1))
    return marks.loc[~marks["ends"], ["time", "end", *by]]


def four_ranges(frames: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {state: sort_and_shift(frames[a], frames[b], key) for state, (a, b, key) in RANGES.items()}


# -- tables of the report ----------------------------------------------------------------------------------------------
RECORDED = (
    "Phenesthe itself runs on SWI-Prolog: recorded on 22 November 2026, on two quiet cores, are 250,000 events/s with "
    "windows of two hours and 110,000 in one window, for all eight definitions over three days of ships."
)


def rates(tables: Tables, repetitions: int, *, sample: int = 5_000, what: str = "generated ships") -> Report:
    """Events per second beside the reference semantics and pandas.  AssertionError if they find something else."""
    ready, few = Ready.of(tables), Ready.of(part(tables, sample))
    frames = {t: table.to_pandas() for t, table in tables.items()}
    counts = ready.found()
    by_hand = {state: len(rows) for state, rows in four_ranges(frames).items()}
    if by_hand != {state: counts[state] for state in RANGES}:
        raise AssertionError(f"pandas finds {by_hand}, the engine {counts}")
    wanted, got = len(expected(few.program.checked, few.history)), sum(few.found().values())
    if wanted != got:
        raise AssertionError(f"the reference semantics finds {wanted}, the engine {got}")
    jobs: dict[str, Job] = {
        "engine": ready.engine,
        "whole": ready.whole,
        "detect": ready.detect,
        "pandas": lambda: stopwatch(lambda: four_ranges(frames)),
        "few": few.engine,
        "reference": few.reference,
    }
    times = alternate(jobs, repetitions)
    total, every = size(tables), sum(counts.values())
    out = Report(
        f"Intervals: the eight maritime definitions over {what}, one process, one thread",
        [("", ""), ("events", ",d"), ("found", ",d"), ("ms", ",.1f"), ("events/s", ",.0f"), ("to engine", ".2f"),
         ("spread", ".2f")],
        notes=[
            "engine: planned, rows of each type in order beforehand; one call, and its output as Arrow columns. from "
            "tables: the same and the intake of the Arrow tables. detect: the same and the plan. to engine: its events "
            "per second by those of the line; of the reference by those of the engine on the same events.",
            "pandas: sort and shift, only the four states from one event to another; it finds the same.",
            ("SWI-Prolog is here, but not used. " if shutil.which("swipl") else "No SWI-Prolog here. ") + RECORDED,
            "Found: " + ", ".join(f"{t} {n:,}" for t, n in counts.items()),
        ],
    )  # fmt: skip
    lines = [("engine", "engine", total, every, "engine"), ("from tables", "whole", total, every, "engine")]
    lines += [("detect", "detect", total, every, "engine"), ("pandas, four of them", "pandas", total, None, "engine")]
    lines += [("engine, few events", "few", size(few.tables), got, "few")]
    lines += [("reference semantics", "reference", size(few.tables), got, "few")]
    by_hand_count = sum(by_hand.values())
    for name, job, n, count, beside in lines:
        seconds = times[job].median
        count = by_hand_count if count is None else count
        out.add(name, n, count, seconds * 1e3, n / seconds, seconds / times[beside].median, times[job].spread)
    return out


def by_history(lengths: Sequence[tuple[str, Tables]], repetitions: int, budget: int = 10_000) -> Report:
    """Cost per event for histories of every length, in one call and in calls of ``budget`` events."""
    out = Report(
        "Intervals: cost with the length of the history; ns per event",
        [("", ""), *((name, ".0f") for name, _ in lengths), ("last / first", ".2f"), ("spread", ".2f")],
        notes=[
            f"Flat: {FLAT} or less. Events: {', '.join(f'{size(t):,}' for _, t in lengths)}, of as many vessels each.",
        ],
    )
    ready = {name: Ready.of(tables) for name, tables in lengths}
    ways: dict[str, dict[str, Job]] = {
        "one call": {name: r.engine for name, r in ready.items()},
        f"calls of {budget:,} events": {name: lambda r=r: r.in_calls(budget) for name, r in ready.items()},
    }
    for way, jobs in ways.items():
        times = alternate(jobs, repetitions)
        cost = [times[name].median / size(tables) * 1e9 for name, tables in lengths]
        out.add(way, *cost, cost[-1] / cost[0], max(t.spread for t in times.values()))
    return out


def by_call(tables: Tables, budgets: Sequence[int], repetitions: int) -> Report:
    """Cost per event for every number of events in a call, and of a call with none."""
    ready = Ready.of(tables)
    names: dict[int | None, str] = {None: "one call"} | {b: f"{b:,} events a call" for b in budgets}
    jobs: dict[str, Job] = {}
    for budget, name in names.items():
        jobs[f"{name}, engine"] = ready.engine if budget is None else lambda b=budget: ready.in_calls(b)
        jobs[name] = lambda b=budget: ready.whole(b)
    times = alternate({**jobs, "idle": ready.idle}, repetitions)
    rows, events = ready.rows(), size(tables)
    out = Report(
        f"Intervals: cost with the events of a call; {events:,} events, ns per event",
        [("", ""), ("calls", ",d"), ("engine: ms a call", ",.2f"), ("engine", ",.0f"), ("to one call", ".2f"),
         ("from tables", ",.0f"), ("all to one call", ".2f"), ("spread", ".2f")],
        notes=[
            "engine: rows in order beforehand; each call, and the output columns of all. from tables: the same and the "
            "intake, of all events at once, and the cut into calls.",
            f"Wanted: calls of 1,000 events from tables take {SMALL:.0f} times one call or less (the last ratio); a "
            "call with nothing to do 1 ms or less.",
        ],
    )  # fmt: skip
    first, whole = times["one call, engine"].median, times["one call"].median
    for budget, name in names.items():
        engine, all_of_it = times[f"{name}, engine"], times[name]
        count = 1 if budget is None else len(ready.cut(rows, budget))
        costs = [engine.median / count * 1e3, engine.median / events * 1e9, engine.median / first]
        costs += [all_of_it.median / events * 1e9, all_of_it.median / whole]
        out.add(name, count, *costs, max(engine.spread, all_of_it.spread))
    out.add("nothing to do", 1, times["idle"].median * 1e3, None, None, None, None, times["idle"].spread)
    return out


# -- Spark -------------------------------------------------------------------------------------------------------------
def parquet(folder: Path, tables: Tables, name: str) -> Path:
    """One file with all events by time: type, time, vessel, area; made if it is not there."""
    path = folder / f"ships-{name}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        parts = [t.append_column("type", pa.repeat(n, len(t)).cast(pa.string())) for n, t in tables.items()]
        rows = pa.concat_tables(parts, promote_options="default").sort_by("time")
        half = path.with_suffix(".part")
        pq.write_table(rows.select(["type", "time", "vessel", "area"]), half)
        half.rename(path)
    return path


def on_spark(spark: SparkSession, path: Path, repetitions: int) -> Report:
    """``detect`` and write of all definitions beside rows that are read, brought together by vessel and written."""
    from pyspark.sql import functions as F

    from benchmarks.sparkjob import identity, sink
    from occurs.hosts.spark import PARTITIONS

    program = occurs.load(DEFINITIONS)
    types = {t: key for a, b, key in RANGES.values() for t in (a, b)}
    local = Ready.of({t: _of_type(path, t, key) for t, key in types.items()})

    def found() -> DataFrame:
        together: Any = program.detect(spark.read.parquet(str(path)), time_unit="s")
        frame: DataFrame = together.together()
        return frame

    def idle(share: float) -> DataFrame:
        number = reduce(lambda n, t: n.when(F.col("type") == t[1], t[0]), enumerate(types), F)
        frame = spark.read.parquet(str(path)).withColumn("type", number.cast("short"))
        frame = frame.repartition(PARTITIONS, "vessel").sortWithinPartitions("time")
        return frame.mapInArrow(identity(share), frame.schema)

    counts = {row["type"]: row["count"] for row in found().groupBy("type").count().collect()}
    if counts != {t: n for t, n in local.found().items() if n}:
        raise AssertionError(f"Spark finds {counts}, the local host {local.found()}")
    events = pq.read_metadata(path).num_rows
    share = sum(counts.values()) / events
    jobs: dict[str, Job] = {
        "scan": lambda: stopwatch(lambda: sink(spark.read.parquet(str(path)))),
        "idle": lambda: stopwatch(lambda: sink(idle(share))),
        "rule": lambda: stopwatch(lambda: sink(found())),
    }
    times = alternate(jobs, repetitions, budget=300)
    base = times["idle"].median
    out = Report(
        f"Intervals on Spark: {events:,} events in Parquet, all eight definitions, noop sink",
        [("job", ""), ("seconds", ".2f"), ("events/s", ",.0f"), ("to identity", ".2f"), ("spread", ".2f")],
        notes=[
            "The identity kernel gets the rows by vessel and in order of time, types as small numbers, and returns as "
            f"many as they: {sum(counts.values()):,}, those that the local host gives. {PARTITIONS} partitions, two "
            "cores.",
        ],
    )
    names = {
        "scan": "scan",
        "idle": "identity kernel, same shuffle and sort",
        "rule": "the definitions: detect and write",
    }
    for name, words in names.items():
        seconds = times[name].median
        out.add(words, seconds, events / seconds, seconds / base, times[name].spread)
    return out


def _of_type(path: Path, type: str, key: tuple[str, ...]) -> pa.Table:
    return pq.read_table(path, columns=["time", *key], filters=[("type", "=", type)])


def reports(quick: bool, file: Path | None, folder: Path) -> Iterator[Report]:
    """All tables; ``file``: real ships, as :func:`from_file` reads them, beside the generated ones."""
    repetitions = 5 if quick else 9
    tables = ships()
    yield rates(tables, repetitions)
    if file is not None:
        yield rates(from_file(file), repetitions, what=file.name)
    days = DAYS / 3
    yield by_history([(f"{n} x", ships(days=days * n)) for n in ((1, 4) if quick else (1, 4, 16))], repetitions)
    yield by_call(tables, [100_000, 10_000, 1_000], 3 if quick else 5)
    from benchmarks import sparkjob

    spark = sparkjob.session()
    try:
        yield on_spark(spark, parquet(folder, tables, "generated"), 3 if quick else 5)
    finally:
        spark.stop()
