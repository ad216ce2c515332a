"""Partial evaluation, in the reference semantics of pipes: APPLY EARLY (pipes.md 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occurs.expr import tree
from occurs.languages.esql.semantics_arithmetic import Fault, Lost, as_truth, kleene, opposite
from occurs.languages.esql.semantics_expr import Context, evaluate
from occurs.languages.esql.semantics_traces import Item, Scope, Trace, numbered
from occurs.languages.esql.semantics_values import Troolean
from occurs.operators.process.tree import Input


class Missing:
    """The value that an input does not have yet, or one that depends on it."""


MISSING = Missing()


def early(function: tree.Expr, inputs: Sequence[Trace], scope: Scope) -> Trace:
    """o_i as soon as the items of front i that are present decide it, in the order of i.

    It must be decided before an input ends that has no item i.  The trace ends when an input has ended and is used up.
    """
    out: list[Item] = []
    for i in range(max(map(len, inputs))):
        decided = numbered(i, _decided, function, i, inputs, scope)
        if decided is None:
            break
        if out:
            decided = decided._replace(at=max(decided.at, out[-1].at))
        out.append(decided)
    used = [t.end for t in inputs if t.end is not None and len(t) <= len(out)]
    at = out[-1].at if out else scope.beginning
    return Trace(tuple(out), min((max(e, at) for e in used), default=None))


def _decided(function: tree.Expr, i: int, inputs: Sequence[Trace], scope: Scope) -> Item | None:
    """Output i with the moment at which it is decided."""
    for at in sorted({t.items[i].at for t in inputs if i < len(t)}):
        if any(t.end is not None and len(t) <= i and t.end <= at for t in inputs):
            return None
        there = [t.items[i] if i < len(t) and t.items[i].at <= at else None for t in inputs]
        found = partial(function, [MISSING if x is None else x.value for x in there], scope.context)
        if isinstance(found, Lost):
            raise Fault("overflow", "an integer does not fit in 64 bits", None)
        if found is not MISSING:
            return Item(found, at, next(x for x in there if x is not None).about)
    return None


def partial(node: tree.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value, or MISSING: AND, OR, IMPLIES and ``if`` do without what cannot change it."""
    if not any(isinstance(n, (Input, tree.Ref)) for n in node.walk()):
        return evaluate(node, front, context)
    match node:
        case Input():
            return front[node.index]
        case tree.Binary(op="and"):
            return _kleene([partial(c, front, context) for c in node.children], False)
        case tree.Binary(op="or"):
            return _kleene([partial(c, front, context) for c in node.children], True)
        case tree.Call(name="implies"):
            left, right = (partial(c, front, context) for c in node.args)
            return _kleene([left if left is MISSING else opposite(left), right], True)
        case tree.Call(name="if"):
            *pairs, default = node.args
            for condition, value in zip(pairs[::2], pairs[1::2]):
                found = partial(condition, front, context)
                if found is MISSING or isinstance(found, Lost):
                    return found
                if found is True:
                    return partial(value, front, context)
            return partial(default, front, context)
        case tree.Ref():
            return MISSING if MISSING in front else evaluate(node, front, context)
    parts = [partial(c, front, context) for c in node.children]
    return MISSING if MISSING in parts else evaluate(node, front, context)


def _kleene(values: list[Any], decisive: bool) -> Any:
    """Decided by one that is there."""
    there = [as_truth(v) for v in values if v is not MISSING]
    if len(there) < len(values) and not any(v in (decisive, Troolean("T" if decisive else "F")) for v in there):
        return MISSING
    return kleene(there, decisive)
