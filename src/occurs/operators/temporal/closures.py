"""Closures made of closures: connectives, comparisons, arithmetic of terms over one state (temporal-logic.md 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from typing import Any, TypeAlias

from occurs.operators.temporal import values as ops
from occurs.operators.temporal.values import Lost, Truth

Values: TypeAlias = dict[str, Any]
Term: TypeAlias = Callable[[Any, Values], Any]
Test: TypeAlias = Callable[[Any, Values], Truth]


def negation(inner: Test) -> Test:
    """Not."""

    def test(s: Any, r: Values) -> Truth:
        found = inner(s, r)
        return (not found) if type(found) is bool else found

    return test


def every(parts: Sequence[Test]) -> Test:
    """And."""
    if len(parts) == 2:
        first, second = parts

        def both(s: Any, r: Values) -> Truth:
            a = first(s, r)
            if a is False:
                return False
            b = second(s, r)
            return b if a is True or b is False else a

        return both

    def test(s: Any, r: Values) -> Truth:
        found: Truth = True
        for part in parts:
            one = part(s, r)
            if one is False:
                return False
            found = one if one is not True else found
        return found

    return test


def some(parts: Sequence[Test]) -> Test:
    """Or."""

    def test(s: Any, r: Values) -> Truth:
        found: Truth = False
        for part in parts:
            one = part(s, r)
            if one is True:
                return True
            found = one if one is not False else found
        return found

    return test


def assigned(name: str, term: Term, inner: Test) -> Test:
    """With the value of a variable."""
    return lambda s, r: inner(s, {**r, name: term(s, r)})


#: exact types: booleans are something else
NUMBERS = (int, float)
#: comparisons of two numbers, or of two texts
_PLAIN: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge, "=": eq, "!=": ne}


def compared(op: str, left: Term, right: Term) -> Test:
    """A comparison of two terms."""
    compare, plain = ops.COMPARISONS[op], _PLAIN[op]

    def test(s: Any, r: Values) -> Truth:
        a, b = left(s, r), right(s, r)
        # most values are numbers
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return plain(a, b)
        return compare(a, b)

    return test


def compared_with_constant(op: str, name: str, constant: Any) -> Test:
    """Of a variable of the state."""
    compare, plain, fixed = ops.COMPARISONS[op], _PLAIN[op], ops.whole(constant)
    if type(fixed) not in NUMBERS:
        return lambda s, r: compare(s.variables[name], fixed)

    def test(s: Any, r: Values) -> Truth:
        a = s.variables[name]
        return plain(a, fixed) if type(a) in NUMBERS else compare(a, fixed)

    return test


def compared_with_remembered(op: str, name: str, other: str) -> Test:
    """Of a variable of the state with one that is remembered."""
    compare, plain = ops.COMPARISONS[op], _PLAIN[op]

    def test(s: Any, r: Values) -> Truth:
        a, b = s.variables[name], r[other]
        if type(a) in NUMBERS and type(b) in NUMBERS:
            return plain(a, b)
        return compare(a, b)

    return test


def computed(op: str, left: Term, right: Term) -> Term:
    """Arithmetic."""
    f = ops.ARITHMETIC[op]
    plain = {"+": add, "-": sub, "*": mul}.get(op)
    if plain is None:
        return lambda s, r: f(left(s, r), right(s, r))

    def value(s: Any, r: Values) -> Any:
        a, b = left(s, r), right(s, r)
        if type(a) is int and type(b) is int:
            found = plain(a, b)
            return found if ops.LEAST <= found <= ops.GREATEST else ops.OVERFLOW
        return f(a, b)

    return value


def negated(arg: Term) -> Term:
    """Minus."""

    def value(s: Any, r: Values) -> Any:
        found = arg(s, r)
        return found if found is None or type(found) is Lost else ops.whole(-found)

    return value


def is_null(term: Term, negated: bool) -> Test:
    """`is null`, or not."""

    def test(s: Any, r: Values) -> Truth:
        value = term(s, r)
        return value if type(value) is Lost else (value is None) != negated

    return test


def holding(term: Term) -> Test:
    """A boolean term."""

    def test(s: Any, r: Values) -> Truth:
        value = term(s, r)
        return value if type(value) is Lost else bool(value)

    return test
