"""Machines with registers of ints or truth values whose guards and SETs are plain: no stack is needed for them.

A guard is a conjunction of parts without registers (they are looked up: :attr:`Steps.free`) and of comparisons of two
operands; a SET is an operand, or the sum or difference of two.  An operand is a register, a constant, or a column of a
part without registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from occurs.expr import tree
from occurs.operators.process.kernels_machines import COLUMN, CONSTANT, REGISTER
from occurs.operators.process.machinecode import BOOL, INT, TooMuch, in_order
from occurs.operators.process.tree import Machine, Transition

#: more parts of guards than this make too large a table
MOST_FREE = 8

_COMPARE = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_SET = {"+": 1, "-": 2}


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
        elif isinstance(node, tree.Binary) and node.op in _COMPARE and wanted:
            left, right, op = self.operand(node.left), self.operand(node.right), node.op
        else:
            raise TooMuch
        if left[0] != right[0] or (left[0] == BOOL and op not in ("=", "!=")):
            raise TooMuch
        self.conditions.append((_COMPARE[op], *left[1:], *right[1:]))

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


def steps(machine: Machine, registers: Mapping[str, str], kinds: Mapping[tree.Expr, str]) -> Steps:
    """Raises TooMuch.  ``registers``: their types by name; ``kinds``: those of the columns of parts without any."""
    writer = _Writer(registers, kinds)
    number = {s.name: i for i, s in enumerate(machine.states)}
    found = [[(number[t.target], *writer.way(t)) for t in in_order(state)] for state in machine.states]
    codes = 1 << len(writer.free)
    ways: list[tuple[int, ...]] = []
    bounds = np.zeros((2, len(found), codes), np.int64)
    for s, mine in enumerate(found):
        for code in range(codes):
            bounds[0, s, code] = len(ways)
            for target, bits, *rest in mine:
                if bits & code == bits:
                    ways.append((target, *rest))
                    if rest[0] == rest[1]:  # nothing more is asked: none behind it is tried
                        break
            bounds[1, s, code] = len(ways)
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
