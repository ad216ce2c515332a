"""Keys that never return: what calls cost, and what an engine holds, after many of them.

``python -m benchmarks.newkeys CALLS [NAME ..]`` prints both over a run of so many calls, each with a hundred new keys.
"""

from __future__ import annotations

import sys
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import pyarrow as pa
from rich.console import Console
from tests.laws.contract import cut
from tests.laws.new_keys import held, renamed

import occurs
from benchmarks.logic_memory import process
from benchmarks.report import Report
from occurs.engine.engine import Engine
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: seconds that each call is about
SPAN = 10
_LINKS = "table L(k string key, n int)\n"
_EACH = "trigger {name} for each y in (select k from L{more}): "
_EVENTS = "input event A(k, n, f), B(k, n, f).\n"

#: name -> (language, rules).  Keys come with A (or a row of L) in one call, and go with B in the next one.
PROGRAMS: Mapping[str, tuple[str, str]] = {
    "TESLA, last": (
        "tesla",
        "define X(K) from B(k = $k, n = $n, f = $f) and last A(k = $k, n = $n, f = $f) within 20 s from B where K = $k",
    ),
    "TESLA, negation and aggregate": (
        "tesla",
        "define X(K, N) from B(k = $k) and not A(n > 5, k = $k) within 8 s from B "
        "where K = $k, N = COUNT(A(f = B.f)) within 20 s from B",
    ),
    "TESLA, consuming": (
        "tesla",
        "define X(K) from B(k = $k) and last A(k = $k) within 20 s from B where K = $k consuming A",
    ),
    "TESLA, recursion": (
        "tesla",
        "define X(K, T) from A(k = $k) where K = $k, T = 1;\n"
        "define X(K, T) from B(k = $k) and last X(K = $k) within 20 s from B where K = $k, T = X.T + 1",
    ),
    "EPL, followed by": (
        "epl",
        "@Name('X') select a.k as k from pattern [every a=A -> b=B(k=a.k, n=a.n) where timer:within(20 sec)];",
    ),
    "EPL, absence": (
        "epl",
        "@Name('X') select a.k as k from pattern [every a=A -> (timer:interval(14 sec) and not B(k=a.k))];",
    ),
    "EPL, distinct": ("epl", "@Name('X') select a.k as k from pattern [every-distinct(a.k, 20 sec) a=A];"),
    "Phenesthe, together": (
        "phenesthe",
        _EVENTS + "state s(K) : A(K, _, _) ~> B(K, _, _).\nstate u(K, N) : A(K, N, _) ~> B(K, N, _).\n"
        "dynamic X(K) : s(K) finishes u(K, _).",
    ),
    "Phenesthe, one by one": (
        "phenesthe",
        _EVENTS + "state s(K, N, F) : A(K, N, F) ~> B(K, N, F).\nstate g(K) : filter(s(K, _, _), at_least(3)).\n"
        "event p(K, N) : A(K, N, _) where N > 5.\nstate X(K, F) : filter(s(K, _, F), at_least(3)).",
    ),
    "FTL, columns": (
        "ftl",
        _LINKS
        + _EACH.format(name="X", more="")
        + "eventually [x <- L(y)] eventually within 15 (L(y) >= x + 5) continue",
    ),
    "FTL, state by state, a condition": (
        "ftl",
        _LINKS + _EACH.format(name="X", more=" where n > 5") + "eventually within 15 (L(y) >= 5) reactivate",
    ),
    "FTL, state by state": (
        "ftl",
        _LINKS + _EACH.format(name="X", more="") + "L(y) > 3 until L(y) > 8 continue",
    ),
    "FTL, SQL": (
        "ftl",
        _LINKS + _EACH.format(name="X", more=" group by k") + "eventually [x <- L(y)] eventually within 15 (L(y) > x)"
        " continue",
    ),
    "PTL, columns": (
        "ptl",
        _LINKS
        + _EACH.format(name="X", more="")
        + "[t <- time][x <- L(y)] previously (L(y) < x and time >= t - 15) continue",
    ),
    "eSQL, texts": ("esql", "DEFINE Out AS SLICE EACH (EVENTS OF A, B) WITH (THE COUNT OF *) ON k UNTIL $0 >= 2."),
    "eSQL, ints": ("esql", "DEFINE Out AS SLICE EACH (EVENTS OF A, B) WITH (THE COUNT OF *) ON n UNTIL $0 >= 2."),
    "eSQL, maps": ("esql", "DEFINE Out AS SLICE (EVENTS OF A, B) WITH (THE COUNT OF *) ON k UNTIL $0 >= 2."),
}


@dataclass(frozen=True)
class Prepared:
    """A program, planned, and the rows of its first two calls."""

    stage: Stage
    first: Sequence[Mapping[str, Rows]]

    @classmethod
    def of(cls, name: str, keys: int = 100) -> Prepared:
        """A program of :data:`PROGRAMS` with so many keys per call."""
        language, rules = PROGRAMS[name]
        program = occurs.parse(rules, language=language)
        options = InputOptions(time_unit="s", until=2 * SPAN - 1)
        history = program.checked.history(tables(language in ("ftl", "ptl"), keys), options)
        stage = program.checked.plan(history.schemas, history.kind)
        rows = history_rows(stage, history, labelled=False)
        return cls(stage, [part for _, part in cut(rows, [SPAN - 1, 2 * SPAN - 1])])

    def call(self, number: int) -> tuple[dict[str, Rows], int]:
        """The rows of a call, and up to when it knows everything.  Keys come in an even one, and go in the next."""
        period = number // 2
        part = {t: renamed(r, period, 2 * SPAN * period) for t, r in self.first[number % 2].items()}
        return part, (number + 1) * SPAN - 1


def tables(table: bool, keys: int) -> dict[str, pa.Table]:
    """Events A in the first ten seconds and B of the same keys in the next; or rows of a table that come, change and
    go."""
    numbers = np.arange(keys)

    def at(time: int, op: str | None = None, n: int | None = None) -> pa.Table:
        columns = {"time": np.full(keys, time), "k": pa.array([f"key {i}" for i in numbers])}
        if table:
            return pa.table({**columns, "n": pa.array([n] * keys, pa.int64()), "op": pa.array([op] * keys)})
        return pa.table({**columns, "n": numbers, "f": numbers + 0.5})

    if not table:
        return {"A": at(3), "B": at(15)}
    return {"L": pa.concat_tables([at(3, n=4), at(12, n=9), at(15, "delete")], promote_options="permissive")}


@dataclass(frozen=True)
class Mark:
    """After so many calls: bytes that the engine holds, rows of its state, MiB of the process, and the seconds of the
    median of the calls since the last mark."""

    calls: int
    held: int
    rows: int
    process: float
    seconds: float


def soak(prepared: Prepared, calls: int, marks: int) -> Iterator[Mark]:
    """So many calls of one engine; what there is after each of the parts in which ``marks`` divides them."""
    engine, took = Engine(prepared.stage), []
    for number in range(calls):
        rows, frontier = prepared.call(number)
        start = clock.perf_counter()
        found = engine.advance(rows, frontier, 0)
        took.append(clock.perf_counter() - start)
        del found, rows
        if (number + 1) * marks // calls > number * marks // calls:
            yield Mark(number + 1, held(engine), engine.state.rows(), process(), median(took))
            took.clear()


def report(calls: int, names: Sequence[str] = tuple(PROGRAMS), keys: int = 100) -> Report:
    """What calls cost late and early in a run, and what is held."""
    out = Report(
        f"Keys that never return: {calls:,} calls, each with {keys} new keys",
        [
            ("program", ""),
            ("rows of state", ",d"),
            ("kB held, early", ",.0f"),
            ("kB held, late", ",.0f"),
            ("late / early", ".2f"),
            ("µs per call, early", ",.0f"),
            ("µs per call, late", ",.0f"),
            ("late / early", ".2f"),
            ("MiB more", ",.0f"),
        ],
        notes=[
            "early: the second tenth of the calls; late: the last one. Both ratios are 1 if nothing is kept of keys "
            "that are gone. The kB held are the most over three tenths, as a dictionary grows until it is replaced."
        ],
    )
    for name in names:
        found = list(soak(Prepared.of(name, keys), calls, 10))
        early, late = found[1], found[-1]
        before, after = (max(m.held for m in part) / 1e3 for part in (found[1:4], found[-3:]))
        out.add(
            name, late.rows, before, after, after / before, early.seconds * 1e6, late.seconds * 1e6,
            late.seconds / early.seconds, late.process - early.process,
        )  # fmt: skip
    return out


if __name__ == "__main__":
    report(int(sys.argv[1]), sys.argv[2:] or tuple(PROGRAMS)).show(Console(width=200))
