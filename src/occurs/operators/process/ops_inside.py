"""Inner processors on lists, and between resets (pipes.md, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from occurs.operators.process import tree
from occurs.operators.process.columns import Col, column_of, concat
from occurs.operators.process.functions import condition
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, first_of, last_of
from occurs.operators.process.network import Inside, of_outer
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.state import Latest, Part, State
from occurs.operators.process.tree import Node
from occurs.operators.process.values import Fault


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
