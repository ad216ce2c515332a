"""Guards and SETs of machines as code of the stack machine, where registers are ints or truth values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from occurs.expr import tree
from occurs.operators.kernels import stackcode as code
from occurs.operators.process.tree import Machine, State, Transition

INT, BOOL = "int", "bool"

_ARITHMETIC = {"+": code.ADD, "-": code.SUBTRACT, "*": code.MULTIPLY}
_COMPARE = {
    "=": code.EQUAL, "!=": code.UNEQUAL, "<": code.LESS, "<=": code.AT_MOST, ">": code.GREATER, ">=": code.AT_LEAST
}  # fmt: skip


class TooMuch(Exception):
    """An expression that the stack machine has no code for."""


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
