"""Windows over items and over time, runs on lists and between resets; signals (pipes.md, 4.2, 4.3, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from occurs.expr import tree as expressions
from occurs.model.types import Type
from occurs.operators.process import kernels, tree
from occurs.operators.process.columns import Col, Rec, column_of, concat, need_numbers, numbers, of_numpy
from occurs.operators.process.functions import Function, condition
from occurs.operators.process.items import (
    NO_ENDS,
    CallSteps,
    Ends,
    Items,
    count_up,
    first_of,
    first_rows,
    last_of,
    ranges,
)
from occurs.operators.process.network import Inside, of_outer
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.state import Counts, Latest, Part, Queue, State
from occurs.operators.process.tree import Inner, Input, Node
from occurs.operators.process.values import Fault

SUM, GREATEST, LEAST, COUNT, LAST, MEAN = "sum", "greatest", "least", "count", "last", "mean"
#: rows of windows that are written out at a time
BLOCK = 1 << 20
#: sums of so few items are had sooner without NumPy
FEW = 32
_WHAT = {SUM: 0, GREATEST: 1, LEAST: 2}


class _Recent(Operator):
    """What looks at the last items of a trace: they are kept."""

    #: what is kept beside them
    beside: ClassVar[tuple[str, ...]] = ("number",)

    def fresh(self) -> dict[str, Part]:
        return {"kept": Queue(*self.beside), "n": Counts()}

    def rows(self, state: State, x: Items, call: CallSteps) -> SortedItems:
        """The items that were kept and the new ones, by trace."""
        kept: Queue = state["kept"]
        beside = {"number": count_up(state["n"].upto(call.instances), x)}
        if "time" in self.beside:
            beside["time"] = call.time(x.step)
        items, old = x.with_ends(NO_ENDS), len(kept)
        if old:
            extra = kept.extra
            items = Items.join([kept.items, items])
            beside = {n: np.concatenate([extra[n], v]) for n, v in beside.items()}
        return SortedItems(items, beside, old)

    def keep(self, state: State, rows: SortedItems, keep: np.ndarray | int, ends: Ends) -> None:
        """Keep these rows of every trace that goes on: those that are true, or of one trace those from there on."""
        if isinstance(keep, int):
            if len(ends):
                keep = len(rows.items)
            size = len(rows.items)
            first = min(max(keep, 0), size)
            kept, beside = rows.items, rows.beside
            if size <= FEW:
                kept, beside = kept.part(first, size), {n: beside[n][first:] for n in self.beside}
            else:  # few are kept, as a rule: not with all that there was
                kept = kept.take(np.arange(first, size))
                beside = {n: beside[n][first:].copy() for n in self.beside}
            state["kept"].put(kept, **beside)
            return
        if len(ends):
            keep &= ~np.isin(rows.items.codes, ends.code)
        kept = rows.items.filter(keep).with_ends(NO_ENDS)
        state["kept"].put(kept, **{n: rows.beside[n][keep] for n in self.beside})


@operator(tree.Window)
class Window(_Recent):
    """The last item of φ on the last n items (``width`` an int), or on those of the last ``width`` of time."""

    beside = ("time", "number")

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.inside = Inside(self.p.inner, setting)
        self.short = short_way(self.p.inner)

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        fronts = meet(state, given, call)
        if not len(fronts):
            state["kept"].drop(fronts.ends.code)
            return [Items.none(fronts.ends, fronts.code is None) for _ in self.p.inner.outputs]
        value: Col = fronts.values[0]
        if len(fronts.values) > 1:
            value = Rec({str(k): v for k, v in enumerate(fronts.values)}, len(fronts))
        rows = self.rows(state, fronts.items(value), call)
        if isinstance(self.p.width, int) and fronts.code is None and self.short in (SUM, MEAN):
            made = self._sums_of_one(rows, self.p.width)
            if made is not None:
                self.keep(state, rows, len(rows.items) - self.p.width + 1, fronts.ends)
                return [made.with_ends(fronts.ends)]
        if isinstance(self.p.width, int):
            low = np.arange(len(rows.items)) - self.p.width + 1
            full, keep = rows.new & (low >= rows.first), rows.newest(self.p.width - 1)
        else:
            low = np.empty(len(rows.items), np.int64)
            time, width = rows.beside["time"], self.ticks(self.p.width)
            kernels.lower_bounds(rows.first, time, width, low)
            full, keep = rows.new, time > call.times[-1] - width
        found = self._quick(rows, low) if self.short is not None else None
        self.keep(state, rows, keep, fronts.ends)
        at = np.flatnonzero(full)
        if found is not None:
            return [self._out(rows, at, found.take(at) if len(at) < len(found) else found, fronts.ends)]
        return self._run(rows, low, at, call, fronts.ends)

    @staticmethod
    def _out(rows: SortedItems, at: np.ndarray, value: Col, ends: Ends) -> Items:
        return rows.items.at(at, value).by_step().with_ends(ends)

    # --- without running it on each window --------------------------------------------------------------------------

    def _quick(self, rows: SortedItems, low: np.ndarray) -> Col | None:
        """Values for all rows that end a window, which begins at the row ``low``."""
        value = rows.items.value
        if self.short == LAST:
            return value if not isinstance(value, Rec) or len(self.node.inputs) == 1 else value.columns["0"]
        low = np.maximum(low, rows.first)
        if self.short == COUNT:
            return of_numpy(np.arange(len(value)) - low + 1)
        found = numbers(value)
        if found is None:
            return None
        v, valid = found
        if self.short in (SUM, MEAN) and v.dtype == np.int64:
            return self._prefix_sums(v, valid, low)
        if self.short == MEAN:
            return None
        filled = _filled(v, valid, self.short or "")
        out = filled.copy()
        if isinstance(self.p.width, int):
            what = _WHAT[self.short or ""]
            kernels.block_windows(filled, rows.first, rows.beside["number"], self.p.width, what, out)
        elif self.short == SUM:
            kernels.range_sums(filled, low, out)
        else:
            kernels.range_extremes(filled, low, self.short == GREATEST, out)
        return self._with_known(out, valid, low)

    def _sums_of_one(self, rows: SortedItems, width: int) -> Items | None:
        """Sums, or means, of all windows of ints of one trace; None if there are nulls or others, or one might not
        fit."""
        found, items = numbers(rows.items.value), rows.items
        if found is None or found[1] is not None or found[0].dtype != np.int64:
            return None
        v, first = found[0], max(rows.old, width - 1)
        if first >= len(v):
            return Items.none()
        if len(v) <= FEW:
            plain = v.tolist()
            most = max(map(abs, plain))
            sums = [sum(plain[i - width + 1 : i + 1]) for i in range(first, len(v))]
        else:
            most = max(abs(int(v.max())), abs(int(v.min())))
        if most * width >= 2**62:
            return None
        if len(v) <= FEW:
            out = np.array(sums, np.int64)
        else:
            sum_ = np.cumsum(v)
            out = sum_[first:].copy()
            # the first window has nothing before it
            skip = int(first == width - 1)
            out[skip:] -= sum_[first - width + skip : len(v) - width]
        value = of_numpy(out if self.short == SUM else out / width)
        return items.at(slice(first, len(v)), value)

    def _prefix_sums(self, v: np.ndarray, valid: np.ndarray | None, low: np.ndarray) -> Col | None:
        """Differences of running sums of ints; None if one might not fit."""
        if valid is not None:
            v = np.where(valid, v, 0)
        widest = int((np.arange(len(v)) - low).max(initial=0)) + 1
        if max(abs(int(v.max(initial=0))), abs(int(v.min(initial=0)))) * widest >= 2**62:
            return None
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(v)])
        out = sums[1:] - sums[low]
        if self.short == SUM:
            return of_numpy(out)
        there = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.ones(len(v)) if valid is None else valid)])
        count = there[1:] - there[low]
        return of_numpy(out / np.maximum(count, 1), count > 0)

    def _with_known(self, out: np.ndarray, valid: np.ndarray | None, low: np.ndarray) -> Col:
        if valid is None or self.short == SUM:
            return of_numpy(out)
        there = np.concatenate([np.zeros(1, np.int64), np.cumsum(valid)])
        return of_numpy(out, there[1:] > there[low])

    # --- any inner processor ----------------------------------------------------------------------------------------

    def _run(self, rows: SortedItems, low: np.ndarray, at: np.ndarray, call: CallSteps, ends: Ends) -> list[Items]:
        """φ on each window, in blocks of windows."""
        made: list[list[tuple[np.ndarray, Col]]] = [[] for _ in self.p.inner.outputs]
        sizes = at - low[at] + 1
        cuts = np.cumsum(sizes)
        first = 0
        while first < len(at):
            done = cuts[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(cuts, done + BLOCK)))
            for k, found in enumerate(self._block(rows, low, at[first:last], call)):
                rows_of = last_of(found.codes)
                made[k].append((at[first + found.codes[rows_of]], found.value.take(rows_of)))
            first = last
        out = []
        for parts in made:
            if parts:
                where = np.concatenate([w for w, _ in parts])
                out.append(self._out(rows, where, concat([v for _, v in parts]), ends))
            else:
                out.append(Items.none(ends, rows.items.code is None))
        return out

    def _block(self, rows: SortedItems, low: np.ndarray, at: np.ndarray, call: CallSteps) -> list[Items]:
        sizes = at - low[at] + 1
        code, inside = ranges(low[at], sizes)
        value = rows.items.value.take(inside)
        values = [value]
        if len(self.node.inputs) > 1:
            assert isinstance(value, Rec)
            values = [value.columns[str(k)] for k in range(len(self.node.inputs))]
        ends = Ends(np.arange(len(at)), rows.items.step[at])
        variables = of_outer(call.variables, rows.items.codes[at])
        return self.inside.complete(values, rows.items.step[inside], rows.beside["time"][inside], code, ends, variables)


def short_way(inner: Inner) -> str | None:
    """What an inner processor is, if windows of it can be had without running it on each."""
    if len(inner.outputs) != 1:
        return None
    node = inner.outputs[0].node
    p = node.processor
    if isinstance(p, tree.Placeholder) and p.index == 0:
        return LAST
    if len(node.inputs) != 1 or node.inputs[0].node.processor != tree.Placeholder(0):
        return None
    if isinstance(p, tree.Cumulate) and p.start is None and isinstance(p.function, str):
        return {"addition": SUM, "maximum": GREATEST, "minimum": LEAST}.get(p.function)
    if isinstance(p, tree.Moment) and p.n == 1:
        return MEAN
    if isinstance(p, tree.Last):
        return LAST
    return COUNT if isinstance(p, tree.Count) else None


class SortedItems:
    """Items sorted by trace: the ``old`` ones, which were kept, and the new ones, and what is kept ``beside`` them."""

    def __init__(self, items: Items, beside: dict[str, np.ndarray], old: int) -> None:
        self.old = old
        self._order: np.ndarray | None = None
        if items.code is not None:
            self._order = order = np.argsort(items.code, kind="stable")
            items = items.take(order)
            beside = {n: v[order] for n, v in beside.items()}
        self.items, self.beside = items, beside

    @cached_property
    def first(self) -> np.ndarray:
        """The row at which the trace of each begins."""
        return np.zeros(len(self.items), np.int64) if self._order is None else first_rows(self.items.codes)

    @cached_property
    def new(self) -> np.ndarray:
        """Booleans: those that were not kept."""
        return (np.arange(len(self.items)) if self._order is None else self._order) >= self.old

    @cached_property
    def last(self) -> np.ndarray:
        """The last row of the trace of each."""
        code = self.items.codes
        last = np.zeros(int(code.max(initial=0)) + 1, np.int64)
        last[code] = np.arange(len(code))
        return last[code]

    def newest(self, count: int) -> np.ndarray:
        """Booleans: the last so many of every trace."""
        return self.last - np.arange(len(self.last)) < count


def _filled(v: np.ndarray, valid: np.ndarray | None, short: str) -> np.ndarray:
    """With what changes nothing in place of nulls."""
    if valid is None:
        return v
    if short == SUM:
        return np.where(valid, v, v.dtype.type(0))
    if v.dtype == np.float64:
        return np.where(valid, v, -np.inf if short == GREATEST else np.inf)
    bounds = np.iinfo(np.int64)
    return np.where(valid, v, bounds.min if short == GREATEST else bounds.max)


@operator(tree.Each)
class Each(Operator):
    """The last item of φ run on the elements of each list as a complete trace; null and ``[]`` give nothing."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.inside = Inside(self.p.inner, setting)

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        lists = x.value.pylist()
        for i, v in enumerate(lists):
            if v is not None and not isinstance(v, tuple):
                raise Fault("bad-value", "is not a list", v, i)
        full = np.flatnonzero(np.array([bool(v) for v in lists], np.bool_))
        if not len(full):
            return Items.none(x.ends, x.code is None)
        sizes = np.array([len(lists[i]) for i in full.tolist()])
        copy = np.repeat(np.arange(len(full)), sizes)
        step = x.step[full][copy]
        value = column_of([v for i in full.tolist() for v in lists[i]])
        ends = Ends(np.arange(len(full)), x.step[full])
        variables = of_outer(call.variables, x.codes[full])
        (out,) = self.inside.complete([value], step, call.time(step), copy, ends, variables)
        rows = last_of(out.codes)
        return x.at(full[out.codes[rows]], out.value.take(rows), x.ends)


@operator(tree.Reset)
class Reset(Operator):
    """φ gets x_i; when g_i is true its last item on the complete trace so far, and it starts afresh."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.inside = Inside(self.p.inner, setting)

    def fresh(self) -> dict[str, Part]:
        return {"inner": self.inside.network.fresh(), "newest": Latest()}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        fronts = meet(state, given, call)
        single = fronts.code is None
        guard = condition(fronts.values[1])
        code = np.zeros(len(fronts), np.int64) if fronts.code is None else fronts.code
        at = np.flatnonzero(guard)
        none = np.full(call.instances, len(fronts))
        first, last = none, none - len(fronts) - 1
        if len(at):
            rows = at[first_of(code[at])]
            first = none.copy()
            first[code[rows]] = rows
            rows = at[last_of(code[at])]
            last = last.copy()
            last[code[rows]] = rows
        here = np.arange(len(fronts))
        parts: list[tuple[np.ndarray, Col]] = []
        # up to the first reset of each trace; then what is complete within this call; then what goes on
        head = here <= first[code]
        self._go_on(
            state,
            fronts,
            code,
            head,
            Ends(code[at[at == first[code[at]]]], fronts.step[at[at == first[code[at]]]]),
            call,
        )
        begun = at[at == first[code[at]]]
        found = state["newest"].find(code[begun])
        parts.append((begun[found >= 0], state["newest"].value.take(found[found >= 0])))
        state["newest"].drop(code[begun])
        state["inner"].drop(code[begun])
        middle = (here > first[code]) & (here <= last[code])
        if middle.any():
            parts.append(self._complete(fronts, code, np.flatnonzero(middle), guard, call))
        tail = here > np.maximum(first[code], last[code])
        if tail.any():
            self._go_on(state, fronts, code, tail, NO_ENDS, call)
        if len(fronts.ends):
            state["newest"].drop(fronts.ends.code)
            state["inner"].drop(fronts.ends.code)
        rows = np.concatenate([r for r, _ in parts])
        value = concat([v for _, v in parts])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        made = Items(value.take(order), fronts.step[rows], fronts.about[rows], None if single else code[rows])
        return [made.with_ends(fronts.ends)]

    def _go_on(
        self, state: State, fronts: Fronts, code: np.ndarray, mask: np.ndarray, ends: Ends, call: CallSteps
    ) -> None:
        """Give copies that last their items, and keep the newest of what they give."""
        step = fronts.step[mask]
        items = Items(fronts.values[0].filter(mask), step, step, code[mask], ends)
        (out,) = self.inside.advance(state["inner"], [items], replace(call))
        if len(out):
            state["newest"].put(out.codes, out.value)

    def _complete(
        self, fronts: Fronts, code: np.ndarray, rows: np.ndarray, guard: np.ndarray, call: CallSteps
    ) -> tuple[np.ndarray, Col]:
        """Copies that begin and end in this call."""
        order = rows[np.argsort(code[rows], kind="stable")]
        ends = guard[order]
        copy = np.cumsum(ends) - ends
        at = order[ends]
        outer = code[at]
        step = fronts.step[order]
        variables = of_outer(call.variables, outer)
        all_ends = Ends(np.arange(len(at)), fronts.step[at])
        (out,) = self.inside.complete([fronts.values[0].take(order)], step, call.time(step), copy, all_ends, variables)
        last = last_of(out.codes)
        return at[out.codes[last]], out.value.take(last)


# --- Signals: what compares an item with its neighbours ---------------------------------------------------------------


_ITEM, _ZERO = Input(0), expressions.Literal(0, Type.INT)


def _literal(value: int | float) -> expressions.Expr:
    return expressions.Literal(value, Type.FLOAT if isinstance(value, float) else Type.INT)


@operator(tree.Threshold)
class Threshold(Operator):
    """x if x > limit, else 0."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        above = expressions.Binary(">", _ITEM, _literal(self.p.limit))
        self.function = Function(expressions.Call("if", (above, _ITEM, _ZERO)))

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        return x.with_value(self.function.run(self.env([x.value], x.code, len(x), call))) if len(x) else x


@operator(tree.DeadTime)
class DeadTime(Operator):
    """After an item that is not zero the next n are 0."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.live = Function(expressions.Binary("!=", _ITEM, _ZERO))

    def fresh(self) -> dict[str, Part]:
        return {"left": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            return x
        live = self.live.true(self.env([x.value], x.code, len(x), call))
        zero = np.zeros(len(x), np.bool_)
        kernels.dead(x.codes, live, self.p.n, state["left"].upto(call.instances), zero)
        if not zero.any():
            return x
        found = numbers(x.value)
        if found is not None:
            valid = None if found[1] is None else found[1] | zero
            return x.with_value(of_numpy(np.where(zero, found[0].dtype.type(0), found[0]), valid))
        values = [0 if z else v for v, z in zip(x.value.pylist(), zero.tolist())]
        return x.with_value(column_of(values))


def _numbers(rows: SortedItems) -> tuple[np.ndarray, np.ndarray]:
    value, valid = need_numbers(rows.items.value, int((~rows.new).sum()))
    return value, np.ones(len(value), np.bool_) if valid is None else valid


class _Means(_Recent):
    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            state["kept"].drop(x.ends.code)
            return x
        n = self.p.n
        rows = self.rows(state, x, call)
        value, valid = _numbers(rows)
        low = np.arange(len(value)) - n + 1
        at = np.flatnonzero(rows.new & (low >= rows.first))
        whole = value.dtype == np.int64
        sums = np.zeros(len(value), value.dtype if whole else np.float64)
        kernels.range_sums(value, np.maximum(low, rows.first), sums)
        nulls = np.concatenate([np.zeros(1, np.int64), np.cumsum(~valid)])
        full = nulls[at + 1] == nulls[low[at]]
        mean = sums / n
        out = self.value(value, np.maximum(low, rows.first), mean, at, full)
        self.keep(state, rows, rows.newest(n - 1), x.ends)
        return rows.items.at(at, out).by_step().with_ends(x.ends)

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        raise AssertionError  # pragma: no cover


@operator(tree.Smooth)
class Smooth(_Means):
    """The mean of the last n, from item n-1 on; null if one is null."""

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        return of_numpy(mean[at], full)


@operator(tree.Plateaus)
class Plateaus(_Means):
    """The mean of the last n if they differ by no more than the tolerance, else 0."""

    def value(self, v: np.ndarray, low: np.ndarray, mean: np.ndarray, at: np.ndarray, full: np.ndarray) -> Col:
        high, least = np.empty_like(v), np.empty_like(v)
        kernels.range_extremes(v, low, True, high)
        kernels.range_extremes(v, low, False, least)
        with np.errstate(invalid="ignore"):
            flat = full & (high[at] - least[at] <= self.p.tolerance)
        return of_numpy(np.where(flat, mean[at], 0.0))


@operator(tree.TravelRise)
class TravelRise(_Recent):
    """The signed height of the last n items if they travel further than they rise, else 0."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            state["kept"].drop(x.ends.code)
            return x
        n = self.p.n
        rows = self.rows(state, x, call)
        given, valid = _numbers(rows)
        value = np.where(valid, given, np.nan).astype(np.float64)
        low = np.arange(len(value)) - n + 1
        at = np.flatnonzero(rows.new & (low >= rows.first))
        height = np.zeros(len(at))
        for begin in range(0, len(at), max(1, BLOCK // n)):
            part = slice(begin, begin + max(1, BLOCK // n))
            height[part] = self._heights(value[low[at[part], None] + np.arange(n)])
        self.keep(state, rows, rows.newest(n - 1), x.ends)
        return rows.items.at(at, of_numpy(height)).by_step().with_ends(x.ends)

    def _heights(self, windows: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore"):
            travel = np.abs(np.diff(windows, axis=1)).sum(axis=1)
            rise = np.abs(windows[:, -1] - windows[:, 0]) + self.p.slack
            height = windows.max(axis=1) - windows.min(axis=1)
        height = np.where(windows.argmin(axis=1) < windows.argmax(axis=1), height, -height)
        return np.where(travel > rise, height, 0.0)


@operator(tree.Persist)
class Persist(Operator):
    """The item of the greatest size, held for n items more."""

    def fresh(self) -> dict[str, Part]:
        return {"held": Counts(0.0, np.float64), "since": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            return x
        value, valid = need_numbers(x.value)
        given = value.astype(np.float64) if valid is None else np.where(valid, value, 0.0)
        held, since = (state[name].upto(call.instances) for name in ("held", "since"))
        out = np.zeros(len(x))
        kernels.persist(x.codes, given, self.p.n, held, since, out)
        return x.with_value(of_numpy(out))


@operator(tree.Noise)
class Noise(Operator):
    """The item and pseudo-random noise, which depends on the seed and on how many items were before."""

    def fresh(self) -> dict[str, Part]:
        return {"n": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            return x
        number = count_up(state["n"].upto(call.instances), x)
        value, valid = need_numbers(x.value)
        return x.with_value(of_numpy(value + (_random(self.p.seed, number) - 0.5) * self.p.spread, valid))


def _random(seed: int, number: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 1, one for each: splitmix64."""
    z = (np.uint64(seed % 2**64) + (number.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) / 2.0**53


@operator(tree.Peaks)
class Peaks(_Recent):
    """x_i if it is greater than the r items before and not less than the r items after, else 0; known with item i+r,
    or at the end."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        reach = self.p.reach
        if not len(x) and not len(x.ends):
            return x
        rows = self.rows(state, x, call)
        value, valid = _numbers(rows)
        valid = valid & (value == value)
        size = len(value)
        here = np.arange(size)
        code = rows.items.codes
        last = rows.last
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
        self.keep(state, rows, rows.newest(2 * reach), x.ends)
        made = Items(out, step, rows.items.about[at], None if x.code is None else code[at])
        return made.by_step().with_ends(x.ends)
