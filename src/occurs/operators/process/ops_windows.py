"""Windows over items and over time, runs on lists and between resets (pipes.md, 4.2, 4.3, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from occurs.operators.process import kernels, tree
from occurs.operators.process.columns import Col, Rec, column_of, concat, numbers, of_numpy
from occurs.operators.process.functions import condition
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, count_up, first_of, last_of
from occurs.operators.process.network import Inside, of_outer
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.state import Counts, Latest, Part, Queue, State
from occurs.operators.process.tree import Inner, Node
from occurs.operators.process.values import Fault

SUM, GREATEST, LEAST, COUNT, LAST, MEAN = "sum", "greatest", "least", "count", "last", "mean"
#: rows of windows that are written out at a time
BLOCK = 1 << 20
_WHAT = {SUM: 0, GREATEST: 1, LEAST: 2}


@operator
class Window(Operator):
    """The last item of φ on the last n items (``width`` an int), or on those of the last ``width`` of time."""

    of: ClassVar[type[tree.Processor]] = tree.Window

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Window)
        self.p = p
        self.inside = Inside(p.inner, setting)
        self.short = short_way(p.inner)

    def fresh(self) -> dict[str, Part]:
        return {"kept": Queue("time", "number"), "n": Counts()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        if not len(fronts):
            state["kept"].drop(fronts.ends.code)
            return [Items.none(fronts.ends, fronts.code is None) for _ in self.p.inner.outputs]
        rows = self._rows(state, fronts, call)
        if isinstance(self.p.width, int):
            n = self.p.width
            low = np.arange(len(rows.items)) - n + 1
            full = rows.new & (low >= rows.first)
            found = self._counted(rows, n) if self.short is not None else None
        else:
            low = np.empty(len(rows.items), np.int64)
            kernels.lower_bounds(rows.first, rows.time, self.ticks(self.p.width), low)
            full = rows.new
            found = self._timed(rows, low) if self.short is not None else None
        self._keep(state, rows, call, fronts.ends)
        at = np.flatnonzero(full)
        if found is not None:
            return [self._out(rows, at, found.take(at) if len(at) < len(found) else found, fronts.ends)]
        return self._run(rows, low, at, call, fronts.ends)

    def _rows(self, state: State, fronts: Fronts, call: Call) -> Rows:
        kept: Queue = state["kept"]
        value: Col = fronts.values[0]
        if len(fronts.values) > 1:
            value = Rec({str(k): v for k, v in enumerate(fronts.values)}, len(fronts))
        items = Items(value, fronts.step, fronts.about, fronts.code)
        number = count_up(state["n"].upto(call.instances), items)
        time = call.time(items.step)
        new = np.ones(len(items), np.bool_)
        if len(kept.items):
            new = np.concatenate([np.zeros(len(kept.items), np.bool_), new])
            items = Items.join([kept.items, items])
            time = np.concatenate([kept.extra["time"], time])
            number = np.concatenate([kept.extra["number"], number])
        return Rows(items, time, number, new)

    def _keep(self, state: State, rows: Rows, call: Call, ends: Ends) -> None:
        """What later windows may still need."""
        if isinstance(self.p.width, int):
            code = rows.items.codes
            after = np.full(int(code[-1]) + 1, 0)
            after[code] = np.arange(len(code))
            keep = after[code] - np.arange(len(code)) < self.p.width - 1
        else:
            keep = rows.time > call.times[-1] - self.ticks(self.p.width)
        if len(ends):
            keep &= ~np.isin(rows.items.codes, ends.code)
        kept = rows.items.filter(keep) if not keep.all() else rows.items
        state["kept"].put(kept, time=rows.time[keep], number=rows.number[keep])

    @staticmethod
    def _out(rows: Rows, at: np.ndarray, value: Col, ends: Ends) -> Items:
        items = rows.items
        code = None if items.code is None else items.code[at]
        return Items(value, items.step[at], items.about[at], code).by_step().with_ends(ends)

    # --- without running it on each window --------------------------------------------------------------------------

    def _counted(self, rows: Rows, n: int) -> Col | None:
        """Values for all rows that end a window of n."""
        value = rows.items.value
        if self.short == LAST:
            return value if not isinstance(value, Rec) or len(self.node.inputs) == 1 else value.columns["0"]
        if self.short == COUNT:
            return of_numpy(np.full(len(value), n))
        found = numbers(value)
        if found is None:
            return None
        v, valid = found
        low = np.maximum(np.arange(len(v)) - n + 1, rows.first)
        if self.short in (SUM, MEAN) and v.dtype == np.int64:
            return self._prefix_sums(v, valid, low)
        if self.short == MEAN:
            return None
        filled = _filled(v, valid, self.short or "")
        out = filled.copy()
        kernels.block_windows(filled, rows.first, rows.number, n, _WHAT[self.short or ""], out)
        return self._with_known(out, valid, low)

    def _timed(self, rows: Rows, low: np.ndarray) -> Col | None:
        value = rows.items.value
        if self.short == LAST:
            return value if not isinstance(value, Rec) or len(self.node.inputs) == 1 else value.columns["0"]
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
        out = np.empty_like(filled)
        if self.short == SUM:
            kernels.range_sums(filled, low, out)
        else:
            kernels.range_extremes(filled, low, self.short == GREATEST, out)
        return self._with_known(out, valid, low)

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

    def _run(self, rows: Rows, low: np.ndarray, at: np.ndarray, call: Call, ends: Ends) -> list[Items]:
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

    def _block(self, rows: Rows, low: np.ndarray, at: np.ndarray, call: Call) -> list[Items]:
        sizes = at - low[at] + 1
        code = np.repeat(np.arange(len(at)), sizes)
        inside = np.arange(len(code)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + low[at][code]
        value = rows.items.value.take(inside)
        values = [value]
        if len(self.node.inputs) > 1:
            assert isinstance(value, Rec)
            values = [value.columns[str(k)] for k in range(len(self.node.inputs))]
        ends = Ends(np.arange(len(at)), rows.items.step[at])
        variables = of_outer(call.variables, rows.items.codes[at])
        return self.inside.complete(values, rows.items.step[inside], rows.time[inside], code, ends, variables)


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


class Rows:
    """Items sorted by trace: those that were kept and the new ones."""

    def __init__(self, items: Items, time: np.ndarray, number: np.ndarray, new: np.ndarray) -> None:
        if items.code is not None:
            order = np.argsort(items.code, kind="stable")
            items, time, number, new = items.take(order), time[order], number[order], new[order]
            begins = np.ones(len(items), np.bool_)
            assert items.code is not None
            begins[1:] = items.code[1:] != items.code[:-1]
            self.first = np.maximum.accumulate(np.where(begins, np.arange(len(items)), 0))
        else:
            self.first = np.zeros(len(items), np.int64)
        self.items, self.time, self.number, self.new = items, time, number, new


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


@operator
class Each(Operator):
    """The last item of φ run on the elements of each list as a complete trace; null and ``[]`` give nothing."""

    of: ClassVar[type[tree.Processor]] = tree.Each

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        assert isinstance(node.processor, tree.Each)
        self.inside = Inside(node.processor.inner, setting)

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        lists = x.value.pylist()
        for i, v in enumerate(lists):
            if v is not None and not isinstance(v, tuple):
                raise Fault("bad-value", "is not a list", v, i)
        full = np.flatnonzero(np.array([bool(v) for v in lists], np.bool_))
        if not len(full):
            return [Items.none(x.ends, x.code is None)]
        sizes = np.array([len(lists[i]) for i in full.tolist()])
        copy = np.repeat(np.arange(len(full)), sizes)
        step = x.step[full][copy]
        value = column_of([v for i in full.tolist() for v in lists[i]])
        ends = Ends(np.arange(len(full)), x.step[full])
        variables = of_outer(call.variables, x.codes[full])
        (out,) = self.inside.complete([value], step, call.time(step), copy, ends, variables)
        rows = last_of(out.codes)
        at = full[out.codes[rows]]
        code = None if x.code is None else x.code[at]
        return [Items(out.value.take(rows), x.step[at], x.about[at], code, x.ends)]


@operator
class Reset(Operator):
    """φ gets x_i; when g_i is true its last item on the complete trace so far, and it starts afresh."""

    of: ClassVar[type[tree.Processor]] = tree.Reset

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        assert isinstance(node.processor, tree.Reset)
        self.inside = Inside(node.processor.inner, setting)

    def fresh(self) -> dict[str, Part]:
        return {"inner": self.inside.network.fresh(), "newest": Latest()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
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

    def _go_on(self, state: State, fronts: Fronts, code: np.ndarray, mask: np.ndarray, ends: Ends, call: Call) -> None:
        """Give copies that last their items, and keep the newest of what they give."""
        step = fronts.step[mask]
        items = Items(fronts.values[0].filter(mask), step, step, code[mask], ends)
        (out,) = self.inside.advance(state["inner"], [items], replace(call))
        if len(out):
            state["newest"].put(out.codes, out.value)

    def _complete(
        self, fronts: Fronts, code: np.ndarray, rows: np.ndarray, guard: np.ndarray, call: Call
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
