"""One rule of the shared workload as a bare NumPy script: what someone would write by hand for exactly this question.

No order to establish (the events are sorted), no nulls, no ties, no types to find, one fixed rule: an engine that comes
near it spends its time on the question.  ``python -m benchmarks.yardstick`` checks every family against the golden
counts and prints its events per second.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable

import numpy as np

from benchmarks.workload import FAMILIES, GOLDEN, Constants, Events, constants, events

Columns = dict[str, np.ndarray]


class _Side:
    """The events of one type (v above a threshold), sorted by (key, time): ``at`` is both in one number."""

    def __init__(self, e: Events, kind: int, above: int = -1):
        rows = np.flatnonzero((e.type == kind) & (e.v > above))
        self.span = int(e.time[-1]) + 1 if len(e) else 1
        at = e.key[rows] * self.span + e.time[rows]
        order = np.argsort(at)
        self.at, self.key, self.v = at[order], e.key[rows][order], e.v[rows][order]

    def window(self, of: _Side, rows: np.ndarray | None, width: int) -> tuple[np.ndarray, np.ndarray]:
        """[lo, hi) of the events of the same key with ``t - width <= time <= t``, for ``rows`` of another side."""
        at = of.at if rows is None else of.at[rows]
        key = of.key if rows is None else of.key[rows]
        low = np.maximum(at - width, key * of.span)
        return np.searchsorted(self.at, low), np.searchsorted(self.at, at, side="right")


def _pairs(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every range expanded: the number of its owner, and the positions lo .. hi - 1."""
    size = hi - lo
    owner = np.repeat(np.arange(len(lo)), size)
    first = np.cumsum(size) - size
    return owner, np.arange(len(owner)) - np.repeat(first - lo, size)


def _chosen(a: _Side, b: _Side, rows: np.ndarray | None, width: int, last: bool) -> tuple[np.ndarray, np.ndarray]:
    lo, hi = b.window(a, rows, width)
    if last:
        owner = np.flatnonzero(hi > lo)
        return owner, hi[owner] - 1
    return _pairs(lo, hi)


def pair(e: Events, r: Constants, width: int, last: bool) -> Columns:
    a, b = _Side(e, r.a, r.x), _Side(e, r.b, r.y)
    i, j = _chosen(a, b, None, width, last)
    return {"Key": a.key[i], "V": b.v[j]}


def chain(e: Events, r: Constants, width: int, last: bool) -> Columns:
    a, b, c = _Side(e, r.a, r.x), _Side(e, r.b, r.y), _Side(e, r.c, r.z)
    i, j = _chosen(a, b, None, width, last)
    owner, k = _chosen(b, c, j, width, last)
    return {"Key": a.key[i[owner]], "V1": b.v[j[owner]], "V2": c.v[k]}


def not_between(e: Events, r: Constants, width: int) -> Columns:
    a, b, c = _Side(e, r.a, r.x), _Side(e, r.b, r.y), _Side(e, r.c)
    i, j = _chosen(a, b, None, width, last=False)
    # none in (b, a]: as many of them up to a as up to b
    free = np.searchsorted(c.at, a.at, side="right")[i] == np.searchsorted(c.at, b.at, side="right")[j]
    return {"Key": a.key[i[free]], "V": b.v[j[free]]}


def not_within(e: Events, r: Constants, width: int) -> Columns:
    a, c = _Side(e, r.a, r.x), _Side(e, r.c)
    lo, hi = c.window(a, None, width - 1)  # open at the early end
    free = lo == hi
    return {"Key": a.key[free], "V": a.v[free]}


def _average(side: _Side, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    total = np.concatenate([[0], np.cumsum(side.v)])
    with np.errstate(invalid="ignore"):
        average: np.ndarray = (total[hi] - total[lo]) / (hi - lo)  # NaN where there is none
    return average


def average_within(e: Events, r: Constants, width: int) -> Columns:
    a, b = _Side(e, r.a, r.x), _Side(e, r.b)
    return {"Key": a.key, "Avg": _average(b, *b.window(a, None, width))}


def average_between(e: Events, r: Constants, width: int) -> Columns:
    a, b, c = _Side(e, r.a, r.x), _Side(e, r.b, r.y), _Side(e, r.c)
    i, j = _chosen(a, b, None, width, last=True)
    lo, hi = np.searchsorted(c.at, b.at[j]), np.searchsorted(c.at, a.at[i], side="right")
    return {"Key": a.key[i], "Avg": _average(c, lo, hi)}


def five(e: Events, r: Constants, width: int) -> Columns:
    unkeyed = Events(e.time, e.type, np.zeros_like(e.key), e.v)
    (kind, above), *others = r.chain
    side, rows = _Side(unkeyed, kind, above), None
    for kind, above in others:
        following = _Side(unkeyed, kind, above)
        _, rows = _chosen(side, following, rows, width, last=False)
        side = following
    return {"V": side.v[rows]}


SCRIPTS: dict[str, Callable[[Events, Constants, int], Columns]] = {
    "each": lambda e, r, w: pair(e, r, w, last=False),
    "last": lambda e, r, w: pair(e, r, w, last=True),
    "seq3": lambda e, r, w: chain(e, r, w, last=False),
    "seq3last": lambda e, r, w: chain(e, r, w, last=True),
    "negb": not_between,
    "negt": not_within,
    "aggt": average_within,
    "aggb": average_between,
    "seq5": five,
}


def run(family: str, e: Events, rules: int, window: int) -> list[Columns]:
    """The detections of rules 0 .. rules - 1, one script run each: columns as the rule's attributes."""
    return [SCRIPTS[family](e, constants(j), window) for j in range(rules)]


def measure(family: str, found: list[Columns]) -> tuple[int, float]:
    """How many detections, and the checksum (see :class:`benchmarks.workload.Golden`)."""
    names, summed = FAMILIES[family]
    total = sum(np.nansum(columns[name]).item() for columns in found for name in names[-summed:])
    return sum(len(columns[names[0]]) for columns in found), total


def main() -> None:
    print(f"{'workload':<10}{'rules':>6}{'W':>6}{'detections':>12}{'events/s':>14}")
    for case in GOLDEN:
        if case.rules > 100:
            continue
        e = events(case.events)
        start = clock.perf_counter()
        found = run(case.family, e, case.rules, case.window)
        seconds = clock.perf_counter() - start
        count, checksum = measure(case.family, found)
        case.check(count, checksum)
        print(f"{case.family:<10}{case.rules:>6}{case.window:>6}{count:>12}{case.events / seconds:>14,.0f}")


if __name__ == "__main__":
    main()
