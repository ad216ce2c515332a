r"""Sets of intervals: union, intersection, projection, filter by length (phenesthe.md, sections 4.2, 4.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from occurs.operators.interval.bindings import as_spans, pick, places, shifted, union
from occurs.operators.interval.cutting import Cut
from occurs.operators.interval.delayed_release import as_intervals, opened, release
from occurs.operators.interval.hulls import pooled
from occurs.operators.interval.ranges import LENGTHS, clipped, lengths
from occurs.operators.interval.signals import NEVER, OPEN, Call, Held, Intervals, Signal, Spans, State
from occurs.operators.kernels.blocks import alike
from occurs.operators.kernels.range_intersection import common

__all__ = ["Common", "Cut", "LongSpans", "PooledSpans", "United"]


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
        nothing = Intervals.empty(len(self.variables))
        if not (len(left.closed) or len(left.began) or len(right.closed) or len(right.began)):
            return state, Spans(nothing, nothing, opened(held), left.since, left.complete)
        ended, begun, now = common(
            left.closed.block, left.open.block, right.closed.block, right.open.block,
            held.block, places(self.left, self.right, self.variables), left.since,
        )  # fmt: skip
        closed, began = Intervals.of(ended), Intervals.of(begun)
        if (len(closed) or len(began)) and not alike(held.block, now):
            held = Held.of(now, ("start",))
            state = {"open": held}
        # what begins and goes on is new: an interval that was open then was known as such
        return state, Spans(closed, began, opened(held), left.since, left.complete)


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
