"""Definitions over instants and intervals as an operator (phenesthe.md, section 5).

Such definitions exchange more than rows: open intervals, and up to when each binding is complete (*signals*).  So those
that read one another run in one operator, in evaluation order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.model.labels import Labels, derived_labels
from occurs.model.time import NEVER, OPEN
from occurs.operators.blocks import Block, Identity, Out, Reasons
from occurs.operators.codes import Renewal
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Moves, Operator, Outcome, Port, joint_identity
from occurs.operators.interval.answers import Answer
from occurs.operators.interval.atoms import ends_of
from occurs.operators.interval.derivations import Derivations, Part
from occurs.operators.interval.joining import Joined, JoinedState, programs
from occurs.operators.interval.network import Net, Source
from occurs.operators.interval.network import State as NodeTables
from occurs.operators.interval.points import Ticks
from occurs.operators.interval.signals import Held, Instants, Signal, since
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows, Since, attributes_of
from occurs.operators.states import State


@dataclass(frozen=True, eq=False)
class Formula:
    """One definition.

    ``type``: what it derives, which is of the ``sort`` event, state or dynamic; ``reads``: the types it reads.  ``net``
    derives intervals or instants; ``answer`` makes rows of them.  ``out``: None if only other definitions of the
    operator read it.  ``born``: it sees rows and intervals that begin after this tick.
    """

    identity: str
    type: str
    sort: str
    reads: tuple[str, ...]
    net: Net
    answer: Answer
    out: Out | None
    born: int | None = None
    words: str = ""

    def labels(self, rows: Rows) -> Labels:
        """The labels of rows."""
        return derived_labels(self.identity, [], rows.time, self.values(rows.columns))

    def values(self, columns: Mapping[str, Column]) -> dict[str, pa.Array]:
        """The attributes that enter labels: an event or a state is known by its attributes and its time, whether it has
        ended or not; an interval that may overlap others by its end, too (common.md, section 3)."""
        values: dict[str, pa.Array] = {a.name: columns[a.name].arrow for a in self.answer.head}
        if self.sort == "dynamic":
            values["end"] = pa.array(columns["end"].values, mask=~columns["end"].is_valid())
        return values

    def block(self, rows: Rows, call: Instants, final: np.ndarray | None = None, why: Why | None = None) -> Block:
        """Rows as a block; ``why``: their derivations."""
        assert self.out is not None

        def identity() -> Identity:
            return Identity(time=rows.time, values=self.values(rows.columns))

        reasons = None if why is None else lambda numbers: why.reasons(self, rows.take(numbers), call)
        return Block((self.out,), rows.time, rows.columns, identity=identity, reasons=reasons, final=final)


@dataclass(frozen=True, eq=False)
class Connected(Operator):
    """Definitions over instants and intervals; ``formulas``: in evaluation order."""

    formulas: tuple[Formula, ...]

    @classmethod
    def of(cls, identity: str, formulas: Sequence[Formula]) -> Connected:
        """``formulas``: in an order in which each comes behind those it reads."""
        own = {f.type for f in formulas}
        reads = dict.fromkeys(t for f in formulas for t in f.reads if t not in own)
        clock = any(isinstance(node, Ticks) for f in formulas for node in f.net.nodes)
        return cls(
            identity,
            tuple(map(Port, reads)),
            tuple(f.out for f in formulas if f.out is not None),
            tuple(formulas),
            moves=frozenset({Moves.FRONTIER, Moves.END, *([Moves.CLOCK] if clock else [])}),
            words=formulas[0].words,
        )

    @classmethod
    def fuse(cls, run: Sequence[Self]) -> Sequence[Operator]:
        """All of them in one; they are in evaluation order, and may read one another."""
        if len(run) == 1:
            return run
        return [cls.of(joint_identity(run), [f for one in run for f in one.formulas])]

    @property
    def parts(self) -> Sequence[Operator]:
        return [Connected.of(f.identity, [f]) for f in self.formulas if f.out is not None]

    def unreported(self) -> Connected:
        return Connected.of(self.identity, [replace(f, out=None) for f in self.formulas])

    @cached_property
    def members(self) -> tuple[str, ...]:
        return tuple(f.identity for f in self.formulas)

    @cached_property
    def _runs(self) -> tuple[Joined | Formula, ...]:
        """The definitions in evaluation order, of those that run together in one call of a kernel their program."""
        found = programs(self.formulas, frozenset(port.type for port in self.ports))
        program: dict[str, Joined | Formula] = {d.type: joined for joined in found for d in joined.definitions}
        return tuple(dict.fromkeys(program.get(f.type, f) for f in self.formulas))

    @cached_property
    def nets(self) -> Mapping[str, Net]:
        """The nets of the definitions, by identity."""
        return {f.identity: f.net for f in self.formulas}

    @cached_property
    def _of_type(self) -> Mapping[str, Formula]:
        return {f.type: f for f in self.formulas}

    def fresh(self) -> Kept:
        return Kept(self)

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> Kept:
        state = Kept(self)
        for f in self.formulas:
            if f.identity in saved:
                state.put(f, f.net.restored(saved[f.identity], state.values))
        return state

    def advance(self, state: Kept, call: Call) -> Outcome:
        """Raises InputProblem (``bad-time``) at the last tick, behind which no interval can be open."""
        if call.frontier == OPEN:
            text = f"a time or an end is {OPEN}, the largest tick, which is reserved"
            hint = "use a smaller `end`, or leave the `end` of an open interval empty"
            raise InputProblem.of("bad-time", text, value=OPEN, hint=hint)
        state.renew()
        own = Instants(NEVER if call.since is None else call.since, call.frontier, state.values, call.closing)
        runs: Sequence[Joined | Formula] = self._runs
        if call.closing:  # it reports open intervals, too, which programs do not
            state.stop()
            runs = self.formulas
        if len(runs) == 1 and isinstance(runs[0], Joined):
            return Outcome(runs[0].advance(state.program(runs[0]), call, own))
        run = Evaluation(self, state, call, own)
        for one in runs:
            if isinstance(one, Formula):
                run.one(one)
            else:
                run.blocks += one.advance(state.program(one), call, own)
        return Outcome(run.blocks, run.complete)


class Evaluation:
    """One call of the definitions.  ``signals``: of those that have run; ``certain``: the same with all open intervals
    that are certain, of those that report provisional rows."""

    def __init__(self, operator: Connected, state: Kept, call: Call, own: Instants) -> None:
        self.operator, self.state, self.call, self.own = operator, state, call, own
        self.blocks: list[Block] = []
        self.complete: dict[str, int] = {}
        self.signals: dict[str, Signal] = {}
        self.certain: dict[str, Signal] = {}
        self._since: dict[int, Since] = {}

    def one(self, f: Formula) -> None:
        """Run a definition."""
        call, own = self.call, self.own
        rows: Mapping[str, Rows] = call.rows
        if f.born is not None:
            rows = self._since.setdefault(f.born, Since(rows, f.born))
        sources: dict[str, Source] = {}
        certain: dict[str, Signal] = {}
        for name in f.reads:
            if name in self.signals:
                sources[name] = since(self.signals[name], f.born)
                if name in self.certain:
                    certain[name] = since(self.certain[name], f.born)
            else:
                sources[name] = rows[name]
        after, found = f.net.advance(self.state.tables_of(f), sources, own, certain)
        self.state.put(f, after)
        self.signals[f.type] = found.signal
        if found.certain is not None:
            self.certain[f.type] = found.certain
        if f.out is None:
            return
        if found.signal.complete < call.frontier:
            self.complete[f.type] = found.signal.complete
        rows_now = f.answer.final(found.report, own, found.events)
        final = None
        if found.begun is not None:
            rows_now, final = _with_begun(rows_now, f.answer.rows(found.begun, own, found.events))
        if len(rows_now):
            why = None if found.memory is None else Why(Derivations(found.memory), self.operator)
            self.blocks.append(f.block(rows_now, own, final, why))


def _with_begun(rows: Rows, begun: Rows) -> tuple[Rows, np.ndarray | None]:
    """Final rows and provisional ones, in the order of time and end; and which are final."""
    if not len(begun):
        return rows, None
    names = rows.columns
    columns = {n: Column.concat([rows.columns[n], begun.columns[n]]) for n in names}
    both = Rows(rows.type, np.concatenate([rows.time, begun.time]), columns)
    end = columns["end"]
    order = np.lexsort((end.values, ~end.is_valid(), both.time))
    return both.take(order), order < len(rows)


class Kept(State):
    """The tables of the definitions, by identity, with the codes of one dictionary of ``values``, which is renewed from
    time to time."""

    def __init__(self, operator: Connected) -> None:
        self.operator = operator
        self.values = Values()
        self._of: dict[str, NodeTables] = {}
        self._renewal = Renewal()
        #: by the number of a program, the state of its definitions, which is ahead of their tables
        self._running: dict[int, JoinedState] = {}
        #: what was saved of every table, with the table
        self._saved: dict[tuple[str, str], tuple[Held, pa.Table]] = {}

    @property
    def of(self) -> dict[str, NodeTables]:
        for state in self._running.values():
            self._of |= state.tables()
        return self._of

    @property
    def size(self) -> int:
        return sum(self.operator.nets[d].rows(tables) for d, tables in self.of.items())

    def copy(self) -> Kept:
        out = Kept(self.operator)
        out.values, out._renewal, out._of = self.values, Renewal(self._renewal.seen), dict(self.of)
        return out

    def tables(self) -> Mapping[str, Mapping[str, pa.Table]]:
        before, self._saved = self._saved, {}
        out: dict[str, dict[str, pa.Table]] = {}
        for definition, found in self.of.items():
            out[definition] = {}
            for number, own, held in ((n, own, held) for n, tables in found.items() for own, held in tables.items()):
                if len(held):
                    name = f"{number}.{own}"
                    known, table = before.get((definition, name), (None, None))
                    if known is not held:
                        net = self.operator.nets[definition]
                        (table,) = net.saved({number: {own: held}}, self.values).values()
                    self._saved[definition, name] = held, table
                    out[definition][name] = table
        return out

    def renew(self) -> None:
        """Begin a new dictionary if most codes of this one are of values that are gone."""
        if self._renewal.due(self.values.size, self._cells):
            self.stop()
            old, self.values = self.values, Values()
            nets = self.operator.nets
            self._of = {d: nets[d].carried(tables, old, self.values) for d, tables in self._of.items()}

    def _cells(self) -> int:
        nets = self.operator.nets
        return self.values.fixed + sum([nets[d].cells(tables) for d, tables in self.of.items()])

    def tables_of(self, f: Formula) -> NodeTables:
        """The tables of a definition that runs by itself."""
        return self._of.get(f.identity) or f.net.fresh()

    def put(self, f: Formula, tables: NodeTables) -> None:
        """Keep the tables of a definition in place of those that it had."""
        self._of[f.identity] = tables

    def program(self, program: Joined) -> JoinedState:
        """The state of the definitions of a program."""
        state = self._running.get(id(program))
        if state is None:
            tables = [self.tables_of(d) for d in program.definitions]
            state = self._running[id(program)] = JoinedState(program, tables)
        return state

    def stop(self) -> None:
        """Leave the programs: their definitions run by themselves, or in a new state."""
        self._of = self.of
        self._running.clear()


# -- reasons -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Why:
    """The constituents of rows (common.md, section 3)."""

    derivations: Derivations
    operator: Connected

    def reasons(self, f: Formula, rows: Rows, call: Instants) -> Reasons:
        """Per row the constituents of one derivation."""
        answer = f.answer
        columns = {a.value: a.name for a in answer.head if isinstance(a.value, str)}
        codes = [call.values.encode(rows.column(columns[v])).tolist() for v in answer.variables]
        ends = (ends_of(rows) if answer.lasting and len(rows) else rows.time).tolist()
        bindings = zip(*codes) if codes else [()] * len(rows)
        found = [
            self.derivations.of(f.net.report, binding, start, end)
            for binding, start, end in zip(bindings, rows.time.tolist(), ends)
        ]
        parts = [part for row in found for part in row]
        labels, attributes = self._rows(parts, call)
        return Reasons(
            np.cumsum([0, *map(len, found)]),
            pa.array([p.role for p in parts], pa.string()),
            pa.array([p.type for p in parts], pa.string()),
            np.array([p.time for p in parts], np.int64),
            labels.hex(),
            pa.array(attributes, pa.string()),
            np.array([0 if p.end is None else p.end for p in parts], np.int64),
            np.array([p.end is not None for p in parts], np.bool_),
        )

    def _rows(self, parts: Sequence[Part], call: Instants) -> tuple[Labels, list[str]]:
        """The labels and the attributes of parts: of input rows as they were, of derived ones by their values."""
        texts = [part.attributes for part in parts]
        hi, lo = np.zeros(len(parts), np.int64), np.zeros(len(parts), np.int64)
        derived: dict[str, list[int]] = {}
        for i, part in enumerate(parts):
            if part.label is None:
                derived.setdefault(part.type, []).append(i)
            else:
                hi[i], lo[i] = part.label
        out = Labels(hi.view(np.uint64), lo.view(np.uint64))
        for type, at in derived.items():
            source = self.operator._of_type[type]
            # rows that are alike are one: each is labelled once
            rows_of = [_row(parts[i], source.sort) for i in at]
            numbers = {row: n for n, row in enumerate(dict.fromkeys(rows_of))}
            codes = tuple(np.array(c, np.int64) for c in zip(*(codes for codes, _, _ in numbers)))
            time, end = (np.array([row[k] for row in numbers], np.int64) for k in (1, 2))
            rows = source.answer.made(codes, time, end if source.answer.lasting else None, call)
            found = source.labels(rows)
            chosen = np.array([numbers[row] for row in rows_of], np.int64)
            out.hi[at], out.lo[at] = found.hi[chosen], found.lo[chosen]
            for i, text in zip(at, attributes_of(rows, chosen).to_pylist()):
                texts[i] = text
        return out, texts


def _row(part: Part, sort: str) -> tuple[tuple[int, ...], int, int]:
    """By what a row of a definition is known."""
    return part.codes, part.time, OPEN if part.end is None or sort != "dynamic" else part.end
