"""Definitions over instants and intervals in an engine: their nets run, and their state kept (phenesthe.md, 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.engine.since import Since, signal_since
from occurs.engine.state import Kept, State
from occurs.model.labels import Labels, derived_labels
from occurs.operators.lasting.signals import NEVER, Call, Signal
from occurs.operators.lasting.values import Values
from occurs.operators.rows import Rows
from occurs.plan.definition import NetDefinition

if TYPE_CHECKING:
    from occurs.operators.lasting.network import Source


@dataclass
class Nets:
    """The nets of an engine; ``values``: what their codes stand for, in all calls."""

    values: Values = field(default_factory=Values)

    def call(self, state: State, frontier: int, closing: bool) -> NetCall:
        """What the nets of one call share; ``state`` is as the call before left it."""
        since = NEVER if state.frontier is None else state.frontier
        return NetCall(state, Call(since, frontier, self.values, closing))


@dataclass
class NetCall:
    """One call of an engine; ``signals``: what the definitions of earlier levels gave in it, ``certain``: the same with
    all open rows that are certain, of those that tell them."""

    state: State
    call: Call
    signals: dict[str, Signal] = field(default_factory=dict)
    certain: dict[str, Signal] = field(default_factory=dict)

    def run(self, definition: NetDefinition, tables: Mapping[str, Rows], labelled: bool) -> tuple[Rows, Rows | None]:
        """The rows of a definition that are final now, and open ones that are told before, if it tells them; its new
        state is in the engine's."""
        given = tables if definition.born is None else Since(tables, definition.born)
        sources: dict[str, Source] = {}
        certain: dict[str, Signal] = {}
        for name in definition.reads:
            if name in self.signals:
                signal = self.signals[name]
                sources[name] = _since(signal, definition.born)
                if name in self.certain:
                    certain[name] = _since(self.certain[name], definition.born)
            elif name in given:
                sources[name] = given[name]
        kept = self._kept(definition)
        after, found = kept.net.advance(kept.tables, sources, self.call, certain)
        self.state.nets[definition.identity] = Kept(kept.net, kept.values, after)
        self.signals[definition.output] = found.signal
        if found.certain is not None:
            self.certain[definition.output] = found.certain
        rows = definition.answer.final(found.report, self.call)
        begun = None if found.begun is None else definition.answer.rows(found.begun, self.call)
        for part in (rows, begun):
            if part is not None and labelled:
                part.labels = labels_of(definition, part)
        return rows, begun

    def _kept(self, definition: NetDefinition) -> Kept:
        """The state of a definition: of the call before, restored, or fresh."""
        identity, net = definition.identity, definition.net
        if identity in self.state.saved:
            tables = net.restored(self.state.saved.pop(identity), self.call.values)
            return Kept(net, self.call.values, tables)
        return self.state.nets.get(identity) or Kept(net, self.call.values, net.fresh())


def _since(signal: Signal, born: int | None) -> Signal:
    return signal if born is None else signal_since(signal, born)


def labels_of(definition: NetDefinition, rows: Rows) -> Labels:
    """Labels of what a set has: an event or a state is known by its attributes and its time, whether it has ended or
    not, what may overlap by its end, too (common.md, section 3)."""
    values: dict[str, pa.Array] = {n: c.arrow for n, c in rows.columns.items() if n != "end"}
    if definition.sort == "dynamic":
        values["end"] = pa.array(rows.columns["end"].values, mask=~rows.columns["end"].is_valid())
    return derived_labels(definition.identity, [], rows.time, values)
