"""What the machine cannot compute itself: the value of an expression with one binding (text functions over several
events, what may overflow)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem
from occurs.expr.dialect import EPL
from occurs.expr.evaluate import evaluate, select
from occurs.expr.tree import Expr, Ref
from occurs.model.types import Type
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import event_of
from occurs.operators.sequence.events import Events
from occurs.operators.sequence.layout import Layout
from occurs.operators.sequence.rulecode import EMPTY, Asked, Rules
from occurs.operators.sequence.work import Work


def overflow(name: str, time: int) -> InputProblem:
    return InputProblem(
        Problem("overflow", f"overflow of int64 in a condition of `{name}` at time {time}", definition=name, value=time)
    )


class Answers:
    """Answers the questions of one call."""

    def __init__(self, name: str, rules: Rules, layout: Layout, events: Events) -> None:
        self.name = name
        self.rules = rules
        self.layout = layout
        self.events = events

    def condition(self, work: Work) -> None:
        """Is the condition reg[ASKED] true?"""
        asked = self.rules.asked[work.reg[T.ASKED]]
        passed, undecided = select(
            asked.expr, lambda leaf: self._column(work, asked, leaf), 1, kind=self.rules.kind, dialect=EPL
        )
        if undecided is not None:
            raise overflow(self.name, int(work.reg[T.NOW]))
        work.reg[T.ANSWER] = int(passed[0])
        work.reg[T.ANSWERED] = 1

    def keys(self, work: Work) -> None:
        """The values of the keys of the node reg[ASKED]."""
        node = self.layout.node_table[work.reg[T.ASKED]]
        values = work.arrays[16]
        known = 0
        for k, key in enumerate(range(node[T.ONE], node[T.TWO])):
            asked = self.rules.asked[self.layout.keys[key, 0]]
            found = evaluate(
                asked.expr,
                lambda leaf, asked=asked: self._column(work, asked, leaf),  # type: ignore[misc]
                1,
                kind=self.rules.kind,
                dialect=EPL,
            )
            if found.overflow is not None:
                raise overflow(self.name, int(work.reg[T.NOW]))
            value = found.values[0].as_py()
            values[k] = 0
            if value is None:
                continue
            known |= 1 << k
            if isinstance(value, str):
                values[k] = self.events.texts.number(value)
            elif isinstance(value, float):
                values[k] = np.array([value + 0.0]).view(np.int64)[0]
            else:
                values[k] = int(value)
        work.reg[T.ANSWER] = known
        work.reg[T.ANSWERED] = 1

    def _column(self, work: Work, asked: Asked, leaf: Expr) -> pa.Array:
        """The one value that a reference has now."""
        assert isinstance(leaf, Ref)
        if leaf.scope is None or (leaf.scope == asked.own and leaf.index is None):
            row = int(work.reg[T.ASKED_ROW])
            types = self.rules.types.get(asked.own or "", ())
        else:
            index = -1 if leaf.index is None else leaf.index
            row = int(event_of(work.bound, work.reg[T.ASKED_BINDING], self.rules.tags[leaf.scope], index))
            types = self.rules.types[leaf.scope]
        if row >= 0:
            return self.events.arrow(row, leaf.name)
        if leaf.name == "time":
            return pa.nulls(1, EMPTY[Type.TIMESTAMP])
        known = {self.rules.schemas[t][leaf.name] for t in types if leaf.name in self.rules.schemas.get(t, ())}
        return pa.nulls(1, EMPTY[known.pop()] if len(known) == 1 else pa.null())
