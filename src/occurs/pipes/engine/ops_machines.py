"""Moore machines (pipes.md, 4.7, section 5).

Without registers: guards as columns, then one pass over a table of states and codes of guards.  With registers of ints
or truth values: a kernel that runs guards and SETs as code.  Else item by item.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from occurs.expr import tree as expressions
from occurs.pipes import tree
from occurs.pipes.engine import scalars
from occurs.pipes.engine.columns import Col, Plain, column_of, concat, numbers, of_numpy, truths
from occurs.pipes.engine.faults import Fault
from occurs.pipes.engine.functions import Env, Function
from occurs.pipes.engine.items import NO_ENDS, Call, Ends, Items, first_of
from occurs.pipes.engine.machinecode import BOOL, INT, Program, TooMuch, compiled, in_order, parts
from occurs.pipes.engine.operator import Fronts, Operator, Setting, meet, operator
from occurs.pipes.engine.state import Counts, Latest, Part, State
from occurs.pipes.engine.values import Record
from occurs.pipes.graph import Node

#: how registers are kept: not yet, as ints, as any values
NOTHING, INTS, VALUES = range(3)
#: more guards than this make too large a table
MOST_GUARDS = 12


@operator
class Machine(Operator):
    """Per front the first transition whose guard is true, its SETs, the output of the new state."""

    of: ClassVar[type[tree.Processor]] = tree.Machine

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p = node.processor
        assert isinstance(p, tree.Machine)
        self.p = p
        self.names = [n for n, _ in p.registers]
        self.number = {s.name: i for i, s in enumerate(p.states)}
        self.final = np.array([not s.transitions for s in p.states], np.bool_)
        self.silent = np.array([s.output is None for s in p.states], np.bool_)
        self.outputs = [None if s.output is None else Function(s.output) for s in p.states]
        self.fixed = all(s.output is None or isinstance(s.output, expressions.Literal) for s in p.states)
        guards = dict.fromkeys(t.condition for s in p.states for t in s.transitions if t.condition is not None)
        self.guards = {g: Function(g) for g in guards}
        self.table = self._table() if not self.names and len(guards) <= MOST_GUARDS else None
        self.columns = {e: Function(e) for e in parts(p)}
        self._programs: dict[Any, Program | None] = {}

    def _table(self) -> np.ndarray:
        """The state behind each state and code of the guards that are true; -1: none of its guards is."""
        place = {g: i for i, g in enumerate(self.guards)}
        out = np.full((len(self.p.states), 1 << len(place)), -1, np.int32)
        codes = np.arange(1 << len(place))
        for i, state in enumerate(self.p.states):
            open_ = np.ones(len(codes), np.bool_)
            for t in in_order(state):
                taken = open_ if t.condition is None else open_ & ((codes >> place[t.condition]) & 1 == 1)
                out[i, taken] = self.number[t.target]
                open_ = open_ & ~taken
        return out

    def fresh(self) -> dict[str, Part]:
        start = self.number[self.p.start]
        registers = {f"int{r}": Counts() for r in range(len(self.names))}
        known = {f"known{r}": Counts() for r in range(len(self.names))}
        #: ``told``: that the trace has ended
        return {
            "state": Counts(start), "begun": Counts(), "told": Counts(), "mode": Counts(), "values": Latest(),
            **registers, **known,
        }  # fmt: skip

    def advance(self, state: State, given: Sequence[Items], call: Call) -> list[Items]:
        fronts = meet(state, given, call)
        told = state["told"].upto(call.instances)
        if self.final[self.number[self.p.start]]:
            return [self._never(fronts, told)]
        codes = np.zeros(len(fronts), np.int64) if fronts.code is None else fronts.code
        ends = self._going_on(fronts.ends, told)
        if told.any():
            live = told[codes] == 0
            if not live.all():
                fronts = _filtered(fronts, live)
                codes = codes[live]
        if not len(fronts):
            return [Items.none(ends, fronts.code is None)]
        after, moved, registers = self._moves(state, fronts, codes, call)
        # a trace ends with the first item that brings it into a final state
        over = self.final[after] if self.final.any() else self.final[:0]
        if over.any():
            at = np.flatnonzero(over & moved)
            first = at[first_of(codes[at])]
            stop = np.full(call.instances, len(codes))
            stop[codes[first]] = first
            moved &= np.arange(len(codes)) <= stop[codes]
            ended = codes[first]
            told[ended] = 1
            ends = Ends.join([self._going_on(ends, told), Ends(ended, fronts.step[first])])
        return [self._out(fronts, codes, after, moved, registers, call).with_ends(ends)]

    def _never(self, fronts: Fronts, told: np.ndarray) -> Items:
        """The start is final: such a trace has ended before anything comes."""
        codes = np.unique(np.concatenate([_NONE if fronts.code is None else fronts.code, fronts.ends.code]))
        if not self.setting.inner:
            codes = np.zeros(1, np.int64)
        codes = codes[told[codes] == 0]
        told[codes] = 1
        return Items.none(Ends(codes, np.full(len(codes), -1)) if len(codes) else NO_ENDS, fronts.code is None)

    @staticmethod
    def _going_on(ends: Ends, told: np.ndarray) -> Ends:
        if not len(ends):
            return ends
        mine = told[ends.code] == 0
        return ends if mine.all() else Ends(ends.code[mine], ends.step[mine])

    # --- transitions ------------------------------------------------------------------------------------------------

    def _moves(
        self, state: State, fronts: Fronts, codes: np.ndarray, call: Call
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Col]]:
        """The state after each front, whether it has just been entered, the registers then."""
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        here = state["state"].upto(call.instances)
        if self.table is not None:
            try:
                guards = self._codes(env)
            except Fault:
                guards = None  # perhaps of a guard that is not asked: item by item it shows
            if guards is not None:
                from occurs.pipes.engine import kernels_machines

                after, moved = np.empty(len(fronts), np.int32), np.zeros(len(fronts), np.bool_)
                given = _NONE if fronts.code is None else codes
                kernels_machines.table_run(given, guards, self.table, here, after, moved)
                return after, moved, {}
        if self.names:
            self._begin(state, codes, call)
            if state["mode"].values[0] == INTS:
                found = self._coded(state, env, codes, call)
                if found is not None:
                    return found
                self._to_values(state)
        return self._one_by_one(state, env, codes, call)

    def _codes(self, env: Env) -> np.ndarray:
        bits = np.uint8 if len(self.guards) <= 8 else np.uint16
        out: np.ndarray = np.zeros(env.length, bits)
        for i, guard in enumerate(self.guards.values()):
            out |= np.left_shift(guard.true(env).astype(bits), i, dtype=bits)
        return out

    def _begin(self, state: State, codes: np.ndarray, call: Call) -> None:
        """Give the registers of new traces their starts."""
        begun, mode = state["begun"].upto(call.instances), state["mode"].values
        new = codes[begun[codes] == 0]
        if not len(new):
            return
        new = np.unique(new)
        begun[new] = 1
        starts = [self.constant(start, new, call) for _, start in self.p.registers]
        if mode[0] != VALUES and all(_kind(c) is not None for c in starts):
            kinds = tuple(_kind(c) for c in starts)
            if mode[0] == NOTHING or kinds == self._kinds(state):
                mode[0] = INTS
                for r, column in enumerate(starts):
                    values, valid = _ints(column)
                    state[f"int{r}"].upto(call.instances)[new] = values
                    state[f"known{r}"].upto(call.instances)[new] = np.where(valid, 1, 0) | (
                        2 if kinds[r] == BOOL else 0
                    )
                return
        if mode[0] == INTS:
            self._to_values(state)
        mode[0] = VALUES
        rows = list(zip(*(c.pylist() for c in starts)))
        state["values"].put(new, column_of([Record(tuple(zip(self.names, row))) for row in rows]))

    def _kinds(self, state: State) -> tuple[str, ...]:
        """The types of the registers that are kept as ints."""
        return tuple(BOOL if (state[f"known{r}"].values & 2).any() else INT for r in range(len(self.names)))

    def _to_values(self, state: State) -> None:
        state["mode"].values[0] = VALUES
        codes = np.flatnonzero(state["begun"].values)
        kinds = self._kinds(state)
        columns: list[Col] = []
        for r, kind in enumerate(kinds):
            values = state[f"int{r}"].upto(int(codes.max(initial=0)) + 1)[codes]
            known = state[f"known{r}"].upto(int(codes.max(initial=0)) + 1)[codes] & 1 > 0
            columns.append(of_numpy(values != 0 if kind == BOOL else values, known))
        rows = list(zip(*(c.pylist() for c in columns)))
        state["values"].put(codes, column_of([Record(tuple(zip(self.names, row))) for row in rows]))

    def _coded(
        self, state: State, env: Env, codes: np.ndarray, call: Call
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Col]] | None:
        """By the kernel; None if it has no code for this machine, or a number does not fit."""
        from occurs.pipes.engine import kernels_machines

        try:
            columns = {e: f.run(env) for e, f in self.columns.items()}
        except Fault:
            return None
        kinds = {e: k for e, c in columns.items() if (k := _kind(c)) is not None}
        mine = self._kinds(state)
        key = (mine, tuple(sorted((i, kinds.get(e, "")) for i, e in enumerate(self.columns))))
        if key not in self._programs:
            try:
                self._programs[key] = compiled(self.p, dict(zip(self.names, mine)), kinds)
            except TooMuch:
                self._programs[key] = None
        program = self._programs[key]
        if program is None:
            return None
        n, count = env.length, len(self.names)
        width = count + len(program.columns)
        values = np.zeros((n + call.instances, width), np.int64)
        known = np.ones((n + call.instances, width), np.bool_)
        for at, e in enumerate(program.columns, count):
            values[:n, at], known[:n, at] = _ints(columns[e])
        for r in range(count):
            values[n:, r] = state[f"int{r}"].upto(call.instances)
            known[n:, r] = state[f"known{r}"].upto(call.instances) & 1
        here = state["state"].upto(call.instances)
        before = here.copy()
        after, moved = np.empty(n, np.int32), np.zeros(n, np.bool_)
        registers, there = np.empty((n, count), np.int64), np.empty((n, count), np.bool_)
        pool = (values, np.zeros((1, 1)), known, np.zeros(1, np.int64))
        code = (program.words, program.ints, np.zeros(0))
        bounds = (program.bounds, program.rows)
        row = kernels_machines.run(codes, here, bounds, program.sets, code, pool, after, moved, registers, there)
        if row >= 0:
            here[:] = before
            return None
        out: dict[str, Col] = {}
        for r, (name, kind) in enumerate(zip(self.names, mine)):
            state[f"int{r}"].upto(call.instances)[:] = values[n:, r]
            flags = state[f"known{r}"].upto(call.instances)
            flags[:] = (flags & 2) | known[n:, r]
            column = np.ascontiguousarray(registers[:, r])
            out[name] = of_numpy(column != 0 if kind == BOOL else column, np.ascontiguousarray(there[:, r]))
        return after, moved, out

    def _one_by_one(
        self, state: State, env: Env, codes: np.ndarray, call: Call
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Col]]:
        here = state["state"].upto(call.instances)
        kept: Latest = state["values"]
        registers: dict[int, dict[str, Any]] = {}
        if self.names:
            mine = np.unique(codes)
            rows = kept.value.take(kept.find(mine)).pylist()
            registers = {c: dict(row.columns) for c, row in zip(mine.tolist(), rows)}
        items = list(zip(*(v.pylist() for v in env.inputs)))
        variables = env.variable_rows()
        after, moved = np.empty(env.length, np.int32), np.zeros(env.length, np.bool_)
        log: list[tuple[Any, ...]] = []
        for i, c in enumerate(codes.tolist()):
            own = registers.setdefault(c, {})
            context = {**variables(i), **own}
            try:
                for t in in_order(self.p.states[here[c]]):
                    if t.condition is not None and not _true(t.condition, items[i], context):
                        continue
                    for name, new in t.sets:
                        own[name] = context[name] = _value(new, items[i], context)
                    here[c] = self.number[t.target]
                    moved[i] = True
                    break
            except Fault as fault:
                fault.row = i
                raise
            after[i] = here[c]
            log.append(tuple(own.values()))
        if self.names:
            rows_ = [Record(tuple(own.items())) for own in registers.values()]
            kept.put(np.array(list(registers), np.int64), column_of(rows_))
        return after, moved, {n: column_of([row[r] for row in log]) for r, n in enumerate(self.names)}

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _out(
        self, fronts: Fronts, codes: np.ndarray, after: np.ndarray, moved: np.ndarray, registers: dict[str, Col],
        call: Call,
    ) -> Items:  # fmt: skip
        if self.silent.any():
            moved = moved & ~self.silent[after]
        if not moved.all():
            rows = np.flatnonzero(moved)
            fronts = _filtered(fronts, moved)
            codes, after = codes[rows], after[rows]
            registers = {n: c.take(rows) for n, c in registers.items()}
        if not len(fronts):
            return Items.none(single=fronts.code is None)
        if self.fixed:
            return fronts.items(self._fixed(after))
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        values: list[Col] = []
        where: list[np.ndarray] = []
        for s in np.flatnonzero(np.bincount(after)).tolist():
            at = np.flatnonzero(after == s)
            function = self.outputs[s]
            assert function is not None
            all_ = len(at) == len(fronts)
            some = env if all_ else _rows(env, at)
            mine = registers if all_ else {n: c.take(at) for n, c in registers.items()}
            some = Env(some.inputs, some.length, some.kind, {**some.variables, **_constantly(mine)})
            values.append(function.run(some))
            where.append(at)
        if len(values) == 1:
            return fronts.items(values[0])
        back = np.empty(len(fronts), np.int64)
        back[np.concatenate(where)] = np.arange(len(fronts))
        return fronts.items(concat(values).take(back))

    def _fixed(self, after: np.ndarray) -> Col:
        """The outputs of states that are constants; texts as a dictionary."""
        values = [s.output.value if isinstance(s.output, expressions.Literal) else None for s in self.p.states]
        column = column_of(values)
        if isinstance(column, Plain) and pa.types.is_string(column.array.type):
            coded = column.array.dictionary_encode()
            if len(coded.dictionary) == len(values):
                return Plain(pa.DictionaryArray.from_arrays(pa.array(after.astype(np.int32)), coded.dictionary))
            return Plain(coded).take(after.astype(np.int64))
        return column.take(after.astype(np.int64))


_NONE = np.zeros(0, np.int64)


def _filtered(fronts: Fronts, mask: np.ndarray) -> Fronts:
    code = None if fronts.code is None else fronts.code[mask]
    values = [v.filter(mask) for v in fronts.values]
    return Fronts(values, fronts.step[mask], fronts.about[mask], code, fronts.ends)


def _rows(env: Env, rows: np.ndarray) -> Env:
    variables = {n: (lambda v=v: v().take(rows)) for n, v in env.variables.items()}
    return Env([c.take(rows) for c in env.inputs], len(rows), env.kind, variables)


def _constantly(columns: dict[str, Col]) -> dict[str, Callable[[], Col]]:
    return {n: partial(_same, c) for n, c in columns.items()}


def _same(column: Col) -> Col:
    return column


def _kind(column: Col) -> str | None:
    """``int`` or ``bool`` of a column of such."""
    if not isinstance(column, Plain):
        return None
    t = column.array.type
    return INT if pa.types.is_int64(t) else BOOL if pa.types.is_boolean(t) else None


def _ints(column: Col) -> tuple[np.ndarray, np.ndarray]:
    """Values as ints, and which are known."""
    found = numbers(column)
    if found is not None:
        return found[0], np.ones(len(column), np.bool_) if found[1] is None else found[1]
    codes = truths(column)
    assert codes is not None
    return (codes == 2).astype(np.int64), codes != 3


def _value(node: expressions.Expr, items: Sequence[Any], context: dict[str, Any]) -> Any:
    return scalars.needed(scalars.value_of(node, lambda leaf: scalars.leaf_of(leaf, items, context), context))


def _true(node: expressions.Expr, items: Sequence[Any], context: dict[str, Any]) -> bool:
    found = _value(node, items, context)
    if found is not None and not isinstance(found, bool):
        raise Fault("bad-value", "is no boolean", found)
    return found is True
