"""Nets of operators over instants and intervals: run, saved, restored; reading a definition; the rows that come out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from occurs.errors import InputProblem
from occurs.expr.tree import Binary, Literal, Ref, Unary
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.answers import Answer, Attribute
from occurs.operators.interval.atoms import Picked, Scan
from occurs.operators.interval.conditions import Exists, FactRows, Member, Where
from occurs.operators.interval.delayed_release import HoldPoints
from occurs.operators.interval.network import Begun, Net
from occurs.operators.interval.phenomena import Loose
from occurs.operators.interval.points import Ticks
from occurs.operators.interval.ranges import MaximalRange
from occurs.operators.interval.signals import NEVER, OPEN, Instants, Intervals, Lag, Phenomena, Points, Spans
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows

SECONDS = TimeKind(False, "s")


def column(values: list[object], type: Type) -> Column:
    return Column.of(pa.array(values, {Type.INT: pa.int64(), Type.FLOAT: pa.float64()}.get(type, pa.string())), type)


def codes(values: Values, *columns: Column) -> tuple[np.ndarray, ...]:
    return tuple(values.encode(c) for c in columns)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def rows(type: str, time: list[int], **columns: Column) -> Rows:
    return Rows(type, ints(*time), columns)


# --- nets -------------------------------------------------------------------------------------------------------------


def held_back(type: Type) -> Net:
    """A net with one node that keeps instants for ten ticks."""
    scan = Scan("event", "a", ("X",), ("x",), (), SECONDS, "e")
    return Net((scan, HoldPoints(("X",), 10)), ((), (0,)), {0: "a"}, 1, 1, {"X": type})


def test_a_type_without_rows_has_none() -> None:
    net = held_back(Type.INT)
    state, given = net.advance(net.fresh(), {}, Instants(NEVER, 5, Values()))
    assert isinstance(given.signal, Points)
    assert (len(given.signal), given.signal.complete, net.rows(state)) == (0, -5, 0)


def test_state_is_saved_as_values() -> None:
    net, values = held_back(Type.FLOAT), Values()
    # 2^53 + 1 is no float; it is kept apart from the float next to it
    call = Instants(NEVER, 5, values)
    table = rows("a", [1, 2, 3], x=column([2**53 + 1, 7, 1], Type.INT))
    state, _ = net.advance(net.fresh(), {"a": table}, call)
    other = rows("a", [6], x=column([float(2**53)], Type.FLOAT))
    state, _ = net.advance(state, {"a": other}, Instants(5, 7, values))
    saved = net.saved(state, values)
    assert list(saved) == ["1.held"]
    assert saved["1.held"].to_pydict() == {
        "X": [2.0**53, 7.0, 1.0, 2.0**53], "X exact": [2**53 + 1, None, None, None], "@time": [1, 2, 3, 6],
    }  # fmt: skip
    new = Values()
    new.encode(column([5.5, 1.0], Type.FLOAT))
    state = net.restored(saved, new)
    _, given = net.advance(state, {}, Instants(7, 99, new))
    assert isinstance(given.signal, Points)
    assert given.signal.time.tolist() == [1, 2, 3, 6]
    big, seven, one, near = given.signal.codes[0].tolist()
    assert (big, seven, one) == tuple(new.encode(column([2**53 + 1, 7, 1], Type.INT)))
    assert near == new.encode(column([2.0**53], Type.FLOAT))[0]


def test_texts_and_tables_of_other_variables() -> None:
    scans = [Scan("event", t, ("X",), ("x",), (), SECONDS, "e") for t in "ab"]
    net = Net((*scans, MaximalRange(("X",), ("X",))), ((), (), (0, 1)), {0: "a", 1: "b"}, 2, 2, {"X": Type.STRING})
    values = Values()
    given_rows = rows("a", [1, 2], x=column(["v", "w"], Type.STRING))
    state, _ = net.advance(net.fresh(), {"a": given_rows}, Instants(NEVER, 3, values))
    saved = net.saved(state, values)
    assert [t.to_pydict() for t in saved.values()] == [{"X": ["v", "w"], "@start": [1, 2]}]
    values = Values()
    values.encode(column(["z", "w"], Type.STRING))
    again = rows("b", [4], x=column(["w"], Type.STRING))
    _, given = net.advance(net.restored(saved, values), {"b": again}, Instants(3, 5, values))
    assert isinstance(given.signal, Spans)
    assert (given.signal.closed.start.tolist(), given.signal.open.start.tolist()) == ([2], [1])


# --- reading a definition ---------------------------------------------------------------------------------------------


def test_picked_instants() -> None:
    values = Values()
    call = Instants(NEVER, 9, values)
    x, y = codes(values, column([1, 2, 1], Type.INT), column([1, 1, 3], Type.INT))
    points = Points((x, y), ints(1, 2, 3), NEVER, 9)
    equal = Picked("event", ("X", "Y"), ("A", "K"), ("X", Literal("slow", Type.STRING)), (("Y", "X"),))
    _, given = equal.advance({}, (points,), call)
    assert isinstance(given, Points)
    assert (given.time.tolist(), values.decode(given.codes[0], Type.INT).arrow.to_pylist()) == ([1], [1])
    assert values.decode(given.codes[1], Type.STRING).arrow.to_pylist() == ["slow"]
    one = Picked("event", ("X", "Y"), ("B",), ("Y",), (("X", Literal(1, Type.INT)),))
    _, given = one.advance({}, (points,), call)
    assert isinstance(given, Points)
    assert (given.time.tolist(), given.since, given.complete) == ([1, 3], NEVER, 9)
    _, given = Picked("event", ("X", "Y"), ("A", "B"), ("X", "Y"), (), True).advance({}, (points,), call)
    assert isinstance(given, Points)
    assert (len(given), len(given.codes), given.complete) == (0, 2, 9)


def test_picked_phenomena_lag_where_they_fit() -> None:
    values = Values()
    x, y = codes(values, column([1, 1], Type.INT), column([1, 2], Type.INT))
    some = Intervals((x, y), ints(3, 4), ints(5, 6))
    lags = (Lag(("Y",), (y,), ints(1, 2), ints(7, 8)), Lag(("X", "Y"), (x, y), ints(1, 2), ints(7, 8)))
    signal = Phenomena(some, Intervals.empty(2), 9, lags)
    call = Instants(NEVER, 9, values)
    _, given = Picked("dynamic", ("X", "Y"), ("A",), ("X",), (("Y", "X"),)).advance({}, (signal,), call)
    assert isinstance(given, Phenomena)
    assert given.closed.start.tolist() == [3]
    assert [(lag.variables, lag.starts.tolist()) for lag in given.lags] == [(("A",), [1, 2]), (("A",), [1])]
    two = (("Y", Literal(2, Type.INT)),)
    _, given = Picked("dynamic", ("X", "Y"), ("A",), ("X",), two).advance({}, (signal,), call)
    assert isinstance(given, Phenomena)
    assert [(lag.variables, lag.ends.tolist()) for lag in given.lags] == [((), [8]), (("A",), [8])]
    _, given = Picked("dynamic", ("X", "Y"), ("A", "Y of d"), ("X", "Y"), (), True).advance({}, (signal,), call)
    assert isinstance(given, Phenomena)
    assert (len(given.closed), len(given.lags)) == (0, 0)


# --- conditions that facts stand in ---------------------------------------------------------------------------------


def judged(condition: object, x: list[object], y: list[object]) -> list[int]:
    values = Values()
    found = codes(values, column(x, Type.INT), column(y, Type.FLOAT))
    node = Where("event", ("X", "Y"), (Type.INT, Type.FLOAT), condition, "e")  # type: ignore[arg-type]
    _, given = node.advance({}, (Points(found, np.arange(len(x)), NEVER, 99),), Instants(NEVER, 99, values))
    assert isinstance(given, Points)
    return given.time.tolist()


FACT = FactRows(("X",), pa.table({"X": pa.array([1, 2])}))
PAIRS = FactRows(("X", "Z"), pa.table({"X": pa.array([1, 1, 2]), "Z": pa.array([0, 5, 0])}))
POSITIVE = Binary(">", Binary("/", Literal(1, Type.INT), Ref(None, "Y")), Literal(0, Type.INT))


def test_a_fact_beside_what_is_unknown() -> None:
    # 1 / 0 is unknown: true or unknown is true, and neither unknown nor its contrary is
    assert judged(Binary("or", Member(FACT), POSITIVE), [1, 1, 3, 3], [0.0, 1.0, 0.0, 1.0]) == [0, 1, 3]
    assert judged(Unary("not", Binary("and", Member(FACT), POSITIVE)), [1, 1, 3], [0.0, -1.0, 0.0]) == [1, 2]


def test_values_that_make_it_true() -> None:
    larger = Binary(">", Ref(None, "Z"), Ref(None, "Y"))
    some = Exists((PAIRS,), larger, (("Y", Type.FLOAT), ("Z", Type.INT)))
    assert judged(some, [1, 1, 2, 3], [4.0, 5.0, -1.0, -9.0]) == [0, 2]
    assert judged(Unary("not", some), [1, 1, 2, 3], [4.0, 5.0, -1.0, -9.0]) == [1, 3]
    positive = Binary(">", Binary("/", Ref(None, "Y"), Ref(None, "Z")), Literal(0, Type.INT))
    unknown = Exists((PAIRS,), positive, some.types)
    assert judged(unknown, [1, 2, 1], [1.0, 1.0, -1.0]) == [0]
    assert judged(Unary("not", unknown), [1, 2, 1, 3], [1.0, 1.0, -1.0, 1.0]) == [3]


def test_an_overflow_beside_a_fact() -> None:
    squared = Binary(">", Binary("*", Ref(None, "X"), Ref(None, "X")), Literal(0, Type.INT))
    assert judged(Binary("and", Member(FACT), squared), [1, 4_000_000_000], [0.0, 0.0]) == [0]
    with pytest.raises(InputProblem, match="64-bit integers in a condition of `e`"):
        judged(Binary("or", Member(FACT), squared), [4_000_000_000], [0.0])


# --- answers ----------------------------------------------------------------------------------------------------------


def shown(found: Rows) -> list[tuple[object, ...]]:
    end = found.columns.get("end")
    ends = [] if end is None else [[e if k else None for e, k in zip(end.values.tolist(), end.is_valid(), strict=True)]]
    others = [c.arrow.to_pylist() for n, c in found.columns.items() if n != "end"]
    return list(zip(found.time.tolist(), *ends, *others, strict=True))


def test_rows_in_order() -> None:
    values = Values()
    k, n = codes(values, column(["b", "é", "a", "b", "Z"], Type.STRING), column([1, 1, 2.5, -1, 1], Type.FLOAT))
    head = (Attribute("n", Type.FLOAT, "N"), Attribute("kind", Type.STRING, Literal("x", Type.STRING)),
            Attribute("k", Type.STRING, "K"))  # fmt: skip
    answer = Answer("s", True, ("K", "N"), head)
    closed = Intervals((k, n), ints(1, 1, 1, 1, 0), ints(5, 5, 5, 4, 9))
    open = Intervals((k[:1], n[:1]), ints(1), ints(OPEN))
    signal = Spans(closed, closed, open, NEVER, 9)
    found = answer.final(signal, Instants(NEVER, 9, values))
    assert list(found.columns) == ["n", "kind", "k", "end"]
    expected = [(0, 9, 1.0, "x", "Z"), (1, 4, -1.0, "x", "b"), (1, 5, 1.0, "x", "b"), (1, 5, 1.0, "x", "é"),
                (1, 5, 2.5, "x", "a")]  # fmt: skip
    assert shown(found) == expected
    closing = answer.final(signal, Instants(NEVER, 9, values, True))
    assert shown(closing) == [*expected, (1, None, 1.0, "x", "b")]
    nothing = Points((ints(), ints()), ints(), NEVER, 9)
    assert shown(Answer("e", False, ("K", "N"), head).final(nothing, Instants(NEVER, 9, values))) == []


def test_a_state_interval_by_interval() -> None:
    some = Intervals((ints(0),), ints(1), ints(5))
    _, given = Loose(("X",)).advance(
        {}, (Spans(some, some, Intervals.empty(1), NEVER, 7),), Instants(NEVER, 9, Values())
    )
    assert (given.closed, given.complete, len(given.open)) == (some, 7, 0)


def test_ticks_of_a_window() -> None:
    _, given = Ticks(5).advance({}, (), Instants(NEVER, 3, Values()))
    assert given.time.tolist() == [0, 1, 2, 3]
    _, given = Ticks(5).advance({}, (), Instants(3, 20, Values(), True))
    assert (given.time.tolist(), given.complete) == ([16, 17, 18, 19, 20], OPEN)


def test_what_has_begun_is_told_once() -> None:
    node, call = Begun(("X",)), Instants(NEVER, 9, Values())
    none = Intervals.empty(1)
    open = Intervals((ints(0, 0, 1),), ints(3, 3, 3), ints(OPEN, OPEN, OPEN))
    state, new = node.advance(node.fresh(), Phenomena(none, open.take(ints(0)), 9), call)
    assert (new.codes[0].tolist(), new.start.tolist()) == ([0], [3])
    state, new = node.advance(state, Phenomena(none, open, 9), call)
    assert (new.codes[0].tolist(), new.start.tolist(), len(state["told"])) == ([1], [3], 2)
    state, new = node.advance(state, Phenomena(open.take(ints(0)), none, 9), call)
    assert (len(new), len(state["told"])) == (0, 0)
    _, new = node.advance(state, Phenomena(none, open, OPEN), Instants(9, 9, Values(), True))
    assert len(new) == 0
