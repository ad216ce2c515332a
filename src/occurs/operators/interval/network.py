"""A net: the operators of one definition, each behind those it reads, run call by call (phenesthe.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.bindings import firsts, instants, member
from occurs.operators.interval.derivations import ATTRIBUTES, READ, Memory, others, unremembered
from occurs.operators.interval.measuring import Measures, bounds
from occurs.operators.interval.relations import Related
from occurs.operators.interval.signals import OPEN, Held, Instants, Intervals, Phenomena, Signal, Spans
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows

#: what a net keeps: per number of a node its tables
State = dict[int, dict[str, Held]]
Source = Rows | Signal


@dataclass(frozen=True)
class Begun:
    """The intervals of a signal that have not ended and are certain, each in the call in which it first is so.

    They are never withdrawn, only ended; what begins and ends in one call is not among them.  At closing there are
    none: then what is open is final.  ``variables``: of the signal.  State: what is open and has been told.
    """

    variables: tuple[str, ...]

    def fresh(self) -> dict[str, Held]:
        return {"told": Held.empty(len(self.variables), "start")}

    def advance(self, state: dict[str, Held], signal: Signal, call: Instants) -> tuple[dict[str, Held], Intervals]:
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


class Node(Protocol):
    """An operator.  A node whose tables have bindings of other variables than ``variables`` says in ``tables`` which,
    by the name of the table."""

    @property
    def variables(self) -> tuple[str, ...]: ...

    def fresh(self) -> dict[str, Held]: ...

    def advance(
        self, state: dict[str, Held], inputs: tuple[Any, ...], call: Instants
    ) -> tuple[dict[str, Held], Signal]: ...


@dataclass(frozen=True)
class Given:
    """The results of a net in a call: ``signal`` for definitions that read this one, ``report`` for its final rows (a
    filter knows them sooner than it knows that there are no others), ``begun`` for its provisional ones; ``certain`` is
    the signal with all open rows that are certain.  ``memory``: of what results are made, if the net remembers it.
    ``events``: those in the intervals of the report, if something is computed of them."""

    signal: Signal
    report: Signal
    begun: Intervals | None = None
    certain: Signal | None = None
    memory: Memory | None = None
    events: Mapping[str, Held] | None = None


@dataclass(frozen=True)
class Net:
    """The nodes of a definition.

    ``inputs``: per node the numbers of those it reads; ``sources``: the input type or the definition that a node reads
    instead.  ``output``, ``report``: numbers of nodes, see :class:`Given`.  ``types``: of all variables.  ``begun``:
    tells open rows, too; its tables are kept behind those of the nodes.  ``names``: of nodes that read, the atom as it
    is written; ``remembers``: it can be said of what results are made.  ``measures``: what is computed of intervals;
    its tables are kept behind all others.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[tuple[int, ...], ...]
    sources: Mapping[int, str]
    output: int
    report: int
    types: Mapping[str, Type]
    begun: Begun | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    remembers: bool = False
    measures: Measures | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the output."""
        return self.nodes[self.output].variables

    def fresh(self) -> State:
        """The state before the first call."""
        found = {number: tables for number, node in enumerate(self.nodes) if (tables := node.fresh())}
        if self.remembers:
            for number, more in unremembered(self).items():
                found[number] = {**found.get(number, {}), **more}
        if self.begun is not None:
            found[len(self.nodes)] = self.begun.fresh()
        if self.measures is not None:
            found[len(self.nodes) + 1] = self.measures.fresh()
        return found

    def remembering(self) -> Net:
        """The same net, which also knows of what its results are made."""
        return replace(self, remembers=True)

    def telling(self) -> Net:
        """The same net, which also tells of open rows."""
        return replace(self, begun=Begun(self.nodes[self.report].variables))

    def advance(
        self, state: State, sources: Mapping[str, Source], call: Instants, certain: Mapping[str, Signal] | None = None
    ) -> tuple[State, Given]:
        """One call.  ``sources``: the rows of every input type, the signal of every definition that is read, by name;
        a type that is not there has no rows.  ``certain``: see :class:`Given`, of definitions that are read."""
        signals: list[Signal] = []
        after: State = {}
        for number, node in enumerate(self.nodes):
            name = self.sources.get(number)
            given: tuple[Any, ...]
            if name is None:
                given = tuple([signals[i] for i in self.inputs[number]])
            else:
                given = (sources[name] if name in sources else nothing(name),)
            held = state.get(number, {})
            if self.remembers:
                held = others(held)
            tables, signal = node.advance(held, given, call)
            if tables:
                after[number] = tables
            signals.append(signal)
        events = None
        if self.measures is not None:
            last = len(self.nodes) + 1
            events = self.measures.extended(state.get(last) or self.measures.fresh(), signals)
            known_now = [(node.variables, signal) for node, signal in zip(self.nodes, signals)]
            kept = self.measures.kept(events, bounds(self._variables, after, known_now, call))
        memory = None
        if self.remembers:
            memory = Memory.of(self, state, signals, sources, call)
            for number, more in memory.kept(after, call.frontier).items():
                after[number] = {**after.get(number, {}), **more}
        if events is not None:
            after[last] = kept
        report = signals[self.report]
        if self.begun is None:
            return after, Given(signals[self.output], report, memory=memory, events=events)
        last = len(self.nodes)
        told = state.get(last) or self.begun.fresh()
        signal = signals[self.output]
        if not call.closing:
            signal, report = (self._certain(n, signals, after, certain or {}, call) for n in (self.output, self.report))
        after[last], begun = self.begun.advance(told, report, call)
        return after, Given(signals[self.output], signals[self.report], begun, signal, memory, events)

    def _certain(
        self, number: int, signals: Sequence[Signal], after: State, others: Mapping[str, Signal], call: Instants
    ) -> Signal:
        """The signal of a node with all open rows that are certain after a call; what has ended is the same, or left
        out.  Relations leave out of their signals what only provisional rows need; here they are asked for it.

        ``others``: the signals of other definitions with all open rows that are certain."""
        signal, node = signals[number], self.nodes[number]
        if not isinstance(signal, Phenomena):
            return signal
        given: tuple[Signal, ...]
        name = self.sources.get(number)
        if name is not None:
            given = (others[name],) if name in others else ()
        else:
            given = tuple(self._certain(i, signals, after, others, call) for i in self.inputs[number])
        if isinstance(node, Related):
            open = node.certain(after[number], given, call)
            return replace(signal, open=Intervals.concat([signal.open, open]))
        # operators over one dynamic formula look at each open row by itself
        if len(given) != 1 or not isinstance(given[0], Phenomena):
            return signal
        only = replace(given[0], closed=Intervals.empty(len(given[0].closed.codes)))
        _, found = node.advance(node.fresh(), (only,), call)
        assert isinstance(found, Phenomena)
        return replace(signal, open=found.open)

    # --- the state as tables ----------------------------------------------------------------------------------------

    def saved(self, state: State, values: Values) -> dict[str, pa.Table]:
        """The state with values for codes, ``<node>.<table>`` by name.  A name means the same as long as the definition
        and the heads of those it reads are the same, whatever else a program has."""
        return {
            f"{number}.{name}": self._saved(self._variables(number, name, table), table, values)
            for number, tables in state.items()
            for name, table in tables.items()
        }

    def restored(self, tables: Mapping[str, pa.Table], values: Values) -> State:
        """The state out of what :meth:`saved` gave; ``values`` may be those of another process."""
        state = self.fresh()
        for number, held in state.items():
            for name in held:
                if (table := tables.get(f"{number}.{name}")) is not None:
                    held[name] = self._restored(self._variables(number, name, held[name]), table, values)
        return state

    def carried(self, state: State, values: Values, to: Values) -> State:
        """The state with the codes of another dictionary."""
        return {
            number: {name: self._carried(number, name, table, values, to) for name, table in tables.items()}
            for number, tables in state.items()
        }

    def rows(self, state: State) -> int:
        """The number of rows that are kept."""
        return sum(len(table) for tables in state.values() for table in tables.values())

    def cells(self, state: State) -> int:
        """The number of codes in the rows that are kept."""
        return sum(len(t) * len(t.codes) for tables in state.values() for t in tables.values() if len(t))

    def _variables(self, number: int, name: str, table: Held) -> tuple[str, ...]:
        """The variables of the bindings in a table."""
        if number > len(self.nodes):
            assert self.measures is not None
            return self.measures.tables[name]
        node = self.nodes[number] if number < len(self.nodes) else self.begun
        assert node is not None
        if name == READ:
            return *node.variables, ATTRIBUTES
        told: Mapping[str, tuple[str, ...]] = getattr(node, "tables", {})
        return told.get(name, node.variables if table.codes else ())

    def _type(self, variable: str) -> Type:
        return Type.STRING if variable == ATTRIBUTES else self.types[variable]

    def _carried(self, number: int, name: str, table: Held, values: Values, to: Values) -> Held:
        variables = self._variables(number, name, table)
        pairs = zip(variables, table.codes, strict=True)
        return Held(tuple([values.carried(codes, self._type(v), to) for v, codes in pairs]), dict(table.columns))

    def _saved(self, variables: tuple[str, ...], table: Held, values: Values) -> pa.Table:
        columns: dict[str, pa.Array] = {}
        for variable, codes in zip(variables, table.codes, strict=True):
            columns |= _decoded(variable, codes, self._type(variable), values)
        # a variable begins with a letter or with _
        return pa.table({**columns, **{f"@{n}": pa.array(c, pa.int64()) for n, c in table.columns.items()}})

    def _restored(self, variables: tuple[str, ...], table: pa.Table, values: Values) -> Held:
        codes = tuple(_encoded(variable, table, self._type(variable), values) for variable in variables)
        columns = {n: table.column(n).to_numpy() for n in table.column_names if n.startswith("@")}
        return Held(codes, {n[1:]: c.astype(np.int64, copy=False) for n, c in columns.items()})


def nothing(type: str) -> Rows:
    """An empty table of rows of a type."""
    return Rows(type, np.zeros(0, np.int64), {})


def _decoded(name: str, codes: np.ndarray, type: Type, values: Values) -> dict[str, pa.Array]:
    """The values of codes as a column, null for -1; and ``<name> exact``, if ints are among floats that they are not
    equal to when they are floats themselves."""
    there = codes >= 0
    found = values.decode(codes[there], type)
    columns = {name: _spread(found, there)}
    if type is Type.FLOAT and len(found):
        inexact = values.encode(found) != codes[there]
        if inexact.any():
            ints = np.zeros(len(codes), np.bool_)
            ints[np.flatnonzero(there)[inexact]] = True
            columns[f"{name} exact"] = _spread(values.decode(codes[ints], Type.INT), ints)
    return columns


def _encoded(name: str, table: pa.Table, type: Type, values: Values) -> np.ndarray:
    codes = values.encode(Column.of(table.column(name), type))
    if f"{name} exact" in table.column_names:
        ints = values.encode(Column.of(table.column(f"{name} exact"), Type.INT))
        codes = np.where(ints >= 0, ints, codes)
    return codes


def _spread(column: Column, there: np.ndarray) -> pa.Array:
    """The values where they are ``there``, null elsewhere."""
    if there.all():
        return column.arrow
    at = np.cumsum(there) - 1
    return column.arrow.take(pa.array(at, mask=~there))
