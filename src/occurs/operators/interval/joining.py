"""Nets that run in one call of a kernel (phenesthe.md, section 5): which can, their program, and their state.

What a call costs apart from its rows is the same for one operator and for many.  So the nets that are made of instants
of rows, maximal ranges, starts, ends, intersections and relations alone, and read nothing but rows and one another, are
one program of :mod:`occurs.operators.kernels.network_step`.  None of these is behind the frontier but where rows of the
same binding make it so: nothing changes for a binding of which nothing comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from occurs.kernel import Arrays
from occurs.operators.blocks import Block, Out
from occurs.operators.contract import Call
from occurs.operators.interval.atoms import Picked, Scan
from occurs.operators.interval.bindings import places
from occurs.operators.interval.kernel_rows import Layout, Reported, Sources
from occurs.operators.interval.network import State
from occurs.operators.interval.points import Ends, Starts
from occurs.operators.interval.ranges import MaximalRange
from occurs.operators.interval.relations import Related
from occurs.operators.interval.sets import Common
from occurs.operators.interval.signals import Held, Instants
from occurs.operators.kernels import network_step as kernel
from occurs.operators.rows import Rows

if TYPE_CHECKING:
    from occurs.operators.interval.operator import Formula

#: (definition, variable): what is the same in all definitions that read it
_Variable = tuple[int, str]
_NONE = np.zeros((2, 0), np.int64)
#: the bit of those that report what a node gives
_REPORTED = 1 << 3


@dataclass(frozen=True)
class Table:
    """A table of state: ``node`` of the ``definition`` at this place, its ``name`` and columns."""

    definition: int
    node: int
    name: str
    columns: tuple[str, ...]


def programs(definitions: Sequence[Formula], given: frozenset[str]) -> list[Joined]:
    """The programs of those definitions that can be joined; ``given``: types of which rows come in and that nothing
    derives.  Definitions are in an order in which each comes behind those it reads; what has nothing to do with one
    another is in programs of their own."""
    left = {d.type: d for d in definitions}
    able = {t for t, d in left.items() if _able(d)}
    while True:  # what others read cannot be in a program without them, and the other way round
        reads = {t: {s for s in left[t].net.sources.values() if s not in given} for t in able}
        others = {s for t, d in left.items() if t not in able for s in d.net.sources.values()}
        fine = {t for t in able if reads[t] <= able and t not in others and _read(left[t], left)}
        if fine == able:
            break
        able = fine
    group = {t: t for t in able}

    def root(t: str) -> str:
        while group[t] != t:
            t = group[t]
        return t

    for t in able:
        for s in reads[t]:
            group[root(s)] = root(t)
    parts: dict[str, list[Formula]] = {}
    for d in definitions:
        if d.type in able:
            parts.setdefault(root(d.type), []).append(d)
    return [Joined.of(part) for part in parts.values()]


def _able(definition: Formula) -> bool:
    """Whether a program can run a definition: it has such operators alone, and only its final rows are asked for."""
    net = definition.net
    if definition.born is not None or definition.out is None:
        return False
    if net.begun is not None or net.remembers or net.report != net.output:
        return False
    if net.measures is not None:
        return False
    for node in net.nodes:
        if isinstance(node, Scan):
            if node.sort != "event":
                return False
        elif isinstance(node, Picked):
            if node.places != node.operand or node.equal or node.never:
                return False
        elif not isinstance(node, MaximalRange | Starts | Ends | Common | Related):
            return False
    return True


def _read(definition: Formula, others: Mapping[str, Formula]) -> bool:
    """Whether a definition knows the variables of what it reads, where that lags, in the same order."""
    net = definition.net
    for number, name in net.sources.items():
        node = net.nodes[number]
        if isinstance(node, Picked) and others[name].sort == "dynamic" and node.variables != node.operand:
            return False
    return True


@dataclass(frozen=True, eq=False)
class Joined:
    """Definitions joined in a program."""

    definitions: tuple[Formula, ...]
    tables: tuple[Table, ...]
    scans: tuple[tuple[str, Scan], ...]
    program: np.ndarray
    places: np.ndarray
    #: of the key, per table
    columns: np.ndarray
    outputs: np.ndarray
    layout: Layout

    @staticmethod
    def of(definitions: Sequence[Formula]) -> Joined:
        """``definitions``: each behind those it reads."""
        made = _Building(definitions)
        return Joined(
            tuple(definitions),
            tuple(made.tables),
            tuple(made.scans),
            np.array(made.rows, np.int64),
            _padded(made.places),
            np.array(made.columns(), np.int64),
            np.array(made.outputs, np.int64),
            Layout(tuple(d.answer for d in definitions)),
        )

    @cached_property
    def _sources(self) -> Sources:
        """Of what comes in, in the call that is being made."""
        return Sources(self.scans)

    @cached_property
    def outs(self) -> tuple[Out, ...]:
        """Of the definitions."""
        return tuple(d.out for d in self.definitions if d.out is not None)

    def advance(self, state: JoinedState, call: Call, own: Instants) -> list[Block]:
        """One call that is not the last one: the rows that became final; the state is changed in place."""
        if not self._sources.take(call, own):
            return []
        whole = self.layout.able and own.values.all_ints()
        found, offsets, data, sizes = self._run(state, own, whole)
        if not len(sizes):  # values are new, and there was no room for them
            self._sources.learn(found, own)
            found, offsets, data, sizes = self._run(state, own, whole)
        if not whole:
            rows = self.layout.of_blocks(found, sizes, own)
            return [d.block(rows[d.type], own) for d in self.definitions if len(rows[d.type])]
        block = Reported(self.layout, self.outs, sizes, found, offsets, data)
        if not call.labelled:
            return [block]
        parts = zip(self.definitions, map(block.only, range(len(self.outs))), strict=True)
        return [d.block(Rows(d.type, time, columns), own) for d, (time, columns) in parts if len(time)]

    def _run(
        self, state: JoinedState, call: Instants, whole: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The kernel."""
        layout, sources = self.layout, self._sources
        return kernel.advance(
            self.program, self.places, self.columns, state.blocks, state.sizes, state.versions, sources.spans,
            sources.flat, self.outputs, call.since, call.frontier, layout.heads, layout.lasting, whole,
            *call.values.dictionaries(),
        )  # fmt: skip


class _Building:
    """Puts the nodes of definitions one behind the other."""

    def __init__(self, definitions: Sequence[Formula]) -> None:
        self.rows: list[list[int]] = []
        self.places: list[np.ndarray] = []
        self.tables: list[Table] = []
        self.scans: list[tuple[str, Scan]] = []
        self.outputs: list[int] = []
        #: per node and per table the variables of its columns
        self._variables: list[list[_Variable]] = []
        self._held: list[list[_Variable]] = []
        self._same: dict[_Variable, _Variable] = {}
        self._known: dict[tuple[type, int], int] = {}
        at = {d.type: number for number, d in enumerate(definitions)}
        for number, d in enumerate(definitions):
            self._definition(number, d, at, definitions)
        self._keys(definitions)

    def _definition(self, number: int, d: Formula, at: Mapping[str, int], others: Sequence[Formula]) -> None:
        nodes: list[int] = []
        for local, node in enumerate(d.net.nodes):
            inputs = [nodes[i] for i in d.net.inputs[local]]
            variables = [(number, v) for v in node.variables]
            if isinstance(node, Picked):
                source = at[d.net.sources[local]]
                for mine, theirs in zip(node.variables, others[source].net.variables, strict=True):
                    self._same[self.root((number, mine))] = self.root((source, theirs))
                nodes.append(self.outputs[source])
            elif isinstance(node, Scan):
                self.scans.append((d.net.sources[local], node))
                nodes.append(self._node(kernel.POINTS, variables))
            elif isinstance(node, Starts | Ends):
                known = (type(node), inputs[0])
                if known not in self._known:
                    op = kernel.STARTS if isinstance(node, Starts) else kernel.ENDS
                    self._known[known] = self._node(op, variables, inputs)
                nodes.append(self._known[known])
            elif isinstance(node, MaximalRange | Common):
                op = kernel.RANGE if isinstance(node, MaximalRange) else kernel.COMMON
                both = places(node.left, node.right, node.variables)
                nodes.append(self._node(op, variables, inputs, both))
                self._table(number, local, "open", variables, ("start",))
            else:
                assert isinstance(node, Related)
                op = kernel.BEFORE if node.rel == "before" else kernel.BESIDE
                nodes.append(self._node(op, variables, inputs, node.places, node.parameters))
                for name, held in node.fresh().items():
                    self._table(number, local, name, [(number, v) for v in node.tables[name]], tuple(held.columns))
        output = nodes[d.net.output]
        self.rows[output][kernel.READ] |= _REPORTED
        self.outputs.append(output)

    def root(self, variable: _Variable) -> _Variable:
        """What stands for all variables that are the same."""
        while (other := self._same.get(variable, variable)) != variable:
            variable = other
        return variable

    def _node(
        self, op: int, variables: list[_Variable], inputs: Sequence[int] = (), both: np.ndarray = _NONE,
        parameters: tuple[int, int, int] = (0, 0, 0),
    ) -> int:  # fmt: skip
        left, right = (*inputs, *inputs, 0, 0)[:2]
        if op >= kernel.BESIDE:
            phase = 2
        elif op == kernel.POINTS or (op == kernel.RANGE and all(self.rows[i][0] == kernel.POINTS for i in inputs)):
            phase = 0
        else:
            phase = 1
        for i in inputs:
            self.rows[i][kernel.READ] |= 1 << phase
        table = len(self.tables) if op in (kernel.RANGE, kernel.COMMON) or phase == 2 else -1
        self.rows.append([op, left, right, len(variables), phase, 0, -1, table, *parameters])
        self.places.append(both)
        self._variables.append(variables)
        return len(self.rows) - 1

    def _table(
        self, definition: int, node: int, name: str, variables: list[_Variable], columns: tuple[str, ...]
    ) -> None:
        self.tables.append(Table(definition, node, name, columns))
        self._held.append(variables)

    def _keys(self, definitions: Sequence[Formula]) -> None:
        """A key: what all nodes have, under one name in each definition."""
        common: set[_Variable] | None = None
        for variables in (*self._variables, *self._held):
            here = {self.root(v) for v in variables}
            common = here if common is None else common & here
        for number, d in enumerate(definitions):
            names = {(number, v) for node in d.net.nodes for v in node.variables}
            roots = [self.root(v) for v in names]
            common = {v for v in common or () if roots.count(v) == 1}
        self._key = min(common) if common else None
        for row, variables in zip(self.rows, self._variables):
            row[kernel.KEY] = self._column(variables)

    def _column(self, variables: list[_Variable]) -> int:
        roots = [self.root(v) for v in variables]
        return -1 if self._key is None else roots.index(self._key)

    def columns(self) -> list[int]:
        """Of the key, per table."""
        return [self._column(variables) for variables in self._held]


def _padded(places: Sequence[np.ndarray]) -> np.ndarray:
    """The places of variables as kernels take them: int64 (nodes, 2, variables)."""
    out = np.full((len(places), 2, max(p.shape[1] for p in places)), -1, np.int64)
    for node, both in enumerate(places):
        out[node, :, : both.shape[1]] = both
    return out


class JoinedState:
    """What the nets of a program keep, as the kernel has it."""

    def __init__(self, joined: Joined, tables: Sequence[State]) -> None:
        """``tables``: as the net of each definition has them."""
        self.joined = joined
        held = [tables[t.definition][t.node][t.name] for t in joined.tables]
        self.blocks = Arrays("<i8:2C", [h.block.copy() for h in held])
        self.sizes = np.array([len(h) for h in held], np.int64)
        self.versions = np.zeros(len(held), np.int64)
        self._held = held
        self._seen = self.versions.copy()

    def tables(self) -> dict[str, State]:
        """The tables of every definition, as its net has them; such as have not changed are the same as before."""
        found: list[State] = [{} for _ in self.joined.definitions]
        for number, table in enumerate(self.joined.tables):
            if self._seen[number] != self.versions[number]:
                rows = self.blocks[number][:, : self.sizes[number]].copy()
                self._held[number] = Held.of(rows, table.columns)
                self._seen[number] = self.versions[number]
            found[table.definition].setdefault(table.node, {})[table.name] = self._held[number]
        return {d.identity: tables for d, tables in zip(self.joined.definitions, found)}
