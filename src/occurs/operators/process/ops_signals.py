"""Signals: what compares an item with its neighbours (pipes.md, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from occurs.expr import tree as expressions
from occurs.model.types import Type
from occurs.operators.process import kernels, scalars, tree
from occurs.operators.process.columns import Col, column_of, numbers, of_numpy
from occurs.operators.process.functions import Function
from occurs.operators.process.items import Call, Items, count_up
from occurs.operators.process.operator import Operator, Setting, operator
from occurs.operators.process.ops_windows import Rows
from occurs.operators.process.state import Counts, Part, Queue, State
from occurs.operators.process.tree import Input, Node
from occurs.operators.process.values import Fault

_ITEM, _ZERO = Input(0), expressions.Literal(0, Type.INT)


def _literal(value: int | float) -> expressions.Expr:
    return expressions.Literal(value, Type.FLOAT if isinstance(value, float) else Type.INT)


@operator
class Threshold(Operator):
    """x if x > limit, else 0."""

    of: ClassVar[type[tree.Processor]] = tree.Threshold

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Threshold)
        above = expressions.Binary(">", _ITEM, _literal(p.limit))
        self.function = Function(expressions.Call("if", (above, _ITEM, _ZERO)))

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        return [x.with_value(self.function.run(self.env([x.value], x.code, len(x), call)))] if len(x) else [x]


@operator
class DeadTime(Operator):
    """After an item that is not zero the next n are 0."""

    of: ClassVar[type[tree.Processor]] = tree.DeadTime

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.live = Function(expressions.Binary("!=", _ITEM, _ZERO))

    def fresh(self) -> dict[str, Part]:
        return {"left": Counts()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        p = self.node.processor
        assert isinstance(p, tree.DeadTime)
        if not len(x):
            return [x]
        live = self.live.true(self.env([x.value], x.code, len(x), call))
        zero = np.zeros(len(x), np.bool_)
        kernels.dead(x.codes, live, p.n, state["left"].upto(call.instances), zero)
        if not zero.any():
            return [x]
        found = numbers(x.value)
        if found is not None:
            valid = None if found[1] is None else found[1] | zero
            return [x.with_value(of_numpy(np.where(zero, found[0].dtype.type(0), found[0]), valid))]
        values = [0 if z else v for v, z in zip(x.value.pylist(), zero.tolist())]
        return [x.with_value(column_of(values))]


class _Recent(Operator):
    """What looks at the last items of a trace: they are kept."""

    @property
    def p(self) -> Any:
        return self.node.processor

    #: how many are kept
    width: int

    def fresh(self) -> dict[str, Part]:
        return {"kept": Queue("number"), "n": Counts()}

    def rows(self, state: State, x: Items, call: Call) -> Rows:
        """The items that were kept and the new ones, by trace."""
        kept: Queue = state["kept"]
        number = count_up(state["n"].upto(call.instances), x)
        new = np.ones(len(x), np.bool_)
        items = x.with_ends(Items.none().ends)
        if len(kept.items):
            new = np.concatenate([np.zeros(len(kept.items), np.bool_), new])
            items = Items.join([kept.items, items])
            number = np.concatenate([kept.extra["number"], number])
        return Rows(items, number, number, new)

    def keep(self, state: State, rows: Rows, x: Items, width: int) -> None:
        """Keep the last ``width`` of every trace that goes on."""
        code = rows.items.codes
        after = np.zeros(int(code.max(initial=0)) + 1, np.int64)
        after[code] = np.arange(len(code))
        keep = after[code] - np.arange(len(code)) < width
        if len(x.ends):
            keep &= ~np.isin(code, x.ends.code)
        state["kept"].put(rows.items.filter(keep).with_ends(Items.none().ends), number=rows.number[keep])


def _checked(column: Col, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and which are valid.  Raises Fault at a new one that is none."""
    found = numbers(column)
    if found is not None:
        return found[0], np.ones(len(column), np.bool_) if found[1] is None else found[1]
    values = column.pylist()
    kept = int((~new).sum())
    for i, v in enumerate(values):
        if v is not None and not scalars.number(v):
            raise Fault("bad-value", "is not a number", v, max(0, i - kept))
    return np.array([0.0 if v is None else float(v) for v in values]), np.array([v is not None for v in values])


class _Means(_Recent):
    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        if not len(x):
            state["kept"].drop(x.ends.code)
            return [x]
        n = self.p.n
        rows = self.rows(state, x, call)
        value, valid = _checked(rows.items.value, rows.new)
        low = np.arange(len(value)) - n + 1
        at = np.flatnonzero(rows.new & (low >= rows.first))
        whole = value.dtype == np.int64
        sums = np.zeros(len(value), value.dtype if whole else np.float64)
        kernels.range_sums(value, np.maximum(low, rows.first), sums)
        nulls = np.concatenate([np.zeros(1, np.int64), np.cumsum(~valid)])
        full = nulls[at + 1] == nulls[low[at]]
        mean = sums / n
        out = self.value(value, np.maximum(low, rows.first), mean, at, full)
        self.keep(state, rows, x, n - 1)
        code = None if rows.items.code is None else rows.items.code[at]
        made = Items(out, rows.items.step[at], rows.items.about[at], code)
        return [made.by_step().with_ends(x.ends)]

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        raise AssertionError  # pragma: no cover


@operator
class Smooth(_Means):
    """The mean of the last n, from item n-1 on; null if one is null."""

    of: ClassVar[type[tree.Processor]] = tree.Smooth

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        return of_numpy(mean[at], full)


@operator
class Plateaus(_Means):
    """The mean of the last n if they differ by no more than the tolerance, else 0."""

    of: ClassVar[type[tree.Processor]] = tree.Plateaus

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        high, least = np.empty_like(v), np.empty_like(v)
        kernels.range_extremes(v, low, True, high)
        kernels.range_extremes(v, low, False, least)
        with np.errstate(invalid="ignore"):
            flat = full & (high[at] - least[at] <= self.p.tolerance)
        return of_numpy(np.where(flat, mean[at], 0.0))


@operator
class Peaks(_Recent):
    """x_i if it is greater than the r items before and not less than the r items after, else 0; known with item i+r,
    or at the end."""

    of: ClassVar[type[tree.Processor]] = tree.Peaks

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        reach = self.p.reach
        if not len(x) and not len(x.ends):
            return [x]
        rows = self.rows(state, x, call)
        value, valid = _checked(rows.items.value, rows.new)
        valid = valid & (value == value)
        size = len(value)
        here = np.arange(size)
        code = rows.items.codes
        last = np.zeros(int(code.max(initial=0)) + 1, np.int64)
        last[code] = here
        last = last[code]
        peak = valid.copy()
        for k in range(1, reach + 1):
            there = here - k >= rows.first
            other = np.where(there, here - k, here)
            peak &= ~there | (valid[other] & (value > value[other]))
            there = here + k <= last
            other = np.where(there, here + k, here)
            peak &= ~there | (valid[other] & (value >= value[other]))
        # which are known now, and were not before
        ended = np.isin(code, x.ends.code)
        newest = np.zeros(size, np.int64)
        new_rows = np.bincount(code[rows.new], minlength=int(code.max(initial=0)) + 1)
        newest = new_rows[code]
        known = (last - here >= reach) & (last - here - newest < reach)
        known |= ended & (last - here < reach)
        at = np.flatnonzero(known)
        later = np.minimum(at + reach, last[at])
        step = rows.items.step[later]
        if len(x.ends):
            ends = np.zeros(int(max(x.ends.code.max(), code.max(initial=0))) + 1, np.int64)
            ends[x.ends.code] = x.ends.step
            open_ = at + reach > last[at]
            step = np.where(open_, np.maximum(rows.items.step[at], ends[code[at]]), step)
        out = of_numpy(np.where(peak[at], value[at], value.dtype.type(0)))
        self.keep(state, rows, x, 2 * reach)
        made = Items(out, step, rows.items.about[at], None if x.code is None else code[at])
        return [made.by_step().with_ends(x.ends)]
