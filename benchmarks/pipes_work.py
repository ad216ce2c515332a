"""What the part `pipes` measures: pipelines on a million events, with their checksums, and the same as plain loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs import pipes
from occurs.pipes import fn, ltl

#: events of the checksums
EVENTS = 1_000_000


def numbers(count: int) -> np.ndarray:
    """x_i = (7919 i + 13) mod 1000."""
    return (7919 * np.arange(count) + 13) % 1000


def symbols(count: int) -> pa.Array:
    """a where i mod 10 is 3, b where it is 7, else c; as a dictionary."""
    rest = np.arange(count) % 10
    codes = np.where(rest == 3, 0, np.where(rest == 7, 1, 2)).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["a", "b", "c"]))


@dataclass(frozen=True)
class Work:
    """One pipeline.

    ``pipe``, on ``symbols`` or numbers, ``ended`` or not.  ``check``: of the values that came out, what ``wanted`` is
    for :data:`EVENTS` events.  ``loop``: the same as a plain loop, item by item.  ``rate``: BeepBeep 3, events per
    second, as recorded on 22 November 2026 on two quiet cores (chain, slices of each, filter and counter: before, on
    another machine); ``target``: wanted of ours to its.
    """

    name: str
    pipe: pipes.Pipe
    loop: Callable[[list[Any]], Iterator[Any]]
    check: Callable[[Any], tuple[int, Any]]
    wanted: tuple[int, Any]
    rate: float | None
    target: float
    symbols: bool = False
    ended: bool = False


def _sum(values: Any) -> tuple[int, Any]:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
            return len(values), pc.sum(pc.utf8_length(values.cast(pa.string()))).as_py()
        return len(values), pc.sum(values.cast(pa.int64())).as_py()
    if isinstance(values, np.ndarray):
        return len(values), int(values.sum())
    return len(values), sum(len(v) if isinstance(v, str) else int(v) for v in values)


def _open(values: Any) -> tuple[int, Any]:
    """How many, and how many of them are open."""
    found = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
    return len(found), sum(getattr(v, "value", v) == "?" for v in found)


def _count(values: Any) -> tuple[int, Any]:
    return len(values), None


# --- the same as eSQL, over events X0 with the attribute v ----------------------------------------------------------

_X = "LET x BE X0.v. DEFINE Out AS "
_RESPONSE = "((x = 'a') -> F (x = 'b'))"
_MOORE = """MACHINE ON x START s0
    IN s0 OUTPUT 's0': WHEN $0 = 'a' GO TO s10; OTHERWISE GO TO s0;
    IN s10 OUTPUT 's10': WHEN $0 = 'b' GO TO s0; OTHERWISE GO TO s10; END."""
_COUNTER = """MACHINE ON x WITH $n := 0 START s
    IN s OUTPUT $n: WHEN $0 = 'a' GO TO s SET $n := $n + 1; WHEN $0 = 'b' AND $n > 0 GO TO s SET $n := $n - 1;
    OTHERWISE GO TO s; END."""
#: by the name of a pipeline
ESQL = {
    "fig1": _X + "x + EVERY 10 TH OF x.",
    "apply-chain10": _X + "x" + " + 1" * 10 + ".",
    "query5": "LET x BE X0.v. LET far BE |x - THE AVERAGE OF x| / (THE STANDARD DEVIATION OF x) > 2. "
    "DEFINE Out AS far AND TRIM 1 OF far.",
    "window100": _X + "GET (THE SUM OF *) FROM x ON A WINDOW OF 100.",
    "slice1000": _X + "size(SLICE x WITH (THE SUM OF *) ON $0 MOD 1000).",
    "slice-each1000": _X + "(SLICE EACH x WITH (THE SUM OF *) ON $0 MOD 1000).value.",
    "ltl-bool, open": _X + f"G {_RESPONSE}.",
    "ltl-bool, ended": _X + f"G {_RESPONSE} AT END FINITE.",
    "ltl-filter": _X + f"FILTER x WITH {_RESPONSE}.",
    "ltl-troolean": _X + "ALWAYS ((x = 'a') -> SOMETIME (x = 'b')).",
    "moore": _X + _MOORE,
    "moore-context": _X + _COUNTER,
    "time-window": _X + "GET (THE SUM OF *) FROM x ON A WINDOW OF 100 ticks.",
}


def table(values: Any) -> pa.Table:
    """Events at the times 0, 1, .. with these values."""
    return pa.table({"time": np.arange(len(values)), "v": values})


def keyed(count: int, keys: int, ties: int = 1, disorder: float = 0.0) -> pa.Table:
    """Events A and B of ``keys`` keys K, ``ties`` per instant; a part of them, ``disorder``, stands anywhere."""
    rng = np.random.default_rng(1)
    kinds = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 2, count).astype(np.int32)), ["A", "B"])
    time = np.arange(count) // ties
    moved = np.flatnonzero(rng.random(count) < disorder)
    time[moved] = time[rng.permutation(moved)]
    return pa.table({"time": time, "type": kinds, "K": rng.integers(0, keys, count), "V": rng.integers(0, 100, count)})


# --- plain loops ----------------------------------------------------------------------------------------------------


def _fig1(x: list[Any]) -> Iterator[Any]:
    waiting: deque[Any] = deque()
    for i, v in enumerate(x):
        waiting.append(v)
        if i % 10 == 0:
            yield waiting.popleft() + v


def _chain(x: list[Any]) -> Iterator[Any]:
    for v in x:
        for _ in range(10):
            v = v + 1
        yield v


def _query5(limit: float) -> Callable[[list[Any]], Iterator[Any]]:
    def run(x: list[Any]) -> Iterator[Any]:
        mean, spread, before = 0.0, 0.0, None
        for n, v in enumerate(x, 1):
            delta = v - mean
            mean += delta / n
            spread += delta * (v - mean)
            deviation = (spread / n) ** 0.5
            far = deviation > 0 and abs(v - mean) / deviation > limit
            if before is not None:
                yield before and far
            before = far

    return run


def _window(width: int, full: bool) -> Callable[[list[Any]], Iterator[Any]]:
    def run(x: list[Any]) -> Iterator[Any]:
        kept: deque[Any] = deque()
        total = 0
        for v in x:
            kept.append(v)
            total += v
            if len(kept) > width:
                total -= kept.popleft()
            if not full or len(kept) == width:
                yield total

    return run


def _slices(x: list[Any]) -> Iterator[Any]:
    sums: dict[Any, Any] = {}
    for v in x:
        key = v % 1000
        sums[key] = sums.get(key, 0) + v
        yield len(sums)


def _slice_each(x: list[Any]) -> Iterator[Any]:
    sums: dict[Any, Any] = {}
    for v in x:
        key = v % 1000
        sums[key] = sums.get(key, 0) + v
        yield sums[key]


def _response(values: list[Any]) -> Iterator[Any]:
    """a -> F b, each item when that is known."""
    waiting: deque[Any] = deque()
    for v in values:
        if v == "b":
            yield from waiting
            waiting.clear()
            yield v
        elif v == "a" or waiting:
            waiting.append(v)
        else:
            yield v
    # open to the end


def _always(values: list[Any]) -> Iterator[Any]:
    """G (a -> F b), finite."""
    open_, count = False, 0
    for v in values:
        open_ = v == "a" or (open_ and v != "b")
        count += 1
    yield from (not open_ for _ in range(count))


def _three(values: list[Any]) -> Iterator[Any]:
    for _ in values:
        yield "?"


def _moore(values: list[Any]) -> Iterator[Any]:
    state = "s0"
    for v in values:
        if state == "s0" and v == "a":
            state = "s10"
        elif state == "s10" and v == "b":
            state = "s0"
        yield state


def _counter(values: list[Any]) -> Iterator[Any]:
    n = 0
    for v in values:
        if v == "a":
            n += 1
        elif v == "b" and n > 0:
            n -= 1
        yield n


# --- the pipelines --------------------------------------------------------------------------------------------------


def works() -> list[Work]:
    """All of them, in the order of the specification."""
    x, s = pipes.source("x", type=int), pipes.source("s", type=str)

    def total(p: pipes.Pipe) -> pipes.Pipe:
        return p.cumulate(fn.add)

    chain = x
    for _ in range(10):
        chain = chain + 1
    distance = (x - pipes.stats.mean(x)).abs() / pipes.stats.standard_deviation(x)

    def query5(limit: float) -> pipes.Pipe:
        far = distance > limit
        return far & far.trim(1)

    a, b = s == "a", s == "b"
    response = ltl.implies(a, ltl.F(b))
    moore = pipes.machine(
        s,
        start="s0",
        states={
            "s0": pipes.State("s0", [pipes.When(fn("$0 = 'a'"), "s10"), pipes.Otherwise("s0")]),
            "s10": pipes.State("s10", [pipes.When(fn("$0 = 'b'"), "s0"), pipes.Otherwise("s10")]),
        },
    )
    up = pipes.When(fn("$0 = 'a'"), "s", set={"n": fn("$n + 1")})
    down = pipes.When(fn("$0 = 'b' AND $n > 0"), "s", set={"n": fn("$n - 1")})
    counter = pipes.machine(
        s, start="s", registers={"n": 0}, states={"s": pipes.State(fn("$n"), [up, down, pipes.Otherwise("s")])}
    )
    key = fn("$0 MOD 1000")
    million = EVENTS
    return [
        Work("fig1", x + x.decimate(10), _fig1, _sum, (100_000, 99_750_000), 31.3e6, 0.5),
        Work("apply-chain10", chain, _chain, _sum, (million, 509_500_000), 6.4e6, 5),
        Work("query5", query5(2), _query5(2), _sum, (999_999, 0), 3.0e6, 10),
        Work("query5, 1.5", query5(1.5), _query5(1.5), _sum, (999_999, 52_993), None, 10),
        Work("window100", x.window(100, total), _window(100, True), _sum, (999_901, 49_945_059_350), 0.42e6, 10),
        Work("slice1000", fn.size(x.slice(key, total)), _slices, _sum, (million, 999_500_500), 8.7e6, 10),
        Work(
            "slice-each1000", x.slice_each(key, total).value, _slice_each, _sum, (million, 249_999_750_000), 4.9e6, 10
        ),
        Work("ltl-bool, open", ltl.G(response), lambda _: iter(()), _sum, (0, None), 9.9e6, 10, True),
        Work(
            "ltl-bool, ended",
            ltl.G(response).at_end("finite"),
            _always,
            _sum,
            (million, million),
            9.9e6,
            10,
            True,
            True,
        ),
        Work("ltl-filter", s.filter(response), _response, _count, (million, None), 3.8e6, 10, True),
        Work(
            "ltl-troolean",
            ltl.always(ltl.implies(a, ltl.sometime(b))),
            _three,
            _open,
            (million, million),
            0.81e6,
            10,
            True,
        ),
        Work("moore", moore, _moore, _sum, (million, 2_400_000), 19e6, 10, True),
        Work("moore-context", counter, _counter, _sum, (million, 400_000), 2.7e6, 10, True),
        Work(
            "time-window", x.window("100 ticks", total), _window(100, False), _sum, (million, 49_947_590_000), None, 0
        ),
    ]
