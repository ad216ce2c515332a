"""Machines whose registers are ints or truth values, as tables of plain steps or as code of the stack machine.

Steps need no stack: a guard is a conjunction of parts without registers (they are looked up: :attr:`Steps.free`) and of
comparisons of two operands; a SET is an operand, or the sum or difference of two.  An operand is a register, a
constant, or a column of a part without registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from occurs.expr import tree
from occurs.operators.kernels import stackcode as code
from occurs.operators.process.kernels_machines import COLUMN, CONSTANT, REGISTER
from occurs.operators.process.tree import Machine, State, Transition


class TooMuch(Exception):
    """An expression that the stack machine has no code for."""


#: more parts of guards than this make too large a table
MOST_FREE = 8


@dataclass(frozen=True)
class Steps:
    """A machine as tables: see :func:`occurs.operators.process.kernels_machines.steps`.

    ``free``: parts of guards, one bit each; ``first``, ``last``: by state and bits the rows of ``ways`` to be tried.
    ``columns``: parts that are operands.
    """

    free: tuple[tree.Expr, ...]
    first: np.ndarray
    last: np.ndarray
    ways: np.ndarray
    conditions: np.ndarray
    sets: np.ndarray
    constants: np.ndarray
    columns: tuple[tree.Expr, ...]


def steps(machine: Machine, registers: Mapping[str, str], kinds: Mapping[tree.Expr, str]) -> Steps:
    """Raises TooMuch.  ``registers``: their types by name; ``kinds``: those of the columns of parts without any."""
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
    kinds: Mapping[tree.Expr, str]
    free: dict[tree.Expr, int] = field(default_factory=dict)
    columns: dict[tree.Expr, int] = field(default_factory=dict)
    constants: list[int] = field(default_factory=list)
    conditions: list[tuple[int, ...]] = field(default_factory=list)
    sets: list[tuple[int, ...]] = field(default_factory=list)

    def sees(self, node: tree.Expr) -> bool:
        """Is there a register in it?"""
        return any(isinstance(n, tree.Param) and n.name in self.registers for n in node.walk())

    def operand(self, node: tree.Expr) -> tuple[str, int, int]:
        """Its type, what it is, and its number."""
        if isinstance(node, tree.Param) and node.name in self.registers:
            return self.registers[node.name], REGISTER, list(self.registers).index(node.name)
        if isinstance(node, tree.Literal) and isinstance(node.value, (bool, int)) and abs(node.value) < 2**63:
            self.constants.append(int(node.value))
            return BOOL if isinstance(node.value, bool) else INT, CONSTANT, len(self.constants) - 1
        kind = self.kinds.get(node)
        if self.sees(node) or kind is None:
            raise TooMuch
        return kind, COLUMN, self.columns.setdefault(node, len(self.columns))

    def condition(self, node: tree.Expr) -> None:
        """A part of a guard that sees registers."""
        wanted = 1
        while isinstance(node, tree.Unary) and node.op == "not":
            node, wanted = node.arg, 1 - wanted
        if isinstance(node, tree.Param):
            self.constants.append(wanted)
            left, right, op = self.operand(node), (BOOL, CONSTANT, len(self.constants) - 1), "="
        elif isinstance(node, tree.Binary) and node.op in _COMPARISONS and wanted:
            left, right, op = self.operand(node.left), self.operand(node.right), node.op
        else:
            raise TooMuch
        if left[0] != right[0] or (left[0] == BOOL and op not in ("=", "!=")):
            raise TooMuch
        self.conditions.append((_COMPARISONS[op], *left[1:], *right[1:]))

    def set(self, name: str, node: tree.Expr) -> None:
        at = list(self.registers).index(name)
        wanted = self.registers[name]
        if self.sees(node) and isinstance(node, tree.Binary) and node.op in _SET:
            left, right = self.operand(node.left), self.operand(node.right)
            if not left[0] == right[0] == wanted == INT:
                raise TooMuch
            self.sets.append((at, _SET[node.op], *left[1:], *right[1:]))
            return
        kind, what, number = self.operand(node)
        if kind != wanted:
            raise TooMuch
        self.sets.append((at, 0, what, number, what, number))

    def way(self, t: Transition) -> tuple[int, int, int, int, int]:
        """The bits that must be there, where its conditions and its SETs begin and end."""
        bits, begin, first = 0, len(self.conditions), len(self.sets)
        for part in () if t.condition is None else tree.conjuncts(t.condition):
            if self.sees(part):
                self.condition(part)
            elif self.kinds.get(part) == BOOL:
                bits |= 1 << self.free.setdefault(part, len(self.free))
            elif not (isinstance(part, tree.Literal) and part.value is True):
                raise TooMuch
        for name, new in t.sets:
            self.set(name, new)
        if len(self.free) > MOST_FREE:
            raise TooMuch
        return bits, begin, len(self.conditions), first, len(self.sets)


# --- As code of the stack machine -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A machine as code: see :func:`occurs.operators.process.kernels_machines.run`."""

    bounds: np.ndarray
    rows: np.ndarray
    sets: np.ndarray
    words: np.ndarray
    ints: np.ndarray
    columns: tuple[tree.Expr, ...]


def compiled(machine: Machine, registers: Mapping[str, str], kinds: Mapping[tree.Expr, str]) -> Program:
    """Raises TooMuch."""
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
                sets.append((*coder.program(new, registers[name]), names.index(name)))
            rows.append((begin, end, states[t.target], at, len(sets), first_))
        bounds.append((first, len(rows)))
    return Program(
        np.array(bounds, np.int64).reshape(-1, 2),
        np.array(rows, np.int64).reshape(-1, 6),
        np.array(sets, np.int64).reshape(-1, 3),
        np.array(coder.words, np.int64).reshape(-1, 3),
        np.array(coder.ints, np.int64),
        tuple(coder.columns),
    )


_ARITHMETIC = {"+": code.ADD, "-": code.SUBTRACT, "*": code.MULTIPLY}
_COMPARE = {
    "=": code.EQUAL, "!=": code.UNEQUAL, "<": code.LESS, "<=": code.AT_MOST, ">": code.GREATER, ">=": code.AT_LEAST
}  # fmt: skip


@dataclass
class Coder:
    """Writes code.  ``registers``: their types by name; ``kinds``: those of the columns of parts that have none.

    A part without registers is a column of its own (``columns``, in the order in which they are asked for).
    """

    registers: Mapping[str, str]
    kinds: Mapping[tree.Expr, str]
    words: list[tuple[int, int, int]] = field(default_factory=list)
    ints: list[int] = field(default_factory=list)
    columns: dict[tree.Expr, int] = field(default_factory=dict)

    def program(self, node: tree.Expr, wanted: str) -> tuple[int, int]:
        """Where its code begins and ends.  Raises TooMuch."""
        begin = len(self.words)
        if self._write(node) != wanted:
            raise TooMuch
        if len(self.words) - begin >= code.STACK:  # as deep as it is long, at most
            raise TooMuch
        return begin, len(self.words)

    def _write(self, node: tree.Expr) -> str:
        names = list(self.registers)
        if not any(isinstance(n, tree.Param) and n.name in self.registers for n in node.walk()):
            return self._own(node)
        match node:
            case tree.Param():
                self.words.append((code.REF, 0, names.index(node.name)))
                return self.registers[node.name]
            case tree.Unary(op="not"):
                self._must(node.arg, BOOL)
                self.words.append((code.NOT, 0, 0))
                return BOOL
            case tree.Unary():
                self._must(node.arg, INT)
                self.words.append((code.NEGATE, 0, 0))
                return INT
            case tree.Binary(op="and" | "or"):
                self._must(node.left, BOOL)
                self._must(node.right, BOOL)
                self.words.append((code.AND if node.op == "and" else code.OR, 0, 0))
                return BOOL
            case tree.Binary() if node.op in _ARITHMETIC:
                self._must(node.left, INT)
                self._must(node.right, INT)
                self.words.append((_ARITHMETIC[node.op], 0, 0))
                return INT
            case tree.Binary() if node.op in _COMPARE:
                kind = self._write(node.left)
                if self._write(node.right) != kind or (kind == BOOL and node.op not in ("=", "!=")):
                    raise TooMuch
                self.words.append((_COMPARE[node.op], 0, 0))
                return BOOL
            case tree.IsNull():
                self._write(node.arg)
                self.words.append((code.IS_NULL, 0, 0))
                if node.negated:
                    self.words.append((code.NOT, 0, 0))
                return BOOL
        raise TooMuch

    def column(self, node: tree.Expr) -> int:
        """The column of a part that has no registers, of truth values.  Raises TooMuch."""
        if self.kinds.get(node) != BOOL:
            raise TooMuch
        return len(self.registers) + self.columns.setdefault(node, len(self.columns))

    def guard(self, node: tree.Expr | None) -> tuple[int, int, int]:
        """Of a guard: the column without which it is not true (-1: none), where the rest of its code begins and ends
        (-1: there is none).  Raises TooMuch."""
        if node is None:
            return -1, -1, -1
        names = set(self.registers)
        free = [p for p in tree.conjuncts(node) if not _names(p) & names and not isinstance(p, tree.Literal)]
        first = self.column(free[0]) if free else -1
        rest = tree.conjunction([p for p in tree.conjuncts(node) if not free or p is not free[0]])
        return (first, -1, -1) if rest is None else (first, *self.program(rest, BOOL))

    def _must(self, node: tree.Expr, kind: str) -> None:
        if self._write(node) != kind:
            raise TooMuch

    def _own(self, node: tree.Expr) -> str:
        """A part without registers: a constant, or a column."""
        if isinstance(node, tree.Literal) and isinstance(node.value, (bool, int)):
            if not -(2**63) <= node.value < 2**63:
                raise TooMuch
            self.words.append((code.INT, len(self.ints), 0))
            self.ints.append(int(node.value))
            return BOOL if isinstance(node.value, bool) else INT
        kind = self.kinds.get(node)
        if kind is None:
            raise TooMuch
        at = self.columns.setdefault(node, len(self.columns))
        # columns stand behind the registers
        self.words.append((code.REF, -1, len(self.registers) + at))
        return kind


def parts(machine: Machine) -> list[tree.Expr]:
    """The largest parts of guards and SETs that no register is in, and no constants."""
    names = {n for n, _ in machine.registers}
    found: dict[tree.Expr, None] = {}

    def whole(node: tree.Expr) -> None:
        """The parts of a guard: what is joined by AND is looked at on its own."""
        for part in tree.conjuncts(node):
            visit(part)

    def visit(node: tree.Expr) -> None:
        if not any(isinstance(n, tree.Param) and n.name in names for n in node.walk()):
            if not (isinstance(node, tree.Literal) and isinstance(node.value, (bool, int))):
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


def _names(node: tree.Expr) -> set[str]:
    return {n.name for n in node.walk() if isinstance(n, tree.Param)}


def in_order(state: State) -> list[Transition]:
    """Those with a guard in the order of the text, then OTHERWISE."""
    return sorted(state.transitions, key=lambda t: t.condition is None)


INT, BOOL = "int", "bool"
