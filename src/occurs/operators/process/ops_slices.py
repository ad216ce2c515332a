"""The slicer: a copy of an inner processor per value of a key (pipes.md, 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from occurs.operators.process import tree
from occurs.operators.process.columns import Col, Obj, Plain
from occurs.operators.process.faults import Fault
from occurs.operators.process.functions import Function
from occurs.operators.process.inside import Inside, of_outer
from occurs.operators.process.items import Call, Ends, Items
from occurs.operators.process.operator import Operator, Setting, operator
from occurs.operators.process.sliced import before_of, given_of
from occurs.operators.process.slicing import Made, Own, apart, groups_of, is_true, some_of
from occurs.operators.process.state import Part, State
from occurs.operators.process.tree import Node
from occurs.operators.process.values import Set, Sharp, distinct

_NONE = np.zeros(0, np.int64)


@operator
class Slice(Operator):
    """After every item, in the form asked for, what the slices have given."""

    of: ClassVar[type[tree.Processor]] = tree.Slice

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Slice)
        self.p = p
        condition, key = apart(p.key) if not p.exploded else (None, p.key)
        #: where it is true, the item goes to all slices
        self.every = None if condition is None else Function(condition)
        self.key = Function(key)
        self.until = None if p.until is None else Function(p.until)
        self.inside = Inside(p.inner, setting)

    def fresh(self) -> dict[str, Part]:
        return {"own": Own(self.inside.network.fresh(), self.p.form == "map" or self.until is not None)}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        own: Own = state["own"]
        own.close_up()
        base = int(own.count.values[0])
        inner = self._call(own, x, base, call)
        before = before_of(own) if self.p.form == "map" else None
        made: list[Made] = []
        gone: list[tuple[np.ndarray, np.ndarray]] = []
        if len(x):
            rows, some, outer, all_ = self._addressed(x, call)
            if self.until is None:
                made.append(self._without_until(own, x, rows, some, outer, all_, base, inner, call))
            else:
                self._with_until(own, x, rows, some, outer, all_, base, inner, call, made, gone)
            # the last of each trace stays
            own.about.upto(call.instances)[0 if x.code is None else x.code] = x.about[-1] if x.code is None else x.about
            own.step.upto(call.instances)[0 if x.code is None else x.code] = x.step[-1] if x.code is None else x.step
        flushed = self._flush(own, x, base, inner, call) if len(x.ends) else None
        own.count.values[0] = base + len(x) + len(x.ends)
        found = Made.join(made) if made else None
        out = given_of(self.p.form, own, x, found, gone, flushed, before, call)
        own.forget_newest()
        if len(x.ends):
            own.drop(x.ends.code)
        return [out.with_ends(x.ends)]

    # --- to whom items go -------------------------------------------------------------------------------------------

    def _addressed(self, x: Items, call: Call) -> tuple[np.ndarray, Col, np.ndarray | None, np.ndarray]:
        """Rows and the keys they go to (no nulls), the traces they are of (None: one); the rows that go to all."""
        if self.every is None:
            return self._of_keys(self.key.run(self.env([x.value], x.code, len(x), call)), x)
        all_ = is_true(self.every.run(self.env([x.value], x.code, len(x), call)))
        if not all_.any():
            return self._of_keys(self.key.run(self.env([x.value], x.code, len(x), call)), x)
        there = np.flatnonzero(~all_)
        others = x.take(there)
        try:
            keys = self.key.run(self.env([others.value], others.code, len(others), call))
        except Fault as fault:
            fault.row = None if fault.row is None else int(there[fault.row])
            raise
        rows, some, outer, more = self._of_keys(keys, others)
        return there[rows], some, outer, np.sort(np.concatenate([np.flatnonzero(all_), there[more]]))

    def _of_keys(self, keys: Col, x: Items) -> tuple[np.ndarray, Col, np.ndarray | None, np.ndarray]:
        """As :meth:`_addressed`, by the values of the key."""
        if isinstance(keys, Plain):
            there = keys.nulls()
            rows = np.flatnonzero(~there) if there.any() else np.arange(len(x))
            some = keys.take(rows) if there.any() else keys
            return rows, some, None if x.code is None else x.code[rows], _NONE
        # beside each key its number among those of its item
        rows_: list[int] = []
        values: list[tuple[int, Any]] = []
        all_: list[int] = []
        for i, v in enumerate(keys.pylist()):
            many = distinct(v) if self.p.exploded and isinstance(v, (tuple, Set)) else (v,)
            if Sharp.ALL in many:
                all_.append(i)
            for place, one in enumerate(many):
                if one is not None and one is not Sharp.ALL:
                    rows_.append(i)
                    values.append((place, one))
        rows = np.array(rows_, np.int64)
        return rows, Obj.of(values), None if x.code is None else x.code[rows], np.array(all_, np.int64)

    def _find(self, own: Own, rows: np.ndarray, keys: Col, outer: np.ndarray | None, base: int) -> np.ndarray:
        if isinstance(keys, Obj):
            outers = [0] * len(rows) if outer is None else outer.tolist()
            found = []
            for o, (place, k), r in zip(outers, keys.pylist(), rows.tolist()):
                found.append(own.slots.slot(o, k, r, base, place))
            return np.array(found, np.int64)
        return own.slots.find(keys, outer, rows, base)

    def _without_until(
        self, own: Own, x: Items, rows: np.ndarray, keys: Col, outer: np.ndarray | None, all_: np.ndarray,
        base: int, inner: Call, call: Call,
    ) -> Made:  # fmt: skip
        slot = self._find(own, rows, keys, outer, base)
        known = None if isinstance(keys, Obj) else keys
        if len(all_):
            rows, slot = self._to_all(own, x, rows, slot, all_, base)
            known = None
        return self._run(own, x, rows, slot, known, base, inner, call)

    def _to_all(
        self, own: Own, x: Items, rows: np.ndarray, slot: np.ndarray, all_: np.ndarray, base: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """With the items that go to every slice that exists by then, those made with the same item too."""
        parts_row, parts_slot = [rows], [slot]
        both = np.isin(rows, all_)
        sent = set(zip(rows[both].tolist(), slot[both].tolist()))
        of: dict[int, np.ndarray] = {}
        for i, c in zip(all_.tolist(), x.codes[all_].tolist()):
            if c not in of:
                of[c] = own.slots.of(c)
            there = of[c]
            there = there[own.slots.born[there] >> 20 <= base + i]
            there = there[[(i, s) not in sent for s in there.tolist()]] if sent else there
            parts_slot.append(there)
            parts_row.append(np.full(len(there), i))
        row, slot = np.concatenate(parts_row), np.concatenate(parts_slot)
        order = np.lexsort((own.slots.born[slot], row))
        return row[order], slot[order]

    # --- running φ --------------------------------------------------------------------------------------------------

    def _call(self, own: Own, x: Items, base: int, call: Call) -> Call:
        times = call.time(x.step) if len(x) else _NONE
        if len(x.ends):
            # a trace may end before the first event: nothing comes of that
            last = np.maximum(x.ends.step, self._last_step(own, x, call))
            times = np.concatenate([times, call.time(last) if len(call.times) else np.zeros(len(last), np.int64)])
        return Call(base, times)

    @staticmethod
    def _last_step(own: Own, x: Items, call: Call) -> np.ndarray:
        """The steps of ends, none before this call."""
        return np.full(len(x.ends), call.base if call.steps is None else call.steps[0])

    def _inner(self, own: Own, inner: Call, call: Call) -> Call:
        slots = own.slots
        variables: dict[str, Any] = of_outer(call.variables, slots.outer)
        variables["slice"] = slots.keys
        return Call(inner.base, inner.times, max(1, slots.instances), variables, None)

    def _run(
        self, own: Own, x: Items, rows: np.ndarray, slot: np.ndarray, keys: Col | None, base: int, inner: Call,
        call: Call,
    ) -> Made:  # fmt: skip
        # the rows of a whole column ascend
        same = len(rows) == len(x) and (keys is not None or bool((rows == np.arange(len(x))).all()))
        position = rows + base
        value = x.value if same else x.value.take(rows)
        items = Items(value, position, position, slot)
        (out,) = self.inside.advance(own.inner, [items], self._inner(own, inner, call))
        if out.step is position and keys is not None:
            found = Made(rows, slot, own.owners(), keys, out.value)
            found.ordered = same
            return found
        return own.made(out.step - base, out)

    def _with_until(
        self, own: Own, x: Items, rows: np.ndarray, keys: Col, outer: np.ndarray | None, all_: np.ndarray,
        base: int, inner: Call, call: Call, made: list[Made], gone: list[tuple[np.ndarray, np.ndarray]],
    ) -> None:  # fmt: skip
        """Items that go to all slices are waited for: which slices there are is known only then."""
        first = 0
        for i in [*all_.tolist(), len(x)]:
            here = (rows >= first) & (rows < i)
            self._stretch(own, x, rows[here], keys.filter(here), some_of(outer, here), base, inner, call, made, gone)
            if i < len(x):
                here = rows == i
                slot = self._find(own, rows[here], keys.filter(here), some_of(outer, here), base)
                row, slot = self._to_all(own, x, rows[here], slot, np.array([i]), base)
                found = self._run(own, x, row, slot, None, base, inner, call)
                made.append(found)
                self._remove(own, *self._cuts(own, found, call), gone)
            first = i + 1

    def _stretch(
        self, own: Own, x: Items, rows: np.ndarray, keys: Col, outer: np.ndarray | None, base: int, inner: Call,
        call: Call, made: list[Made], gone: list[tuple[np.ndarray, np.ndarray]],
    ) -> None:  # fmt: skip
        """Slices that end start afresh with the next item of their key: in rounds, each of which gives every key some
        of its items, more as long as it does not end.  What a slice is given behind its end is of no account."""
        size = len(rows)
        if not size:
            return
        group = groups_of(keys, outer)
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        stops = np.append(starts[1:], size)
        at, step = starts.copy(), np.full(len(starts), 16)
        while True:
            live = np.flatnonzero(at < stops)
            if not len(live):
                return
            upto = np.minimum(at[live] + step[live], stops[live])
            sizes = upto - at[live]
            which = np.repeat(np.arange(len(live)), sizes)
            inside = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + at[live][which]
            chosen = order[inside]
            by_row = np.argsort(chosen, kind="stable")
            chosen, which = chosen[by_row], which[by_row]
            slot = self._find(own, rows[chosen], keys.take(chosen), some_of(outer, chosen), base)
            found = self._run(own, x, rows[chosen], slot, None, base, inner, call)
            slots, ends = self._cuts(own, found, call)
            cut = np.full(max(1, own.slots.instances), np.iinfo(np.int64).max)
            cut[slots] = ends
            made.append(found.take(np.flatnonzero(found.row <= cut[found.slot])))
            used = rows[chosen] <= cut[slot]
            at[live] += np.bincount(which[used], minlength=len(live))
            shorter = np.bincount(which[~used], minlength=len(live)) > 0
            step[live] = np.where(shorter, np.maximum(1, step[live] // 2), np.minimum(step[live] * 4, 1 << 40))
            self._remove(own, slots, ends, gone)

    def _cuts(self, own: Own, found: Made, call: Call) -> tuple[np.ndarray, np.ndarray]:
        """The slots that end, and the rows with which they do."""
        assert self.until is not None
        if not len(found):
            return _NONE, _NONE
        inner = self._inner(own, Call(0, _NONE), call)
        true = self.until.true(self.env([found.value], found.slot, len(found), inner))
        slots, rows = found.slot[true], found.row[true]
        order = np.lexsort((rows, slots))
        first = np.ones(len(order), np.bool_)
        first[1:] = slots[order][1:] != slots[order][:-1]
        return slots[order][first], rows[order][first]

    @staticmethod
    def _remove(own: Own, slots: np.ndarray, rows: np.ndarray, gone: list[tuple[np.ndarray, np.ndarray]]) -> None:
        if len(slots):
            gone.append((rows, own.slots.born[slots]))
            own.removed += slots.tolist()
            own.inner.drop(slots)
            own.slots.remove(slots)

    def _flush(self, own: Own, x: Items, base: int, inner: Call, call: Call) -> Made:
        """What the ends of traces make their slices give."""
        there = np.flatnonzero(own.slots.alive & np.isin(own.slots.outer, x.ends.code))
        row = np.zeros(int(max(x.ends.code.max(), own.slots.outer.max(initial=0))) + 1, np.int64)
        row[x.ends.code] = len(x) + np.arange(len(x.ends))
        ends = Ends(there, base + row[own.slots.outer[there]])
        given = Items.none(ends, single=False)
        (out,) = self.inside.advance(own.inner, [given], self._inner(own, inner, call))
        return own.made(out.step - base, out)
