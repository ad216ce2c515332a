"""Definitions over instants and intervals in an engine: their nets run, and their state kept (phenesthe.md, 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.engine.since import Since, signal_since
from occurs.engine.state import Kept, State
from occurs.errors import InputProblem
from occurs.model.labels import Labels, derived_labels
from occurs.operators.keycodes import Renewal
from occurs.operators.lasting.signals import NEVER, OPEN, Call, Signal
from occurs.operators.lasting.values import Values
from occurs.operators.rows import Rows
from occurs.plan.definition import NetDefinition

if TYPE_CHECKING:
    from occurs.operators.lasting.joining import Joined, JoinedState
    from occurs.operators.lasting.memory import Memory
    from occurs.operators.lasting.network import Source
    from occurs.plan.stage import Stage


class Nets:
    """The nets of an engine."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        #: what codes stand for; a state that was left behind with the codes of an older one is carried over
        self.values = Values()
        self._renewal = Renewal()

    @cached_property
    def _joined(self) -> dict[str, Joined]:
        """The program of each definition that runs together with others."""
        if not self._stage.nets:
            return {}
        # kernels take a third of a second to load: programs in which nothing lasts do without
        from occurs.operators.lasting.joining import programs

        nets = [u for u in self._stage.units if isinstance(u, NetDefinition)]
        found = programs(nets, self._stage.inputs - set(self._stage.defined))
        return {d.output: program for program in found for d in program.definitions}

    def call(self, state: State, frontier: int, closing: bool) -> NetCall:
        """What the nets of one call share; ``state`` is as the call before left it.

        Raises InputProblem (``bad-time``) at the last tick, behind which nothing can still hold.
        """
        if frontier == OPEN and self._stage.nets:
            text = f"a time or an end is {OPEN}, the largest tick, which is reserved"
            hint = "use a smaller `end`, or leave the `end` of an open interval empty"
            raise InputProblem.of("bad-time", text, value=OPEN, hint=hint)
        since = NEVER if state.frontier is None else state.frontier
        if self._stage.nets and self._renewal.due(self.values.size, lambda: self._cells(state)):
            self.values = Values()
        # the last call tells what has not ended, too
        call = Call(since, frontier, self.values, closing)
        return NetCall(self._stage, state, call, {} if closing else self._joined)

    def _cells(self, state: State) -> int:
        """The number of codes that state and facts hold."""
        return self.values.fixed + sum([kept.cells for kept in state.nets.values()])


@dataclass
class NetCall:
    """One call of an engine; ``signals``: what the definitions of earlier levels gave in it, ``certain``: the same with
    all open rows that are certain, of those that tell them.  ``joined``: per definition that runs together with others
    the program; ``done``: the rows of those that have run."""

    stage: Stage
    state: State
    call: Call
    joined: Mapping[str, Joined]
    done: dict[str, Rows] = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    certain: dict[str, Signal] = field(default_factory=dict)

    def run(self, definition: NetDefinition, tables: Mapping[str, Rows], labelled: bool) -> tuple[Rows, Rows | None]:
        """The rows of a definition that are final now, and open ones that are told before, if it tells them; its new
        state is in the engine's."""
        if definition.output in self.joined:
            if definition.output not in self.done:
                self._together(self.joined[definition.output], tables, labelled)
            return self.done[definition.output], None
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
        rows = definition.answer.final(found.report, self.call, found.events)
        begun = None if found.begun is None else definition.answer.rows(found.begun, self.call, found.events)
        for part in (rows, begun):
            if part is not None and labelled:
                part.labels = labels_of(definition, part)
        if found.memory is not None and labelled:
            self._reason(definition, found.memory, [part for part in (rows, begun) if part is not None])
        return rows, begun

    def _reason(self, definition: NetDefinition, memory: Memory, tables: list[Rows]) -> None:
        """Writes to rows of what they are made."""
        # few programs are asked for it
        from occurs.engine.reasons import reasons_of
        from occurs.operators.lasting.derivations import Derivations

        derivations = Derivations(memory)
        for rows in tables:
            rows.reasons = reasons_of(
                definition, rows, derivations, self.stage.nets, labels_of, self.call, self.stage.kind
            )

    def _together(self, program: Joined, tables: Mapping[str, Rows], labelled: bool) -> None:
        """All definitions of a program."""
        found = program.advance(self._state(program), tables, self.call)
        for definition in program.definitions:
            rows = found[definition.output]
            if labelled:
                rows.labels = labels_of(definition, rows)
            self.done[definition.output] = rows

    def all(self, definitions: Sequence[NetDefinition], tables: Mapping[str, Rows]) -> Mapping[str, Rows] | None:
        """The rows of these definitions by their types, without labels; None if they are not all of one program."""
        program = self.joined.get(definitions[0].output)
        if program is None or len(program.definitions) < len(definitions):
            return None
        return program.advance(self._state(program), tables, self.call)

    def _state(self, program: Joined) -> JoinedState:
        """What the definitions of a program have kept."""
        nets, values = self.state.nets, self.call.values
        kept = [nets.get(i) for i in program.identities]
        state = program.state_of([k.held for k in kept if k is not None and k.values is values])
        if state is None:
            state = program.loaded([self._kept(d).tables for d in program.definitions])
            for d, held in zip(program.definitions, state.shares, strict=True):
                nets[d.identity] = Kept(d.net, values, held)
        return state

    def _kept(self, definition: NetDefinition) -> Kept:
        """The state of a definition: of the call before, restored, or fresh."""
        identity, net = definition.identity, definition.net
        if identity in self.state.saved:
            tables = net.restored(self.state.saved.pop(identity), self.call.values)
            return Kept(net, self.call.values, tables)
        kept = self.state.nets.get(identity) or Kept(net, self.call.values, net.fresh())
        return kept if kept.values is self.call.values else kept.carried(self.call.values)


def _since(signal: Signal, born: int | None) -> Signal:
    return signal if born is None else signal_since(signal, born)


def labels_of(definition: NetDefinition, rows: Rows) -> Labels:
    """Labels of what a set has: an event or a state is known by its attributes and its time, whether it has ended or
    not, what may overlap by its end, too (common.md, section 3)."""
    values: dict[str, pa.Array] = {a.name: rows.columns[a.name].arrow for a in definition.answer.head}
    if definition.sort == "dynamic":
        values["end"] = pa.array(rows.columns["end"].values, mask=~rows.columns["end"].is_valid())
    return derived_labels(definition.identity, [], rows.time, values)
