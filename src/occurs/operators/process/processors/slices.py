"""The slicer: a copy of an inner processor per value of a key (pipes.md, 4.4, section 5).

Whole maps are made only for who needs them whole; ``size values sum mean`` are computed from the changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr import tree as expressions
from occurs.operators.codes import crowded
from occurs.operators.layers import positions
from occurs.operators.process import kernels, tree
from occurs.operators.process.columns import (
    TRUE,
    Col,
    Obj,
    Plain,
    Rec,
    column_of,
    concat,
    null_col,
    numbers,
    of_numpy,
    truths,
)
from occurs.operators.process.functions import Function
from occurs.operators.process.items import NO_ROWS, CallSteps, Ends, Items, ranges
from occurs.operators.process.network import Inside, of_outer
from occurs.operators.process.operator import Operator, Setting, operator
from occurs.operators.process.state import Compound, Counts, Latest, Part, State, Tables, renumbered
from occurs.operators.process.tree import EverySlice, Node
from occurs.operators.process.values import Bag, Fault, Map, Set, Sharp, decode, distinct, encode, key


@operator(tree.Slice)
class Slice(Operator):
    """After every item, in the form asked for, what the slices have given."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = self.p
        condition, key = apart(p.key) if not p.exploded else (None, p.key)
        #: where it is true, the item goes to all slices
        self.every = None if condition is None else Function(condition)
        self.key = Function(key)
        self.until = None if p.until is None else Function(p.until)
        self.inside = Inside(p.inner, setting)

    def fresh(self) -> dict[str, Part]:
        return {"own": Own(self.inside.network.fresh(), self.p.form == "map" or self.until is not None)}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
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
        flushed = self._flush(own, x, base, inner, call) if len(x.ends) and not self.inside.ends_quietly else None
        own.count.values[0] = base + len(x) + len(x.ends)
        found = Made.join(made) if made else None
        out = given_of(self.p.form, own, x, found, gone, flushed, before, call)
        own.forget_newest()
        if len(x.ends):
            own.drop(x.ends.code)
        return out.with_ends(x.ends)

    # --- to whom items go -------------------------------------------------------------------------------------------

    def _addressed(self, x: Items, call: CallSteps) -> tuple[np.ndarray, Col, np.ndarray | None, np.ndarray]:
        """Rows and the keys they go to (no nulls), the traces they are of (None: one); the rows that go to all."""
        all_ = None if self.every is None else is_true(self.every.run(self.env([x.value], x.code, len(x), call)))
        if all_ is None or not all_.any():
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
            return rows, some, None if x.code is None else x.code[rows], NO_ROWS
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
        base: int, inner: CallSteps, call: CallSteps,
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

    def _call(self, own: Own, x: Items, base: int, call: CallSteps) -> CallSteps:
        times = call.time(x.step) if len(x) else NO_ROWS
        if len(x.ends):
            # a trace may end before the first event: nothing comes of that
            last = np.maximum(x.ends.step, self._last_step(own, x, call))
            times = np.concatenate([times, call.time(last) if len(call.times) else np.zeros(len(last), np.int64)])
        return CallSteps(base, times)

    @staticmethod
    def _last_step(own: Own, x: Items, call: CallSteps) -> np.ndarray:
        """The steps of ends, none before this call."""
        return np.full(len(x.ends), call.base if call.steps is None else call.steps[0])

    def _inner(self, own: Own, inner: CallSteps, call: CallSteps) -> CallSteps:
        slots = own.slots
        variables: dict[str, Any] = of_outer(call.variables, slots.outer)
        variables["slice"] = slots.keys
        return CallSteps(inner.base, inner.times, max(1, slots.instances), variables, None)

    def _run(
        self, own: Own, x: Items, rows: np.ndarray, slot: np.ndarray, keys: Col | None, base: int, inner: CallSteps,
        call: CallSteps,
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
        base: int, inner: CallSteps, call: CallSteps, made: list[Made], gone: list[tuple[np.ndarray, np.ndarray]],
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
        self, own: Own, x: Items, rows: np.ndarray, keys: Col, outer: np.ndarray | None, base: int, inner: CallSteps,
        call: CallSteps, made: list[Made], gone: list[tuple[np.ndarray, np.ndarray]],
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
            which, inside = ranges(at[live], sizes)
            chosen = order[inside]
            by_row = np.argsort(chosen, kind="stable")
            chosen, which = chosen[by_row], which[by_row]
            slot = self._find(own, rows[chosen], keys.take(chosen), some_of(outer, chosen), base)
            found = self._run(own, x, rows[chosen], slot, None, base, inner, call)
            slots, ends = self._cuts(own, found, call)
            all_slots = own.slots.instances
            made.append(found.take(np.flatnonzero(before_end(found.row, found.slot, slots, ends, all_slots))))
            used = before_end(rows[chosen], slot, slots, ends, all_slots)
            at[live] += np.bincount(which[used], minlength=len(live))
            shorter = np.bincount(which[~used], minlength=len(live)) > 0
            step[live] = np.where(shorter, np.maximum(1, step[live] // 2), np.minimum(step[live] * 4, 1 << 40))
            self._remove(own, slots, ends, gone)

    def _cuts(self, own: Own, found: Made, call: CallSteps) -> tuple[np.ndarray, np.ndarray]:
        """The slots that end, and the rows with which they do."""
        assert self.until is not None
        if not len(found):
            return NO_ROWS, NO_ROWS
        inner = self._inner(own, CallSteps(0, NO_ROWS), call)
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

    def _flush(self, own: Own, x: Items, base: int, inner: CallSteps, call: CallSteps) -> Made:
        """What the ends of traces make their slices give."""
        there = np.flatnonzero(own.slots.alive & among(own.slots.outer, x.ends.code))
        row = np.zeros(int(max(x.ends.code.max(), own.slots.outer.max(initial=0))) + 1, np.int64)
        row[x.ends.code] = len(x) + np.arange(len(x.ends))
        ends = Ends(there, base + row[own.slots.outer[there]])
        given = Items.none(ends, single=False)
        (out,) = self.inside.advance(own.inner, [given], self._inner(own, inner, call))
        return own.made(out.step - base, out)


def apart(key: expressions.Expr) -> tuple[expressions.Expr | None, expressions.Expr]:
    """Of ``if(c, #, k)``: c and k, so that k is a column without ``#``; (None, the key) of others."""
    if isinstance(key, expressions.Call) and key.name == "if" and len(key.args) == 3:
        condition, first, second = key.args
        if isinstance(first, EverySlice) and not any(isinstance(n, EverySlice) for n in condition.walk()):
            return condition, second
    return None, key


def is_true(found: Col) -> np.ndarray:
    """Booleans (n): where a value is true, whatever the others are."""
    known = truths(found) if isinstance(found, Plain) else None
    return known == TRUE if known is not None else np.array([v is True for v in found.pylist()], np.bool_)


# --- What slices give -------------------------------------------------------------------------------------------------


#: of all slots: which slice each is (as slices are numbered), of which trace of the slicer
Owners = tuple[np.ndarray, np.ndarray]


class Made:
    """What slices gave: for the item ``row`` slice ``slot``, which is number ``born``, gave ``value``.

    ``owners``: of all slots, or of these rows (``each``); ``trace``: of the slicer.
    """

    def __init__(
        self, row: np.ndarray, slot: np.ndarray, owners: Owners, keys: Col, value: Col, each: bool = False
    ) -> None:
        self.row, self.slot, self.keys, self.value = row, slot, keys, value
        self.owners, self.each = owners, each
        #: one for every item, in their order
        self.ordered = False

    def __len__(self) -> int:
        return len(self.row)

    @property
    def born(self) -> np.ndarray:
        return self.owners[0] if self.each else self.owners[0][self.slot]

    @property
    def trace(self) -> np.ndarray:
        return self.owners[1] if self.each else self.owners[1][self.slot]

    def take(self, rows: np.ndarray) -> Made:
        owners = (self.owners[0][rows], self.owners[1][rows]) if self.each else self.owners
        keys, value = self.keys.take(rows), self.value.take(rows)
        return Made(self.row[rows], self.slot[rows], owners, keys, value, self.each)

    @classmethod
    def join(cls, parts: list[Made]) -> Made:
        parts = [p for p in parts if len(p)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        row, slot, born, trace = (
            np.concatenate([getattr(p, n) for p in parts]) for n in ("row", "slot", "born", "trace")
        )
        keys, value = concat([p.keys for p in parts]), concat([p.value for p in parts])
        return cls(row, slot, (born, trace), keys, value, True)


def changes_of(parts: list[Made], count: int) -> Changes:
    """The changes that are made of what slices gave, one part after the other: what was there before, what is new."""
    full = [p for p in parts if len(p)]

    def column(name: str) -> Any:
        if name == "gone":
            return np.zeros(sum(map(len, full)), np.bool_)
        found = [getattr(p, {"since": "row", "values": "value"}.get(name, name)) for p in full]
        if name in ("keys", "values"):
            return concat(found) if found else null_col(0)
        return np.concatenate(found) if found else NO_ROWS

    if len(parts) == 2 and parts[1].ordered and len(parts[1]) == count:
        before, now = parts
        return OneEach(column, before.slot, before.value, now.slot, now.value, len(now.owners[0]))
    return Changes(count, column)


def before_end(rows: np.ndarray, slot: np.ndarray, slots: np.ndarray, ends: np.ndarray, count: int) -> np.ndarray:
    """Booleans (n): the rows up to the end of their slice.  ``slots``: those that end (ascending), with the rows
    ``ends``; there are ``count`` slots."""
    if not len(slots):
        return np.ones(len(rows), np.bool_)
    if len(rows) < count:
        at = positions(slots, slot)
        found: np.ndarray = (at < 0) | (rows <= ends[at])
        return found
    end = np.full(count, np.iinfo(np.int64).max)
    end[slots] = ends
    return np.asarray(rows <= end[slot])


def among(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Booleans (n): the values that are among the codes."""
    return values == codes[0] if len(codes) == 1 else np.isin(values, codes)


def some_of(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[rows]


def groups_of(keys: Col, outer: np.ndarray | None) -> np.ndarray:
    """Numbers that are alike for keys that are equal, of the same trace."""
    if isinstance(keys, Plain) and outer is None:
        array = keys.array
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        return coded.indices.to_numpy().astype(np.int64)
    numbers: dict[Any, int] = {}
    outers = [0] * len(keys) if outer is None else outer.tolist()
    values = [v[1] for v in keys.pylist()] if isinstance(keys, Obj) else keys.pylist()
    return np.array([numbers.setdefault((o, key(v)), len(numbers)) for o, v in zip(outers, values)], np.int64)


class Own(Compound):
    """What a slicer keeps: its slices, their newest values, the states of their copies of φ.

    ``about``, ``step``: of the last item of each trace of the slicer.
    """

    def __init__(self, inner: State, shared: bool) -> None:
        self.inner = inner
        self.slots = Slots()
        self.newest = Latest()
        self.count = Counts()
        self.about = Counts(spoken=True)
        self.step = Counts()
        #: slots may change while what slices gave is still looked at
        self.shared = shared
        self.removed: list[int] = []

    def close_up(self) -> None:
        """Between two calls: numbers the slices anew if most numbers are free."""
        if crowded(self.slots.instances, self.slots.instances - len(self.slots.free)):
            there = self.slots.closed_up()
            self.inner.only(there)
            self.newest.only(there)

    def made(self, row: np.ndarray, out: Items) -> Made:
        """What copies of φ gave for the items ``row``."""
        slot, slots = out.codes, self.slots
        each = self.shared and len(slot) < slots.instances  # fewer rows than slots: a copy for each row is shorter
        owners = (slots.born[slot], slots.outer[slot]) if each else self.owners()
        return Made(row, slot, owners, slots.keys(slot), out.value, each)

    def owners(self) -> Owners:
        """Who has the slots now; snapshots stay, whatever becomes of these."""
        found = self.slots.born, self.slots.outer
        return (found[0].copy(), found[1].copy()) if self.shared else found

    def forget_newest(self) -> None:
        """Of slices that were removed, unless another one has taken their place."""
        if self.removed:
            removed = np.unique(np.array(self.removed))
            self.newest.drop(removed[~self.slots.alive[removed]])
            self.removed = []

    def drop(self, codes: np.ndarray) -> None:
        there = np.flatnonzero(self.slots.alive & among(self.slots.outer, codes))
        if len(there) and len(there) == self.slots.instances:
            self.newest.only(NO_ROWS)
            self.inner.only(NO_ROWS)
            self.slots = Slots()
        elif len(there):
            self.newest.drop(there)
            self.inner.drop(there)
            self.slots.remove(there)
        self.about.drop(codes)
        self.step.drop(codes)

    def only(self, codes: np.ndarray) -> None:
        there, at = renumbered(codes, self.slots.outer)
        self.slots.outer = np.zeros(len(there), np.int64)
        self.slots.outer[there] = at
        self.slots.index_anew()
        self.about.only(codes)
        self.step.only(codes)

    def rows(self) -> int:
        return self.inner.rows() + self.slots.rows() + self.newest.rows()

    def abouts(self) -> np.ndarray:
        return self.about.abouts()


def given_of(
    form: str, own: Own, x: Items, found: Made | None, gone: list[tuple[np.ndarray, np.ndarray]],
    flushed: Made | None, before: Made | None, call: CallSteps,
) -> Items:  # fmt: skip
    """The outputs of a slicer in its ``form`` (map, each, last).

    ``found``: what slices gave, ``flushed``: at the ends of traces; ``gone``: the rows with which slices ended and the
    numbers of these; ``before``: the newest values before this call, for maps.
    """
    parts = [p for p in (found, flushed) if p is not None and len(p)]
    places = _places(own, x, call)
    made = Made.join(parts) if parts else None
    single = x.code is None
    if made is not None and len(made) > 1:
        row = made.row
        if not made.ordered and (row[1:] <= row[:-1]).any():
            made = made.take(np.lexsort((np.arange(len(row)), made.born, row)))
    if form == "each":
        if made is None:
            return Items.none(single=single)
        value: Col = Rec({"key": made.keys, "value": made.value}, len(made))
        same = made.row is not None and len(made) == len(x) and not len(x.ends)
        if same and (made.ordered or bool((made.row == np.arange(len(x))).all())):
            return x.with_value(value)
        return places.at(made.row, value)
    if form == "last":
        return _lasts(made, places)
    if not len(x.ends):
        return x.with_value(_maps(own, len(places), made, gone, before, places.code, None))
    rows = np.arange(len(x))
    if flushed is not None and len(flushed):
        rows = np.concatenate([rows, np.unique(flushed.row)])
    return places.at(rows, _maps(own, len(places), made, gone, before, places.code, rows))


def _places(own: Own, x: Items, call: CallSteps) -> Items:
    """The steps, the events spoken of and the traces of the outputs of every row (not their values); those of ends are
    behind those of items."""
    if not len(x.ends):
        return x
    ends = x.ends.code
    step = np.maximum(x.ends.step, own.step.upto(call.instances)[ends])
    return Items(
        x.value,
        np.concatenate([x.step, step]),
        np.concatenate([x.about, own.about.upto(call.instances)[ends]]),
        None if x.code is None else np.concatenate([x.code, ends]),
    )


def _lasts(made: Made | None, places: Items) -> Items:
    """The list of the newest of the slices that gave something."""
    if made is None:
        return Items.none(single=places.code is None)
    last = np.ones(len(made), np.bool_)
    # a slice that ends may leave its slot to another one with the same item
    born = made.born
    last[:-1] = (made.row[1:] != made.row[:-1]) | (born[1:] != born[:-1])
    row, values = made.row[last], made.value.filter(last).pylist()
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    stops = np.append(starts[1:], len(row))
    lists = [tuple(values[a:b]) for a, b in zip(starts.tolist(), stops.tolist())]
    return places.at(row[starts], Obj.of(lists))


def before_of(own: Own) -> Made:
    """The newest values of slices before this call."""
    newest = own.newest
    slot = newest.code
    there = own.slots.alive[slot] if len(slot) else np.zeros(0, np.bool_)
    slot = slot[there]
    value = newest.value.filter(there) if len(there) else null_col(0)
    keys = own.slots.keys(slot) if len(slot) else null_col(0)
    return Made(np.full(len(slot), -1), slot, own.owners(), keys, value)


def _maps(
    own: Own, count: int, made: Made | None, gone: list[tuple[np.ndarray, np.ndarray]],
    before: Made | None, code: np.ndarray | None, rows: np.ndarray | None,
) -> Col:  # fmt: skip
    """The snapshots ``rows`` (None: all)."""
    assert before is not None
    parts = [p for p in (before, made) if p is not None and len(p)]
    if made is not None and len(made):
        alive = own.slots.alive[made.slot] & (own.slots.born[made.slot] == made.born) if gone else None
        if alive is not None and not alive.all():
            kept = np.flatnonzero(alive)
            own.newest.put(made.slot[kept], made.value.take(kept))
        else:
            own.newest.put(made.slot, made.value)
    if not parts or (code is None and not gone):
        return Snap(changes_of([before] if made is None else [before, made], count), rows)
    every = Made.join(parts)
    # slices that were removed may have left their slots to others: their numbers tell them apart
    number, slot = np.unique(every.born, return_inverse=True)
    size = len(every)
    named: dict[str, Any] = {
        "since": every.row, "slot": slot, "gone": np.zeros(size, np.bool_), "born": every.born,
        "keys": every.keys, "values": every.value,
    }  # fmt: skip
    if gone:
        went, who = np.concatenate([g[0] for g in gone]), np.concatenate([g[1] for g in gone])
        at = np.searchsorted(number, who)
        known = (at < len(number)) & (number[np.minimum(at, len(number) - 1)] == who)
        went, who, at = went[known], who[known], at[known]
        more = {"since": went + 1, "slot": at, "gone": np.ones(len(went), np.bool_), "born": who}
        named |= {n: np.concatenate([named[n], v]) for n, v in more.items()}
        nothing = np.concatenate([np.arange(size), np.full(len(went), -1)])
        named |= {n: named[n].take(nothing) for n in ("keys", "values")}
        # what goes is gone before anything new of the same row is there
        named = _picked(named, np.lexsort((np.arange(size + len(went)), ~named["gone"], named["since"])))
    if code is None:
        return Snap(Changes(count, named.__getitem__, True), rows)
    return _maps_of_traces(every, named, code, np.arange(count) if rows is None else rows, count)


def _picked(columns: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    return {n: c.take(rows) for n, c in columns.items()}


def _maps_of_traces(every: Made, named: dict[str, Any], code: np.ndarray, rows: np.ndarray, count: int) -> Col:
    """Each trace of the slicer sees its own slices only."""
    trace_of = dict(zip(every.born.tolist(), every.trace.tolist()))
    trace = np.array([trace_of[b] for b in named["born"].tolist()], np.int64)
    out = np.empty(len(rows), object)
    for c in np.unique(code[rows]).tolist():
        part = Changes(count, _picked(named, np.flatnonzero(trace == c)).__getitem__, True)
        here = np.flatnonzero(code[rows] == c)
        for i, v in zip(here.tolist(), Snap(part, rows[here]).pylist()):
            out[i] = v
    return Obj(out)


# --- Maps of slices as changes from one to the next -------------------------------------------------------------------


class Changes:
    """What became of slices in a call of a slicer with one trace.

    Change j is seen from snapshot ``since[j]`` on (ascending; -1: it was there before): slice ``slot[j]``, which is
    number ``born[j]``, has the key ``keys[j]`` and the value ``values[j]``, or is no more if ``gone[j]``.
    ``count``: snapshots in the call.  ``column``: these columns by name; they are put together when somebody asks.
    """

    def __init__(self, count: int, column: Callable[[str], Any], some_gone: bool = False) -> None:
        self.count = count
        self._column = column
        self._some_gone = some_gone

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._column(name)
        setattr(self, name, found)
        return found

    def __len__(self) -> int:
        return len(self.since)

    # --- of each snapshot -------------------------------------------------------------------------------------------

    def sizes(self) -> np.ndarray:
        """How many slices it shows."""
        new = (self._before() < 0).astype(np.int64)
        # what is gone was shown before, or never
        return self._running(np.where(self.gone, new - 1, new) if self._some_gone else new)

    def sums(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The sum of the values that are no nulls, and how many these are; None if they are no ints, or too large."""
        found = numbers(self.values)
        if found is None or not _small(found[0], len(self)):
            return None
        values, valid = found
        before = self._before()
        there = ~self.gone if valid is None else valid & ~self.gone
        mine = np.where(there, values, 0)
        earlier = np.where(before >= 0, mine[before], 0) if len(mine) else mine
        counted = np.where(before >= 0, there[before], False) if len(mine) else there
        return self._running(mine - earlier), self._running(there.astype(np.int64) - counted.astype(np.int64))

    def _before(self) -> np.ndarray:
        """The change of the same slice before each one; -1 if it was not shown then."""
        out = np.empty(len(self), np.int64)
        kernels.previous(self.slot, np.full(int(self.slot.max(initial=-1)) + 1, -1), out)
        if self._some_gone:
            out[(out >= 0) & self.gone[out]] = -1
        return out

    def _running(self, steps: np.ndarray) -> np.ndarray:
        """Sums of ``steps`` (per change) seen by each snapshot."""
        total = np.cumsum(steps)
        seen = np.cumsum(np.bincount(self.since + 1, minlength=self.count + 1))[1 : self.count + 1]
        return np.concatenate([np.zeros(1, steps.dtype), total])[seen]


class OneEach(Changes):
    """Changes of which each snapshot shows one more: the value ``value[i]`` of the slice ``of[i]``.

    ``first``: the slots that were shown before, ``first_value``: their values.
    """

    def __init__(
        self, column: Callable[[str], Any], first: np.ndarray, first_value: Col, of: np.ndarray, value: Col, slots: int
    ) -> None:
        super().__init__(len(of), column)
        self._first, self._first_value, self._of, self._value, self._slots = first, first_value, of, value, slots

    def sizes(self) -> np.ndarray:
        shown, out = np.zeros(self._slots, np.bool_), np.empty(self.count, np.int64)
        shown[self._first] = True
        kernels.distinct(self._of, shown, len(self._first), out)
        return out

    def sums(self) -> tuple[np.ndarray, np.ndarray] | None:
        first, found = numbers(self._first_value), numbers(self._value)
        if first is None or found is None or not all(_small(v, self.count + len(v)) for v in (first[0], found[0])):
            return None
        newest, known = np.zeros(self._slots, np.int64), np.zeros(self._slots, np.int64)
        there = np.ones(len(first[0]), np.bool_) if first[1] is None else first[1]
        newest[self._first], known[self._first] = np.where(there, first[0], 0), there
        out, count = np.empty(self.count, np.int64), np.empty(self.count, np.int64)
        valid = np.zeros(0, np.bool_) if found[1] is None else found[1]
        kernels.newest_sums(self._of, found[0], valid, newest, known, out, count)
        return out, count


def _small(values: np.ndarray, count: int) -> bool:
    """Are these ints of which so many have a sum that fits?"""
    if values.dtype != np.int64:
        return False
    most = max(-float(values.min(initial=0)), float(values.max(initial=0)))
    return most * (count + 1) <= 2.0**61


class Snap(Col):
    """Snapshots number ``rows`` of ``changes`` (None: all of them); ``bags``: only their values."""

    __slots__ = ("_rows", "bags", "changes")

    def __init__(self, changes: Changes, rows: np.ndarray | None = None, bags: bool = False) -> None:
        self.changes = changes
        self._rows = rows
        self.bags = bags

    @property
    def rows(self) -> np.ndarray:
        return np.arange(self.changes.count) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self.changes.count if self._rows is None else len(self._rows)

    def take(self, rows: np.ndarray) -> Col:
        if len(rows) and (not len(self) or rows.min() < 0):
            return Obj.of(self.pylist()).take(rows)
        return Snap(self.changes, rows if self._rows is None else self._rows[rows], self.bags)

    def slice(self, first: int, last: int) -> Col:
        return Snap(self.changes, self.rows[first:last], self.bags)

    def nulls(self) -> np.ndarray:
        return np.zeros(len(self), np.bool_)

    def table(self) -> tuple[str, pa.Table]:
        return Obj.of(self.pylist()).table()

    def pylist(self) -> list[Any]:
        changes = self.changes
        keys, values = changes.keys.pylist(), changes.values.pylist()
        since, slots, gone = changes.since.tolist(), changes.slot.tolist(), changes.gone.tolist()
        born = changes.born.tolist()
        out: dict[int, Any] = {}
        shown: dict[int, tuple[int, Any, Any]] = {}
        at = 0
        for row in np.unique(self.rows).tolist():
            while at < len(since) and since[at] <= row:
                if gone[at]:
                    shown.pop(slots[at], None)
                else:
                    shown[slots[at]] = (born[at], keys[at], values[at])
                at += 1
            # a later change of a slice leaves it at its place
            found = sorted(shown.values(), key=lambda s: s[0])
            out[row] = Bag(tuple(s[2] for s in found)) if self.bags else Map(tuple((s[1], s[2]) for s in found))
        return [out[r] for r in self.rows.tolist()]

    def _seen(self, values: np.ndarray) -> np.ndarray:
        """Of all snapshots those of this column."""
        return values if self._rows is None else values[self._rows]

    def answer(self, name: str) -> Col | None:
        """A function of each, without making it whole; None if that is not possible."""
        changes = self.changes
        if name == "values" and not self.bags:
            return Snap(changes, self._rows, True)
        if name not in ("size", "sum", "mean") or (name != "size" and not self.bags):
            return None
        if name == "size":
            return of_numpy(self._seen(changes.sizes()))
        found = changes.sums()
        if found is None:
            return None
        sums, count = map(self._seen, found)
        return of_numpy(sums) if name == "sum" else of_numpy(sums / np.maximum(count, 1), count > 0)


# --- Which slice an item belongs to -----------------------------------------------------------------------------------


#: the widest range of ints that are looked up in a table
WIDEST = 1 << 22


class Slots(Part):
    """The slices that exist: ``outer`` is the trace of the slicer that each belongs to, ``born`` orders them.

    The slicer itself removes the slots of its traces, and numbers them anew.
    """

    def __init__(self) -> None:
        self.alive = np.zeros(0, np.bool_)
        self.outer = NO_ROWS
        self.born = NO_ROWS
        #: slots that have been in use and are not now
        self.free = NO_ROWS
        #: keys by slot: ints while all are, then any values
        self.ints: np.ndarray | None = NO_ROWS
        self.values = np.zeros(0, object)
        #: slots that have been in use; there is room for more
        self._size = 0
        self._least = 0
        self._table = NO_ROWS
        self._index: dict[tuple[int, Hashable], int] = {}

    @property
    def instances(self) -> int:
        """All slots are less."""
        return self._size

    def keys(self, slots: np.ndarray) -> Col:
        """The keys of slots."""
        if self.ints is not None:
            return of_numpy(self.ints[slots])
        return column_of(self.values[slots].tolist())

    # --- looking up -------------------------------------------------------------------------------------------------

    def find(self, keys: Col, outer: np.ndarray | None, rows: np.ndarray, base: int) -> np.ndarray:
        """The slots of keys that are not null; new ones are made.  ``rows``: where in the call they come."""
        if self.ints is not None and outer is None:
            ints = numbers(keys)
            if ints is not None and ints[0].dtype == np.int64 and ints[1] is None:
                found = self._find_ints(ints[0], rows, base)
                if found is not None:
                    return found
        if self.ints is not None:
            self._to_values()
        if isinstance(keys, Plain) and outer is None:
            array = keys.array
            coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
            codes = coded.indices.to_numpy()
            # in the order in which they come
            first, mine = _firsts(codes, len(coded.dictionary))
            some = np.full(len(coded.dictionary), -1, np.int64)
            values = Plain(coded.dictionary).take(mine).pylist()
            some[mine] = [self._slot(0, v, int(rows[f]), base, 0) for v, f in zip(values, first.tolist())]
            return some[codes]
        outers = [0] * len(keys) if outer is None else outer.tolist()
        found_ = [self._slot(o, v, r, base, 0) for o, v, r in zip(outers, keys.pylist(), rows.tolist())]
        return np.array(found_, np.int64)

    def _find_ints(self, keys: np.ndarray, rows: np.ndarray, base: int) -> np.ndarray | None:
        if not len(keys):
            return NO_ROWS
        assert self.ints is not None
        low, high = int(keys.min()), int(keys.max())
        if low < self._least or high - self._least >= len(self._table):
            # as wide as the keys of slices that exist now, not of all that ever did
            there = np.flatnonzero(self.alive)
            ints = self.ints[there]
            low, high = int(ints.min(initial=low)), int(ints.max(initial=high))
            if high - low >= WIDEST:
                return None
            width = high - low + 1
            room = width >> 2 if len(self._table) else 0  # on both sides: where keys come from anywhere, once is enough
            self._table = np.full(width + 2 * room, -1)
            self._least = max(low - room, -(2**63))
            self._table[ints - self._least] = there
        out, new = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        made = kernels.slots(self._least, keys, self._table, self.free, self.instances, out, new)
        new, self.free = new[:made], self.free[made:]
        self._grow(max(self.instances, int(out.max()) + 1))
        at = out[new]
        self.ints[at] = keys[new]
        self.alive[at] = True
        self.outer[at] = 0
        self.born[at] = (base + rows[new]) << 20
        return out

    def slot(self, outer: int, value: Any, row: int, base: int, place: int) -> int:
        """The slot of one key; ``place``: its number among those that come with the same item."""
        if self.ints is not None:
            self._to_values()
        return self._slot(outer, value, row, base, place)

    def _slot(self, outer: int, value: Any, row: int, base: int, place: int) -> int:
        wanted = (outer, key(value))
        found = self._index.get(wanted)
        if found is None:
            found = self.instances
            if len(self.free):
                found, self.free = int(self.free[-1]), self.free[:-1]
            self._grow(found + 1)
            self._index[wanted] = found
            self.values[found] = value
            self.alive[found] = True
            self.outer[found] = outer
            self.born[found] = ((base + row) << 20) + place
        return found

    def _to_values(self) -> None:
        assert self.ints is not None
        self.values = np.zeros(len(self.alive), object)
        for s in np.flatnonzero(self.alive).tolist():
            self.values[s] = int(self.ints[s])
            self._index[(int(self.outer[s]), self.values[s])] = s
        self.ints = None
        self._table = NO_ROWS

    def _grow(self, count: int) -> None:
        self._size = max(self._size, count)
        if count <= len(self.alive):
            return
        count = max(count, 2 * len(self.alive))
        self.alive = _longer(self.alive, count)
        self.outer = _longer(self.outer, count)
        self.born = _longer(self.born, count)
        if self.ints is not None:
            self.ints = _longer(self.ints, count)
        else:
            self.values = _longer(self.values, count)

    def of(self, outer: int) -> np.ndarray:
        """The slots of a trace of the slicer, in the order in which they were made."""
        there = np.flatnonzero(self.alive & (self.outer == outer))
        return there[np.argsort(self.born[there], kind="stable")]

    def remove(self, slots: np.ndarray) -> None:
        """These slices are no more."""
        if self.ints is None:
            for s in slots.tolist():
                self._index.pop((int(self.outer[s]), key(self.values[s])), None)
                self.values[s] = None
        elif len(self._table):
            self._table[self.ints[slots] - self._least] = -1
        self.alive[slots] = False
        self.free = np.concatenate([self.free, slots])

    def closed_up(self) -> np.ndarray:
        """Numbers the slots in use anew, in their order: 0, 1, ...  Returns what they were."""
        there = np.flatnonzero(self.alive)
        self.alive, self.outer, self.born = self.alive[there], self.outer[there], self.born[there]
        if self.ints is not None:
            self.ints = self.ints[there]
        else:
            self.values = self.values[there]
        self.free, self._table, self._size = NO_ROWS, NO_ROWS, len(there)
        self.index_anew()
        return there

    def index_anew(self) -> None:
        """Finds the slots by their traces and keys, of which some have got other numbers."""
        if self.ints is None:
            there = np.flatnonzero(self.alive)
            outer, values = self.outer[there].tolist(), self.values[there].tolist()
            self._index = {(o, key(v)): s for o, v, s in zip(outer, values, there.tolist())}

    # --- a part of a state ------------------------------------------------------------------------------------------

    def tables(self) -> Tables:
        there = np.flatnonzero(self.alive)
        columns: dict[str, Any] = {"slot": there, "outer": self.outer[there], "born": self.born[there]}
        if self.ints is not None:
            columns["ints"] = self.ints[there]
        else:
            columns["key"] = pa.array([json.dumps(encode(v)) for v in self.values[there].tolist()], pa.string())
        return {"v": pa.table(columns)}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        table = tables["v"]
        self.__init__()  # type: ignore[misc]
        there = table.column("slot").to_numpy()
        whole = "ints" in table.column_names
        if not whole:
            self.ints = None
        self._grow(int(there.max(initial=-1)) + 1)
        self.alive[there] = True
        self.outer[there], self.born[there] = table.column("outer").to_numpy(), table.column("born").to_numpy()
        if self.ints is not None:
            self.ints[there] = table.column("ints").to_numpy()
        else:
            for s, o, text in zip(there.tolist(), self.outer[there].tolist(), table.column("key").to_pylist()):
                self.values[s] = decode(json.loads(text))
                self._index[(o, key(self.values[s]))] = s
        self.free = np.flatnonzero(~self.alive[: self._size])

    def rows(self) -> int:
        return int(self.alive.sum())


def _longer(values: np.ndarray, count: int) -> np.ndarray:
    out = np.zeros(count, values.dtype)
    out[: len(values)] = values
    return out


def _firsts(codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows at which codes come for the first time, ascending, and these codes."""
    at = np.full(size, -1)
    at[codes[::-1]] = np.arange(len(codes))[::-1]
    mine = np.flatnonzero(at >= 0)
    order = np.argsort(at[mine], kind="stable")
    return at[mine][order], mine[order]
