"""The open rows of a call that are certain, through a whole formula (phenesthe.md, section 5: streaming, update).

Relations leave out of their signals what nothing but provisional rows need; here they are asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from occurs.operators.interval.relations import Related
from occurs.operators.interval.signals import Call, Intervals, Phenomena, Signal, State


@dataclass(frozen=True)
class Certainty:
    """One call of a net that is done.

    ``nodes``, ``inputs``, ``sources``: of the net.  ``signals``: what each node gave; ``after``: the state of each
    after the call.  ``others``: the signals of other definitions with all open rows that are certain.
    """

    nodes: Sequence[Any]
    inputs: Sequence[tuple[int, ...]]
    sources: Mapping[int, str]
    signals: Sequence[Signal]
    after: Mapping[int, State]
    others: Mapping[str, Signal]
    call: Call

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
