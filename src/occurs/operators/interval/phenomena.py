"""Operators that make a dynamic formula of one operand: projection, filter, a state read as a phenomenon (phenesthe.md,
sections 4.2, 4.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import earlier, pick, unseen
from occurs.operators.interval.ranges import LENGTHS, clipped, lengths
from occurs.operators.interval.signals import (
    Held,
    Instants,
    Intervals,
    Lags,
    Phenomena,
    Signal,
    Spans,
    State,
    Stateless,
    all_open,
)


@dataclass(frozen=True)
class PooledPhenomena:
    """The intervals of ``operand`` under the bindings of fewer ``variables``: set union over what is dropped.

    State, ``given``: the rows [s, e] that another value of a dropped variable may still give, as N of the pooled
    binding is less than e.
    """

    operand: tuple[str, ...]
    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"given": Held.empty(len(self.variables), "start", "end")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:
        (signal,) = inputs
        assert isinstance(signal, Phenomena)
        open = self._pooled(signal.open)
        open = open.take(unseen(Intervals.empty(len(self.variables)), open)) if len(open) else open
        lags = Lags.none(self.variables)
        if not call.closing:
            lags = Lags.of(self.operand, signal.lags).projected(self.variables)
        given = state["given"].intervals()
        if not (len(signal.closed) or len(given)):
            return state, Phenomena(Intervals.empty(len(self.variables)), open, signal.complete, lags)
        closed = self._pooled(signal.closed)
        closed = closed.take(unseen(given, closed))
        kept = Intervals.concat([given, closed])
        kept = kept.take(kept.end > lags.least_end(signal.complete))
        kept = kept.take(lags.least(signal.complete, 1, kept) < kept.end)
        return {"given": kept.held()}, Phenomena(closed, open, signal.complete, lags)

    def _pooled(self, rows: Intervals) -> Intervals:
        return Intervals(pick(rows.codes, self.operand, self.variables), rows.start, rows.end)


@dataclass(frozen=True)
class LongPhenomena(Stateless):
    """``filter(φ, op(D))``, ``op`` of ``less at_most equal at_least greater``, D in ``ticks``, of a dynamic φ.

    A row is kept by its length; an open one as soon as it is certain that it will be, whenever it ends: for
    ``greater``, ``at_least``.  No state: S lags behind the open rows that may still be kept and are not yet.
    """

    variables: tuple[str, ...]
    op: str
    ticks: int

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:
        (signal,) = inputs
        assert isinstance(signal, Phenomena)
        closed, open = signal.closed, signal.open
        if len(closed):
            closed = closed.take(LENGTHS[self.op](lengths(closed.start, closed.end), clipped(self.ticks)))
        if not len(open):
            return state, Phenomena(closed, open, signal.complete, signal.lags)
        if call.closing:
            least = np.full(len(open), call.frontier, np.int64)
        else:
            least = Lags.of(self.variables, signal.lags).least(signal.complete, 1, open)
        # all ends are later than `least`: the length is `sure` at least; it is not known to be less than that
        sure = lengths(open.start, np.maximum(least, open.start)) + np.uint64(1)
        certain = LENGTHS[self.op](sure, clipped(self.ticks)) & (self.op in ("at_least", "greater"))
        if call.closing:
            return state, Phenomena(closed, open.take(certain), signal.complete)
        possible = ~certain
        if self.op not in ("at_least", "greater"):
            possible &= LENGTHS["less" if self.op == "less" else "at_most"](sure, clipped(self.ticks))
        rest = open.take(possible)
        lags = Lags.of(self.variables, signal.lags).and_also(rest.codes, earlier(rest.start), all_open(len(rest)))
        return state, Phenomena(closed, open.take(certain), signal.complete, lags)


@dataclass(frozen=True)
class Loose(Stateless):
    """A state read as a dynamic phenomenon: its intervals one by one, for those who want rows and do not need to know
    that there are no others, which the signal of a state says."""

    variables: tuple[str, ...]

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:
        (spans,) = inputs
        assert isinstance(spans, Spans)
        return state, Phenomena(spans.closed, spans.open, spans.complete)
