"""A compiled expression: closures over whole columns, and columns with lost rows, with which its slow path computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import bools, nulls_of, spread
from occurs.expr.exact import nan_to_null, widened
from occurs.model.types import Type

# --- columns with rows lost to an overflow: what the slow path computes with (common.md, section 6, "Overflow") ------
# An overflow is an unknown value, not null.  Strict operations hand it on unless another operand is null; conditions
# keep the set of outcomes that are still possible, so that it is known in the end whether the result depends on it.


@dataclass(frozen=True, slots=True)
class Loose:
    """``values`` are null where ``lost`` (booleans, or None for nowhere)."""

    values: pa.Array
    lost: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Three:
    """Of a condition, by row: may it be true, false, null?"""

    true: np.ndarray
    false: np.ndarray
    null: np.ndarray

    @property
    def open(self) -> np.ndarray:
        """Rows with more than one outcome."""
        return self.true.astype(np.int8) + self.false + self.null > 1

    def inverted(self) -> Three:
        return Three(self.false, self.true, self.null)

    def falsified(self) -> Three:
        """With false for null."""
        return Three(self.true, self.false | self.null, np.zeros_like(self.null))

    def both(self, other: Three) -> Three:
        """Kleene's AND of the outcomes, each with each."""
        null = (self.null & (other.null | other.true)) | (self.true & other.null)
        return Three(self.true & other.true, self.false | other.false, null)

    def either(self, other: Three) -> Three:
        """Kleene's OR."""
        return self.inverted().both(other.inverted()).inverted()


Slow = Loose | Three


def none_if_empty(lost: np.ndarray | None) -> np.ndarray | None:
    return lost if lost is not None and lost.any() else None


def as_value(x: Slow) -> Loose:
    """A condition as a column: lost where its outcome is open."""
    if isinstance(x, Loose):
        return x
    lost = x.open
    return Loose(pa.array(x.true, mask=x.null | lost), none_if_empty(lost))


def as_condition(x: Slow) -> Three:
    """A column of bools as outcomes; all nulls of another type are null."""
    if isinstance(x, Three):
        return x
    null = nulls_of(x.values)
    true = bools(x.values) if pa.types.is_boolean(x.values.type) else np.zeros(len(null), np.bool_)
    false = ~true & ~null
    if x.lost is None:
        return Three(true, false, null)
    return Three(true | x.lost, false | x.lost, null & ~x.lost)


def strict(run: Callable[..., Any], args: Sequence[Loose]) -> Loose:
    """``run`` on the values: null where an argument is null, else lost where one is, or where ``run`` overflows."""
    out, more = carefully(run, [a.values for a in args])
    return Loose(out, none_if_empty(joint_loss(args, more)))


def joint_loss(args: Sequence[Loose], more: np.ndarray | None = None) -> np.ndarray | None:
    """Rows lost in some argument, and null in none."""
    lost: np.ndarray | None = None
    for a in args:
        if a.lost is not None:
            lost = a.lost if lost is None else lost | a.lost
    if lost is not None:
        for a in args:
            null = nulls_of(a.values)
            lost = lost & ~(null if a.lost is None else null & ~a.lost)
    if more is None:
        return lost
    return more if lost is None else lost | more


def carefully(run: Callable[..., Any], values: Sequence[pa.Array]) -> tuple[pa.Array, np.ndarray | None]:
    """``run`` on columns; if it overflows somewhere, the rows where (null there), found by halving."""
    try:
        return run(*values), None
    except pa.ArrowInvalid:
        n = len(values[0])
        if n == 1:
            # one row that overflows: the type of the result is that of the same call on nothing
            empty = run(*(v.slice(0, 0) for v in values))
            return pa.nulls(1, empty.type), np.ones(1, np.bool_)
    half = n // 2
    left, lost_left = carefully(run, [v.slice(0, half) for v in values])
    right, lost_right = carefully(run, [v.slice(half) for v in values])
    lost = [x if x is not None else np.zeros(len(v), np.bool_) for x, v in ((lost_left, left), (lost_right, right))]
    return pa.concat_arrays([left, right]), np.concatenate(lost)


def choose(where: np.ndarray, a: Loose, b: Loose) -> Loose:
    """``a`` where ``where``, else ``b``."""
    values = pc.if_else(pa.array(where), a.values, b.values)
    if a.lost is None and b.lost is None:
        return Loose(values)
    none = np.zeros(len(where), np.bool_)
    lost = np.where(where, none if a.lost is None else a.lost, none if b.lost is None else b.lost)
    return Loose(values, none_if_empty(lost))


def lose(x: Loose, rows: np.ndarray) -> Loose:
    """With ``rows`` lost as well."""
    if not rows.any():
        return x
    values = pc.if_else(pa.array(rows), pa.scalar(None, x.values.type), x.values)
    return Loose(values, rows if x.lost is None else rows | x.lost)


# --- compiled expressions: closures ----------------------------------------------------------------------------------

#: the columns of the leaves, in their order -> a column, or a scalar if nothing in it depends on a row
Fast = Callable[[list[Any]], Any]
#: what the operands are on every row, and the number of rows -> what the node is
Careful = Callable[[list[Slow], int], Slow]

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
    """``fast`` raises ArrowInvalid on overflow, :func:`careful` finds the rows.

    ``args``: the operands.  ``careful``: what they make if some of their rows may be lost.  ``scalar``: the value of a
    constant.  ``scale``: the int64 counts this fraction of a tick (durations that are not whole in ticks stay exact).
    ``real``: the column is float64.  ``nan``: it may hold NaN that has to become null before anybody looks.  ``leaf``:
    the number of the leaf that this is, ``coded`` if its column is a dictionary.
    """

    type: Type
    fast: Fast
    args: tuple[Node, ...] = ()
    careful: Careful | None = None
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
    return Node(type, lambda _: scalar, scalar=scalar, scale=scale, real=real)


def careful(node: Node, columns: list[pa.Array], n: int) -> Slow:
    """What a node is on each of ``n`` rows, with those that an overflow hides; all ``columns``, none of them scalar."""
    if node.scalar is not None:
        return Loose(pa.repeat(node.scalar, n))
    if node.leaf is not None:
        return Loose(columns[node.leaf])
    assert node.careful is not None
    return node.careful([careful(a, columns, n) for a in node.args], n)


def operation(
    type: Type, run: Callable[..., Any], args: Sequence[Node], *, slow: Careful | None = None, **more: Any
) -> Node:
    """The node of a strict operation on columns; folded if all its arguments are constants.

    ``slow`` is only wanted where halving (:func:`carefully`) would be too slow to find overflows.
    """

    def by_parts(parts: list[Slow], n: int) -> Slow:
        return strict(lambda *v: spread(run(*v), len(v[0])), [as_value(p) for p in parts])

    node = Node(type, _fast(run, args), tuple(args), slow or by_parts, **more)
    return folded(node) if all(a.scalar is not None for a in args) else node


def folded(node: Node) -> Node:
    """The constant that a node of constants is; itself if it overflows."""
    try:
        scalar = node.fast([])
    except pa.ArrowInvalid:
        return node  # overflows on every row: the careful path says so
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
