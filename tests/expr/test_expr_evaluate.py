"""Evaluation: what comes in, what comes out, what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from occurs.errors import DefinitionProblem
from occurs.expr.dialect import LOGIC, PIPES, TESLA
from occurs.expr.evaluate import as_threshold, constant_value, evaluate, fill, select, shape
from occurs.expr.tree import (
    Annotated,
    Binary,
    Call,
    DurationLiteral,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Param,
    Ref,
    Slot,
    Unary,
)
from occurs.model.time import TIMESTAMP, Duration, TimeKind
from occurs.model.types import Type

TICKS = TimeKind(False, "s")
x, y = Ref(None, "x"), Ref(None, "y")


def lit(value: Any) -> Literal:
    types = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING, type(None): Type.NULL}
    return Literal(value, types[type(value)])


def values(node: Expr, n: int = 0, kind: TimeKind = TIMESTAMP, dialect: Any = TESLA, **columns: Any) -> list[Any]:
    given = {k: v if isinstance(v, pa.Array | pa.Scalar | pa.ChunkedArray) else pa.array(v) for k, v in columns.items()}
    size = n or next(len(c) for c in columns.values() if not isinstance(c, pa.Scalar))
    return evaluate(node, lambda leaf: given[leaf.name], size, kind=kind, dialect=dialect).values.to_pylist()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1, 5, None], pa.int8()),
        pa.array([1, 5, None], pa.uint64()),
        pa.chunked_array([pa.array([1]), pa.array([5, None])]),
        pa.chunked_array([pa.array([1, 5, None])]),
        pa.array([9, 1, 5, None, 9]).slice(1, 3),
        pa.array([1, 5, None]).dictionary_encode(),
        pa.array([1.0, 5.0, None]),
        pa.array([1.0, 5.0, float("nan")], pa.float32()),
        pa.array([1, 5, None], pa.decimal128(5, 1)),
    ],
)
def test_numbers_of_every_width(column: Any) -> None:
    assert values(Binary(">=", x, lit(5)), x=column) == [False, True, None]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b", None]),
        pa.array(["a", "b", None], pa.large_string()),
        pa.array(["a", "b", None]).dictionary_encode(),
        pa.array(["z", "a", "b", None]).dictionary_encode().slice(1),
        pa.array(["a", "b", None], pa.large_string()).dictionary_encode(),
    ],
)
def test_text_of_every_kind(column: Any) -> None:
    assert values(Binary("=", x, lit("b")), x=column) == [False, True, None]
    assert values(Binary("<", lit("a"), x), x=column) == [False, True, None]
    assert values(In(x, (lit("b"), lit("c"), lit("d"))), x=column) == [False, True, None]
    assert values(Like(x, lit("b%"), True), x=column) == [True, False, None]
    assert values(Call("upper", (x,)), x=column) == ["A", "B", None]
    assert values(Binary("=", x, y), x=column, y=column) == [True, True, None]


def test_times_are_microseconds() -> None:
    at = datetime(2024, 1, 5, 9, tzinfo=UTC)
    nine = Literal(1_704_445_200_000_000, Type.TIMESTAMP)
    for unit in ("us", "s", "ns"):
        column = pa.array([at, None], pa.timestamp(unit, tz="UTC"))
        assert values(Binary("=", x, nine), x=column) == [True, None]
        assert values(Binary("-", x, nine), x=column) == [0, None]
        assert values(x, x=column) == [nine.value, None]
        assert values(Call("hour", (x,)), x=column) == [9, None]
    got = evaluate(Ref("A", "time"), lambda _: pa.array([5]), 1, kind=TICKS)
    assert got.type is Type.INT
    stamped = evaluate(Ref("A", "time"), lambda _: pa.array([5]), 1, kind=TimeKind())
    assert stamped.type is Type.TIMESTAMP


def test_scalars_are_spread() -> None:
    assert values(Binary("+", x, y), x=pa.scalar(1), y=[1, None]) == [2, None]
    assert values(Binary("+", x, lit(1)), n=3, x=pa.scalar(1)) == [2, 2, 2]
    assert values(Binary("%", x, y), x=pa.scalar(7), y=[4, 0]) == [3, None]
    assert values(Binary("/", x, y), n=2, x=pa.scalar(7), y=pa.scalar(0)) == [None, None]
    assert values(Call("substring", (x, lit(2))), n=2, x=pa.scalar("abc")) == ["bc", "bc"]
    assert values(lit(7), n=2, x=[1, 2]) == [7, 7]
    mask, hidden = select(Binary(">", x, lit(1)), lambda _: pa.scalar(2**62), 2, kind=TICKS)
    assert mask.tolist() == [True, True]
    assert hidden is None


def test_exact_beyond_53_bits() -> None:
    big = 2**53
    assert values(Binary("=", x, y), x=[big, big + 1], y=[float(big), float(big)]) == [True, False]
    assert values(Binary(">", x, lit(float(big))), x=[big, big + 1]) == [False, True]
    assert values(Binary("<", x, lit(big + 1)), x=[float(big), float(big + 2)]) == [True, False]
    assert float(5477387899617909037) / 511557 != 5477387899617909037 / 511557
    assert values(Binary("/", x, lit(511557)), x=[5477387899617909037]) == [5477387899617909037 / 511557]


def test_overflow_is_a_problem_only_if_it_decides() -> None:
    product = Binary(">", Binary("*", x, lit(4)), lit(0))
    columns = {x: pa.array([2**62, 2**62, 1, None]), y: pa.array([1, 0, 1, 0])}
    both = Binary("and", Binary("=", y, lit(1)), product)
    mask, hidden = select(both, columns.__getitem__, 4, kind=TICKS)
    assert mask.tolist() == [False, False, True, False]
    assert hidden is not None
    assert hidden.tolist() == [0]
    either = Binary("or", Binary("=", y, lit(0)), product)
    mask, hidden = select(either, columns.__getitem__, 4, kind=TICKS)
    assert mask.tolist() == [False, True, True, True]
    assert hidden is not None
    assert hidden.tolist() == [0]
    # null and an overflow: never true, so nothing hangs on it
    never = Binary("and", Binary("=", y, lit(None)), product)
    assert select(never, columns.__getitem__, 4, kind=TICKS)[1] is None


@pytest.mark.parametrize(
    ("op", "a", "b"),
    [
        ("*", -1, -(2**63)),
        ("*", -(2**63), -1),
        ("*", 2**32, 2**31),
        ("+", 2**63 - 1, 1),
        ("-", -(2**63), 1),
        ("-", 0, -(2**63)),
    ],
)
def test_where_int64_ends(op: str, a: int, b: int) -> None:
    columns = {x: pa.array([a, a, None, 1]), y: pa.array([b, None, b, 1])}
    node = Binary(op, x, y)
    got = evaluate(node, columns.__getitem__, 4, kind=TICKS)
    assert got.overflow is not None
    assert got.overflow.tolist() == [True, False, False, False]
    assert got.values.to_pylist()[:3] == [None, None, None]


def test_null_outweighs_an_overflow() -> None:
    columns = {x: pa.array([2**62, 2**62]), y: pa.array([None, 1])}
    got = evaluate(Binary("+", Binary("*", x, lit(4)), y), columns.__getitem__, 2, kind=TICKS)
    assert got.overflow is not None
    assert got.overflow.tolist() == [False, True]


def test_two_valued_logic_keeps_overflow_apart_from_null() -> None:
    node = Unary("not", Binary(">", Binary("*", x, lit(4)), lit(0)))
    mask, hidden = select(node, lambda _: pa.array([2**62, None, 1, -1]), 4, kind=TICKS, dialect=LOGIC)
    assert mask.tolist() == [False, True, False, True]
    assert hidden is not None
    assert hidden.tolist() == [0]


def test_division_by_zero() -> None:
    node, columns = Binary("/", x, y), {"x": [1.0, -1.0, 0.0, 1.0], "y": [0, 0, 0, None]}
    assert values(node, **columns) == [None, None, None, None]
    assert str(values(node, dialect=PIPES, **columns)) == "[inf, -inf, nan, None]"
    assert values(Binary("mod", lit(-7), x), x=[0, 2, -2]) == [None, 1, -1]
    assert values(Binary("%", lit(-7), x), x=[0, 2, -2]) == [None, -1, -1]
    assert values(Binary("div", lit(-7), x), x=[0, 2, -2]) == [None, -4, 3]


@pytest.mark.parametrize("divisor", [3, -3, 1, -1, 2**62, -(2**63), 7])
@pytest.mark.parametrize("op", ["%", "mod", "div"])
def test_division_by_a_constant(op: str, divisor: int) -> None:
    numbers = [0, 1, -1, 5, -5, 2**63 - 1, -(2**63), -(2**63) + 1, None]
    got = evaluate(Binary(op, x, lit(divisor)), lambda _: pa.array(numbers), len(numbers), kind=TICKS)
    whole = {"div": lambda a: a // divisor, "mod": lambda a: a % divisor}
    whole["%"] = lambda a: abs(a) % abs(divisor) * (-1 if a < 0 else 1)
    expected = [None if n is None else whole[op](n) for n in numbers]
    assert got.values.to_pylist() == [e if e is not None and e < 2**63 else None for e in expected]


def test_nan() -> None:
    columns = {"x": [float("nan"), 1.0]}
    assert values(Unary("not", Binary(">", x, lit(0.0))), **columns) == [None, False]
    assert values(Unary("not", Binary(">", x, lit(0.0))), dialect=PIPES, **columns) == [True, False]
    assert values(IsNull(x), **columns) == [True, False]
    assert values(IsNull(x), dialect=PIPES, **columns) == [False, False]


def test_like_and_in() -> None:
    text = ["a%b", "axb", "a\nb", "ab", None]
    assert values(Like(x, lit("a_b")), x=text) == [True, True, True, False, None]
    assert values(Like(x, lit("a\\%b")), x=text) == [True, False, False, False, None]
    for pattern, expected in (("\\", True), ("\\\\", True), ("%\\\\", True), ("\\%", False)):
        assert values(Like(x, lit(pattern)), x=["\\"]) == [expected]
    assert values(Like(x, y), x=["\\", "ab c"], y=["_\\", "a\\b\\ %"]) == [False, True]
    assert values(Like(x, y), x=["ab", "ab", None], y=["a%", None, "a"]) == [True, None, None]
    assert values(In(x, (lit(1), lit(None))), x=[1, 2, None]) == [True, None, None]
    assert values(In(x, (lit(1), lit(2), lit(3), lit(None)), True), x=[1, 5, None]) == [False, None, None]


def test_durations_that_are_not_whole() -> None:
    half = DurationLiteral(Duration(Fraction(500_000)))
    age = Binary("-", Ref("A", "time"), Ref("B", "time"))
    columns = {Ref("A", "time"): pa.array([0, 1, 2]), Ref("B", "time"): pa.array([0, 0, 0])}
    three_halves = Binary("*", half, lit(3))
    for node, expected in (
        (Binary("<", age, three_halves), [True, True, False]),
        (Binary(">=", age, half), [False, True, True]),
        (Binary("=", Binary("+", age, half), three_halves), [False, True, False]),
        (Binary("=", Binary("/", age, half), lit(4.0)), [False, False, True]),
    ):
        assert select(node, columns.__getitem__, 3, kind=TICKS)[0].tolist() == expected
    got = evaluate(Binary("+", age, half), columns.__getitem__, 3, kind=TICKS)
    assert got.values.to_pylist() == [0, 2, 2]  # to the nearest tick, halves to even
    assert got.type is Type.DURATION


def test_least_int_and_ints_that_are_none() -> None:
    assert values(Unary("neg", lit(2**63)), x=[1]) == [-(2**63)]
    got = evaluate(Binary("+", lit(2**63 - 1), lit(1)), lambda _: None, 2, kind=TICKS)
    assert got.overflow is not None
    assert got.overflow.tolist() == [True, True]
    got = evaluate(lit(2**63), lambda _: None, 2, kind=TICKS)
    assert got.overflow is not None
    assert got.values.type == pa.int64()


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (Binary("<", x, lit("a")), "type-mismatch"),
        (Binary("+", x, lit("a")), "type-mismatch"),
        (Call("nope", (x,)), "unknown-function"),
        (Call("abs", (x, x)), "arity"),
        (Call("upper", (x,)), "type-mismatch"),
        (Annotated(Type.STRING, x), "type-mismatch"),
        (Binary("and", x, x), "type-mismatch"),
    ],
)
def test_types_that_do_not_fit(node: Expr, kind: str) -> None:
    with pytest.raises(DefinitionProblem) as problem:
        select(node, lambda _: pa.array([1]), 1, kind=TICKS)
    assert problem.value.kind == kind


def test_unit_without_meaning() -> None:
    with pytest.raises(DefinitionProblem) as problem:
        values(DurationLiteral(Duration(Fraction(1))), kind=TimeKind(False, None), x=[1])
    assert problem.value.kind == "missing-unit"


def test_an_expression_may_meet_columns_of_other_types() -> None:
    node = Binary("=", x, lit(1))
    assert values(node, x=[1, 2]) == [True, False]
    assert values(node, x=[1.0, 2.5]) == [True, False]
    assert values(node, x=pa.nulls(2)) == [None, None]


def test_a_node_of_a_language_is_a_leaf() -> None:
    @dataclass(frozen=True)
    class Count(Expr):
        of: Expr

    count = Count(Binary("<", x, lit("a")))
    mask, _ = select(Binary(">", count, lit(1)), {count: pa.array([1, 2])}.__getitem__, 2, kind=TICKS)
    assert mask.tolist() == [False, True]


def test_shape() -> None:
    minute, second = (DurationLiteral(Duration(Fraction(n))) for n in (60_000_000, 1_500_000))
    node = Binary("and", Binary(">", x, lit(5)), Binary("<", Ref("A", "time"), minute))
    form, constants = shape(node)
    assert form == Binary(
        "and", Binary(">", x, Slot(0, Type.INT)), Binary("<", Ref("A", "time"), Slot(1, Type.DURATION))
    )
    assert constants == (lit(5), minute)
    assert [constant_value(c, TICKS) for c in constants] == [5, 60]
    assert constant_value(second, TICKS) == Fraction(3, 2)
    assert fill(form, constants) == node
    assert shape(second)[0] == Slot(0, Type.DURATION)
    assert shape(second, TICKS) == (second, ())
    assert shape(minute, TICKS, first=4) == (Slot(4, Type.DURATION), (minute,))
    assert shape(Binary("=", x, lit(1)))[0] != shape(Binary("=", x, lit(1.0)))[0]
    assert shape(Binary("=", x, lit(None)))[1] == ()
    assert shape(Call("round", (x, lit(2))))[1] == ()
    assert shape(Call("least", (x, lit(2))))[1] == (lit(2),)


def test_threshold() -> None:
    assert as_threshold(Binary("<", x, lit(5))) == (x, "<", lit(5))
    assert as_threshold(Binary("<=", lit(5), x)) == (x, ">=", lit(5))
    assert as_threshold(Binary("=", Slot(0, Type.INT), x)) == (x, "=", Slot(0, Type.INT))
    assert as_threshold(Binary(">", x, Unary("neg", lit(5)))) == (x, ">", lit(-5))
    for other in (Binary("+", x, lit(5)), Binary("<", x, y), Binary("<", Param("x"), lit(1)), Unary("not", x), x):
        assert as_threshold(other) is None
