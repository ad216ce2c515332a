"""Constraints of many rules at once: which row passes which rule of a template."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.expr.evaluate import as_threshold
from occurs.expr.tree import Expr, Literal, Slot, rewrite
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.frame import NO_MASK, Frame
from occurs.operators.kernels.bitsets import compared, rule_sets
from occurs.operators.rows import Rows

#: as the kernel numbers them
_OPERATORS = (">", ">=", "<", "<=", "=", "!=")

_COMPARE = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
#: below this size int64 and float64 compare exactly
_EXACT = 2**53


def rule_mask(
    frame: Frame, rows: Rows, filters: Sequence[Expr], constants: Sequence[Column], n_rules: int
) -> np.ndarray:
    """Booleans (rules, rows); NO_MASK if there is nothing to test.

    A comparison of a number with a constant is one broadcast for all rules; anything else is evaluated once per
    distinct constraint.
    """
    out: np.ndarray | None = None
    for f in filters:
        part = _threshold(rows, f, constants)
        if part is None:
            part = np.empty((n_rules, len(rows)), np.bool_)
            for r in range(n_rules):
                passed = frame.filter(rows, [_filled(f, constants, r)])
                part[r] = passed
        out = part if out is None else np.logical_and(out, part, out=out)
    return NO_MASK if out is None else out


def _filled(f: Expr, constants: Sequence[Column], rule: int) -> Expr:
    def fill(node: Expr) -> Expr | None:
        if isinstance(node, Slot):
            column = constants[node.index]
            return Literal(column.arrow[rule].as_py(), column.type)
        return None

    return rewrite(f, fill)


def _threshold(rows: Rows, f: Expr, constants: Sequence[Column]) -> np.ndarray | None:
    found = as_threshold(f)
    if found is None:
        return None
    ref, op, bound = found
    column = rows.column(ref.name)
    if not isinstance(bound, Slot) or not column.numeric:
        return None
    limit = constants[bound.index]
    if not limit.numeric or limit.valid is not None or not column.type.numeric:
        return None
    if column.type is not limit.type:
        ints = column.values if column.values.dtype == np.int64 else limit.values
        if len(ints) and int(np.abs(ints).max()) >= _EXACT:
            return None
    out = _COMPARE[op](column.values[None, :], limit.values[:, None])
    if column.valid is not None:
        out &= column.valid[None, :]
    return out


def rule_bits(
    frame: Frame, rows: Rows, filters: Sequence[Expr], constants: Sequence[Column], n_rules: int
) -> np.ndarray:
    """uint64 (rows): the set of the rules that each row passes, of at most 64; no entries: every row passes all.

    A comparison of a number with a constant per rule is a binary search among the constants.
    """
    out: np.ndarray | None = None
    for f in filters:
        part = _threshold_bits(rows, f, constants)
        if part is None:
            mask = rule_mask(frame, rows, [f], constants, n_rules)
            part = rule_sets(mask)
        out = part if out is None else out & part
    return np.zeros(0, np.uint64) if out is None else out


def _threshold_bits(rows: Rows, f: Expr, constants: Sequence[Column]) -> np.ndarray | None:
    found = as_threshold(f)
    if found is None:
        return None
    ref, op, bound = found
    if not isinstance(bound, Slot):
        return None
    column, limit = rows.column(ref.name), constants[bound.index]
    if not (column.numeric and limit.numeric and column.type is limit.type is Type.INT) or limit.valid is not None:
        return None
    order = np.argsort(limit.values, kind="stable")
    out = compared(column.values, limit.values[order], order, _OPERATORS.index(op))
    if column.valid is not None:
        out = np.where(column.valid, out, np.uint64(0))
    return out
