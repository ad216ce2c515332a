"""The triggers of the benchmarks: rows, rules, and OVERLOAD by hand.

OVERLOAD over n rows of 1,000 links: row i is of second i // 50 and of one of twenty links that i % 50 chooses, so that
every link is written about every 20 seconds, and never twice in one; the rows are shuffled.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit

LINKS = 1000
PER_SECOND = 50
#: ten minutes
WITHIN = 600
TIMES = 3

STRATEGIES = ("continue", "reactivate", "continue at most every 60 s", "reactivate at most every 60 s")

TRAFFIC = "table Traffic (link string key, load int);\n"
FUTURE = (
    "trigger {name} for each y in (select link from Traffic): "
    "eventually [t <- time][x <- Traffic(y)] eventually (Traffic(y) >= {times}*x and time <= t + {within} s) "
    "{strategy} emit Overload(link = y, load = Traffic(y));\n"
)
PAST = (
    "past trigger {name} for each y in (select link from Traffic): "
    "[t <- time][x <- Traffic(y)] previously ({times}*Traffic(y) <= x and time >= t - {within} s) "
    "{strategy} emit Overload(link = y, load = Traffic(y));\n"
)


def noise(n: int) -> np.ndarray:
    """uint32 (n): hashes of the row numbers."""
    x = np.arange(1, n + 1, dtype=np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return x


@lru_cache(maxsize=2)
def traffic(n: int, links: int = LINKS) -> pa.Table:
    """``time`` (int seconds), ``link``, ``load`` (50 .. 199): n rows, shuffled; of as many links."""
    i, x = np.arange(n, dtype=np.int64), noise(n).astype(np.int64)
    number = (i % PER_SECOND * (LINKS // PER_SECOND) + x % (LINKS // PER_SECOND)) if links == LINKS else i * 0
    time = i // PER_SECOND if links == LINKS else i
    load = 50 + x // 1000 % 150
    names = pa.array([f"link{k:04d}" for k in range(links)])
    order = np.random.default_rng(1).permutation(n)
    at = pa.array(number[order])
    return pa.table({"time": time[order], "link": names.take(at), "load": load[order]})


def rules(strategy: str, *, past: bool = False, count: int = 1, within: int = WITHIN) -> str:
    """OVERLOAD; with a ``count`` of triggers that differ in what is to be exceeded by how much."""
    form = PAST if past else FUTURE
    made = [form.format(name=f"m{k}", times=TIMES + k, within=within, strategy=strategy) for k in range(count)]
    text = TRAFFIC + "".join(made)
    return text if count == 1 else text.replace("emit Overload(link = y, load = Traffic(y))", "")


def by_hand(table: pa.Table, strategy: str) -> tuple[int, int]:
    """(firings, sum of their loads): a sort and a queue per link."""
    names, time, load = table["link"].combine_chunks().dictionary_encode(), np.array(table["time"]), table["load"]
    code = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    order = np.lexsort((time, code))
    gap = 60 if "every" in strategy else 0
    fired = _overloads(code[order], time[order], np.array(load)[order], TIMES, WITHIN, gap, "continue" in strategy)
    return int(fired.sum()), int(np.array(load)[order][fired].sum())


@njit(cache=True, nogil=True)
def _overloads(
    code: np.ndarray, time: np.ndarray, load: np.ndarray, times: int, within: int, gap: int, continues: bool
) -> np.ndarray:
    n = len(code)
    fired = np.zeros(n, np.bool_)
    least = np.empty(n, np.int64)
    head = tail = last = 0
    for i in range(n):
        if i == 0 or code[i] != code[i - 1]:
            head = tail = 0
            last = -(2**62)
        while tail > head and load[least[tail - 1]] >= load[i]:
            tail -= 1
        least[tail] = i
        tail += 1
        while time[i] - time[least[head]] > within:
            head += 1
        if load[i] >= times * load[least[head]] and time[i] - last >= gap:
            fired[i] = True
            last = time[i]
            if not continues:
                head = tail = 0
    return fired


# --- other rules ------------------------------------------------------------------------------------------------------

STATE = "state s(p boolean, q boolean, a int, b int);\n"

#: bounded formulas of the worked examples (temporal-logic.md, section 7), and others; {c} ticks
BOUNDED = {
    "3 OVERLOAD": "eventually [t <- time][x <- a] eventually (a >= 2x and time <= t + {c})",
    "3 PAST-OVERLOAD": "past [t <- time][x <- a] previously (a <= .5x and time >= t - {c})",
    "4": "eventually ([x <- a] eventually within {c} (a = 2x))",
    "9": "eventually (p and [t <- time] eventually (q and eventually (a > 90 and time <= t + {c})))",
    "12 held": "eventually (p until[>={c}] true)",
    "12 held, past": "past p since[>={c}] p",
    "12 always": "eventually (q and always within {c} p)",
    "in sequence": "eventually (a > 90 and eventually within {c} b > 90)",
    "24": "eventually (p and nexttime (not p until[5, {c}] q))",
    "avg within": "past avg of a within {c} > 60",
}

#: formulas that are evaluated by their obligations
GENERAL = {
    "6": "eventually (([x <- a][y <- b] nexttime (a >= 2x implies b >= 2y)) until[>=50] true)",
    "two bounds at once": "eventually (p and eventually within 5 (a > 90) and eventually within 8 (b > 90))",
    "a number on the left": "eventually [x <- a] (b >= x until[<=10] (a > x and q))",
    "always, then": "eventually ((always within 3 p) and eventually within 10 (a > 95))",
}


def states(n: int) -> pa.Table:
    """``time`` 1 .. n, random ``p``, ``q`` (mostly true), ``a`` and ``b`` (0 .. 99)."""
    x = noise(n)
    return pa.table(
        {
            "time": np.arange(1, n + 1),
            "p": x % 16 != 0,
            "q": x // 16 % 8 != 0,
            "a": (x // 128 % 100).astype(np.int64),
            "b": (x // 12_800 % 100).astype(np.int64),
        }
    )


def trigger(formula: str, strategy: str = "continue", **values: Any) -> str:
    """A program of one trigger over :func:`states`."""
    past = "past " if formula.startswith("past ") else ""
    return f"{STATE}{past}trigger m: {formula.removeprefix('past ').format(**values)} {strategy}\n"


#: rtamt's formulas and ours, which fires where rtamt's robustness is positive
PEER = {
    "once[0:10]": ("once[0:10](p)", "past once within 10 p"),
    "historically[0:10]": ("historically[0:10](p)", "past historically within 10 p"),
    "since": ("(p) since (q)", "past p since q"),
    "since[0:10]": ("(p) since[0:10] (q)", "past p since[<=10] q"),
    "once[0:600]": ("once[0:600](p)", "past once within 600 p"),
}
