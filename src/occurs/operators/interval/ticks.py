"""The instants of a window, for formulas that are true almost always (phenesthe.md, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.errors import LimitProblem
from occurs.operators.interval.signals import Call, Points, Signal, State

#: as many ticks of a window are looked at
MOST = 1_000_000


@dataclass(frozen=True)
class Ticks:
    """The ticks t >= 0 of (frontier - ``window``, frontier], each in one call.  Raises LimitProblem if they are too
    many."""

    window: int
    name: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    def fresh(self) -> State:
        return {}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Points]:
        before = max(call.frontier - self.window, -1)
        count = call.frontier - before
        if count > MOST:
            raise LimitProblem.of(
                "too-many-instants",
                f"`{self.name}` is true almost always, but the window has {count} ticks",
                hint=f"at most {MOST} ticks can be listed: combine the negation with an event, or use a smaller window",
            )
        time = np.arange(max(call.since, before) + 1, call.frontier + 1, dtype=np.int64)
        return state, Points((), time, call.since, call.complete)
