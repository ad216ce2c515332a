"""Provisional rows: open intervals that are certain, emitted before they end (phenesthe.md, section 5: streaming,
update)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occurs.operators.interval.bindings import firsts, instants, member
from occurs.operators.interval.relations import Related
from occurs.operators.interval.signals import OPEN, Held, Instants, Intervals, Phenomena, Signal, Spans, State


@dataclass(frozen=True)
class Begun:
    """The intervals of a signal that have not ended and are certain, each in the call in which it first is so.

    They are never withdrawn, only ended; what begins and ends in one call is not among them.  At closing there are
    none: then what is open is final.  ``variables``: of the signal.  State: what is open and has been told.
    """

    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {"told": Held.empty(len(self.variables), "start")}

    def advance(self, state: State, signal: Signal, call: Instants) -> tuple[State, Intervals]:
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


@dataclass(frozen=True)
class Certainty:
    """Adds the open rows that are certain to the signals of a net after a call.

    Relations leave out of their signals what only provisional rows need; here they are asked for it.

    ``nodes``, ``inputs``, ``sources``: of the net.  ``signals``: what each node gave; ``after``: the state of each
    after the call.  ``others``: the signals of other definitions with all open rows that are certain.
    """

    nodes: Sequence[Any]
    inputs: Sequence[tuple[int, ...]]
    sources: Mapping[int, str]
    signals: Sequence[Signal]
    after: Mapping[int, State]
    others: Mapping[str, Signal]
    call: Instants

    def of(self, number: int) -> Signal:
        """The signal of a node with all open rows that are certain; what has ended is the same, or left out."""
        signal, node = self.signals[number], self.nodes[number]
        if not isinstance(signal, Phenomena):
            return signal
        given: tuple[Signal, ...]
        name = self.sources.get(number)
        if name is not None:
            given = (self.others[name],) if name in self.others else ()
        else:
            given = tuple(self.of(i) for i in self.inputs[number])
        if isinstance(node, Related):
            open = node.certain(self.after[number], given, self.call)
            return replace(signal, open=Intervals.concat([signal.open, open]))
        # operators over one dynamic formula look at each open row by itself
        if len(given) != 1 or not isinstance(given[0], Phenomena):
            return signal
        only = replace(given[0], closed=Intervals.empty(len(given[0].closed.codes)))
        _, found = node.advance(node.fresh(), (only,), self.call)
        return replace(signal, open=found.open)
