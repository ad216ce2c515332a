"""Columns with rows lost to an overflow: what the slow path computes with (common.md, section 6, "Overflow").

An overflow is an unknown value, not null.  Strict operations hand it on unless another operand is null; conditions keep
the set of outcomes that are still possible, so that it is known in the end whether the result depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import bools, nulls_of


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
