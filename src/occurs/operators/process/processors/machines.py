"""Moore machines (pipes.md, 4.7, section 5).

Without registers: guards as columns, then one pass over a table of states and codes of guards.  With registers of ints
or truth values: a kernel that runs what guards and SETs make of registers as instructions.  Else item by item.  Of an
item that is a text of few, what looks at nothing else is computed once per text.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr import tree as expressions
from occurs.operators.process import scalars, tree
from occurs.operators.process.columns import Col, Env, Plain, Pool, Rec, column_of, concat, numbers, of_numpy, truths
from occurs.operators.process.functions import ByText, Function, condition, distinct_texts, of_input
from occurs.operators.process.items import NO_ENDS, NO_ROWS, CallSteps, Ends, Items, first_of
from occurs.operators.process.operator import Fronts, Operator, Setting, meet, operator
from occurs.operators.process.processors import kernels_machines as kernels
from occurs.operators.process.processors.kernels_machines import COLUMN, CONSTANT, OWN
from occurs.operators.process.state import Counts, Latest, Part, State
from occurs.operators.process.tree import Node
from occurs.operators.process.values import Fault, Record


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
        env = self.env(fronts.values, fronts.code, len(fronts), call).binding(registers)
        shown = np.flatnonzero(np.bincount(after)).tolist() if len(self.outputs) > 1 else [0]
        outputs = [f for f in (self.outputs[s] for s in shown) if f is not None]
        if len(shown) == 1:
            return fronts.items(outputs[0].run(env))
        where = [np.flatnonzero(after == s) for s in shown]
        back = np.empty(len(fronts), np.int64)
        back[np.concatenate(where)] = np.arange(len(fronts))
        return fronts.items(concat([f.run(env.take(at)) for f, at in zip(outputs, where)]).take(back))


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
        self._codes: dict[Any, Steps | None] = {}

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
        registers: dict[str, Part] = {"registers": Latest()} if self.names else {}
        return {"state": Counts(self.number[self.p.start]), **registers}

    def moves(self, state: State, env: Env, code: np.ndarray | None, call: CallSteps) -> Moves:
        """Of items of the traces ``code`` (None: all are of trace 0).  Raises Fault."""
        if self.table is not None:
            try:
                bits, which = self._bits(self.guards, env)
            except Fault:
                pass  # perhaps of a guard that is not asked: item by item it shows
            else:
                return self._by_table(state, bits, which, code, call)
        if not self.names:
            return self._one_by_one(state, env, code, NO_ROWS, None, call)
        mine = np.zeros(min(env.length, 1), np.int64)
        if code is not None:
            there = np.zeros(call.instances, np.bool_)
            there[code] = True
            mine = np.flatnonzero(there)
        own = self._registers(state["registers"], mine, call)
        return self._by_steps(state, env, code, mine, own, call) or self._one_by_one(state, env, code, mine, own, call)

    def _registers(self, kept: Latest, mine: np.ndarray, call: CallSteps) -> Rec:
        """Those of the traces ``mine``; new ones have their starts."""
        new = mine[kept.find(mine) < 0] if not np.array_equal(kept.code, mine) else NO_ROWS
        if len(new):
            starts = {name: self.constant(start, new, call) for name, start in self.p.registers}
            kept.put(new, Rec(starts, len(new)))
        found = kept.of(mine)
        assert isinstance(found, Rec)
        return found

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

    def _by_steps(
        self, state: State, env: Env, code: np.ndarray | None, mine: np.ndarray, own: Rec, call: CallSteps
    ) -> Moves | None:
        """By a kernel; None if there are no instructions for this machine, or a number does not fit."""
        try:
            found, size, which = self._columns(self.columns, env)
        except Fault:
            return None
        columns = dict(zip(self.columns, found))
        kinds = tuple(map(_kind, own.columns.values())), tuple(map(_kind, found))
        if kinds not in self._codes:
            self._codes[kinds] = steps(self.p, dict(zip(self.names, kinds[0])), dict(zip(self.columns, kinds[1])))
        plain = self._codes[kinds]
        if plain is None:
            return None
        what, first, last = _looked_up(_bits([columns[e] for e in plain.free], size), which, plain.first, plain.last)
        n, count = len(what), len(self.names)
        operands = [_ints(columns[e]) for e in plain.columns]
        starts = [_ints(c) for c in own.columns.values()]
        some = plain.nulls or any(valid is not None for _, valid in (*operands, *starts))
        values, there = np.empty((len(operands), n), np.int64), np.ones((len(operands), n if some else 0), np.bool_)
        for at, (column, valid) in enumerate(operands):
            values[at] = column if which is None else np.take(column, which)
            if valid is not None:
                there[at] = valid if which is None else np.take(valid, which)
        here = state["state"].upto(call.instances).copy()
        registers = np.zeros((call.instances, count + plain.temporary), np.int64)
        known = np.ones((call.instances if some else 1, count + plain.temporary), np.bool_)
        for r, (column, valid) in enumerate(starts):
            registers[mine, r] = column
            if valid is not None:
                known[mine, r] = valid
        after, moved = np.empty(n, np.int32), np.zeros(n, np.bool_)
        out, known_out = np.empty((count, n), np.int64), np.empty((count, n if some else 0), np.bool_)
        ways = (first, last, plain.ways, plain.words, plain.constants)
        codes = NO_ROWS if code is None else code
        given = (values, there, some)
        if kernels.steps(codes, what, ways, given, here, registers, known, after, moved, out, known_out) >= 0:
            return None
        state["state"].upto(call.instances)[:] = here

        def columns_of(values: np.ndarray, valid: np.ndarray) -> dict[str, Col]:
            made = zip(self.names, kinds[0], values, valid if some else [None] * count)
            return {name: of_numpy(v != 0 if kind == BOOL else v, ok) for name, kind, v, ok in made}

        kept = columns_of(registers[mine, :count].T.copy(), known[mine if some else [0], :count].T.copy())
        state["registers"].put(mine, Rec(kept, len(mine)))
        return after, moved, columns_of(out, known_out)

    def _one_by_one(
        self, state: State, env: Env, code: np.ndarray | None, mine: np.ndarray, own: Rec | None, call: CallSteps
    ) -> Moves:
        codes = np.zeros(env.length, np.int64) if code is None else code
        here = state["state"].upto(call.instances)
        registers: dict[int, dict[str, Any]] = {}
        if own is not None:
            registers = {c: dict(row.columns) for c, row in zip(mine.tolist(), own.pylist())}
        items = list(zip(*(v.pylist() for v in env.inputs)))
        variables = env.variable_rows()
        after, moved = np.empty(env.length, np.int32), np.zeros(env.length, np.bool_)
        log: list[tuple[Any, ...]] = []
        for i, c in enumerate(codes.tolist()):
            values = registers.setdefault(c, {})
            context = {**variables(i), **values}
            try:
                for t in in_order(self.p.states[here[c]]):
                    if t.condition is not None and not _true(t.condition, items[i], context):
                        continue
                    for name, new in t.sets:
                        values[name] = context[name] = _value(new, items[i], context)
                    here[c] = self.number[t.target]
                    moved[i] = True
                    break
            except Fault as fault:
                fault.row = i
                raise
            after[i] = here[c]
            log.append(tuple(values.values()))
        if self.names:
            rows = [Record(tuple(values.items())) for values in registers.values()]
            state["registers"].put(mine, column_of(rows))
        return after, moved, {n: column_of([row[r] for row in log]) for r, n in enumerate(self.names)}


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


INT, BOOL = "int", "bool"


def _kind(column: Col) -> str | None:
    """``int`` or ``bool`` of a column of such."""
    if not isinstance(column, Plain):
        return None
    if column.bools is not None:
        return BOOL
    t = column.array.type
    return INT if pa.types.is_int64(t) else BOOL if pa.types.is_boolean(t) else None


def _ints(column: Col) -> tuple[np.ndarray, np.ndarray | None]:
    """Values as ints, and which are known (None: all)."""
    found = numbers(column)
    if found is not None:
        return found
    codes = truths(column)
    assert codes is not None
    return (codes == 2).astype(np.int64), None if (codes != 3).all() else codes != 3


def _value(node: expressions.Expr, items: Sequence[Any], context: dict[str, Any]) -> Any:
    return scalars.needed(scalars.value_of(node, lambda leaf: scalars.leaf_of(leaf, items, context), context))


def _true(node: expressions.Expr, items: Sequence[Any], context: dict[str, Any]) -> bool:
    found = _value(node, items, context)
    if found is not None and not isinstance(found, bool):
        raise Fault("bad-value", "is not a boolean", found)
    return found is True


# --- As instructions --------------------------------------------------------------------------------------------------


#: more parts of guards than this make too large a table
MOST_FREE = 8


@dataclass(frozen=True)
class Steps:
    """A machine as tables: see :func:`occurs.operators.process.processors.kernels_machines.steps`.

    ``free``: parts of guards, one bit each; ``first``, ``last``: by state and bits the rows of ``ways`` to be tried.
    ``columns``: parts that are operands.  ``temporary``: numbers that are needed beside the registers; ``nulls``: the
    instructions may make nulls, or ask for them.
    """

    free: tuple[expressions.Expr, ...]
    first: np.ndarray
    last: np.ndarray
    ways: np.ndarray
    words: np.ndarray
    constants: np.ndarray
    columns: tuple[expressions.Expr, ...]
    temporary: int
    nulls: bool


def steps(
    machine: tree.Machine, registers: Mapping[str, str | None], kinds: Mapping[expressions.Expr, str | None]
) -> Steps | None:
    """None if some part cannot be said.  ``registers``: their types by name; ``kinds``: those of the columns of parts
    without any."""
    writer = _Writer(registers, kinds)
    number = {s.name: i for i, s in enumerate(machine.states)}
    try:
        found = [[(number[t.target], *writer.way(t)) for t in in_order(state)] for state in machine.states]
    except Unsaid:
        return None
    codes = 1 << len(writer.free)
    ways: list[tuple[int, ...]] = []
    bounds = np.zeros((2, len(found), codes), np.int64)
    for s, mine in enumerate(found):
        for guards in range(codes):
            bounds[0, s, guards] = len(ways)
            for target, bits, tests, first, last in mine:
                if bits & guards == bits:
                    ways.append((target, first, last))
                    if not tests:  # nothing more is asked: none behind it is tried
                        break
            bounds[1, s, guards] = len(ways)
    return Steps(
        tuple(writer.free),
        bounds[0],
        bounds[1],
        np.array(ways, np.int64).reshape(-1, 3),
        np.array(writer.words, np.int64).reshape(-1, 6),
        np.array(writer.constants, np.int64),
        tuple(writer.columns),
        writer.temporary,
        any(w[0] in (kernels.DIVIDE, kernels.REMAINDER, kernels.IS_NULL) for w in writer.words),
    )


class Unsaid(Exception):
    """No instructions say what an expression does."""


_COMPARISONS = {"=": kernels.EQUAL, "!=": kernels.DIFFERENT, "<": kernels.LESS, "<=": kernels.AT_MOST,
                ">": kernels.GREATER, ">=": kernels.AT_LEAST}  # fmt: skip
_ARITHMETIC = {"+": kernels.ADD, "-": kernels.SUBTRACT, "*": kernels.MULTIPLY, "div": kernels.DIVIDE,
               "mod": kernels.REMAINDER}  # fmt: skip
_LOGIC = {"and": kernels.AND, "or": kernels.OR}
#: the type of an operand, what it is, and its number
Operand = tuple[str | None, int, int]


@dataclass
class _Writer:
    """Writes guards and SETs as instructions: what, to which number (-1: it must be true), and two operands."""

    registers: Mapping[str, str | None]
    kinds: Mapping[expressions.Expr, str | None]
    free: dict[expressions.Expr, int] = field(default_factory=dict)
    columns: dict[expressions.Expr, int] = field(default_factory=dict)
    constants: list[int] = field(default_factory=list)
    words: list[tuple[int, ...]] = field(default_factory=list)
    temporary: int = 0

    def way(self, t: tree.Transition) -> tuple[int, bool, int, int]:
        """The bits that must be there, whether there are other tests, where its instructions begin and end."""
        bits, first = 0, len(self.words)
        for part in () if t.condition is None else expressions.conjuncts(t.condition):
            if self.kinds.get(part) == BOOL and (part in self.free or len(self.free) < MOST_FREE):
                bits |= 1 << self.free.setdefault(part, len(self.free))
            elif not (isinstance(part, expressions.Literal) and part.value is True):
                self.test(part)
        tests = len(self.words) > first
        for name, new in t.sets:
            self.write(list(self.registers).index(name), self.value(new), self.registers[name])
        return bits, tests, first, len(self.words)

    def test(self, node: expressions.Expr) -> None:
        """A part of a guard must be true."""
        found = self.value(node)
        if isinstance(node, expressions.Binary) and node.op in _COMPARISONS and found[1] == OWN:
            self.to(-1)
        elif found[0] == BOOL:
            self.words.append((kernels.EQUAL, -1, *found[1:], *self.constant(True)[1:]))
        else:
            raise Unsaid

    def write(self, to: int, found: Operand, wanted: str | None) -> None:
        if found[0] is None or found[0] != wanted:
            raise Unsaid
        if found[1] == OWN and found[2] >= len(self.registers):
            self.to(to)
        else:
            self.words.append((kernels.COPY, to, *found[1:], *found[1:]))

    def to(self, number: int) -> None:
        """What was computed last goes there."""
        what, _, *operands = self.words[-1]
        self.words[-1] = (what, number, *operands)

    def value(self, node: expressions.Expr) -> Operand:
        if isinstance(node, expressions.Param) and node.name in self.registers:
            return self.registers[node.name], OWN, list(self.registers).index(node.name)
        if isinstance(node, expressions.Literal) and isinstance(node.value, (bool, int)) and abs(node.value) < 2**63:
            return self.constant(node.value)
        if not _sees(node, self.registers):
            return self.kinds.get(node), COLUMN, self.columns.setdefault(node, len(self.columns))
        match node:
            case expressions.Unary(op="not"):
                return self.made(kernels.EQUAL, BOOL, BOOL, self.value(node.arg), self.constant(False))
            case expressions.Unary():
                return self.made(kernels.SUBTRACT, INT, INT, self.constant(0), self.value(node.arg))
            case expressions.IsNull():
                arg = self.value(node.arg)
                found = self.made(kernels.IS_NULL, arg[0], BOOL, arg, arg)
                return self.made(kernels.EQUAL, BOOL, BOOL, found, self.constant(False)) if node.negated else found
            case expressions.Binary() if node.op in _LOGIC:
                return self.made(_LOGIC[node.op], BOOL, BOOL, self.value(node.left), self.value(node.right))
            case expressions.Binary() if node.op in _ARITHMETIC:
                return self.made(_ARITHMETIC[node.op], INT, INT, self.value(node.left), self.value(node.right))
            case expressions.Binary() if node.op in _COMPARISONS:
                left, right = self.value(node.left), self.value(node.right)
                wanted = left[0] if node.op in ("=", "!=") else INT
                return self.made(_COMPARISONS[node.op], wanted, BOOL, left, right)
        raise Unsaid

    def constant(self, value: int) -> Operand:
        self.constants.append(int(value))
        return BOOL if isinstance(value, bool) else INT, CONSTANT, len(self.constants) - 1

    def made(self, what: int, takes: str | None, gives: str, left: Operand, right: Operand) -> Operand:
        """What an instruction makes of operands of a type."""
        if takes is None or left[0] != takes or right[0] != takes:
            raise Unsaid
        at = len(self.registers) + self.temporary
        self.temporary += 1
        self.words.append((what, at, *left[1:], *right[1:]))
        return gives, OWN, at


def parts(machine: tree.Machine) -> list[expressions.Expr]:
    """The largest parts of guards and SETs that no register is in, and no constants."""
    names = {n for n, _ in machine.registers}
    found: dict[expressions.Expr, None] = {}

    def visit(node: expressions.Expr) -> None:
        if not _sees(node, names):
            if not (isinstance(node, expressions.Literal) and isinstance(node.value, (bool, int))):
                found[node] = None
            return
        for child in node.children:
            visit(child)

    for t in (t for state in machine.states for t in state.transitions):
        # what is joined by AND is looked at on its own
        for part in (*(() if t.condition is None else expressions.conjuncts(t.condition)), *(new for _, new in t.sets)):
            visit(part)
    return list(found)


def _sees(node: expressions.Expr, registers: Container[str]) -> bool:
    """Is there a register in it?"""
    return any(isinstance(n, expressions.Param) and n.name in registers for n in node.walk())


def in_order(state: tree.State) -> list[tree.Transition]:
    """Those with a guard in the order of the text, then OTHERWISE."""
    return sorted(state.transitions, key=lambda t: t.condition is None)
