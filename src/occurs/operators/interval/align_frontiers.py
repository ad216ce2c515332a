"""Signals held back, so that two operands are known up to the same instant (phenesthe.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.operators.interval.bindings import as_points, as_spans, shifted
from occurs.operators.interval.delayed_release import as_intervals, release
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Phenomena, Points, Signal, Spans, State


@dataclass(frozen=True)
class HoldPoints:
    """The same instants, ``ticks`` later; with None as far as a second input is complete, which is looked at for
    nothing else."""

    variables: tuple[str, ...]
    ticks: int | None

    def fresh(self) -> State:
        return {"held": Held.empty(len(self.variables), "time")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Points]:
        points, held = as_points(inputs[0]), state["held"]
        since, complete = _bounds(self.ticks, inputs)
        if len(points):
            held = Held.concat([held, Held(points.codes, {"time": points.time})])
        ready = held.columns["time"] <= complete
        if not ready.any():
            given, rest = Held.empty(len(self.variables), "time"), held
        elif ready.all():
            given, rest = held, Held.empty(len(self.variables), "time")
        else:
            given, rest = held.take(ready), held.take(~ready)
        return {"held": rest}, Points(given.codes, given.columns["time"], since, complete)


@dataclass(frozen=True)
class HoldSpans:
    """The same intervals, ``ticks`` later; with None as far as a second input is complete."""

    variables: tuple[str, ...]
    ticks: int | None

    def fresh(self) -> State:
        return {"ended": Held.empty(len(self.variables), "start", "end"), "soon": Held.empty(0, "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Spans]:
        spans, ended, soon = as_spans(inputs[0]), as_intervals(state["ended"]), state["soon"]
        since, complete = _bounds(self.ticks, inputs)
        if len(spans.closed):
            ended = Intervals.concat([ended, spans.closed])
        begun = spans.began.start[spans.began.end == OPEN]
        if len(begun):
            soon = Held.concat([soon, Held((), {"start": begun})])
        given, held, soon = release(spans.open, ended, soon, since, complete)
        return {"ended": held, "soon": soon}, given


def _bounds(ticks: int | None, inputs: tuple[Signal, ...]) -> tuple[int, int]:
    """The instants (since, complete] that are given."""
    signal = inputs[0]
    assert not isinstance(signal, Phenomena)
    if ticks is not None:
        return shifted(signal.since, -ticks), shifted(signal.complete, -ticks)
    other = inputs[1]
    assert not isinstance(other, Phenomena)
    return min(signal.since, other.since), min(signal.complete, other.complete)
