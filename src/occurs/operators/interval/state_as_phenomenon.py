"""A state read as a dynamic phenomenon, whose intervals are told one by one (phenesthe.md, section 5)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.operators.interval.signals import Call, Phenomena, Signal, Spans, State


@dataclass(frozen=True)
class Loose:
    """The intervals of a state.  What is known of each of them is of use to those who want rows; that there are no
    others, which a state's signal tells, is not."""

    variables: tuple[str, ...]

    def fresh(self) -> State:
        return {}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Phenomena]:
        (spans,) = inputs
        assert isinstance(spans, Spans)
        return state, Phenomena(spans.closed, spans.open, spans.complete)
