"""Moore machines (pipes.md, 4.7, section 5).

Without registers: guards as columns, then one pass over a table of states and codes of guards.  With registers of ints
or truth values: a kernel over plain steps, or one that runs guards and SETs as code.  Else item by item.  Of an item
that is a text of few, what looks at nothing else is computed once per text.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr import tree as expressions
from occurs.model.types import Type
from occurs.operators import rule_bytecode as bytecode
from occurs.operators.kernels import stackcode
from occurs.operators.process import scalars, tree
from occurs.operators.process.columns import Col, Env, Plain, Pool, column_of, concat, numbers, of_numpy, truths
from occurs.operators.process.functions import ByText, Function, condition, distinct_texts, of_input
from occurs.operators.process.items import NO_ENDS, NO_ROWS, CallSteps, Ends, Items, first_of
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.processors import kernels_machines as kernels
from occurs.operators.process.processors.kernels_machines import COLUMN, CONSTANT, REGISTER
from occurs.operators.process.state import Counts, Latest, Part, State
from occurs.operators.process.tree import Node
from occurs.operators.process.values import Fault, Record
from occurs.operators.rule_bytecode import Code, Unsupported


@operator(tree.Machine)
class Machine(Operator):
    """Per front the first transition whose guard is true, its SETs, the output of the new state."""

    def __init__(self, node: Node, setting: Setting) -> None:
        super().__init__(node, setting)
        p: tree.Machine = self.p
        self.runner = Runner(p, self.constant)
        self.final = np.array([not s.transitions for s in p.states], np.bool_)
        self.silent = np.array([s.output is None for s in p.states], np.bool_)
        self.outputs = [None if s.output is None else Function(s.output) for s in p.states]
        self.fixed = _constants(p)

    def fresh(self) -> dict[str, Part]:
        #: ``told``: that the trace has ended
        return {"told": Counts(), **self.runner.fresh()}

    def advance(self, state: State, given: Sequence[Items], call: CallSteps) -> list[Items]:
        fronts = meet(state, given, call)
        told = state["told"].upto(call.instances)
        if self.final[self.runner.number[self.p.start]]:
            return [self._never(fronts, told)]
        ends = self._going_on(fronts.ends, told)
        if told.any():
            live = np.repeat(told[0] == 0, len(fronts)) if fronts.code is None else told[fronts.code] == 0
            if not live.all():
                fronts = _filtered(fronts, live)
        if not len(fronts):
            return [Items.none(ends, fronts.code is None)]
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        after, moved, registers = self.runner.moves(state, env, fronts.code, call)
        # a trace ends with the first item that brings it into a final state
        over = self.final[after] if self.final.any() else self.final[:0]
        if over.any():
            codes = fronts.codes
            at = np.flatnonzero(over & moved)
            first = at[first_of(codes[at])]
            stop = np.full(call.instances, len(codes))
            stop[codes[first]] = first
            moved &= np.arange(len(codes)) <= stop[codes]
            ended = codes[first]
            told[ended] = 1
            ends = Ends.join([self._going_on(ends, told), Ends(ended, fronts.step[first])])
        return [self._out(fronts, after, moved, registers, call).with_ends(ends)]

    def _never(self, fronts: Fronts, told: np.ndarray) -> Items:
        """The start is final: such a trace has ended before anything comes."""
        codes = np.unique(np.concatenate([NO_ROWS if fronts.code is None else fronts.code, fronts.ends.code]))
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

    # --- outputs ----------------------------------------------------------------------------------------------------

    def _out(
        self, fronts: Fronts, after: np.ndarray, moved: np.ndarray, registers: dict[str, Col], call: CallSteps
    ) -> Items:
        if self.silent.any():
            moved = moved & ~self.silent[after]
        if not moved.all():
            rows = np.flatnonzero(moved)
            fronts = _filtered(fronts, moved)
            after = after[rows]
            registers = {n: c.take(rows) for n, c in registers.items()}
        if not len(fronts):
            return Items.none(single=fronts.code is None)
        if self.fixed is not None:
            return fronts.items(self.fixed.at(after))
        env = self.env(fronts.values, fronts.code, len(fronts), call)
        values: list[Col] = []
        where: list[np.ndarray] = []
        for s in np.flatnonzero(np.bincount(after)).tolist() if len(self.outputs) > 1 else [0]:
            function = self.outputs[s]
            assert function is not None
            at = None if len(self.outputs) == 1 else np.flatnonzero(after == s)
            if at is None or len(at) == len(fronts):
                some = Env(env.inputs, env.length, env.kind, {**env.variables, **_constantly(registers)})
                return fronts.items(function.run(some))
            some = _rows(env, at)
            mine = {n: c.take(at) for n, c in registers.items()}
            some = Env(some.inputs, some.length, some.kind, {**some.variables, **_constantly(mine)})
            values.append(function.run(some))
            where.append(at)
        back = np.empty(len(fronts), np.int64)
        back[np.concatenate(where)] = np.arange(len(fronts))
        return fronts.items(concat(values).take(back))


def _constants(machine: tree.Machine) -> Pool | None:
    """The outputs by state, if all of them are constants (null: there is none)."""
    values = []
    for state in machine.states:
        if state.output is not None and not isinstance(state.output, expressions.Literal):
            return None
        values.append(None if state.output is None else state.output.value)
    return Pool(values)


def _filtered(fronts: Fronts, mask: np.ndarray) -> Fronts:
    code = None if fronts.code is None else fronts.code[mask]
    values = [v.filter(mask) for v in fronts.values]
    return Fronts(values, fronts.step[mask], fronts.about[mask], code, fronts.ends)


# --- From item to item ------------------------------------------------------------------------------------------------


#: more guards than this make too large a table
MOST_GUARDS = 12
#: per item the state behind it, and whether it has been entered; the registers then
Moves = tuple[np.ndarray, np.ndarray, dict[str, Col]]


class Runner:
    """A machine that runs.  ``constant``: the value of a function without inputs for traces."""

    def __init__(
        self, machine: tree.Machine, constant: Callable[[expressions.Expr, np.ndarray, CallSteps], Col]
    ) -> None:
        self.p = machine
        self.constant = constant
        self.names = [n for n, _ in machine.registers]
        self.number = {s.name: i for i, s in enumerate(machine.states)}
        guards = dict.fromkeys(t.condition for s in machine.states for t in s.transitions if t.condition is not None)
        self.guards = {g: Function(g) for g in guards}
        #: by state and code of the guards that are true: the state behind, and whether it is entered
        self.table = self._table() if not self.names and len(guards) <= MOST_GUARDS else None
        self.columns = {e: Function(e) for e in parts(machine)}
        self._by_text = {
            id(some): ByText(partial(_all, list(some.values())))
            for some in (self.guards, self.columns)
            if all(map(of_input, some))
        }
        self._codes: dict[Any, tuple[Steps | None, Program | None]] = {}

    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        place = {g: i for i, g in enumerate(self.guards)}
        shape = (len(self.p.states), 1 << len(place))
        target = np.repeat(np.arange(shape[0], dtype=np.int32), shape[1]).reshape(shape)
        moves = np.zeros(shape, np.bool_)
        codes = np.arange(1 << len(place))
        for i, state in enumerate(self.p.states):
            for t in in_order(state):
                taken = ~moves[i] if t.condition is None else ~moves[i] & ((codes >> place[t.condition]) & 1 == 1)
                target[i, taken] = self.number[t.target]
                moves[i] |= taken
        return target, moves

    def fresh(self) -> dict[str, Part]:
        """Before anything has come."""
        registers = {f"int{r}": Counts() for r in range(len(self.names))}
        known = {f"known{r}": Counts() for r in range(len(self.names))}
        start = self.number[self.p.start]
        return {
            "state": Counts(start), "begun": Counts(), "mode": Counts(), "values": Latest(), **registers, **known
        }  # fmt: skip

    def moves(self, state: State, env: Env, code: np.ndarray | None, call: CallSteps) -> Moves:
        """Of items of the traces ``code`` (None: all are of trace 0).  Raises Fault."""
        if self.table is not None:
            try:
                bits, which = self._bits(self.guards, env)
            except Fault:
                pass  # perhaps of a guard that is not asked: item by item it shows
            else:
                return self._by_table(state, bits, which, code, call)
        if self.names:
            self._begin(state, code, env.length, call)
            if state["mode"].values[0] == INTS:
                found = self._coded(state, env, code, call)
                if found is not None:
                    return found
                self._to_values(state)
        return self._one_by_one(state, env, code, call)

    # --- what is computed of items alone ----------------------------------------------------------------------------

    def _columns(
        self, parts: Mapping[expressions.Expr, Function], env: Env
    ) -> tuple[list[Col], int, np.ndarray | None]:
        """A column of each, so long, and which of its values is that of each item (None: they are in order)."""
        by_text = self._by_text.get(id(parts))
        texts = None if by_text is None else distinct_texts(env.inputs)
        if by_text is not None and texts is not None:
            try:
                return by_text.of(texts, env), len(texts.dictionary), texts.indices.to_numpy()
            except Fault:
                pass  # perhaps of a text that no item has
        return _all(list(parts.values()), env), env.length, None

    def _bits(self, guards: Mapping[expressions.Expr, Function], env: Env) -> tuple[np.ndarray, np.ndarray | None]:
        columns, size, which = self._columns(guards, env)
        return _bits(columns, size), which

    # --- without registers ------------------------------------------------------------------------------------------

    def _by_table(
        self, state: State, bits: np.ndarray, which: np.ndarray | None, code: np.ndarray | None, call: CallSteps
    ) -> Moves:
        assert self.table is not None
        what, target, moves = _looked_up(bits, which, *self.table)
        here = state["state"].upto(call.instances)
        before = None if moves.all() else here.copy()
        after = np.empty(len(what), np.int32)
        codes = NO_ROWS if code is None else code
        kernels.table_run(codes, what, target.shape[1], target.ravel(), here, after)
        if before is None:
            return after, np.ones(len(what), np.bool_), {}
        moved = np.empty(len(what), np.bool_)
        kernels.entered(before, codes, what, target.shape[1], moves.ravel(), after, moved)
        return after, moved, {}

    # --- with registers ---------------------------------------------------------------------------------------------

    def _begin(self, state: State, code: np.ndarray | None, size: int, call: CallSteps) -> None:
        """Give the registers of new traces their starts."""
        begun, mode = state["begun"].upto(call.instances), state["mode"].values
        new = np.zeros(min(size, 1), np.int64) if code is None else code
        new = new[begun[new] == 0]
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

    def _coded(self, state: State, env: Env, code: np.ndarray | None, call: CallSteps) -> Moves | None:
        """By a kernel; None if there is no code for this machine, or a number does not fit."""
        try:
            found, size, which = self._columns(self.columns, env)
        except Fault:
            return None
        columns = dict(zip(self.columns, found))
        own = dict(zip(self.names, self._kinds(state)))
        kinds = tuple(map(_kind, found))
        key = (tuple(own.values()), kinds)
        if key not in self._codes:
            known = {e: k for e, k in zip(self.columns, kinds) if k is not None}
            self._codes[key] = _or_none(steps, self.p, own, known), _or_none(compiled, self.p, own, known)
        plain, program = self._codes[key]
        moves = None
        if plain is not None:
            moves = self._by_steps(plain, state, columns, size, which, own, code, call)
        if moves is None and program is not None:
            if which is not None:
                columns = {e: c.take(which) for e, c in columns.items()}
            moves = self._by_stack(program, state, columns, env.length, own, code, call)
        return moves

    def _by_steps(
        self, plain: Steps, state: State, columns: Mapping[expressions.Expr, Col], size: int, which: np.ndarray | None,
        own: Mapping[str, str], code: np.ndarray | None, call: CallSteps,
    ) -> Moves | None:  # fmt: skip
        """Where nothing is null."""
        operands = [_ints(columns[e]) for e in plain.columns]
        flags = [state[f"known{r}"].upto(call.instances) for r in range(len(own))]
        begun = state["begun"].upto(call.instances) > 0
        if not all(valid.all() for _, valid in operands) or not all((f[begun] & 1).all() for f in flags):
            return None
        bits = _bits([columns[e] for e in plain.free], size)
        what, first, last = _looked_up(bits, which, plain.first, plain.last)
        n = len(what)
        values = np.empty((len(operands), n), np.int64)
        for at, (found, _) in enumerate(operands):
            values[at] = found if which is None else np.take(found, which)
        here = state["state"].upto(call.instances).copy()
        registers = np.stack([state[f"int{r}"].upto(call.instances) for r in range(len(own))], 1)
        after, moved, out = np.empty(n, np.int32), np.zeros(n, np.bool_), np.empty((len(own), n), np.int64)
        ways = (first, last, plain.ways, plain.conditions, plain.sets)
        codes = NO_ROWS if code is None else code
        if kernels.steps(codes, what, ways, plain.constants, values, here, registers, after, moved, out) >= 0:
            return None
        state["state"].upto(call.instances)[:] = here
        for r in range(len(own)):
            state[f"int{r}"].upto(call.instances)[:] = registers[:, r]
        return after, moved, {
            name: of_numpy(out[r] != 0 if kind == BOOL else out[r]) for r, (name, kind) in enumerate(own.items())
        }  # fmt: skip

    def _by_stack(
        self, program: Program, state: State, columns: Mapping[expressions.Expr, Col], n: int, own: Mapping[str, str],
        code: np.ndarray | None, call: CallSteps,
    ) -> Moves | None:  # fmt: skip
        count = len(own)
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
        words = (program.words, program.ints, np.zeros(0))
        bounds = (program.bounds, program.rows)
        codes = np.zeros(n, np.int64) if code is None else code
        row = kernels.run(codes, here, bounds, program.sets, words, pool, after, moved, registers, there)
        if row >= 0:
            here[:] = before
            return None
        out: dict[str, Col] = {}
        for r, (name, kind) in enumerate(own.items()):
            state[f"int{r}"].upto(call.instances)[:] = values[n:, r]
            flags = state[f"known{r}"].upto(call.instances)
            flags[:] = (flags & 2) | known[n:, r]
            column = np.ascontiguousarray(registers[:, r])
            out[name] = of_numpy(column != 0 if kind == BOOL else column, np.ascontiguousarray(there[:, r]))
        return after, moved, out

    def _one_by_one(self, state: State, env: Env, code: np.ndarray | None, call: CallSteps) -> Moves:
        codes = np.zeros(env.length, np.int64) if code is None else code
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


#: how registers are kept: not yet, as ints, as any values
NOTHING, INTS, VALUES = range(3)


def _all(functions: Sequence[Function], env: Env) -> list[Col]:
    return [f.run(env) for f in functions]


def _bits(guards: Sequence[Col], size: int) -> np.ndarray:
    """Per row a bit for each guard that is true.  Raises Fault of what is not a boolean."""
    bits = np.uint8 if len(guards) <= 8 else np.uint16
    out: np.ndarray = np.zeros(size, bits)
    for i, guard in enumerate(guards):
        out |= np.left_shift(condition(guard).astype(bits), i, dtype=bits)
    return out


def _looked_up(bits: np.ndarray, which: np.ndarray | None, *tables: np.ndarray) -> tuple[np.ndarray, ...]:
    """A number per item, and the tables (state, bits) by state and this number."""
    if which is None:
        return bits, *tables
    return which, *(np.ascontiguousarray(t[:, bits]) for t in tables)


def _or_none(make: Callable[..., Any], *given: Any) -> Any:
    try:
        return make(*given)
    except Unsupported:
        return None


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
        raise Fault("bad-value", "is not a boolean", found)
    return found is True


def _rows(env: Env, rows: np.ndarray) -> Env:
    variables = {n: (lambda v=v: v().take(rows)) for n, v in env.variables.items()}
    return Env([c.take(rows) for c in env.inputs], len(rows), env.kind, variables)


def _constantly(columns: dict[str, Col]) -> dict[str, Callable[[], Col]]:
    return {n: partial(_same, c) for n, c in columns.items()}


def _same(column: Col) -> Col:
    return column


# --- Machines as steps and as code ------------------------------------------------------------------------------------


#: more parts of guards than this make too large a table
MOST_FREE = 8


@dataclass(frozen=True)
class Steps:
    """A machine as tables: see :func:`occurs.operators.process.processors.kernels_machines.steps`.

    ``free``: parts of guards, one bit each; ``first``, ``last``: by state and bits the rows of ``ways`` to be tried.
    ``columns``: parts that are operands.
    """

    free: tuple[expressions.Expr, ...]
    first: np.ndarray
    last: np.ndarray
    ways: np.ndarray
    conditions: np.ndarray
    sets: np.ndarray
    constants: np.ndarray
    columns: tuple[expressions.Expr, ...]


def steps(machine: tree.Machine, registers: Mapping[str, str], kinds: Mapping[expressions.Expr, str]) -> Steps:
    """Raises Unsupported.  ``registers``: their types by name; ``kinds``: those of the columns of parts without any."""
    writer = _Writer(registers, kinds)
    number = {s.name: i for i, s in enumerate(machine.states)}
    found = [[(number[t.target], *writer.way(t)) for t in in_order(state)] for state in machine.states]
    codes = 1 << len(writer.free)
    ways: list[tuple[int, ...]] = []
    bounds = np.zeros((2, len(found), codes), np.int64)
    for s, mine in enumerate(found):
        for guards in range(codes):
            bounds[0, s, guards] = len(ways)
            for target, bits, *rest in mine:
                if bits & guards == bits:
                    ways.append((target, *rest))
                    if rest[0] == rest[1]:  # nothing more is asked: none behind it is tried
                        break
            bounds[1, s, guards] = len(ways)
    return Steps(
        tuple(writer.free),
        bounds[0],
        bounds[1],
        np.array(ways, np.int64).reshape(-1, 5),
        np.array(writer.conditions, np.int64).reshape(-1, 5),
        np.array(writer.sets, np.int64).reshape(-1, 6),
        np.array(writer.constants, np.int64),
        tuple(writer.columns),
    )


_COMPARISONS = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_SET = {"+": 1, "-": 2}


@dataclass
class _Writer:
    registers: Mapping[str, str]
    kinds: Mapping[expressions.Expr, str]
    free: dict[expressions.Expr, int] = field(default_factory=dict)
    columns: dict[expressions.Expr, int] = field(default_factory=dict)
    constants: list[int] = field(default_factory=list)
    conditions: list[tuple[int, ...]] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)

    def operand(self, node: expressions.Expr) -> tuple[str, int, int]:
        """Its type, what it is, and its number."""
        if isinstance(node, expressions.Param) and node.name in self.registers:
            return self.registers[node.name], REGISTER, list(self.registers).index(node.name)
        if isinstance(node, expressions.Literal) and isinstance(node.value, (bool, int)) and abs(node.value) < 2**63:
            self.constants.append(int(node.value))
            return BOOL if isinstance(node.value, bool) else INT, CONSTANT, len(self.constants) - 1
        kind = self.kinds.get(node)
        if _sees(node, self.registers) or kind is None:
            raise Unsupported
        return kind, COLUMN, self.columns.setdefault(node, len(self.columns))

    def condition(self, node: expressions.Expr) -> None:
        """A part of a guard that sees registers."""
        wanted = 1
        while isinstance(node, expressions.Unary) and node.op == "not":
            node, wanted = node.arg, 1 - wanted
        if isinstance(node, expressions.Param):
            self.constants.append(wanted)
            left, right, op = self.operand(node), (BOOL, CONSTANT, len(self.constants) - 1), "="
        elif isinstance(node, expressions.Binary) and node.op in _COMPARISONS and wanted:
            left, right, op = self.operand(node.left), self.operand(node.right), node.op
        else:
            raise Unsupported
        if left[0] != right[0] or (left[0] == BOOL and op not in ("=", "!=")):
            raise Unsupported
        self.conditions.append((_COMPARISONS[op], *left[1:], *right[1:]))

    def set(self, name: str, node: expressions.Expr) -> None:
        at = list(self.registers).index(name)
        wanted = self.registers[name]
        if _sees(node, self.registers) and isinstance(node, expressions.Binary) and node.op in _SET:
            left, right = self.operand(node.left), self.operand(node.right)
            if not left[0] == right[0] == wanted == INT:
                raise Unsupported
            self.sets.append((at, _SET[node.op], *left[1:], *right[1:]))
            return
        kind, what, number = self.operand(node)
        if kind != wanted:
            raise Unsupported
        self.sets.append((at, 0, what, number, what, number))

    def way(self, t: tree.Transition) -> tuple[int, int, int, int, int]:
        """The bits that must be there, where its conditions and its SETs begin and end."""
        bits, begin, first = 0, len(self.conditions), len(self.sets)
        for part in () if t.condition is None else expressions.conjuncts(t.condition):
            if _sees(part, self.registers):
                self.condition(part)
            elif self.kinds.get(part) == BOOL:
                bits |= 1 << self.free.setdefault(part, len(self.free))
            elif not (isinstance(part, expressions.Literal) and part.value is True):
                raise Unsupported
        for name, new in t.sets:
            self.set(name, new)
        if len(self.free) > MOST_FREE:
            raise Unsupported
        return bits, begin, len(self.conditions), first, len(self.sets)


# --- As code of the stack machine -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A machine as code: see :func:`occurs.operators.process.processors.kernels_machines.run`."""

    bounds: np.ndarray
    rows: np.ndarray
    sets: np.ndarray
    words: np.ndarray
    ints: np.ndarray
    columns: tuple[expressions.Expr, ...]


def compiled(machine: tree.Machine, registers: Mapping[str, str], kinds: Mapping[expressions.Expr, str]) -> Program:
    """Raises Unsupported."""
    coder = Coder(registers, kinds)
    names, states = list(registers), {s.name: i for i, s in enumerate(machine.states)}
    bounds: list[tuple[int, int]] = []
    rows: list[tuple[int, ...]] = []
    sets: list[tuple[int, int, int]] = []
    for state in machine.states:
        first = len(rows)
        for t in in_order(state):
            first_, begin, end = coder.guard(t.condition)
            at = len(sets)
            for name, new in t.sets:
                sets.append((*coder.result(new, registers[name]), names.index(name)))
            rows.append((begin, end, states[t.target], at, len(sets), first_))
        bounds.append((first, len(rows)))
    return Program(
        np.array(bounds, np.int64).reshape(-1, 2),
        np.array(rows, np.int64).reshape(-1, 6),
        np.array(sets, np.int64).reshape(-1, 3),
        *coder.program()[:2],
        tuple(coder.columns),
    )


class Coder(bytecode.Coder):
    """Writes code.  ``registers``: their types by name; ``kinds``: those of the columns of parts that have none.

    A part without registers is a column of its own (``columns``, in the order in which they are asked for).
    """

    def __init__(self, registers: Mapping[str, str], kinds: Mapping[expressions.Expr, str]) -> None:
        super().__init__(lambda role, name: (0, Type.NULL), lambda text: 0)
        self.registers, self.kinds = registers, kinds
        self.columns: dict[expressions.Expr, int] = {}

    def result(self, node: expressions.Expr, wanted: str) -> tuple[int, int]:
        """Where its code begins and ends.  Raises Unsupported."""
        made, kind = self._expr(node)
        if kind != wanted:
            raise Unsupported(kind)
        return self._put(made)

    def _expr(self, e: expressions.Expr) -> tuple[Code, str]:
        if not _sees(e, self.registers):
            return self._own(e)
        if isinstance(e, expressions.Param):
            return [(stackcode.REF, 0, list(self.registers).index(e.name))], self.registers[e.name]
        made, kind = super()._expr(e)
        if kind not in (INT, BOOL):
            raise Unsupported(kind)
        return made, kind

    def guarding(self, node: expressions.Expr) -> int:
        """The column of a part that has no registers, of truth values.  Raises Unsupported."""
        if self.kinds.get(node) != BOOL:
            raise Unsupported
        return len(self.registers) + self.columns.setdefault(node, len(self.columns))

    def guard(self, node: expressions.Expr | None) -> tuple[int, int, int]:
        """Of a guard: the column without which it is not true (-1: none), where the rest of its code begins and ends
        (-1: there is none).  Raises Unsupported."""
        if node is None:
            return -1, -1, -1
        every = list(expressions.conjuncts(node))
        free = [p for p in every if not _sees(p, self.registers) and not isinstance(p, expressions.Literal)]
        first = self.guarding(free[0]) if free else -1
        rest = expressions.conjunction([p for p in every if not free or p is not free[0]])
        return (first, -1, -1) if rest is None else (first, *self.result(rest, BOOL))

    def _own(self, node: expressions.Expr) -> tuple[Code, str]:
        """A part without registers: a constant, or a column."""
        if isinstance(node, expressions.Literal) and isinstance(node.value, (bool, int)):
            if not -(2**63) <= node.value < 2**63:
                raise Unsupported(str(node.value))
            self.ints.append(int(node.value))
            return [(stackcode.INT, len(self.ints) - 1, 0)], BOOL if isinstance(node.value, bool) else INT
        kind = self.kinds.get(node)
        if kind is None:
            raise Unsupported(type(node).__name__)
        # columns stand behind the registers
        at = self.columns.setdefault(node, len(self.columns))
        return [(stackcode.REF, -1, len(self.registers) + at)], kind


def parts(machine: tree.Machine) -> list[expressions.Expr]:
    """The largest parts of guards and SETs that no register is in, and no constants."""
    names = {n for n, _ in machine.registers}
    found: dict[expressions.Expr, None] = {}

    def whole(node: expressions.Expr) -> None:
        """The parts of a guard: what is joined by AND is looked at on its own."""
        for part in expressions.conjuncts(node):
            visit(part)

    def visit(node: expressions.Expr) -> None:
        if not _sees(node, names):
            if not (isinstance(node, expressions.Literal) and isinstance(node.value, (bool, int))):
                found[node] = None
            return
        for child in node.children:
            visit(child)

    for state in machine.states:
        for t in state.transitions:
            if t.condition is not None:
                whole(t.condition)
            for _, new in t.sets:
                visit(new)
    return list(found)


def _sees(node: expressions.Expr, registers: Container[str]) -> bool:
    """Is there a register in it?"""
    return any(isinstance(n, expressions.Param) and n.name in registers for n in node.walk())


def in_order(state: tree.State) -> list[tree.Transition]:
    """Those with a guard in the order of the text, then OTHERWISE."""
    return sorted(state.transitions, key=lambda t: t.condition is None)


INT, BOOL = "int", "bool"
