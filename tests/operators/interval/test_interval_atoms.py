"""Rows of inputs to signals, against plain Python per binding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from signal_checks import LENGTH, World, check, interval_rows, passed_on

from occurs.errors import InputProblem
from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.languages.phenesthe.semantics.intervals import coalesced, maximal_range
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.atoms import Scan
from occurs.operators.interval.signals import NEVER, OPEN, Instants, Phenomena
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows

TICKS = TimeKind(timestamp=False, unit=None)
TYPES = {"x": Type.INT, "y": Type.FLOAT, "s": Type.STRING, "end": Type.TIMESTAMP, "holds": Type.BOOL}
X, Y = Ref(None, "x"), Ref(None, "y")
Row = dict[str, Any]
CONDITIONS: list[tuple[Expr, Callable[[Row], bool]]] = [
    (Binary("=", X, Literal(1, Type.INT)), lambda r: r["x"] == 1),
    (Binary("=", X, Y), lambda r: r["x"] is not None and r["x"] == r["y"]),
    (Binary("<=", Y, Literal(0.5, Type.FLOAT)), lambda r: r["y"] is not None and r["y"] <= 0.5),
    (Binary("!=", Ref(None, "s"), Literal("u", Type.STRING)), lambda r: r["s"] is not None and r["s"] != "u"),
]


def history(world: World, columns: tuple[str, ...] = ()) -> list[Row]:
    """Rows in order of time, some alike, some with nulls and NaN."""
    rng = world.rng
    rows = []
    for _ in range(rng.choice((0, 3, 12, 40))):
        start = world.origin + rng.randrange(LENGTH)
        row = {"time": start, "x": rng.choice((0, 1, 1, None)), "y": rng.choice((0.0, 1.0, 0.25, math.nan, None))}
        row["s"] = rng.choice(("u", "v", "v", None))
        if "end" in columns:
            end = start + rng.choice((0, 1, 1, 2, 4, 8, 30))
            row["end"] = None if rng.random() < 0.1 else min(end, world.origin + LENGTH + 9, OPEN - 1)
        if "holds" in columns:
            row["holds"] = rng.random() < 0.6
        rows += [row] * rng.choice((1, 1, 1, 2))
    return sorted(rows, key=lambda r: r["time"])


def table(rows: list[Row], new: int, columns: tuple[str, ...]) -> Rows:
    times = np.array([r["time"] for r in rows], np.int64)
    arrow = {Type.STRING: pa.string(), Type.FLOAT: pa.float64(), Type.BOOL: pa.bool_()}
    names = ("x", "y", "s", *columns)
    arrays = {n: pa.array([r[n] for r in rows], arrow.get(TYPES[n], pa.int64()), from_pandas=False) for n in names}
    return Rows("p", times, {n: Column.of(a, TYPES[n]) for n, a in arrays.items()}, new)


def drawn(world: World, sort: str) -> tuple[Scan, Callable[[Row], bool], tuple[str, ...]]:
    """A scan, which rows it matches, and the attributes that its variables are read from."""
    arguments = tuple(world.rng.sample(("x", "y", "s"), world.rng.randint(0, 3)))
    chosen = world.rng.sample(CONDITIONS, world.rng.choice((0, 0, 1, 2)))
    variables = ("A", "B", "C")[: len(arguments)]
    node = Scan(sort, "p", variables, arguments, tuple(c for c, _ in chosen), TICKS, "d")

    def matches(row: Row) -> bool:
        bound = sort == "changes" or all(value_of(row, a) is not None for a in arguments)
        return bound and all(satisfied(row) for _, satisfied in chosen)

    return node, matches, arguments


def value_of(row: Row, attribute: str) -> Any:
    value = row[attribute]
    return None if isinstance(value, float) and math.isnan(value) else value


def coded(values: Values, arguments: tuple[str, ...], row: Row) -> tuple[int, ...]:
    """The binding of a row, null being -1."""
    arrow = {Type.STRING: pa.string(), Type.FLOAT: pa.float64()}
    columns = (Column.of(pa.array([value_of(row, a)], arrow.get(TYPES[a], pa.int64())), TYPES[a]) for a in arguments)
    return tuple(int(values.encode(c)[0]) for c in columns)


def run(world: World, node: Scan, rows: list[Row], columns: tuple[str, ...], values: Values) -> list[Any]:
    """(signal, call) per call; the rows of a call come behind some that are past."""
    held, since, out = node.fresh(), NEVER, []
    for frontier, closing in world.frontiers():
        past = [r for r in rows if r["time"] <= since]
        past = past[len(past) - world.rng.randint(0, len(past)) :]
        new = [r for r in rows if since < r["time"] <= frontier]
        call = Instants(since, frontier, values, closing)
        held, signal = node.advance(passed_on(held, world.rng), (table(past + new, len(past), columns),), call)
        out.append((signal, call))
        assert signal.complete == call.complete
        since = frontier
    return out


def grouped(found: list[tuple[tuple[int, ...], Any]]) -> dict[tuple[int, ...], set[Any]]:
    out: dict[tuple[int, ...], set[Any]] = {}
    for binding, item in found:
        out.setdefault(binding, set()).add(item)
    return out


@pytest.mark.parametrize("seed", range(30))
def test_events(seed: int) -> None:
    world, values = World(seed), Values()
    node, matches, arguments = drawn(world, "event")
    rows = history(world)
    expected = grouped([(coded(values, arguments, r), r["time"]) for r in rows if matches(r)])
    for signal, call in run(world, node, rows, (), values):
        assert signal.since == call.since
        check(signal, expected)


@pytest.mark.parametrize("seed", range(30))
def test_states(seed: int) -> None:
    world, values = World(seed), Values()
    node, matches, arguments = drawn(world, "state")
    rows = history(world, ("end",))
    spans = [
        (coded(values, arguments, r), (r["time"], math.inf if r["end"] is None else r["end"]))
        for r in rows
        if matches(r) and r["end"] != r["time"]
    ]
    whole = {b: coalesced(s) for b, s in grouped(spans).items()}
    for signal, call in run(world, node, rows, ("end",), values):
        # an end that is still to come has not come, also when the history ends before it
        seen = {b: {(s, e if e <= call.frontier else math.inf) for s, e in found} for b, found in whole.items()}
        check(signal, seen)


@pytest.mark.parametrize("seed", range(30))
def test_changes(seed: int) -> None:
    world, values = World(seed), Values()
    node, matches, arguments = drawn(world, "changes")
    rows = history(world, ("holds",))
    marks = grouped([(coded(values, arguments, r), (r["time"], r["holds"])) for r in rows if matches(r)])
    expected = {b: maximal_range({t for t, h in ms if h}, {t for t, h in ms if not h}) for b, ms in marks.items()}
    for signal, _ in run(world, node, rows, ("holds",), values):
        check(signal, expected)


@pytest.mark.parametrize("seed", range(30))
def test_dynamic(seed: int) -> None:
    world, values = World(seed), Values()
    node, matches, arguments = drawn(world, "dynamic")
    rows = history(world, ("end",))
    whole = [
        (coded(values, arguments, r), r["time"], math.inf if r["end"] is None else r["end"])
        for r in rows
        if matches(r) and r["end"] != r["time"]
    ]
    before = NEVER
    for signal, call in run(world, node, rows, ("end",), values):
        assert isinstance(signal, Phenomena)
        assert signal.lags == ()
        closed = {x for x in whole if before < x[2] <= call.frontier}
        open = {(b, s, math.inf) for b, s, e in whole if s <= call.frontier and e > call.frontier}
        assert sorted(interval_rows(signal.closed)) == sorted(closed)
        assert sorted(interval_rows(signal.open)) == sorted(open)
        before = call.frontier
    assert before < OPEN


def test_overflow_matters_only_of_rows_that_bind() -> None:
    more = Binary(">", Binary("*", X, Literal(4, Type.INT)), Literal(2, Type.INT))
    node = Scan("event", "p", ("A",), ("y",), (more,), TICKS, "d")
    rows = [{"time": 3, "x": 2**62, "y": math.nan, "s": "u"}, {"time": 4, "x": 1, "y": 1.0, "s": "u"}]
    call = Instants(NEVER, 9, Values())
    _, signal = node.advance({}, (table(rows, 0, ()),), call)
    assert not isinstance(signal, Phenomena)
    check(signal, {(0,): {4}})
    rows[0]["y"] = 2.0
    with pytest.raises(InputProblem, match="condition of `d`, with a row of `p` at 3"):
        node.advance({}, (table(rows, 0, ()),), call)
