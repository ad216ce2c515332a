"""Rows that still hold, told before they have ended (phenesthe.md, section 5: streaming, update)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.operators.interval.bindings import firsts, instants, member
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Phenomena, Signal, Spans, State


@dataclass(frozen=True)
class Begun:
    """The intervals of a signal that have not ended and are certain, each in the call in which it first is so.

    They are never withdrawn, only ended; what begins and ends in one call is not among them.  At closing there are
    none: then what is open is final.  ``variables``: of the signal.  State: what is open and has been told.
    """

    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"told": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, signal: Signal, call: Call) -> tuple[State, Intervals]:
        """The state, and the intervals, all with the end ``OPEN``."""
        if call.closing:
            return self.fresh(), Intervals.empty(len(self.variables))
        if isinstance(signal, Spans):
            return state, signal.began.take(signal.began.end == OPEN)
        if not isinstance(signal, Phenomena) or not (len(signal.open) or len(state["told"])):
            return state, Intervals.empty(len(self.variables))
        open, told = signal.open, state["told"]
        key, before = instants([(open.codes, open.start), (told.codes, told.columns["start"])])
        once = firsts(key)
        new = open.take(once & ~member(key, before)) if len(open) else open
        return {"told": Held(tuple(c[once] for c in open.codes), {"start": open.start[once]})}, new
