"""Types of expressions: what passes, what is refused, and with which words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from occurs.errors import Span
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
    Unary,
)
from occurs.expr.typing import infer, require_bool
from occurs.model.time import Duration
from occurs.model.types import Type

I, F, S, B, T, D, N = Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP, Type.DURATION, Type.NULL  # noqa: E741
FUNCTIONS = ("abs", "round", "lower", "concat", "coalesce", "least", "if", "sqrt", "regexp_like")


def ref(t: Type | None) -> Ref:
    return Ref(None, t.value if t else "unknown")


def lookup(node: Expr) -> Type | None:
    return next((t for t in Type if isinstance(node, Ref) and node.name == t.value), None)


def check(node: Expr, integer_time: bool | None = None) -> tuple[Type | None, list[tuple[str, str]]]:
    found: list[tuple[str, str]] = []

    def report(kind: str, message: str, span: Span | None, hint: str | None) -> None:
        found.append((kind, message))

    return infer(node, lookup, report, functions=FUNCTIONS, integer_time=integer_time), found


def binary(a: Type | None, op: str, b: Type | None) -> Binary:
    return Binary(op, ref(a), ref(b))


@pytest.mark.parametrize(
    ("a", "op", "b", "type", "integer_time"),
    [
        (I, "+", I, I, None), (I, "*", F, F, None), (I, "/", I, F, None), (I, "%", I, I, None), (F, "div", I, F, None),
        (T, "-", T, D, None), (T, "+", D, T, None), (D, "+", T, T, None), (T, "-", D, T, None), (D, "-", D, D, None),
        (D, "*", I, D, None), (I, "*", D, D, None), (D, "/", D, F, None), (D, "%", D, D, None), (D, "div", D, I, None),
        (D, "/", I, F, True), (D, "/", I, D, False), (D, "*", F, D, False), (D, "+", I, D, True), (T, "+", I, T, True),
        (I, "/", D, F, True), (N, "+", I, I, None), (N, "*", N, N, None), (None, "+", I, None, None),
        (S, "+", None, None, None), (I, "<", F, B, None), (S, "<", S, B, None), (T, "<=", T, B, None),
        (D, "<", D, B, None), (D, "<", I, B, True), (D, "<", F, B, None), (T, ">", I, B, True), (B, "=", B, B, None),
        (B, "!=", N, B, None), (N, "<", S, B, None), (None, "<", S, B, None), (B, "and", B, B, None),
        (N, "or", B, B, None),
    ],
)  # fmt: skip
def test_goes_together(a: Type | None, op: str, b: Type | None, type: Type | None, integer_time: bool | None) -> None:
    assert check(binary(a, op, b), integer_time) == (type, [])


@pytest.mark.parametrize(
    ("a", "op", "b", "integer_time"),
    [
        (S, "+", S, None), (S, "+", I, None), (B, "*", I, None), (T, "+", T, None), (D, "-", T, None),
        (T, "*", I, None),
        (D, "*", D, None), (D, "+", I, False), (T, "+", I, False), (I, "/", D, False), (T, "%", I, True),
        (S, "=", I, None), (S, "<", T, None), (B, "=", I, None), (B, "<", B, None), (D, "<", I, False),
        (T, ">", I, False), (D, "=", T, None), (I, "and", B, None), (B, "or", S, None), (B, "<", N, None),
    ],
)  # fmt: skip
def test_refused(a: Type, op: str, b: Type, integer_time: bool | None) -> None:
    _, problems = check(binary(a, op, b), integer_time)
    assert [kind for kind, _ in problems] == ["type-mismatch"]


def call(name: str, *types: Type) -> Call:
    return Call(name, tuple(ref(t) for t in types))


@pytest.mark.parametrize(
    ("node", "type"),
    [
        (call("abs", I), I), (call("abs", D), D), (call("abs", N), N), (call("round", F, I), F), (call("sqrt", I), F),
        (call("coalesce", I, N, F), F), (call("least", S, S), S), (call("if", B, I, F), F), (call("if", N, T, N), T),
        (call("concat", S), S), (Unary("neg", ref(D)), D), (Unary("not", ref(B)), B), (IsNull(ref(S)), B),
        (In(ref(I), (ref(F), ref(N))), B), (Like(ref(S), ref(S)), B), (Annotated(F, ref(I)), F),
        (Annotated(S, Ref(None, "unknown")), S), (DurationLiteral(Duration(Fraction(1))), D), (Param("x"), None),
        (Unary("neg", Literal(2**63, I)), I),
    ],
)  # fmt: skip
def test_type(node: Expr, type: Type | None) -> None:
    assert check(node) == (type, [])


@pytest.mark.parametrize(
    ("node", "kind", "words"),
    [
        (call("abss", I), "unknown-function", "abss"),
        (call("upper", S), "unknown-function", "upper"),  # in the catalogue, but not offered
        (call("abs"), "arity", "1 argument, but got 0"),
        (call("round", F, I, I), "arity", "1 to 2 arguments, but got 3"),
        (call("if", B, I), "arity", "at least 3"),
        (call("if", B, I, B, I), "arity", "at least 3"),
        (call("abs", S), "type-mismatch", "is string, expected int, float or duration"),
        (call("coalesce", I, S), "type-mismatch", "expected int like the values before it"),
        (call("if", I, I, I), "type-mismatch", "expected bool"),
        (call("least", B), "type-mismatch", "is bool"),
        (Unary("neg", ref(S)), "type-mismatch", "needs a number"),
        (Unary("not", ref(I)), "type-mismatch", "joins conditions"),
        (Like(ref(I), ref(S)), "type-mismatch", "compares strings"),
        (In(ref(I), (ref(S),)), "type-mismatch", "cannot compare int with string"),
        (Annotated(I, ref(F)), "type-mismatch", "is float, not int"),
        (Literal(2**63, I), "type-mismatch", "64 bits"),
        (Call("regexp_like", (ref(S), Literal("(", S))), "type-mismatch", "no regular expression"),
    ],
)
def test_complaint(node: Expr, kind: str, words: str) -> None:
    _, problems = check(node)
    assert [k for k, _ in problems] == [kind]
    assert words in problems[0][1]


def test_all_problems_are_reported_with_their_places() -> None:
    left = Binary("<", Ref(None, "string", span=Span(1, 1, 1, 7)), Literal(1, I), span=Span(1, 1, 1, 11))
    right = Call("nope", (), span=Span(2, 3, 2, 9))
    found: list[Any] = []
    assert infer(Binary("and", left, right), lookup, lambda *p: found.append(p), functions=FUNCTIONS) is B
    assert [(k, s.line, s.column) for k, _, s, _ in found] == [("type-mismatch", 1, 1), ("unknown-function", 2, 3)]
    assert found[0][1] == "`string < 1`: `<` cannot compare string with int"
    assert "number(..)" in found[0][3]


def test_condition_is_required() -> None:
    found: list[Any] = []
    require_bool(ref(I), I, lambda *p: found.append(p))
    require_bool(ref(B), B, lambda *p: found.append(p))
    require_bool(ref(None), None, lambda *p: found.append(p))
    assert [p[1] for p in found] == ["a condition is expected, but `int` is int"]
