"""``φ before ψ`` below a filter that wants short results: what is too old for them is kept no more (phenesthe.md,
section 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import joint, member
from occurs.operators.interval.ranges import clipped, lengths
from occurs.operators.interval.relations import Related
from occurs.operators.interval.sides import Side
from occurs.operators.interval.signals import OPEN, Call, Held, Phenomena, State


@dataclass(frozen=True)
class ShortBefore(Related):
    """``before`` of which nobody looks at results that are longer than ``longest`` ticks: it may give them or not.

    State: that of ``before``, less what cannot be part of a shorter result, nor keep one from being found.
    """

    longest: int = 0

    def _advance(self, state: State, left: Side, right: Side, call: Call) -> tuple[State, Phenomena]:
        state, signal = super()._advance(state, left, right, call)
        return (state if call.closing else self._young(state, left, right)), signal

    def _young(self, state: State, left: Side, right: Side) -> State:
        """The state without what is too old."""
        known, phi, begun = right.known.least_end(), state["left"], state["begun"]
        if known == OPEN:
            return state
        # no result that is not given yet ends before
        end = int(state["right"].columns["end"].min(initial=known + 1))
        young = ~self._old(phi, end)
        if not young.all():
            # a φ that is young, or is not known yet, is not the last before a ψ if an old one ended later
            young |= phi.columns["end"] > left.known.least_end()
            (key,) = joint([(phi.codes, len(phi))])
            young = member(key, key[young])
            state = {**state, "left": phi.take(young)} if not young.all() else state
        old = self._old(begun, end)
        return {**state, "begun": begun.take(~old)} if old.any() else state

    def _old(self, rows: Held, end: int) -> np.ndarray:
        """Whether a result from there would be too long."""
        start = rows.columns["start"]
        return lengths(start, np.maximum(start, end)) > clipped(self.longest)
