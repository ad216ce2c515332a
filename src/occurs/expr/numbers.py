"""Compiling arithmetic and comparisons."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr import exact
from occurs.expr.dialect import Dialect
from occurs.expr.loose import Loose, Slow, as_value, joint_loss, none_if_empty
from occurs.expr.node import Node, clean, constant, operation, to_float
from occurs.model.types import Type

_CHECKED = {
    op: pc.get_function(f"{name}_checked").call for op, name in {"+": "add", "-": "subtract", "*": "multiply"}.items()
}
_PLAIN = {op: pc.get_function(name).call for op, name in {"+": "add", "-": "subtract", "*": "multiply"}.items()}


def arithmetic(op: str, left: Node, right: Node, type: Type, dialect: Dialect) -> Node:
    """``left op right`` of numbers, times and durations; ``type`` is that of the result."""
    if left.null or right.null:
        return constant(None, type)
    if op == "/":
        # (l / s) / (r / t) = (l t) / (r s)
        a, b = (left, right) if left.real or right.real else (rescaled(left, right.scale), rescaled(right, left.scale))
        if a.real != b.real:
            a, b = to_float(a), to_float(b)
        a, b = replace(a, scale=1), replace(b, scale=1)
        return operation(type, lambda x, y: exact.divide(x, y, dialect), [a, b], real=True, nan=True)
    if left.real or right.real:
        a, b = to_float(left), to_float(right)
        if op in _PLAIN:
            plain = _PLAIN[op]
            return operation(type, lambda x, y: plain([x, y]), [a, b], real=True, nan=True)
        return operation(type, lambda x, y: exact.remainder(op, x, y), [a, b], real=True, nan=True)
    if op != "*":
        left, right = aligned(left, right)
    scale = left.scale * right.scale if op == "*" else left.scale
    if op in _CHECKED:
        return _exact(op, left, right, type, scale)
    run = lambda x, y: exact.remainder(op, x, y)  # noqa: E731
    return operation(type, run, [left, right], scale=1 if op == "div" else scale)


def _exact(op: str, left: Node, right: Node, type: Type, scale: int) -> Node:
    checked = _CHECKED[op]

    def slow(columns: list[pa.Array], n: int) -> Slow:
        args = [as_value(a.slow(columns, n)) for a in (left, right)]
        values, lost = exact.wrapped(op, args[0].values, args[1].values)
        return Loose(values, none_if_empty(joint_loss(args, lost)))

    return operation(type, lambda x, y: checked([x, y]), [left, right], slow=slow, scale=scale)


def negated(node: Node) -> Node:
    """``-node``."""
    if node.real:
        return operation(node.type, pc.negate, [node], real=True, nan=node.nan)
    return _exact("-", constant(0, node.type), node, node.type, node.scale)


def rescaled(node: Node, factor: int) -> Node:
    """The int64 counts ``factor`` times as fine a part of a tick."""
    if factor == 1:
        return node
    return _exact("*", node, constant(factor, Type.INT), node.type, node.scale * factor)


def aligned(left: Node, right: Node) -> tuple[Node, Node]:
    """Both in the same part of a tick."""
    common = math.lcm(left.scale, right.scale)
    return rescaled(left, common // left.scale), rescaled(right, common // right.scale)


def whole(node: Node) -> Node:
    """A duration as whole ticks, to the nearest: for where a column of ticks is needed."""
    if node.real:
        return operation(node.type, _to_ticks, [node])
    if node.scale == 1:
        return node
    return operation(node.type, _to_ticks, [replace(to_float(node), type=node.type)])


def _to_ticks(x: Any) -> Any:
    rounded = pc.round(x, ndigits=0, round_mode="half_to_even")
    # beyond int64, and NaN: the cast raises, as an overflow does
    return rounded.cast(pa.int64())


# --- comparisons ------------------------------------------------------------------------------------------------


def comparison(op: str, left: Node, right: Node, dialect: Dialect) -> Node:
    """``left op right``; null if one is null."""
    if left.null or right.null:
        return constant(None, Type.BOOL)
    if left.type in (Type.BOOL, Type.STRING):
        if left.scalar is not None:
            left, right, op = right, left, exact.MIRRORED[op]
        compare = exact.COMPARE[op]
        return coded(operation(Type.BOOL, lambda x, y: compare([x, y]), [left, right]), left, right)
    keep = dialect.nan == "keep"
    left, right = clean(left, keep), clean(right, keep)
    if left.null or right.null:  # a constant that was NaN
        return constant(None, Type.BOOL)
    if left.scalar is not None and right.scalar is None:
        left, right, op = right, left, exact.MIRRORED[op]
    if right.scalar is not None:
        return _with_constant(op, left, right)
    if not left.real and not right.real:
        left, right = aligned(left, right)
    elif left.real != right.real:
        if left.real:
            left, right, op = right, left, exact.MIRRORED[op]
        if left.scale == 1:
            return operation(Type.BOOL, lambda x, y: exact.compare_mixed(op, x, y), [left, right])
        left = to_float(left)
    compare = exact.COMPARE[op]
    return operation(Type.BOOL, lambda x, y: compare([x, y]), [left, right])


def _with_constant(op: str, left: Node, right: Node) -> Node:
    value = right.value
    bound: tuple[str, Any] | bool
    if left.real:
        bound = (op, value) if right.real else exact.float_bound(op, Fraction(value, right.scale))
    elif right.real:
        bound = exact.integer_bound(op, Fraction(value) * left.scale if math.isfinite(value) else value)
    else:
        bound = exact.integer_bound(op, Fraction(value, right.scale) * left.scale)
    if isinstance(bound, bool):
        outcome = bound
        return operation(Type.BOOL, lambda x: exact.where_valid(x, outcome), [left])
    compare, limit = exact.COMPARE[bound[0]], constant(bound[1], Type.FLOAT if left.real else Type.INT)
    return operation(Type.BOOL, lambda x, y: compare([x, y]), [left, limit])


def coded(node: Node, leaf: Node, fixed: Node) -> Node:
    """A test of one text with a constant: on a dictionary column, once per distinct text."""
    if not leaf.coded or leaf.leaf is None or fixed.scalar is None:
        return node
    # the closure of ``node`` asks the leaf for its column: it is handed the distinct texts as that column
    number, size, test = leaf.leaf, leaf.leaf + 1, node.fast

    def fast(columns: list[Any]) -> Any:
        column = columns[number]
        given: list[Any] = [None] * size
        given[number] = column.dictionary
        return test(given).take(column.indices)

    return replace(node, fast=fast)
