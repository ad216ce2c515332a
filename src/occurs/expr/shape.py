"""The shape of an expression: what is left when its constants are taken out; and comparisons with a constant."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from occurs.expr.signature import CATALOGUE
from occurs.expr.tree import COMPARISONS, Binary, Call, DurationLiteral, Expr, Literal, Ref, Slot, Unary
from occurs.model.time import TimeKind
from occurs.model.types import Type

Constant = Literal | DurationLiteral

_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def shape(node: Expr, kind: TimeKind | None = None, first: int = 0) -> tuple[Expr, tuple[Constant, ...]]:
    """``node`` with slots numbered from ``first`` instead of its constants, and the constants in that order.

    Expressions that are alike but for constants (and places in the text) have equal shapes, so that a shape serves as
    the key under which rules are put together.  Constants stay where they are not values: ``null``, and the arguments
    of functions that decide what is done (digits, units, patterns).  With ``kind``, durations that are not whole in
    ticks stay too, as a column of ticks cannot hold them.

    >>> five, six = (Binary(">", Ref(None, "x"), Literal(n, Type.INT)) for n in (5, 6))
    >>> shape(five)[0] == shape(six)[0], shape(six)[1][0].value
    (True, 6)
    """
    constants: list[Constant] = []

    def visit(e: Expr) -> Expr:
        if isinstance(e, Literal):
            if e.value is None:
                return replace(e, span=None)
            constants.append(replace(e, span=None))
            return Slot(first + len(constants) - 1, e.type)
        if isinstance(e, DurationLiteral):
            exact = kind.convert(e.value) if kind is not None else Fraction(0)
            if exact is None or exact.denominator != 1:
                return replace(e, span=None)
            constants.append(replace(e, span=None))
            return Slot(first + len(constants) - 1, Type.DURATION)
        if isinstance(e, Call) and e.name in CATALOGUE:
            fixed = CATALOGUE[e.name].literal
            return replace(e, args=tuple(a if i in fixed else visit(a) for i, a in enumerate(e.args)))
        children = e.children
        return e.with_children(tuple(visit(c) for c in children)) if children else e

    return visit(node), tuple(constants)


def fill(node: Expr, constants: tuple[Constant, ...], first: int = 0) -> Expr:
    """The expression that has this shape and these constants."""
    if isinstance(node, Slot):
        return constants[node.index - first]
    children = node.children
    return node.with_children(tuple(fill(c, constants, first) for c in children)) if children else node


def constant_value(constant: Constant, kind: TimeKind) -> bool | int | float | str | Fraction | None:
    """The value that a column for the slot of ``constant`` holds: durations in ticks, exactly.

    Raises ValueError if the unit of a duration says nothing about the ticks of ``kind``.
    """
    if isinstance(constant, Literal):
        return constant.value
    exact = kind.convert(constant.value)
    if exact is None:
        raise ValueError("the duration and the time column have no common unit")
    return int(exact) if exact.denominator == 1 else exact


def as_threshold(node: Expr) -> tuple[Ref, str, Literal | Slot] | None:
    """``attribute op constant``, from either order of the two; None for anything else.

    >>> as_threshold(Binary("<", Literal(5, Type.INT), Ref(None, "x")))
    (Ref(scope=None, name='x'), '>', Literal(value=5, type=<Type.INT: 'int'>))
    """
    if not isinstance(node, Binary) or node.op not in COMPARISONS:
        return None
    left, right = _constant(node.left), _constant(node.right)
    if isinstance(node.left, Ref) and isinstance(right, Literal | Slot):
        return node.left, node.op, right
    if isinstance(node.right, Ref) and isinstance(left, Literal | Slot):
        return node.right, _MIRRORED[node.op], left
    return None


def _constant(node: Expr) -> Expr:
    """A negative number is one constant."""
    if isinstance(node, Unary) and node.op == "neg" and isinstance(node.arg, Literal):
        value = node.arg.value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return Literal(-value, node.arg.type, span=node.span)
    return node


__all__ = ["Constant", "as_threshold", "constant_value", "fill", "shape"]
