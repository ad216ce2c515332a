"""How the cost per event grows with the number of events and with the window, and what order costs in sequential rules.

Everything runs on the local host: planned, rows in order beforehand, output columns made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from benchmarks import workload
from benchmarks.local import Prepared
from benchmarks.report import Report
from benchmarks.timing import alternate
from benchmarks.workload import splitmix64

#: cost per event may grow by this
FLAT = 1.3

#: beside the families of the shared workload: one choice per terminator, then a negation
_NEGATED_CHOICE = (
    "define CE1000(Key, V) from T1(key = $k, v > 50) and last T2(key = $k, v > 50) within {window} ms from T1 "
    "and not T3(key = $k, v > 90) between T2 and T1 where Key = $k, V = T2.v"
)
FAMILIES = ("last", "negt", "negb", "last+negb", "aggt", "aggb")

#: rules whose past decides their future; {window} ms
SEQUENTIAL = {
    "consuming": (
        "define Pair(Key, V) from T1(key = $k) and last T2(key = $k) within {window} ms from T1 "
        "where Key = $k, V = T2.v consuming T2"
    ),
    "recursion": (
        "define Climb(Key, Times, Val) from T1(key = $k) where Key = $k, Times = 1, Val = T1.v;\n"
        "define Climb(Key, Times, Val) from T1(key = $k, v = $v) and last Climb(Key = $k, Val < $v) "
        "within {window} ms from T1 where Key = $k, Times = Climb.Times + 1, Val = $v"
    ),
}


def text(family: str, window: int) -> str:
    """Rule 0 of a family (or of the one added here)."""
    if family == "last+negb":
        return _NEGATED_CHOICE.format(window=window)
    return workload.rules(family, 1, window)


def found(prepared: Prepared) -> int:
    """How many detections there are."""
    return sum(len(t) for t in prepared.tables(prepared.advance(prepared.rows())))


def by_events(sizes: Sequence[int], repetitions: int, families: Sequence[str] = FAMILIES) -> Report:
    """Cost per event for each number of events, W = 100 ms."""
    out = Report(
        "Growth with the number of events: one rule, W = 100 ms; engine, ns per event",
        [("family", ""), *((f"{n:,} events", ".2f") for n in sizes), ("last / first", ".2f"), ("spread", ".2f")],
        notes=[f"Flat: {FLAT} or less. More than 2,000,000 rows are cut into several calls."],
    )
    for family in families:
        prepared = {n: Prepared.of(text(family, 100), workload.events(n).table()) for n in sizes}
        times = alternate({str(n): p.engine for n, p in prepared.items()}, repetitions)
        cost = [times[str(n)].median / n * 1e9 for n in sizes]
        out.add(family, *cost, cost[-1] / cost[0], max(t.spread for t in times.values()))
    return out


def by_window(windows: Sequence[int], n: int, repetitions: int, families: Sequence[str] = FAMILIES) -> Report:
    """Cost per event for each window; a column of detections beside it, as output is work, too."""
    columns: list[tuple[str, str]] = [("family", "")]
    for w in windows:
        columns += [(f"W = {w:,}", ".2f"), ("found", ",d")]
    out = Report(
        f"Growth with the window (ms): one rule, {n:,} events, 10 keys; engine, ns per event",
        [*columns, ("last / first", ".2f"), ("spread", ".2f")],
        notes=[
            f"Flat: {FLAT} or less from the first to the last window. A window of W ms holds W / 100 events of a type "
            "and key.",
        ],
    )
    for family in families:
        prepared = {w: Prepared.of(text(family, w), workload.events(n).table()) for w in windows}
        counts = {w: found(p) for w, p in prepared.items()}
        times = alternate({str(w): p.engine for w, p in prepared.items()}, repetitions)
        cost = {w: times[str(w)].median / n * 1e9 for w in windows}
        cells = [cell for w in windows for cell in (cost[w], counts[w])]
        spread = max(t.spread for t in times.values())
        out.add(family, *cells, cost[windows[-1]] / cost[windows[0]], spread)
    return out


def keyed(n: int, keys: int) -> pa.Table:
    """n events of T1 and T2, 1 ms apart, with a key 0 .. keys - 1 and v 0 .. 99, at random."""
    draws = (splitmix64(0, 3 * n) >> np.uint64(33)).reshape(n, 3)
    kinds = pa.DictionaryArray.from_arrays(pa.array((draws[:, 0] % np.uint64(2)).astype(np.int32)), ["T1", "T2"])
    key = (draws[:, 1] % np.uint64(keys)).astype(np.int64)
    v = (draws[:, 2] % np.uint64(100)).astype(np.int64)
    return pa.table({"time": np.arange(1, n + 1), "type": kinds, "key": key, "v": v})


def sequential(plan: Sequence[tuple[int, int]], repetitions: int) -> Report:
    """Events per second of rules that are evaluated instant by instant; ``plan``: (keys, events)."""
    out = Report(
        "Sequential rules: the result of one event decides the result of the next; engine, events per second",
        [
            ("rules", ""),
            ("keys", ",d"),
            ("events", ",d"),
            ("found", ",d"),
            ("ev/s", ",.0f"),
            ("µs per event", ".2f"),
            ("spread", ".2f"),
        ],
        notes=["The window is 10 ms per key, so that it holds about ten events of a key, whatever the number of keys."],
    )
    for name, rule in SEQUENTIAL.items():
        for keys, n in plan:
            prepared = Prepared.of(rule.format(window=10 * keys), keyed(n, keys))
            count = found(prepared)
            timing = alternate({"engine": prepared.engine}, repetitions, warm=False, budget=20)["engine"]
            out.add(name, keys, n, count, n / timing.median, timing.median / n * 1e6, timing.spread)
    return out
