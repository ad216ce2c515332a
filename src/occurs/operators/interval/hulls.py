"""Intervals that share a point put together (phenesthe.md, sections 4.2 and 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.kernel import kernel
from occurs.operators.interval.bindings import Groups, find, joint, member
from occurs.operators.interval.delayed_release import opened
from occurs.operators.interval.signals import OPEN, Held, Intervals, Spans


@kernel
def _hulls(key: np.ndarray, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of rows in order of (key, start): the first row of each hull, and the end of the hull."""
    at = np.empty(len(key), np.int64)
    to = np.empty(len(key), np.int64)
    k = -1
    for i in range(len(key)):
        if k < 0 or key[i] != key[i - 1] or start[i] > to[k]:
            k += 1
            at[k] = i
            to[k] = end[i]
        elif end[i] > to[k]:
            to[k] = end[i]
    return at[: k + 1], to[: k + 1]


def coalesced(key: np.ndarray, intervals: Intervals) -> Intervals:
    """The hulls of the intervals of each key (bindings are equal where keys are)."""
    order = Groups(key, intervals.start).order
    rows = intervals.take(order)
    at, to = _hulls(key[order], rows.start, rows.end)
    found = rows.take(at)
    return Intervals(found.codes, found.start, to)


def pooled(held: Held, operands: Sequence[Spans], since: int, complete: int) -> tuple[Held, Spans]:
    """The union of the intervals of all operands, which may have several of one binding.

    ``held``: the hulls that were open at ``since``.  Only bindings of which anything is new are looked at; there, an
    interval that began at or before ``since`` and is still active belongs to the hull that was open then.
    """
    new = [part for s in operands for part in (s.closed, s.began)]
    if not any(len(part) for part in new):
        nothing = Intervals.empty(len(held.codes))
        return held, Spans(nothing, nothing, opened(held), since, complete)
    open = [s.open for s in operands]
    key, *keys = joint([(held.codes, len(held))] + [(part.codes, len(part)) for part in (*new, *open)])
    changed = np.concatenate(keys[: len(new)])
    near = [member(k, changed) for k in keys[len(new) :]]
    active = Intervals.concat([s.closed for s in operands] + [part.take(m) for part, m in zip(open, near)])
    mine = np.concatenate(keys[0 : len(new) : 2] + [k[m] for k, m in zip(keys[len(new) :], near)])
    early = np.flatnonzero(active.start <= since)
    if len(early):
        start = active.start.copy()
        start[early] = held.columns["start"][find(mine[early], key)]
        active = Intervals(active.codes, start, active.end)
    found = coalesced(mine, active)
    over = found.end != OPEN
    now = found.take(~over)
    held = Held.concat([held.take(~member(key, changed)), Held(now.codes, {"start": now.start})])
    return held, Spans(found.take(over), found.take(found.start > since), opened(held), since, complete)
