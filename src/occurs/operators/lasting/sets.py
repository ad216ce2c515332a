r"""Sets of intervals: union, intersection, projection, filter by length (phenesthe.md, sections 4.2, 4.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from occurs.operators.lasting.codes import joint
from occurs.operators.lasting.cutting import Cut
from occurs.operators.lasting.hulls import pooled
from occurs.operators.lasting.joins import Groups, as_spans, expand, joined, member, pick, shared, shifted, union
from occurs.operators.lasting.ranges import LENGTHS, clipped, lengths
from occurs.operators.lasting.releasing import as_intervals, opened, release
from occurs.operators.lasting.signals import NEVER, OPEN, Call, Held, Intervals, Signal, Spans

__all__ = ["Common", "Cut", "LongSpans", "PooledSpans", "United"]

State = dict[str, Held]


@dataclass(frozen=True)
class United:
    """phi or psi holds: intervals that overlap or share an end become one, neighbours do not."""

    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
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

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
        spans = as_spans(inputs[0])

        def picked(part: Intervals) -> Intervals:
            return replace(part, codes=pick(part.codes, self.operand, self.variables))

        part = replace(spans, closed=picked(spans.closed), began=picked(spans.began), open=picked(spans.open))
        held, spans = pooled(state["open"], (part,), spans.since, spans.complete)
        return {"open": held}, spans


@dataclass(frozen=True)
class Common:
    """phi and psi hold: what two intervals have in common if that is more than a point, per joint binding."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return union(self.left, self.right)

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
        left, right, held = as_spans(inputs[0]), as_spans(inputs[1]), state["open"]
        found = self._found(left, right)
        if not len(found):
            return state, Spans(found, found, opened(held), left.since, left.complete)
        over = found.end != OPEN
        closed, now = found.take(over), found.take(~over)
        began = found.take(found.start > left.since)
        ending = closed.take(closed.start <= left.since)
        if len(ending):
            key, other = joint([(held.codes, len(held)), (ending.codes, len(ending))])
            held = held.take(~member(key, other))
        if len(now):
            held = Held.concat([held, Held(now.codes, {"start": now.start})])
        return {"open": held}, Spans(closed, began, opened(held), left.since, left.complete)

    def _found(self, left: Spans, right: Spans) -> Intervals:
        """What comes of pairs of which one side is new, or has ended, in this call."""
        new, others = _changed(left), _changed(right)
        on = shared(self.left, self.right)
        parts = []
        # new with all of the other side, then old with what is new of it
        if len(new) and len(others):
            parts.append(self._overlapping(new, others, on))
        if len(new) and len(right.open):
            parts.append(self._overlapping(new, right.open.take(right.open.start <= right.since), on))
        if len(others) and len(left.open):
            parts.append(self._overlapping(left.open.take(left.open.start <= left.since), others, on))
        return Intervals.concat(parts) if parts else Intervals.empty(len(self.variables))

    def _overlapping(self, x: Intervals, y: Intervals, on: tuple[str, ...]) -> Intervals:
        """Of all pairs that overlap the common part: either y begins within x, or x within y after y's start."""
        key, other = joint([(pick(x.codes, self.left, on), len(x)), (pick(y.codes, self.right, on), len(y))])
        if len(x) < len(y):
            near = member(other, key).nonzero()[0]
            y, other = y.take(near), other[near]
        else:
            near = member(key, other).nonzero()[0]
            x, key = x.take(near), key[near]
        starts = Groups(other, y.start)
        i, place = expand(*starts.between(key, x.start, x.end - 1))
        j = starts.order[place]
        starts = Groups(key, x.start)
        more, place = expand(*starts.between(other, y.start + 1, y.end - 1))
        i, j = np.concatenate([i, starts.order[place]]), np.concatenate([j, more])
        codes = joined(self.variables, (self.left, x.codes, i), (self.right, y.codes, j))
        return Intervals(codes, np.maximum(x.start[i], y.start[j]), np.minimum(x.end[i], y.end[j]))


def _changed(spans: Spans) -> Intervals:
    """What began or ended in this call."""
    began = spans.began.take(spans.began.end == OPEN)
    return Intervals.concat([spans.closed, began])


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

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
        spans, ended, soon = as_spans(inputs[0]), as_intervals(state["ended"]), state["soon"]
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
            ended = Intervals.concat([ended, spans.closed.take(LENGTHS[_OPS[self.op]](long, clipped(self.ticks)))])
        spans, held, soon = release(running, ended, soon, since, complete)
        return {"ended": held, "soon": soon}, spans


_OPS = {"less": "<", "at_most": "<=", "equal": "=", "at_least": ">=", "greater": ">"}
