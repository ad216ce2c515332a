"""A compiled expression: closures over whole columns, made once per expression and types of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import spread
from occurs.expr.exact import nan_to_null, widened
from occurs.expr.loose import Loose, Slow, as_value, strict
from occurs.model.types import Type

#: the columns of the leaves, in their order -> a column, or a scalar if nothing in it depends on a row
Fast = Callable[[list[Any]], Any]
#: the same with the number of rows; all columns, none of them scalar
Careful = Callable[[list[pa.Array], int], Slow]

PHYSICAL: dict[Type, pa.DataType] = {
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.int64(),
    Type.DURATION: pa.int64(),
    Type.NULL: pa.null(),
}


@dataclass(frozen=True, slots=True)
class Node:
    """``fast`` raises ArrowInvalid on overflow, ``slow`` finds the rows.

    ``scalar``: the value of a constant.  ``scale``: the int64 counts this fraction of a tick (durations that are not
    whole in ticks stay exact).  ``real``: the column is float64.  ``nan``: it may hold NaN that has to become null
    before anybody looks.  ``leaf``: the number of the leaf that this is, ``coded`` if its column is a dictionary.
    """

    type: Type
    fast: Fast
    slow: Careful
    scalar: pa.Scalar | None = None
    scale: int = 1
    real: bool = False
    nan: bool = False
    leaf: int | None = None
    coded: bool = False

    @property
    def value(self) -> Any:
        """The value of a constant."""
        assert self.scalar is not None
        return self.scalar.as_py()

    @property
    def null(self) -> bool:
        """A constant null?"""
        return self.scalar is not None and not self.scalar.is_valid


def constant(value: Any, type: Type, *, scale: int = 1, real: bool | None = None) -> Node:
    """The node of a constant; a Fraction is a duration in exact ticks."""
    if isinstance(value, Fraction):
        value, scale = value.numerator, value.denominator
    real = type is Type.FLOAT if real is None else real
    return of_scalar(pa.scalar(value, pa.float64() if real else PHYSICAL[type]), type, scale=scale, real=real)


def of_scalar(scalar: pa.Scalar, type: Type, *, scale: int = 1, real: bool = False) -> Node:
    return Node(type, lambda _: scalar, lambda _, n: Loose(pa.repeat(scalar, n)), scalar, scale, real)


def operation(
    type: Type, run: Callable[..., Any], args: Sequence[Node], *, slow: Careful | None = None, **more: Any
) -> Node:
    """The node of a strict operation on columns; folded if all its arguments are constants.

    ``slow`` is only wanted where halving (:func:`occurs.expr.loose.carefully`) would be too slow to find overflows.
    """
    fast = _fast(run, args)

    def by_parts(columns: list[pa.Array], n: int) -> Slow:
        return strict(lambda *v: spread(run(*v), len(v[0])), [as_value(a.slow(columns, n)) for a in args])

    node = Node(type, fast, slow or by_parts, **more)
    return folded(node) if all(a.scalar is not None for a in args) else node


def folded(node: Node) -> Node:
    """The constant that a node of constants is; itself if it overflows."""
    try:
        scalar = node.fast([])
    except pa.ArrowInvalid:
        return node  # overflows on every row: the slow path says so
    return replace(of_scalar(scalar, node.type, scale=node.scale, real=node.real), nan=node.nan)


def _fast(run: Callable[..., Any], args: Sequence[Node]) -> Fast:
    """The closure with as little as possible between the columns and ``run``."""
    if len(args) == 1:
        one = args[0].fast
        return lambda c: run(one(c))
    if len(args) == 2:
        left, right = args[0].fast, args[1].fast
        if args[1].scalar is not None:
            fixed = args[1].scalar
            return lambda c: run(left(c), fixed)
        return lambda c: run(left(c), right(c))
    every = [a.fast for a in args]
    return lambda c: run(*(f(c) for f in every))


def clean(node: Node, keep_nan: bool) -> Node:
    """With null for NaN, unless the dialect keeps it."""
    if not node.nan:
        return node
    if keep_nan:
        return replace(node, nan=False)
    return operation(node.type, nan_to_null, [replace(node, nan=False)], real=node.real, scale=node.scale)


def to_float(node: Node) -> Node:
    """As a float64 column, ticks in fractions if need be."""
    if node.real:
        return node
    if node.scalar is not None:
        value = node.scalar.as_py()
        value = None if value is None else value / node.scale
        return constant(value, node.type, real=True)
    scale = node.scale
    if scale == 1:
        return operation(node.type, widened, [node], real=True)
    return operation(node.type, lambda x: pc.divide(widened(x), float(scale)), [node], real=True)


def typed(node: Node, type: Type | None) -> Node:
    """Widened to ``type``: null to all, int to float."""
    if type is None or node.type is type:
        return node
    if node.type is Type.NULL:
        return constant(None, type)
    if type is Type.FLOAT:
        return replace(to_float(node), type=Type.FLOAT)
    return replace(node, type=type)
