"""Which items of a trace go on (pipes.md, 4.2, 4.3)."""

from __future__ import annotations

import numpy as np

from occurs.operators.process import kernels, tree
from occurs.operators.process.columns import concat, of_numpy
from occurs.operators.process.items import NO_ENDS, CallSteps, Ends, Items, count_up, first_of
from occurs.operators.process.operator import Operator, operator
from occurs.operators.process.state import Counts, Latest, Part, State


class _Counting(Operator):
    def fresh(self) -> dict[str, Part]:
        return {"n": Counts()}

@operator(tree.Trim)
class Trim(_Counting):
    """x_n, x_{n+1} .."""

    ends_quietly = True

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        n = self.p.n
        if x.code is None:
            counts = state["n"].upto(1)
            skip = min(max(0, n - int(counts[0])), len(x))
            counts[0] = min(n, int(counts[0]) + len(x))
            return x.part(skip, len(x)).with_ends(x.ends) if skip else x
        return x.filter(count_up(state["n"].upto(call.instances), x) >= n)


@operator(tree.Count)
class Count(_Counting):
    """How many items there were."""

    ends_quietly = True

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        return x.with_value(of_numpy(count_up(state["n"].upto(call.instances), x) + 1))


@operator(tree.First)
class First(_Counting):
    """The first n; the trace ends with the n-th."""

    def fresh(self) -> dict[str, Part]:
        return {"n": Counts(), "told": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        n = self.p.n
        number = count_up(state["n"].upto(call.instances), x)
        told = state["told"].upto(call.instances)
        codes = x.codes
        if n == 0:
            # such a trace has ended before anything comes
            new = np.unique(np.concatenate([codes, x.ends.code]))
            if not self.setting.inner:
                new = np.zeros(1, np.int64)
            new = new[told[new] == 0]
            told[new] = 1
            return Items.none(Ends(new, np.full(len(new), -1)) if len(new) else NO_ENDS, x.code is None)
        done = number == n - 1
        ends = x.ends
        if len(ends):
            mine = told[ends.code] == 0
            # who has the n-th item in this call ends with it
            mine &= ~np.isin(ends.code, codes[done])
            ends = Ends(ends.code[mine], ends.step[mine])
        told[codes[done]] = 1
        ends = Ends.join([ends, Ends(codes[done], x.step[done])])
        return x.filter(number < n).with_ends(ends)


@operator(tree.Decimate)
class Decimate(_Counting):
    """x_0, x_n, x_2n ..; LAST TOO: at the end the last one, if it was none of them."""

    def fresh(self) -> dict[str, Part]:
        return {"n": Counts(), **(_kept_last() if self.p.last else {})}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        p = self.p
        if x.code is None and not p.last:
            counts = state["n"].upto(1)
            first = int(-counts[0] % p.n)
            counts[0] = (int(counts[0]) + len(x)) % p.n
            rows = np.arange(first, len(x), p.n)
            return x.take(rows).with_ends(x.ends)
        number = count_up(state["n"].upto(call.instances), x)
        out = x.filter(number % p.n == 0)
        if not p.last:
            return out
        _keep_last(state, x)
        ends = x.ends
        if len(ends):
            counts = state["n"].upto(call.instances)
            codes = ends.code[(counts[ends.code] > 0) & ((counts[ends.code] - 1) % p.n != 0)]
            out = Items.join([out, _last_items(state, codes, ends, x.code is None)])
        return out


def _kept_last() -> dict[str, Part]:
    return {"last": Latest(), "step": Counts(), "about": Counts(spoken=True)}


def _keep_last(state: State, x: Items) -> None:
    state["last"].put(x.codes, x.value)
    for name, values in (("step", x.step), ("about", x.about)):
        counts = state[name].upto(int(x.codes.max(initial=0)) + 1)
        counts[x.codes] = values


def _last_items(state: State, codes: np.ndarray, ends: Ends, single: bool) -> Items:
    """The last items of traces, known at their ends."""
    at = state["last"].find(codes)
    codes = codes[at >= 0]
    at = at[at >= 0]
    size = int(max(codes.max(initial=-1), ends.code.max(initial=-1))) + 1
    step = np.zeros(size, np.int64)
    step[ends.code] = ends.step
    steps = np.maximum(state["step"].upto(size)[codes], step[codes])
    return Items(state["last"].value.take(at), steps, state["about"].upto(size)[codes], None if single else codes)


@operator(tree.Last)
class Last(_Counting):
    """The last item, at the end."""

    def fresh(self) -> dict[str, Part]:
        return _kept_last()

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if len(x):
            _keep_last(state, x)
        single = x.code is None
        if not len(x.ends):
            return Items.none(single=single)
        return _last_items(state, x.ends.code, x.ends, single).with_ends(x.ends)


@operator(tree.Freeze)
class Freeze(_Counting):
    """x_0 once per item."""

    def fresh(self) -> dict[str, Part]:
        return {"first": Latest()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        if not len(x):
            return x
        first: Latest = state["first"]
        codes = x.codes
        if x.code is None:
            if not len(first.code):
                first.put(np.zeros(1, np.int64), x.value.slice(0, 1))
            return x.with_value(first.value.take(np.zeros(len(x), np.int64)))
        rows = first_of(codes)
        rows = rows[first.find(codes[rows]) < 0]
        if len(rows):
            first.put(codes[rows], x.value.take(rows))
        return x.with_value(first.value.take(first.find(codes)))


@operator(tree.Every)
class Every(_Counting):
    """The first item, then the first at least ``width`` after the last one kept."""

    def fresh(self) -> dict[str, Part]:
        return {"last": Counts(np.iinfo(np.int64).min)}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        width = self.ticks(self.p.width)
        kept = np.zeros(len(x), np.bool_)
        kernels.every(x.codes, call.time(x.step), width, state["last"].upto(call.instances), kept)
        return x.filter(kept)


@operator(tree.Insert)
class Insert(_Counting):
    """n times the constant with the first item."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        p = self.p
        if not len(x) or not p.n:
            return x
        first = np.flatnonzero(count_up(state["n"].upto(call.instances), x) == 0)
        if not len(first):
            return x
        new = np.repeat(first, p.n)
        codes = x.codes[new]
        value = concat([self.constant(p.value, codes, call), x.value])
        rows = np.concatenate([new, np.arange(len(x))])
        order = np.argsort(rows, kind="stable")
        return x.at(rows[order], value.take(order), x.ends)


@operator(tree.Repeat)
class Repeat(_Counting):
    """Each item n times."""

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        rows = np.repeat(np.arange(len(x)), self.p.n)
        return x.take(rows).with_ends(x.ends)
