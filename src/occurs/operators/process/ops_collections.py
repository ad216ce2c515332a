"""Lists, sets, bags and maps made of items, and items made of them (pipes.md, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from occurs.operators.process import scalars, tree
from occurs.operators.process.columns import Obj, column_of
from occurs.operators.process.functions import condition
from occurs.operators.process.items import Call, Items, first_of
from occurs.operators.process.operator import Operator, meet, operator
from occurs.operators.process.state import Latest, Part, Queue, State
from occurs.operators.process.values import Bag, Fault, Map, Set, distinct, key


@operator
class Unpack(Operator):
    """The elements of each list, set or bag; null and ``[]`` give nothing."""

    of: ClassVar[type[tree.Processor]] = tree.Unpack

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        found: list[Any] = []
        sizes = np.zeros(len(x), np.int64)
        for i, v in enumerate(x.value.pylist()):
            if v is not None:
                try:
                    inside = scalars.members(v)
                except Fault as fault:
                    fault.row = i
                    raise
                found += inside
                sizes[i] = len(inside)
        rows = np.repeat(np.arange(len(x)), sizes)
        return [Items(column_of(found), x.step[rows], x.about[rows], None if x.code is None else x.code[rows], x.ends)]


@operator
class Pack(Operator):
    """When the guard is true the list so far; it then starts with this item.  The rest, if any, at the end."""

    of: ClassVar[type[tree.Processor]] = tree.Pack

    def fresh(self) -> dict[str, Part]:
        return {"kept": Queue()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        guard = condition(fronts.values[1])
        kept: Queue = state["kept"]
        items = fronts.items(fronts.values[0]).with_ends(Items.none().ends)
        if len(kept.items):
            guard = np.concatenate([np.zeros(len(kept.items), np.bool_), guard])
            items = Items.join([kept.items, items])
        codes = items.codes
        order = np.argsort(codes, kind="stable")
        items, codes, guard = items.take(order), codes[order], guard[order]
        begins = np.ones(len(items), np.bool_)
        begins[1:] = codes[1:] != codes[:-1]
        first = np.maximum.accumulate(np.where(begins, np.arange(len(items)), 0))
        at = np.flatnonzero(guard)
        starts = np.maximum.accumulate(np.where(guard | begins, np.arange(len(items)), 0))
        before = np.where(at > first[at], starts[np.maximum(at - 1, 0)], at)
        values = items.value.pylist()
        lists = [tuple(values[a:b]) for a, b in zip(before.tolist(), at.tolist())]
        step, about, code = items.step[at], items.about[at], codes[at]
        last = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
        last[codes] = np.arange(len(codes))
        rest = np.ones(len(items), np.bool_)
        if len(items):
            rest = np.arange(len(items)) >= starts[last[codes]]
        if len(fronts.ends):
            ending = fronts.ends.code[np.isin(fronts.ends.code, codes)]
            ends = dict(zip(fronts.ends.code.tolist(), fronts.ends.step.tolist()))
            lists += [tuple(values[starts[last[c]] : last[c] + 1]) for c in ending.tolist()]
            step = np.concatenate([step, np.array([ends[c] for c in ending.tolist()], np.int64)])
            about = np.concatenate([about, items.about[last[ending]]])
            code = np.concatenate([code, ending])
            rest &= ~np.isin(codes, ending)
        kept.put(items.filter(rest))
        single = fronts.code is None
        made = Items(Obj.of(lists), step, about, None if single else code)
        return [made.by_step().with_ends(fronts.ends)]


class _Gathering(Operator):
    """A new immutable value after each item."""

    def fresh(self) -> dict[str, Part]:
        return {"latest": Latest()}

    def gather(
        self, state: State, codes: np.ndarray, values: Sequence[Any], empty: Any, add: Callable[[Any, Any], Any]
    ) -> Obj:
        latest: Latest = state["latest"]
        mine = codes[first_of(codes)]
        at = latest.find(mine)
        so_far = dict(zip(mine[at >= 0].tolist(), latest.value.take(at[at >= 0]).pylist()))
        out = []
        for c, v in zip(codes.tolist(), values):
            so_far[c] = add(so_far.get(c, empty), v)
            out.append(so_far[c])
        if out:
            latest.put(np.array(list(so_far), np.int64), Obj.of(list(so_far.values())))
        return Obj.of(out)


_ADD: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "list": ((), lambda so_far, v: (*so_far, v)),
    "set": (Set(), lambda so_far, v: Set(distinct((*so_far.elements, v)))),
    "bag": (Bag(), lambda so_far, v: Bag((*so_far.elements, v))),
}


@operator
class Collect(_Gathering):
    """The list, set or bag of the items so far."""

    of: ClassVar[type[tree.Processor]] = tree.Collect

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        p = self.node.processor
        assert isinstance(p, tree.Collect)
        return [x.with_value(self.gather(state, x.codes, x.value.pylist(), *_ADD[p.into]))]


@operator
class CollectMap(_Gathering):
    """The map of the fronts so far; a later value of a key replaces the earlier one."""

    of: ClassVar[type[tree.Processor]] = tree.CollectMap

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        x = fronts.items(fronts.values[0])
        pairs = list(zip(fronts.values[0].pylist(), fronts.values[1].pylist()))
        return [x.with_value(self.gather(state, x.codes, pairs, Map(), _with))]


def _with(so_far: Map, pair: tuple[Any, Any]) -> Map:
    asked = key(pair[0])
    found = [(k, pair[1] if key(k) == asked else v) for k, v in so_far.items]
    return Map(tuple(found) if any(key(k) == asked for k, _ in found) else (*so_far.items, pair))
