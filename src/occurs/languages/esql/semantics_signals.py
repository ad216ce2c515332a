"""Processors of ``pipes.signal`` in the reference semantics (pipes.md 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occurs.languages.esql.semantics_arithmetic import COMPARISONS, strict
from occurs.languages.esql.semantics_functions import average
from occurs.languages.esql.semantics_traces import Item, Scope, Trace, each
from occurs.operators.process import tree

Inputs = Sequence[Trace]


def _true(op: str, a: Any, b: Any) -> bool:
    """Whether a comparison is true: with null it is not."""
    return strict(COMPARISONS[op], a, b) is True


def threshold(p: tree.Threshold, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x if x > limit, else 0."""
    (x,) = inputs
    made = each(x.items, lambda i: i.value if _true(">", i.value, p.limit) else 0)
    return [Trace(tuple(i._replace(value=v) for i, v in zip(x.items, made)), x.end)]


def _last(x: Trace, n: int, f: Callable[[tuple[Any, ...]], Any]) -> Trace:
    """``f`` of the last n items, from item n-1 on."""
    found = [i.value for i in x.items]
    made = each(range(n - 1, len(x)), lambda k: f(tuple(found[k - n + 1 : k + 1])))
    return Trace(tuple(i._replace(value=v) for i, v in zip(x.items[n - 1 :], made)), x.end)


def smooth(p: tree.Smooth, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The mean of the last n; null if one is null."""
    return [_last(inputs[0], p.n, lambda some: None if None in some else average(some))]


def plateaus(p: tree.Plateaus, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The mean of the last n if they differ by no more than the tolerance, else 0."""

    def of(some: tuple[Any, ...]) -> Any:
        mean = None if None in some else average(some)
        known = mean is not None and mean == mean  # NaN is no plateau
        return mean if known and max(some) - min(some) <= p.tolerance else 0

    return [_last(inputs[0], p.n, of)]


def peaks(p: tree.Peaks, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x_i if it is greater than the r items before and not less than the r items after, else 0.

    Known with item i+r, or at the end.
    """
    (x,) = inputs
    found = [i.value for i in x.items]

    def of(i: int) -> Item | None:
        later = i + p.reach
        if later >= len(x) and x.end is None:
            return None
        before, after = found[max(0, i - p.reach) : i], found[i + 1 : later + 1]
        peak = all(_true(">", found[i], b) for b in before) and all(_true(">=", found[i], a) for a in after)
        at = x.items[later].at if later < len(x) else x.known_at(x.items[i].at)
        value = found[i] if peak and found[i] is not None else 0
        return Item(value, at, x.items[i].about)

    return [Trace(tuple(i for i in each(range(len(x)), of) if i is not None), x.end)]


def dead_time(p: tree.DeadTime, inputs: Inputs, scope: Scope) -> list[Trace]:
    """After an item that is not zero the next n are 0."""
    out: list[Item] = []
    dead = 0
    for item in inputs[0].items:
        if dead:
            dead -= 1
            out.append(item._replace(value=0))
        else:
            dead = p.n if _true("!=", item.value, 0) else 0
            out.append(item)
    return [Trace(tuple(out), inputs[0].end)]


MEANING: dict[type[tree.Processor], Callable[[Any, Inputs, Scope], list[Trace]]] = {
    tree.Threshold: threshold,
    tree.Smooth: smooth,
    tree.Plateaus: plateaus,
    tree.Peaks: peaks,
    tree.DeadTime: dead_time,
}
