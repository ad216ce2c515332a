r"""Sets of intervals: union, intersection, projection, filter by length (phenesthe.md, sections 4.2, 4.4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from occurs.kernel import kernel
from occurs.operators.interval.bindings import (
    Groups,
    OfBoth,
    OfLeft,
    as_spans,
    earlier,
    find,
    joint,
    later,
    member,
    pick,
    places,
    shifted,
)
from occurs.operators.interval.delayed_release import release
from occurs.operators.interval.ranges import LENGTHS, clipped, lengths
from occurs.operators.interval.signals import NEVER, OPEN, Held, Instants, Intervals, Signal, Spans, State
from occurs.operators.kernels.blocks import alike
from occurs.operators.kernels.range_intersection import common


@dataclass(frozen=True)
class United:
    """phi or psi: intervals that overlap or share an end become one, neighbours do not."""

    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        left, right = as_spans(inputs[0]), as_spans(inputs[1])
        held, spans = pooled(state["open"], (left, right), left.since, left.complete)
        return {"open": held}, spans


@dataclass(frozen=True)
class PooledSpans:
    """phi for any values of the variables that are not among ``variables``: a union that coalesces."""

    operand: tuple[str, ...]
    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        spans = as_spans(inputs[0])

        def picked(part: Intervals) -> Intervals:
            return replace(part, codes=pick(part.codes, self.operand, self.variables))

        part = replace(spans, closed=picked(spans.closed), began=picked(spans.began), open=picked(spans.open))
        held, spans = pooled(state["open"], (part,), spans.since, spans.complete)
        return {"open": held}, spans


def pooled(held: Held, operands: Sequence[Spans], since: int, complete: int) -> tuple[Held, Spans]:
    """The union of the intervals of all operands, which may have several of one binding.

    ``held``: the hulls that were open at ``since``.  Only bindings of which anything is new are looked at; there, an
    interval that began at or before ``since`` and is still active belongs to the hull that was open then.
    """
    new = [part for s in operands for part in (s.closed, s.began)]
    if not any(len(part) for part in new):
        return held, Spans.unchanged(held.opened(), since, complete)
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
    held = Held.concat([held.take(~member(key, changed)), now.starts()])
    return held, Spans(found.take(over), found.take(found.start > since), held.opened(), since, complete)


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


@dataclass(frozen=True)
class Common(OfBoth):
    """phi and psi: the intersection of two intervals if it is more than a point, per joint binding."""

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        left, right, held = as_spans(inputs[0]), as_spans(inputs[1]), state["open"]
        if not (len(left.closed) or len(left.began) or len(right.closed) or len(right.began)):
            return state, Spans.unchanged(held.opened(), left.since, left.complete)
        ended, begun, now = common(
            left.closed.block, left.open.block, right.closed.block, right.open.block,
            held.block, places(self.left, self.right, self.variables), left.since,
        )  # fmt: skip
        closed, began = Intervals.of(ended), Intervals.of(begun)
        if (len(closed) or len(began)) and not alike(held.block, now):
            held = Held.of(now, ("start",))
            state = {"open": held}
        # what begins and goes on is new: an interval that was open then was known as such
        return state, Spans(closed, began, held.opened(), left.since, left.complete)


@dataclass(frozen=True)
class Cut(OfLeft):
    r"""``phi \ psi``: what is left of each interval of phi when the ticks of psi are taken out of it.

    An interval of psi may begin at the next tick and so decide what has been left at this one: the signal is one tick
    behind its operands.  ``running``: of each interval of phi that is open and not cut at the moment, where what is
    left began: at most the tick after what is known.
    """

    def fresh(self) -> State:
        n = len(self.left)
        return {
            "running": Held.empty(n, "start"),
            "ended": Held.empty(n, "start", "end"),
            "soon": Held.empty(0, "start"),
        }

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        left, right = as_spans(inputs[0]), as_spans(inputs[1])
        running, ended, soon = state["running"], state["ended"].intervals(), state["soon"]
        since, complete = shifted(left.since, -1), shifted(left.complete, -1)
        phi = self._affected(left, right)
        if len(phi):
            key, mine = joint([(running.codes, len(running)), (phi.codes, len(phi))])
            found = self._rest(phi, _carried(phi, mine, running, key), right, since)
            now = found.end == OPEN
            rest = found.take(now)
            running = Held.concat([running.take(~member(key, mine)), rest.starts()])
            ended = Intervals.concat([ended, found.take(~now)])
            soon = Held.concat([soon, Held((), {"start": rest.start[rest.start > since]})])
        spans, held, soon = release(running.opened(), ended, soon, since, complete)
        return {"running": running, "ended": held, "soon": soon}, spans

    def _affected(self, left: Spans, right: Spans) -> Intervals:
        """The active intervals of phi that are new or have ended, or that a change of psi is about."""
        parts = [left.closed, left.began.take(left.began.end == OPEN)]
        new = [part for part in (right.closed, right.began) if len(part)]
        old = left.open
        if new and len(old):
            key, *keys = joint(
                [(pick(old.codes, self.left, self.right), len(old))] + [(part.codes, len(part)) for part in new]
            )
            parts.append(old.take((old.start <= left.since) & member(key, np.concatenate(keys))))
        return Intervals.concat(parts)

    def _rest(self, phi: Intervals, start: np.ndarray, right: Spans, since: int) -> Intervals:
        """What psi leaves of phi from ``start`` on, without what ended at or before ``since``."""
        key, *others = joint(
            [(pick(phi.codes, self.left, self.right), len(phi))]
            + [(part.codes, len(part)) for part in (right.closed, right.open)]
        )
        near = [member(other, key) for other in others]
        psi = Intervals.concat([right.closed.take(near[0]), right.open.take(near[1])])
        other = np.concatenate([o[m] for o, m in zip(others, near)])
        # intervals of one binding share no point: in order of their starts they are in order of their ends
        starts, ends = Groups(other, psi.start), Groups(other, psi.end)
        lo, _ = ends.between(key, start, np.full(len(key), OPEN))
        _, hi = starts.between(key, np.full(len(key), NEVER), phi.end)
        cuts = np.maximum(hi - lo, 0)
        row = np.repeat(np.arange(len(phi)), cuts + 1)
        number = np.arange(len(row)) - np.repeat(np.cumsum(cuts + 1) - cuts - 1, cuts + 1)
        place = lo[row] + number
        begin, end = start[row], phi.end[row]
        after, before = number > 0, number < cuts[row]
        begin[after] = later(ends.time[place[after] - 1])
        end[before] = earlier(starts.time[place[before]])
        left = (begin < end) & (end > since)
        return Intervals(tuple(c[row[left]] for c in phi.codes), begin[left], end[left])


def _carried(phi: Intervals, mine: np.ndarray, running: Held, key: np.ndarray) -> np.ndarray:
    """Where what is left of each interval of phi began.

    One that was open and is not among ``running`` was cut at that moment; what was left of it before then is over.
    """
    row = find(mine, key)
    start = phi.start.copy()
    known = row >= 0
    start[known] = np.maximum(start[known], running.columns["start"][row[known]])
    return start


@dataclass(frozen=True)
class LongSpans:
    """``filter(phi, op(ticks))``: intervals of such a length; ``op``: less at_most equal at_least greater.

    Whether an interval passes is known ``ticks`` after its start, so the signal is behind by so much.  What is open at
    the end of the history passes if its length is already certain to do.
    """

    variables: tuple[str, ...]
    op: str
    ticks: int

    def fresh(self) -> State:
        return {"ended": Held.empty(len(self.variables), "start", "end"), "soon": Held.empty(0, "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        spans, ended, soon = as_spans(inputs[0]), state["ended"].intervals(), state["soon"]
        since, complete = shifted(spans.since, -self.ticks), shifted(spans.complete, -self.ticks)
        running = Intervals.empty(len(self.variables))
        if self.op in ("at_least", "greater"):
            running, begun = spans.open, spans.began.take(spans.began.end == OPEN)
            if len(begun):
                soon = Held.concat([soon, Held((), {"start": begun.start})])
            if spans.complete == OPEN:
                # an end is later than now, so the length is at least one more than it is now
                last = call.frontier - self.ticks + (self.op == "at_least")
                running = running.take(running.start <= max(NEVER, min(last, OPEN)))
                soon = Held((), {"start": running.start[running.start > since]})
        if len(spans.closed):
            long = lengths(spans.closed.start, spans.closed.end)
            ended = Intervals.concat([ended, spans.closed.take(LENGTHS[self.op](long, clipped(self.ticks)))])
        spans, held, soon = release(running, ended, soon, since, complete)
        return {"ended": held, "soon": soon}, spans
