"""Functions over fronts, filters, merging (pipes.md, 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from occurs.operators.process import tree
from occurs.operators.process.columns import Col
from occurs.operators.process.early import early
from occurs.operators.process.functions import Function, condition
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items
from occurs.operators.process.operator import Operator, Setting, meet, operator
from occurs.operators.process.state import Counts, Part, Queue, State
from occurs.operators.process.tree import Node


@operator
class Lift(Operator):
    """o_i = f(x1_i .. xm_i), of the fronts that WHERE lets through."""

    of: ClassVar[type[tree.Processor]] = tree.Lift

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Lift)
        self.p = p
        self.functions = [Function(f) for f in p.functions]
        self.where = None if p.where is None else Function(p.where)

    def fresh(self) -> dict[str, Part]:
        if not self.p.early:
            return {}
        parts: dict[str, Part] = {}
        for k in range(len(self.node.inputs)):
            parts[f"early{k}"] = Queue("ordinal")
        return parts

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        if self.p.early and len(given) > 1:
            return [early(self, state, given, call)]
        fronts = meet(state, given, call)
        items = Items(fronts.values[0], fronts.step, fronts.about, fronts.code, fronts.ends)
        values: Sequence[Col] = fronts.values
        if self.where is not None and len(items):
            keep = self.where.true(self.env(values, items.code, len(items), call))
            if not keep.all():
                values = [v.filter(keep) for v in values]
                items = items.filter(keep)
        if not len(items):
            return [Items.none(items.ends, items.code is None) for _ in self.functions]
        env = self.env(values, items.code, len(items), call)
        return [items.with_value(f.run(env)) for f in self.functions]


@operator
class Filter(Operator):
    """(x1_i ..) if g_i is true."""

    of: ClassVar[type[tree.Processor]] = tree.Filter

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        keep = condition(fronts.values[-1])
        if keep.all():
            return [fronts.items(v) for v in fronts.values[:-1]]
        step, about = fronts.step[keep], fronts.about[keep]
        code = None if fronts.code is None else fronts.code[keep]
        return [Items(v.filter(keep), step, about, code, fronts.ends) for v in fronts.values[:-1]]


class _Condition(Operator):
    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        assert isinstance(node.processor, (tree.Where, tree.StopWhen))
        self.condition = Function(node.processor.condition)


@operator
class Where(_Condition):
    """The items of which the condition is true."""

    of: ClassVar[type[tree.Processor]] = tree.Where

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        (x,) = given
        return [x.filter(self.condition.true(self.env([x.value], x.code, len(x), call))) if len(x) else x]


@operator
class StopWhen(_Condition):
    """The items before the first of which the condition is true: with it the trace ends."""

    of: ClassVar[type[tree.Processor]] = tree.StopWhen

    def fresh(self) -> dict[str, Part]:
        return {"stopped": Counts()}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        x = given[0]
        stopped = state["stopped"].upto(call.instances)
        live = stopped[x.codes] == 0
        ends = x.ends
        if len(ends):
            ends = Ends(ends.code[stopped[ends.code] == 0], ends.step[stopped[ends.code] == 0])
        x = x.filter(live).with_ends(ends)
        if not len(x):
            return [x]
        true = self.condition.true(self.env([x.value], x.code, len(x), call))
        if not true.any():
            return [x]
        codes = x.codes
        at = np.flatnonzero(true)
        mine, first = np.unique(codes[at], return_index=True)
        stop = np.full(call.instances, len(x))
        stop[mine] = at[first]
        stopped[mine] = 1
        ends = Ends(ends.code[stopped[ends.code] == 0], ends.step[stopped[ends.code] == 0]) if len(ends) else ends
        ends = Ends.join([ends, Ends(mine, x.step[stop[mine]])])
        return [x.filter(np.arange(len(x)) < stop[codes]).with_ends(ends)]


@operator
class Merge(Operator):
    """By step, then number of the input, then position; ends when all have."""

    of: ClassVar[type[tree.Processor]] = tree.Merge

    def fresh(self) -> dict[str, Part]:
        return {"gone": Counts(), "latest": Counts(-2)}

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        gone, latest = state["gone"].upto(call.instances), state["latest"].upto(call.instances)
        over = []
        for items in given:
            if len(items.ends):
                gone[items.ends.code] += 1
                latest[items.ends.code] = np.maximum(latest[items.ends.code], items.ends.step)
                over.append(items.ends.code)
        joined = Items.join([g.with_ends(NO_ENDS) for g in given])
        if len(joined):
            joined = joined.by_step()
        if over:
            codes = np.unique(np.concatenate(over))
            codes = codes[gone[codes] == len(given)]
            joined = joined.with_ends(Ends(codes, latest[codes]) if len(codes) else NO_ENDS)
        return [joined]


@operator
class RepeatBy(Operator):
    """Each item as often as the other input says; null: not at all."""

    of: ClassVar[type[tree.Processor]] = tree.RepeatBy

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        from occurs.operators.process.columns import numbers
        from occurs.operators.process.faults import Fault

        fronts = meet(state, given, call)
        found = numbers(fronts.values[1])
        if found is not None and found[0].dtype == np.int64 and not (found[0] < 0).any():
            times = found[0] if found[1] is None else np.where(found[1], found[0], 0)
        else:
            values = fronts.values[1].pylist()
            for i, v in enumerate(values):
                if v is not None and (type(v) is not int or v < 0):
                    raise Fault("bad-value", "is not a valid number of repetitions", v, i)
            times = np.array([v or 0 for v in values], np.int64)
        rows = np.repeat(np.arange(len(fronts)), times)
        return [fronts.items(fronts.values[0]).take(rows).with_ends(fronts.ends)]
