"""Partial evaluation: APPLY EARLY gives an item as soon as what is there decides it (pipes.md, 4.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs.expr import tree
from occurs.operators.process import rowwise, scalars
from occurs.operators.process.faults import Fault
from occurs.operators.process.items import NO_ENDS, Call, Ends, Items, ordinals
from occurs.operators.process.making import column_of
from occurs.operators.process.state import Queue, State
from occurs.operators.process.tree import Foreign, Input
from occurs.operators.process.values import Record, Troolean

if TYPE_CHECKING:
    from occurs.operators.process.operator import Operator


class _Missing:
    """What an input does not have yet, or depends on such."""


MISSING = _Missing()
_NEVER = np.iinfo(np.int64).max


def early(box: Operator, state: State, given: Sequence[Items], call: Call) -> Items:
    """The items that are decided now.

    One whose inputs have ended without deciding it is never there, nor any after it.
    """
    single = all(g.code is None for g in given)
    there: list[dict[tuple[int, int], tuple[Any, int, int]]] = []
    touched: set[int] = set()
    for k, items in enumerate(given):
        came = state[f"came{k}"].upto(call.instances)
        number = came[items.codes] + ordinals(items.codes)
        if len(items):
            counts = np.bincount(items.codes)
            came[: len(counts)] += counts
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
    box: Operator, front: Sequence[tuple[Any, int, int] | None], gone: int, number: int, code: int, call: Call
) -> tuple[Any, int, int] | None:
    """The value of a front, the step at which it is decided, what it is about; ``gone``: the step from which an input
    has ended that has no such item."""
    (function,) = box.node.processor.functions  # type: ignore[attr-defined]
    variables = _Variables(call, code)
    for step in sorted({x[1] for x in front if x is not None}):
        if gone <= step:
            return None
        there = [x if x is not None and x[1] <= step else None for x in front]
        try:
            found = partial(function, [MISSING if x is None else x[0] for x in there], variables)
            if found is not MISSING:
                return scalars.needed(found), step, next(x[2] for x in there if x is not None)
        except Fault as fault:
            raise box.fault(fault, number) from fault
    return None


class _Variables(dict[str, Any]):
    """Looked up when somebody asks."""

    def __init__(self, call: Call, code: int) -> None:
        super().__init__()
        self.call, self.code = call, code

    def __missing__(self, name: str) -> Any:
        return self.call.variables[name](np.array([self.code])).pylist()[0]

    def items(self) -> Any:
        return [(n, self[n]) for n in self.call.variables]


def partial(node: tree.Expr, front: Sequence[Any], variables: Mapping[str, Any]) -> Any:
    """The value, or MISSING: AND, OR, IMPLIES and ``if`` do without what cannot change them."""
    match node:
        case Input():
            return front[node.index]
        case tree.Ref():
            if any(v is MISSING for v in front):
                return MISSING
            return next((v.get(node.name) for v in front if isinstance(v, Record) and v.has(node.name)), None)
        case tree.Param():
            return variables[node.name]
        case tree.Binary(op="and" | "or"):
            parts = [partial(c, front, variables) for c in (node.left, node.right)]
            return _kleene(parts, node.op == "or")
        case tree.Call(name="implies"):
            left, right = (partial(a, front, variables) for a in node.args)
            return _kleene([left if left is MISSING else scalars.opposite(left), right], True)
        case tree.Call(name="if"):
            *pairs, default = node.args
            for test, value in zip(pairs[::2], pairs[1::2]):
                found = partial(test, front, variables)
                if found is MISSING or found is scalars.LOST:
                    return found
                if found is True:
                    return partial(value, front, variables)
            return partial(default, front, variables)
        case Foreign():
            args = [partial(a, front, variables) for a in node.args]
            return MISSING if any(a is MISSING for a in args) else rowwise.foreign(node, args)
    inside = {c: partial(c, front, variables) for c in node.children}
    if any(v is MISSING for v in inside.values()):
        return MISSING
    shell, places = _shell(node)
    return rowwise.value_of(shell, lambda p: inside[places[p]], variables)


def _shell(node: tree.Expr) -> tuple[tree.Expr, dict[tree.Expr, tree.Expr]]:
    """A node with place-holders for its operands, and what they hold the place of."""
    from occurs.operators.process.functions import _Place

    places = [_Place(i) for i in range(len(node.children))]
    return node.with_children(tuple(places)) if places else node, dict(zip(places, node.children))


def _kleene(parts: list[Any], decisive: bool) -> Any:
    there = [scalars.truth(v) for v in parts if v is not MISSING]
    strong = Troolean.TRUE if decisive else Troolean.FALSE
    if len(there) < len(parts) and not any(v is decisive or v is strong for v in there):
        return MISSING
    return scalars.kleene(there, decisive)
