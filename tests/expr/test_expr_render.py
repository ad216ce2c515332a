"""Rendering: minimal parentheses, and nothing that reads back otherwise."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from occurs.expr.render import duration_text, number_text, render
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
from occurs.model.time import UNIT_MICROSECONDS, Duration
from occurs.model.types import Type

a, b, c = (Ref(None, n) for n in "abc")
one = Literal(1, Type.INT)


def op(name: str, *args: Expr) -> Expr:
    return Unary(name, *args) if len(args) == 1 else Binary(name, *args)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (op("or", a, op("and", b, c)), "a or b and c"),
        (op("and", op("or", a, b), c), "(a or b) and c"),
        (op("not", op("and", a, b)), "not (a and b)"),
        (op("not", op("not", a)), "not not a"),
        (op("and", op("not", a), op("=", b, one)), "not a and b = 1"),
        (op("=", op("=", a, b), c), "(a = b) = c"),
        (op("=", op("not", a), b), "(not a) = b"),
        (op("-", op("-", a, b), c), "a - b - c"),
        (op("-", a, op("-", b, c)), "a - (b - c)"),
        (op("*", op("+", a, b), c), "(a + b) * c"),
        (op("/", a, op("*", b, c)), "a / (b * c)"),
        (op("mod", op("neg", a), b), "-a mod b"),
        (op("neg", op("+", a, b)), "-(a + b)"),
        (op("neg", op("neg", a)), "- -a"),
        (op("neg", Literal(-1, Type.INT)), "- -1"),
        (op("-", a, Literal(-1, Type.INT)), "a - -1"),
        (op("-", a, DurationLiteral(Duration(Fraction(-5_000_000)))), "a - -5 s"),
        (IsNull(op("+", a, b), True), "a + b is not null"),
        (IsNull(op("=", a, b)), "(a = b) is null"),
        (In(a, (one, op("or", b, c)), True), "a not in (1, (b or c))"),
        (Like(a, Literal("x%", Type.STRING)), 'a like "x%"'),
        (Call("if", (op("or", a, b), one, c)), "if(a or b, 1, c)"),
        (Annotated(Type.STRING, op("+", a, b)), "[string](a + b)"),
        (Ref("A B", "not"), "`A B`.`not`"),
        (Ref(None, "größe"), "größe"),
        (Ref(None, "2x"), "`2x`"),
        (Param("x"), "$x"),
        (Slot(3, Type.INT), "?3:int"),
        (Literal(None, Type.NULL), "null"),
        (Literal(False, Type.BOOL), "false"),
        (Literal("a\\\"'\n\t\x00é", Type.STRING), '"a\\\\\\"\'\\n\\t\\u0000é"'),
        (Literal(1_704_445_200_500_000, Type.TIMESTAMP), 'timestamp "2024-01-05T09:00:00.500000Z"'),
        (Literal(-(2**63), Type.TIMESTAMP), 'timestamp "-9223372036854775808 us"'),
        (Literal(float("inf"), Type.FLOAT), "1e999"),
    ],
)
def test_render(node: Expr, text: str) -> None:
    assert render(node) == text


def test_leaf_comes_first() -> None:
    node = op("*", op("+", a, b), c)
    assert render(node, lambda n: "X" if n == op("+", a, b) else None) == "X * c"


@given(st.floats(allow_nan=False))
def test_floats_read_back(x: float) -> None:
    assert float(number_text(x)) == x


@given(st.fractions(max_denominator=1000).map(lambda f: f * 1000))
def test_durations_are_exact(amount: Fraction) -> None:
    words = duration_text(Duration(amount)).removeprefix("-").split()
    total = sum(Fraction(n) * UNIT_MICROSECONDS[u] for n, u in zip(words[::2], words[1::2], strict=True))
    assert total == abs(amount)


def test_units() -> None:
    assert duration_text(Duration(Fraction(14 * 86_400_000_000))) == "2 w"
    assert duration_text(Duration(Fraction(8 * 86_400_000_000))) == "8 d"
    assert duration_text(Duration(Fraction(5, 2), ticks=True)) == "2.5"
    assert duration_text(Duration(Fraction(1, 3))) == "1/3 us"
