"""Operators with a delay, which know intervals before they emit them (phenesthe.md, section 5).

Such an operator knows intervals up to some instant and emits them up to an earlier one, ``complete``.  It keeps the
intervals that have ``ended`` after ``complete``, and as ``soon`` the later starts of intervals that have not ended.
"""

from __future__ import annotations

from dataclasses import dataclass

from occurs.operators.interval.bindings import as_points, as_spans, shifted
from occurs.operators.interval.signals import OPEN, Held, Instants, Intervals, Phenomena, Points, Signal, Spans, State


@dataclass(frozen=True)
class HoldPoints:
    """Emits the instants of its operand ``ticks`` later; with None as far as a second input is complete, which is used
    for nothing else."""

    variables: tuple[str, ...]
    ticks: int | None

    def fresh(self) -> State:
        return {"held": Held.empty(len(self.variables), "time")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
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
    """Emits the intervals of its operand ``ticks`` later; with None as far as a second input is complete."""

    variables: tuple[str, ...]
    ticks: int | None

    def fresh(self) -> State:
        return {"ended": Held.empty(len(self.variables), "start", "end"), "soon": Held.empty(0, "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        spans, ended, soon = as_spans(inputs[0]), state["ended"].intervals(), state["soon"]
        since, complete = _bounds(self.ticks, inputs)
        if len(spans.closed):
            ended = Intervals.concat([ended, spans.closed])
        begun = spans.began.start[spans.began.end == OPEN]
        if len(begun):
            soon = Held.concat([soon, Held((), {"start": begun})])
        given, held, soon = release(spans.open, ended, soon, since, complete)
        return {"ended": held, "soon": soon}, given


def _bounds(ticks: int | None, inputs: tuple[Signal, ...]) -> tuple[int, int]:
    """The instants (since, complete] that a call emits."""
    signal = inputs[0]
    assert not isinstance(signal, Phenomena)
    if ticks is not None:
        return shifted(signal.since, -ticks), shifted(signal.complete, -ticks)
    other = inputs[1]
    assert not isinstance(other, Phenomena)
    return min(signal.since, other.since), min(signal.complete, other.complete)


def began(closed: Intervals, open: Intervals, since: int) -> Intervals:
    """The intervals, closed and open, that began after ``since``."""
    new = [part.take(part.start > since) for part in (closed, open) if len(part)]
    return Intervals.concat(new) if new else closed


def release(running: Intervals, ended: Intervals, soon: Held, since: int, complete: int) -> tuple[Spans, Held, Held]:
    """What an operator with a delay emits in (``since``, ``complete``], and its new tables ``ended`` and ``soon``.

    ``running``: all that is known and has not ended.  ``ended``: all that has, with ends after ``since``.  ``soon``: of
    0 variables, the starts in ``running`` that are after ``since``.
    """
    if not len(ended) and not len(soon):
        return Spans.unchanged(running, since, complete), ended.held(), soon
    over = ended.end <= complete
    closed, kept = ended.take(over), ended.take(~over)
    open = running
    if len(soon):
        open = running.take(running.start <= complete)
    if len(kept):
        open = Intervals.concat([open, kept.take(kept.start <= complete).starts().opened()])
    new = soon.columns["start"]
    spans = Spans(closed, began(closed, open, since), open, since, complete)
    return spans, kept.held(), Held((), {"start": new[new > complete]})
