"""Evaluation on columns equals the reference, row by row: nulls, overflow, exact comparison, every dialect."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from occurs.expr import dialect
from occurs.expr.evaluate import constant_value, evaluate, fill, select, shape
from occurs.expr.reference import Evaluator, Undecided
from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, In, IsNull, Like, Literal, Ref, Slot, Unary
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

KINDS = [TimeKind(), TimeKind(False, "s")]
COLUMNS = {
    "i": Type.INT,
    "j": Type.INT,
    "f": Type.FLOAT,
    "g": Type.FLOAT,
    "s": Type.STRING,
    "u": Type.STRING,
    "b": Type.BOOL,
}


class Oracle(Evaluator):
    """The reference semantics of one row."""

    kind = KINDS[0]

    def __init__(self, row: dict[Expr, Any], kind: TimeKind, how: dialect.Dialect) -> None:
        self.row, self.kind, self.dialect = row, kind, how

    def leaf(self, node: Expr) -> Any:
        return self.row[node]

    def leaf_type(self, node: Expr) -> Type | None:
        return TYPES.get(node)


TYPES = {Ref(None, c): t for c, t in COLUMNS.items()}
ARROW = {Type.INT: pa.int64(), Type.FLOAT: pa.float64(), Type.STRING: pa.string(), Type.BOOL: pa.bool_()}
EDGES = [0, 1, -1, 2, -3, 7, 2**31, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63)]
ints = st.one_of(st.sampled_from(EDGES), st.integers(-10, 10), st.integers(-(2**63), 2**63 - 1))
reals = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 0.5, -2.5, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e308, math.inf, -math.inf, math.nan]
    ),
    st.integers(-10, 10).map(float),
    st.floats(),
)
texts = st.one_of(
    st.sampled_from(["", "a", "ab", "a\nb", "%", "_", "a%", "é", "\U0001f600", "\uffff"]), st.text(max_size=3)
)
VALUES = {Type.INT: ints, Type.FLOAT: reals, Type.STRING: texts, Type.BOOL: st.booleans()}


@cache
def leaf(type: Type) -> st.SearchStrategy[Expr]:
    refs = st.sampled_from([Ref(None, n) for n, t in COLUMNS.items() if t is type])
    constants = VALUES[type].filter(lambda v: v != -(2**63)).map(lambda v: Literal(v, type))
    return st.one_of(refs, refs, constants, st.just(Literal(None, Type.NULL)))


@cache
def number(depth: int) -> st.SearchStrategy[Expr]:
    base = st.one_of(leaf(Type.INT), leaf(Type.FLOAT))
    if depth == 0:
        return base
    below = number(depth - 1)
    ops = st.sampled_from(["+", "-", "*", "/", "%", "mod", "div"])
    return st.one_of(
        base,
        st.builds(Binary, ops, below, below),
        st.builds(Unary, st.just("neg"), below),
        st.builds(lambda a, b: Call("coalesce", (a, b)), below, below),
        st.builds(lambda c, a, b: Call("if", (c, a, b)), condition(depth - 1), below, below),
        st.builds(lambda a: Call("abs", (a,)), below),
        st.builds(lambda a, b: Call("least", (a, b)), below, below),
    )


@cache
def condition(depth: int) -> st.SearchStrategy[Expr]:
    compare = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    below = number(max(0, depth - 1))
    text = leaf(Type.STRING)
    atoms = st.one_of(
        leaf(Type.BOOL),
        st.builds(Binary, compare, below, below),
        st.builds(Binary, compare, text, text),
        st.builds(IsNull, below, st.booleans()),
        st.builds(In, below, st.lists(below, min_size=1, max_size=4).map(tuple), st.booleans()),
        st.builds(In, leaf(Type.INT), st.lists(leaf(Type.INT), min_size=1, max_size=4).map(tuple), st.booleans()),
        st.builds(In, text, st.lists(text, min_size=1, max_size=4).map(tuple), st.booleans()),
        st.builds(Like, text, text, st.booleans()),
    )
    if depth == 0:
        return atoms
    deeper = condition(depth - 1)
    return st.one_of(
        atoms,
        st.builds(Binary, st.sampled_from(["and", "or"]), deeper, deeper),
        st.builds(Unary, st.just("not"), deeper),
    )


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], int]:
    n = draw(st.integers(0, 6))
    values = {c: draw(st.lists(st.none() | VALUES[t], min_size=n, max_size=n)) for c, t in COLUMNS.items()}
    return values, n


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    return a == b


dialects = st.sampled_from(list(dialect.DIALECTS.values()))
limits = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def arrow(values: dict[str, list[Any]], coded: bool) -> dict[Expr, pa.Array]:
    out = {Ref(None, c): pa.array(values[c], ARROW[t]) for c, t in COLUMNS.items()}
    if coded:
        out[Ref(None, "s")] = out[Ref(None, "s")].dictionary_encode()
    return out


@limits
@given(tables(), condition(3), dialects, st.booleans())
def test_conditions(table: Any, node: Expr, how: dialect.Dialect, coded: bool) -> None:
    values, n = table
    columns = arrow(values, coded)
    mask, hidden = select(node, columns.__getitem__, n, kind=KINDS[0], dialect=how)
    for row in range(n):
        expected = Oracle({Ref(None, c): v[row] for c, v in values.items()}, KINDS[0], how).condition(node)
        undecided = isinstance(expected, Undecided) and True in expected.outcomes
        assert bool(mask[row]) == (expected is True), (row, expected)
        assert (hidden is not None and row in hidden) == undecided, (row, expected)


@limits
@given(tables(), st.one_of(number(3), condition(2)), dialects)
def test_values(table: Any, node: Expr, how: dialect.Dialect) -> None:
    values, n = table
    columns = arrow(values, False)
    got = evaluate(node, columns.__getitem__, n, kind=KINDS[0], dialect=how)
    assert len(got.values) == n
    for row in range(n):
        expected = Oracle({Ref(None, c): v[row] for c, v in values.items()}, KINDS[0], how).value(node)
        lost = isinstance(expected, Undecided)
        assert (got.overflow is not None and bool(got.overflow[row])) == lost, (row, expected)
        value = got.values[row].as_py()
        assert value is None if lost else same(value, expected), (row, value, expected)


@limits
@given(tables(), condition(2), dialects)
def test_slots(table: Any, node: Expr, how: dialect.Dialect) -> None:
    """A shape with its constants as columns, or as scalars, means the same as the expression."""
    values, n = table
    columns = arrow(values, False)
    form, constants = shape(node)
    assert fill(form, constants) == node
    given_ = {Slot(i, c.type): constant_value(c, KINDS[0]) for i, c in enumerate(constants) if isinstance(c, Literal)}
    scalars = {s: pa.scalar(v, ARROW[s.type]) for s, v in given_.items()}
    spread = {s: pa.repeat(v, n) for s, v in scalars.items()}
    expected = select(node, columns.__getitem__, n, kind=KINDS[0], dialect=how)
    for slots in (scalars, spread):
        mask, hidden = select(form, {**columns, **slots}.__getitem__, n, kind=KINDS[0], dialect=how)
        assert mask.tolist() == expected[0].tolist()
        assert (hidden is None and expected[1] is None) or hidden.tolist() == expected[1].tolist()


@cache
def durations(depth: int) -> st.SearchStrategy[Expr]:
    length = st.fractions(-5, 5, max_denominator=6).map(lambda f: DurationLiteral(Duration(f * 1_000_000)))
    base = st.one_of(
        length,
        st.just(Binary("-", Ref("A", "time"), Ref("B", "time"))),
    )
    if depth == 0:
        return base
    below = durations(depth - 1)
    return st.one_of(
        base,
        st.builds(Binary, st.sampled_from(["+", "-"]), below, below),
        st.builds(lambda d, k: Binary("*", d, Literal(k, Type.INT)), below, st.integers(-4, 4)),
        st.builds(Binary, st.just("%"), below, below),
    )


@limits
@given(
    durations(2), durations(2), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), max_size=5), st.sampled_from(KINDS),
)  # fmt: skip
def test_durations_compare_exactly(left: Expr, right: Expr, op: str, times: list, kind: TimeKind) -> None:
    node = Binary(op, left, right)
    columns = {Ref("A", "time"): pa.array([a for a, _ in times], pa.int64())}
    columns[Ref("B", "time")] = pa.array([b for _, b in times], pa.int64())
    mask, hidden = select(node, columns.__getitem__, len(times), kind=kind)
    assert hidden is None
    for row, (a, b) in enumerate(times):
        expected = Oracle({Ref("A", "time"): a, Ref("B", "time"): b}, kind, dialect.TESLA).condition(node)
        assert bool(mask[row]) == (expected is True), (row, a, b)


@pytest.mark.parametrize(
    ("seconds", "rows"), [(Fraction(15), [3, 4]), (Fraction(29, 2), [3, 4]), (Fraction(31, 2), [4])]
)
def test_age_of_fifteen_seconds(seconds: Fraction, rows: list[int]) -> None:
    age = Binary("-", Ref("E", "time"), Ref("F", "time"))
    node = Binary(">=", age, DurationLiteral(Duration(seconds * 1_000_000)))
    columns = {Ref("E", "time"): pa.array([0, 10, 14, 15, 16]), Ref("F", "time"): pa.array([0] * 5)}
    mask, _ = select(node, columns.__getitem__, 5, kind=TimeKind(False, "s"))
    assert mask.nonzero()[0].tolist() == rows
