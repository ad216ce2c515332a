"""Functions over fronts, filters, merging (pipes.md, 4.2, 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occurs.operators.process import scalars
from occurs.operators.process import tree as processors
from occurs.operators.process.columns import column_of, numbers
from occurs.operators.process.functions import Function, condition
from occurs.operators.process.items import NO_ENDS, CallSteps, Ends, Items, Variables, count_up
from occurs.operators.process.operator import Operator, Setting, meet, operator
from occurs.operators.process.scalars import MISSING
from occurs.operators.process.state import Counts, Part, Queue, State
from occurs.operators.process.tree import Node
from occurs.operators.process.values import Fault


@operator(processors.Lift)
class Lift(Operator):
    """o_i = f(x1_i .. xm_i), of the fronts that WHERE lets through."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        self.functions = [Function(f) for f in self.p.functions]
        self.where = None if self.p.where is None else Function(self.p.where)
        self.eager = scalars.eager(self.p.functions[0])
        self.ends_quietly = not self.p.early

    def fresh(self) -> dict[str, Part]:
        if not self.p.early:
            return {}
        parts: dict[str, Part] = {}
        for k in range(len(self.node.inputs)):
            parts[f"early{k}"] = Queue("ordinal")
        return parts

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        if self.p.early and len(given) > 1:
            return [early(self, state, given, call)]
        if len(given) == 1:
            items, values = given[0], [given[0].value]
        else:
            fronts = meet(state, given, call)
            items, values = fronts.items(fronts.values[0]), [*fronts.values]
        if self.where is not None and len(items):
            keep = self.where.true(self.env(values, items.code, len(items), call))
            if not keep.all():
                values = [v.filter(keep) for v in values]
                items = items.filter(keep)
        if not len(items):
            return [Items.none(items.ends, items.code is None) for _ in self.functions]
        env = self.env(values, items.code, len(items), call)
        return [items.with_value(f.run(env)) for f in self.functions]


@operator(processors.Filter)
class Filter(Operator):
    """(x1_i ..) if g_i is true."""

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
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
        self.condition = Function(self.p.condition)


@operator(processors.Where)
class Where(_Condition):
    """The items of which the condition is true."""

    ends_quietly = True

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        return x.filter(self.condition.true(self.env([x.value], x.code, len(x), call))) if len(x) else x


@operator(processors.StopWhen)
class StopWhen(_Condition):
    """The items before the first of which the condition is true: with it the trace ends."""

    def fresh(self) -> dict[str, Part]:
        return {"stopped": Counts()}

    def items(self, state: State, x: Items, call: CallSteps) -> Items:
        stopped = state["stopped"].upto(call.instances)
        live = stopped[x.codes] == 0
        ends = x.ends
        if len(ends):
            ends = Ends(ends.code[stopped[ends.code] == 0], ends.step[stopped[ends.code] == 0])
        x = x.filter(live).with_ends(ends)
        if not len(x):
            return x
        true = self.condition.true(self.env([x.value], x.code, len(x), call))
        if not true.any():
            return x
        codes = x.codes
        at = np.flatnonzero(true)
        mine, first = np.unique(codes[at], return_index=True)
        stop = np.full(call.instances, len(x))
        stop[mine] = at[first]
        stopped[mine] = 1
        ends = Ends(ends.code[stopped[ends.code] == 0], ends.step[stopped[ends.code] == 0]) if len(ends) else ends
        ends = Ends.join([ends, Ends(mine, x.step[stop[mine]])])
        return x.filter(np.arange(len(x)) < stop[codes]).with_ends(ends)


@operator(processors.Merge)
class Merge(Operator):
    """By step, then number of the input, then position; ends when all have."""

    def fresh(self) -> dict[str, Part]:
        return {"gone": Counts(), "latest": Counts(-2)}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
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


@operator(processors.RepeatBy)
class RepeatBy(Operator):
    """Each item as often as the other input says; null: not at all."""

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
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


# --- APPLY EARLY: an item as soon as the items present decide it ------------------------------------------------------


_NEVER = np.iinfo(np.int64).max


def early(box: Lift, state: State, given: Sequence[Items], call: CallSteps) -> Items:
    """The items that are decided now.

    One whose inputs have ended without deciding it is never there, nor any after it.
    """
    single = all(g.code is None for g in given)
    there: list[dict[tuple[int, int], tuple[Any, int, int]]] = []
    touched: set[int] = set()
    for k, items in enumerate(given):
        number = count_up(state[f"came{k}"].upto(call.instances), items)
        if len(items.ends):
            state[f"ended{k}"].upto(call.instances)[items.ends.code] = items.ends.step + 2
        queue: Queue = state[f"early{k}"]
        touched |= set(items.codes.tolist()) | set(items.ends.code.tolist())
        number = np.concatenate([queue.extra["ordinal"], number])
        items = Items.join([queue.items, items]) if len(queue.items) else items
        rows = zip(items.codes.tolist(), number.tolist())
        items_ = zip(items.value.pylist(), items.step.tolist(), items.about.tolist())
        there.append(dict(zip(rows, items_)))
    values, steps, abouts, codes, over = [], [], [], [], []
    done, last = state["met"].upto(call.instances), state["last"].upto(call.instances)
    told = state["over"].upto(call.instances)
    ended = [state[f"ended{k}"].upto(call.instances) for k in range(len(given))]
    came = [state[f"came{k}"].upto(call.instances) for k in range(len(given))]
    for c in sorted(touched):
        if told[c]:
            continue
        most = max(int(n[c]) for n in came)
        while done[c] < most:
            at = int(done[c])
            front = [t.get((c, at)) for t in there]
            gone = [int(e[c]) - 2 if e[c] and n[c] <= at else _NEVER for e, n in zip(ended, came)]
            found = _decided(box, front, min(gone), at, c, call)
            if found is None:
                break
            value, step, about = found
            last[c] = max(int(last[c]), step)
            values.append(value)
            steps.append(int(last[c]))
            abouts.append(about)
            codes.append(c)
            done[c] += 1
        ends = [int(e[c]) - 2 for e, n in zip(ended, came) if e[c] and n[c] <= done[c]]
        if ends:
            told[c] = 1
            over.append((c, min(max(e, int(last[c])) for e in ends)))
    for k, found_there in enumerate(there):
        left = {k_: v for k_, v in found_there.items() if k_[1] >= done[k_[0]] and not told[k_[0]]}
        state[f"early{k}"].put(_queued(left, single), ordinal=np.array([n for _, n in left], np.int64))
    order = np.argsort(np.array(steps, np.int64), kind="stable")
    code = None if single else np.array(codes, np.int64)
    made = Items(column_of(values), np.array(steps, np.int64), np.array(abouts, np.int64), code).take(order)
    if not over:
        return made.with_ends(NO_ENDS)
    ended_codes, ended_steps = (np.array([o[k] for o in over], np.int64) for k in range(2))
    return made.with_ends(Ends(ended_codes, ended_steps))


def _queued(left: dict[tuple[int, int], tuple[Any, int, int]], single: bool) -> Items:
    return Items(
        column_of([v for v, _, _ in left.values()]),
        np.array([s for _, s, _ in left.values()], np.int64),
        np.array([a for _, _, a in left.values()], np.int64),
        None if single else np.array([c for c, _ in left], np.int64),
    )


def _decided(
    box: Lift, front: Sequence[tuple[Any, int, int] | None], gone: int, number: int, code: int, call: CallSteps
) -> tuple[Any, int, int] | None:
    """The value of a front, the step at which it is decided, what it is about; ``gone``: the step from which an input
    has ended that has no such item."""
    variables = Variables(call, code)
    for step in sorted({x[1] for x in front if x is not None}):
        if gone <= step:
            return None
        there = [x if x is not None and x[1] <= step else None for x in front]
        try:
            items = [MISSING if x is None else x[0] for x in there]
            found = scalars.value_of(box.eager, lambda n: scalars.leaf_of(n, items, variables), variables)  # noqa: B023
            if found is not MISSING:
                return scalars.needed(found), step, next(x[2] for x in there if x is not None)
        except Fault as fault:
            raise box.fault(fault, number) from fault
    return None
