"""Minimal ranges and iterations told one by one, each binding by itself (phenesthe.md, section 5: results are held per
binding).

Read as states they are complete up to the tick before the least instant of all bindings that a later event may still
make the beginning of an interval.  Here they are read as dynamic phenomena: an interval is given as soon as the event
has come that ends it, and only the bindings that wait lag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import as_points, earlier
from occurs.operators.interval.frontiers import lag, telling
from occurs.operators.interval.ranges import Iteration, MinimalRange, finished, stretched
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Phenomena, Signal, State


@dataclass(frozen=True)
class EagerRange(MinimalRange):
    """``phi ~>> psi``.

    State, ``pending``: the last phi-instant of every binding since its last (psi and not phi)-instant.
    """

    def fresh(self) -> State:
        return {"pending": Held.empty(len(self.left), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Phenomena]:  # type: ignore[override]
        phi, psi, pending = as_points(inputs[0]), as_points(inputs[1]), state["pending"]
        closed = nothing = Intervals.empty(len(self.left))
        if len(phi) or (len(psi) and len(pending)):
            closed, pending = stretched(self.left, self.right, pending, phi, psi)
        if call.closing:
            return self.fresh(), Phenomena(closed, nothing, OPEN)
        # what begins at such an instant ends later than all that is known
        ends = np.full(len(pending), phi.complete, np.int64)
        behind = lag(self.left, pending.codes, len(pending), earlier(pending.columns["start"]), ends)
        return {"pending": pending}, Phenomena(closed, nothing, phi.complete, telling([behind]))


@dataclass(frozen=True)
class EagerIteration(Iteration):
    """An iteration whose runs a next instant ends: ``=@ >=@ >@``.  State, ``runs``: as of an iteration."""

    def fresh(self) -> State:
        return {"runs": Held.empty(len(self.variables), "first", "last")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Phenomena]:  # type: ignore[override]
        phi, runs, parts = as_points(inputs[0]), state["runs"], [Intervals.empty(len(self.variables))]
        if len(phi):
            runs, done = self._extended(runs, phi)
            parts.append(done)
        over = runs.columns["last"] <= self._over(phi.complete)
        if over.any():
            parts.append(finished(runs.take(over)))
            runs = runs.take(~over)
        closed, nothing = Intervals.concat(parts), Intervals.empty(len(self.variables))
        if call.closing:
            return self.fresh(), Phenomena(closed, nothing, OPEN)
        first, last = runs.columns["first"], runs.columns["last"]
        ends = np.where(first < last, earlier(last), phi.complete)
        behind = lag(self.variables, runs.codes, len(runs), earlier(first), ends)
        return {"runs": runs}, Phenomena(closed, nothing, phi.complete, telling([behind]))

    def _over(self, complete: int) -> int:
        """Up to where the last instants of runs lie that no further one continues."""
        if self.op == "=" or complete == OPEN:
            return self._complete(Held.empty(0, "last"), complete)
        return int(np.iinfo(np.int64).min)
