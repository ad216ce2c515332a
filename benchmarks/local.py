"""The local host on the shared workload: the engine, the whole call, and a bare NumPy script, in turns.

Of every family and number of rules the detections are counted and summed in the same run: by the golden figures for the
events that these are known for, and against the script for more events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

import occurs
from benchmarks import yardstick
from benchmarks.report import Report, ratio
from benchmarks.timing import Job, Timing, alternate, stopwatch
from benchmarks.workload import GOLDEN, NEWER, T_REX, Golden, events
from occurs.engine.engine import Engine
from occurs.engine.results import TypeRows
from occurs.hosts.local import BUDGET, calls, history_rows
from occurs.model.history import History, InputOptions
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage
from occurs.program import Program

#: one rule needs this many events to run longer than the grain of the clock
MANY = 1_000_000

_OPTIONS = InputOptions(time_unit="ms")

#: rules -> events/s of a bare prototype of the kernels, `each` and `last`, W = 100 (recorded, on another day)
PROTOTYPE = {1: 70e6, 100: 2.65e6, 1000: 0.9e6, 5000: 0.36e6}


@dataclass(frozen=True)
class Prepared:
    """A program planned for a table in memory: what is left is the work on the events."""

    program: Program
    table: pa.Table
    history: History
    stage: Stage

    @classmethod
    def of(cls, text: str, table: pa.Table) -> Prepared:
        """``table``: columns time (ms), type and attributes."""
        program = occurs.parse(text)
        history = program.checked.history(table, _OPTIONS)
        return cls(program, table, history, program.checked.plan(history.schemas, history.kind))

    def rows(self) -> dict[str, Rows]:
        """The rows of every type in the total order; fresh ones, as columns and rows remember what was computed."""
        return history_rows(self.stage, self.history, labelled=False)

    def advance(self, rows: Mapping[str, Rows]) -> list[TypeRows]:
        """All calls of a new engine."""
        assert self.history.clock is not None
        start, until = self.history.clock
        engine = Engine(self.stage)
        return [engine.advance(part, frontier, start) for frontier, part in calls(rows, until, BUDGET)]

    def columns(self, done: list[TypeRows]) -> list[pa.Table]:
        """The detections as columns (type, time, attributes), a table per template of rules."""
        out: list[pa.Table] = []
        for found in done:
            seen = set()
            for t in self.stage.reported:
                alone = found.parts.alone(t)
                if alone is None or id(alone[0]) in seen:
                    continue
                seen.add(id(alone[0]))
                sheet = alone[0].sheet(self.stage.schemas[t], self.stage.kind, False)
                assert sheet is not None
                out.append(sheet)
        return out

    def tables(self, done: list[TypeRows]) -> list[pa.Table]:
        """The detections as a table per type."""
        return [found.table(t) for found in done for t in self.stage.reported]

    def engine(self) -> float:
        """Seconds of the engine alone, output columns included."""
        rows = self.rows()
        return stopwatch(lambda: self.columns(self.advance(rows)))

    def cut(self) -> float:
        """Seconds of ``engine``, and of the cut into a table per type."""
        rows = self.rows()
        return stopwatch(lambda: self.tables(self.advance(rows)))

    def events(self) -> float:
        """Seconds from the table as it was loaded: intake (types apart), order, engine, output columns."""

        def run() -> list[pa.Table]:
            history = self.program.checked.history(self.table, _OPTIONS)
            return self.tables(self.advance(history_rows(self.stage, history, labelled=False)))

        return stopwatch(run)

    def detect(self) -> Mapping[str, Any]:
        """Everything that is found, by type."""
        found = self.program.detect(self.table, time_unit="ms")
        return {t: found[t] for t in found}

    def whole(self) -> float:
        """Seconds of ``program.detect``: that of ``events``, and the plan."""
        return stopwatch(self.detect)


def check(case: Golden, prepared: Prepared, size: int) -> tuple[int, float]:
    """Counts and sums of ``program.detect`` and of the script: the golden ones, and on ``size`` events the same.

    Returns the detections among ``size`` events and the seconds of their ``detect``.  AssertionError if one differs.
    """
    if size == case.events:
        expected = case
        case.check(*yardstick.measure(case.family, _script(case, size)))
    else:
        case.check(*case.measure(Prepared.of(case.text, case.table).detect()))
        expected = Golden(
            case.family, case.rules, case.window, size, *yardstick.measure(case.family, _script(case, size))
        )
    found: list[Mapping[str, Any]] = []
    seconds = stopwatch(lambda: found.append(prepared.detect()))
    expected.check(*expected.measure(found[0]))
    return expected.detections, seconds


def _script(case: Golden, size: int) -> list[yardstick.Columns]:
    return yardstick.run(case.family, events(size), case.rules, case.window)


def cases(quick: bool) -> list[Golden]:
    """All golden rows; ``quick``: W = 100, and beyond one rule `each` and `last` only."""
    if not quick:
        return sorted(GOLDEN, key=lambda g: (g.window, g.rules))
    few = ("each", "last")
    return sorted((g for g in GOLDEN if g.window == 100 and (g.rules == 1 or g.family in few)), key=lambda g: g.rules)


def report(chosen: list[Golden], repetitions: int, *, many: int = MANY) -> Report:
    """One row per case; with one rule on ``many`` events."""
    out = Report(
        "Local host: the shared workload in memory, one process, one thread; events per second",
        [
            ("family", ""),
            ("rules", ",d"),
            ("W ms", ",d"),
            ("events", ",d"),
            ("found", ",d"),
            ("engine", ",.0f"),
            ("engine, cut", ",.0f"),
            ("ns per rule-event", ",.2f"),
            ("from table", ",.0f"),
            ("detect", ",.0f"),
            ("script", ",.0f"),
            ("from table / script", ".2f"),
            ("prototype*", ",.0f"),
            ("engine / prototype*", ".2f"),
            ("T-Rex*", ",d"),
            ("detect / T-Rex*", ".1f"),
            ("of", ""),
            ("spread", ".2f"),
        ],
        notes=[
            "* recorded on another day, not measured in this run: only ratios measured side by side count.",
            "engine: planned, rows of each type in order beforehand; a new engine and its output columns (type, time, "
            "attributes), as the prototype wrote them. engine, cut: and a table per type. from table: the same and the "
            "intake of the table. detect: the same and the plan. script: benchmarks/yardstick.py, "
            "one run per rule. ns per rule-event: of engine. spread: slowest by fastest run of `from table`.",
            "All detections were counted and summed in this run, and are those of the definition.",
        ],
    )
    for case in chosen:
        size = max(many, case.events) if case.rules == 1 else case.events
        prepared = Prepared.of(case.text, events(size).table())
        found, planned = check(case, prepared, size)
        jobs: dict[str, Job] = {
            "engine": prepared.engine,
            "cut": prepared.cut,
            "events": prepared.events,
            "script": partial(stopwatch, partial(_script, case, size)),
        }
        if case.rules <= 100:
            jobs["detect"] = prepared.whole  # else the plan takes longest, and one run must do
        times = alternate(jobs, repetitions)
        times.setdefault("detect", Timing((planned,)))
        speed = {name: size / t.median for name, t in times.items()}
        bare = PROTOTYPE.get(case.rules) if case.family in ("each", "last") and case.window == 100 else None
        peer = T_REX[case].speed
        out.add(
            case.family,
            case.rules,
            case.window,
            size,
            found,
            speed["engine"],
            speed["cut"],
            times["engine"].median / size / case.rules * 1e9,
            speed["events"],
            speed["detect"],
            speed["script"],
            speed["events"] / speed["script"],
            bare,
            ratio(speed["engine"], bare),
            peer,
            speed["detect"] / peer,
            "22 Nov 2026" if (case.family, case.rules, case.window) in NEWER else "earlier",
            times["events"].spread,
        )
    return out
