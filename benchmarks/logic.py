"""Temporal triggers: OVERLOAD beside a script, bounded formulas beside rtamt, growth, many instances, many triggers.

All rates are of CPU-seconds of one process, Arrow on one thread.
"""

from __future__ import annotations

import importlib.util
import time as clock
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

import occurs
from benchmarks import logic_work
from benchmarks.logic_memory import memory, state_by_state
from benchmarks.report import Report, ratio
from benchmarks.timing import alternate
from occurs.hosts.local import calls, history_rows
from occurs.operators.contract import Call
from occurs.operators.rows import Rows
from occurs.operators.temporal.vectorised import Columns
from occurs.options import InputOptions
from occurs.plan.stage import Stage

#: wanted: states per second of OVERLOAD from unsorted columns, and of a formula without a network; how much faster
#: than state by state
RATE, GENERAL, FASTER = 1_000_000, 50_000, 10
_BUDGET = 200.0
_OPTIONS = InputOptions(time_unit="s")


def seconds(run: Callable[[], Any]) -> float:
    """CPU-seconds of this process."""
    start = clock.process_time()
    result = run()
    used = clock.process_time() - start
    del result
    return used


@dataclass(frozen=True)
class Prepared:
    """A program planned for a table of one type of rows, which has been brought in order."""

    program: occurs.Program
    table: pa.Table
    type: str
    stage: Stage
    rows: dict[str, Rows]
    clock: tuple[int, int]

    @classmethod
    def of(cls, text: str, type_: str, table: pa.Table) -> Prepared:
        program = occurs.parse(text, language="ftl")
        history = program.checked.history({type_: table}, _OPTIONS)
        stage = program.checked.plan(history.schemas, history.kind)
        assert history.clock is not None
        return cls(program, table, type_, stage, history_rows(stage, history, labelled=False), history.clock)

    def detect(self) -> dict[str, pa.Table]:
        """All of it, from the table as it is."""
        return self.program.detect({self.type: self.table}, time_unit="s")

    def operators(self, piece: int | None = None) -> list[int]:
        """What the operators alone keep after all rows, which they take at once or in pieces; nothing is put out."""
        sizes = []
        # rows remember what triggers have made of them
        rows = {t: r.slice(0) for t, r in self.rows.items()}
        for d in self.stage.definitions:
            kept, since = d.evaluator.fresh(), None
            for frontier, part in calls(rows, self.clock[1], piece or 2**62):
                d.evaluator.advance(kept, Call(part, since, frontier, self.clock[0], self.stage.kind))
                since = frontier
                sizes.append(kept.size)
        return sizes

    @property
    def vectorised(self) -> bool:
        return all(isinstance(d.evaluator, Columns) for d in self.stage.definitions)


def overload(n: int, repetitions: int) -> Report:
    """OVERLOAD and its past twin under all strategies, beside a sort and a queue by hand."""
    out = Report(
        f"OVERLOAD, ten minutes: {n:,} rows of {logic_work.LINKS:,} links, unsorted; states per CPU-second",
        [
            ("trigger", ""),
            ("strategy", ""),
            ("firings", ",d"),
            ("detect", ",.0f"),
            ("operator", ",.0f"),
            ("script", ",.0f"),
            ("script / detect", ".2f"),
            ("spread", ".2f"),
        ],
        notes=[
            f"Wanted: detect {RATE:,}, under both strategies. operator: rows in the order of time beforehand, nothing "
            "put out. script: one sort and a Numba queue that knows this trigger and nothing else.",
        ],
    )
    table = logic_work.traffic(n)
    for past in (False, True):
        for strategy in logic_work.STRATEGIES if not past else logic_work.STRATEGIES[:2]:
            ours = Prepared.of(logic_work.rules(strategy, past=past), "Traffic", table)
            if not ours.vectorised:
                raise AssertionError(f"OVERLOAD, {strategy}: not over columns")
            found = ours.detect()["Overload"]
            count, total = logic_work.by_hand(table, strategy)
            if (found.num_rows, int(np.array(found["load"]).sum())) != (count, total):
                raise AssertionError(f"OVERLOAD, {strategy}: {found.num_rows} firings, not {count}, or other loads")
            jobs = {"detect": ours.detect, "operator": ours.operators}
            times = alternate(
                {
                    **{name: lambda job=job: seconds(job) for name, job in jobs.items()},  # type: ignore[misc]
                    "script": lambda strategy=strategy: seconds(lambda: logic_work.by_hand(table, strategy)),  # type: ignore[misc]
                },
                repetitions,
                warm=False,
                budget=_BUDGET,
            )
            rates = {name: n / t.median for name, t in times.items()}
            spread = times["detect"].spread
            shown = rates["script"] / rates["detect"]
            row = rates["detect"], rates["operator"], rates["script"]
            out.add("past" if past else "future", strategy, count, *row, shown, spread)
    return out


def peer(n: int, repetitions: int) -> Report:
    """Beside rtamt: the same formulas over the same samples."""
    out = Report(
        f"Beside rtamt: {n:,} samples; states per CPU-second",
        [("formula", ""), ("satisfied", ",d"), ("detect", ",.0f"), ("rtamt", ",.0f"), ("detect / rtamt", ",.0f")],
        notes=["Wanted: 20 times rtamt, with the bound 600 200 times; detect of 600 within 1.2 of that of 10."],
    )
    if importlib.util.find_spec("rtamt") is None:
        out.notes.append("No rtamt here: `pip install rtamt`.")
    few = min(n, 20_000)
    table = logic_work.states(n)
    for name, (theirs, mine) in logic_work.PEER.items():
        ours = Prepared.of(logic_work.trigger(mine), "s", table)
        found = ours.detect()["m"]
        rate, other = n / alternate({"": lambda p=ours: seconds(p.detect)}, repetitions)[""].median, None  # type: ignore[misc]
        if importlib.util.find_spec("rtamt") is not None:
            times = np.array(found["time"])
            satisfied, used = rtamt(theirs, table.slice(0, few))
            if satisfied != times[times <= few].tolist():
                raise AssertionError(f"{name}: rtamt is satisfied at other samples")
            other = few / used
        out.add(name, found.num_rows, rate, other, ratio(rate, other))
    return out


def rtamt(formula: str, table: pa.Table) -> tuple[list[int], float]:
    """Where rtamt's robustness is positive, and its CPU-seconds, sample by sample."""
    from rtamt import StlDiscreteTimeOnlineSpecification

    monitor = StlDiscreteTimeOnlineSpecification()
    for name in "pq":
        monitor.declare_var(name, "float")
    monitor.spec = formula
    monitor.parse()
    p, q = (np.array(table[name]).astype(float).tolist() for name in "pq")
    time = table["time"].to_pylist()
    start = clock.process_time()
    out = [monitor.update(i, [("p", a - 0.5), ("q", b - 0.5)]) for i, (a, b) in enumerate(zip(p, q))]
    used = clock.process_time() - start
    return [t for t, robustness in zip(time, out) if robustness > 0], used


def growth(n: int, repetitions: int, names: Collection[str] = tuple(logic_work.BOUNDED)) -> Report:
    """Bounded formulas: twice and four times the history, sixty times the bound, and what is kept."""
    out = Report(
        f"Bounded formulas: CPU-seconds of the operator over {n:,}, twice and four times as many states",
        [
            ("formula", ""),
            ("states/s", ",.0f"),
            ("2 n / n", ".2f"),
            ("4 n / 2 n", ".2f"),
            ("bound 600 / 10", ".2f"),
            ("kept at n", ",d"),
            ("at 4 n", ",d"),
        ],
        notes=[
            "Wanted: 2.2 or less for twice the history, 1.2 or less for the bound, and nothing more kept "
            "(values, times and instances). Where equality with a remembered number is asked for, all of the window is."
        ],
    )
    for name in names:
        formula = logic_work.BOUNDED[name]
        text = logic_work.trigger(formula, c=10)
        sizes = {size: Prepared.of(text, "s", logic_work.states(size)) for size in (n, 2 * n, 4 * n)}
        long = Prepared.of(logic_work.trigger(formula, c=600), "s", logic_work.states(n))
        jobs: dict[str, Callable[[], float]] = {str(k): lambda p=p: seconds(p.operators) for k, p in sizes.items()}  # type: ignore[misc]
        times = alternate({**jobs, "long": lambda p=long: seconds(p.operators)}, repetitions)  # type: ignore[misc]
        once, twice, more = (times[str(size)].median for size in sizes)
        kept = sizes[4 * n].operators(n // 10)
        at = len(kept) // 4
        cells = n / once, twice / once, more / twice, times["long"].median / once
        out.add(name, *cells, max(kept[:at]), max(kept[at:]))
    return out


def many(n: int, repetitions: int) -> Report:
    """A thousand instances beside one, a hundred triggers beside one."""
    out = Report(
        f"Many at once: {n:,} rows; CPU-seconds",
        [("what", ""), ("seconds", ".3f"), ("to one", ".2f"), ("wanted", ".2f"), ("spread", ".2f")],
    )
    one = Prepared.of(logic_work.rules("continue"), "Traffic", logic_work.traffic(n, 1))
    thousand = Prepared.of(logic_work.rules("continue"), "Traffic", logic_work.traffic(n))
    hundred = Prepared.of(logic_work.rules("continue", count=100), "Traffic", logic_work.traffic(n // 10))
    single = Prepared.of(logic_work.rules("continue"), "Traffic", logic_work.traffic(n // 10))
    times = alternate(
        {
            "one instance, operator": lambda: seconds(one.operators),
            "1,000 instances, operator": lambda: seconds(thousand.operators),
            "one trigger, a tenth of the rows, detect": lambda: seconds(single.detect),
            "100 triggers, a tenth of the rows, detect": lambda: seconds(hundred.detect),
        },
        repetitions,
        budget=_BUDGET,
    )
    names = list(times)
    for name, base, wanted in ((0, 0, None), (1, 0, 1.3), (2, 2, None), (3, 2, 40.0)):
        t = times[names[name]]
        out.add(names[name], t.median, t.median / times[names[base]].median, wanted, t.spread)
    return out


def general(n: int, repetitions: int) -> Report:
    """Formulas without a network, by obligations over columns, beside monitors that go state by state."""
    out = Report(
        f"Obligations: {n:,} states; states per CPU-second",
        [
            ("formula", ""),
            ("strategy", ""),
            ("firings", ",d"),
            ("detect", ",.0f"),
            ("state by state", ",.0f"),
            ("ratio", ".1f"),
            ("spread", ".2f"),
        ],
        notes=[f"Wanted: {GENERAL:,} states, and {FASTER} times the rate of monitors that go state by state."],
    )
    table = logic_work.states(n)
    for name, formula in logic_work.GENERAL.items():
        for strategy in ("reactivate", "continue"):
            text = logic_work.trigger(formula, strategy)
            ours = Prepared.of(text, "s", table)
            with state_by_state():
                before = Prepared.of(text, "s", table)
            if not ours.vectorised or before.vectorised:
                raise AssertionError(f"{name} is not evaluated in both ways")

            def monitors(prepared: Prepared = before) -> dict[str, pa.Table]:
                with state_by_state():  # `detect` plans anew
                    return prepared.detect()

            found = ours.detect()["m"].num_rows
            if found != monitors()["m"].num_rows:
                raise AssertionError(f"{name}, {strategy}: monitors find something else")
            times = alternate(
                {"": lambda p=ours: seconds(p.detect), "before": lambda run=monitors: seconds(run)},  # type: ignore[misc]
                repetitions,
            )
            rates = n / times[""].median, n / times["before"].median
            out.add(name, strategy, found, *rates, rates[0] / rates[1], times[""].spread)
    return out


def reports(quick: bool) -> Iterator[Report]:
    yield overload(500_000 if quick else 5_000_000, 3 if quick else 5)
    yield peer(200_000 if quick else 1_000_000, 3 if quick else 5)
    yield growth(100_000 if quick else 500_000, 3 if quick else 5)
    yield many(200_000 if quick else 1_000_000, 3)
    yield general(20_000 if quick else 50_000, 3)
    yield memory(20_000 if quick else 1_000_000)
