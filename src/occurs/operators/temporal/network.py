"""Networks of temporal operators of the past, and how they are built (temporal-logic.md 5.4).

A network says at every state of an instance whether a trigger is hit.  What its nodes are is in
:mod:`occurs.operators.kernels.temporal`; equal nodes are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from occurs.expr.tree import Expr, _Leaf
from occurs.operators.kernels import temporal as k
from occurs.operators.kernels.temporal import AT_LEAST, AT_MOST, EQUAL, FLOATS, LESS, MORE, UNEQUAL
from occurs.operators.temporal.times import FOREVER, Ages

OPERATORS = {"=": EQUAL, "!=": UNEQUAL, "<": LESS, "<=": AT_MOST, ">": MORE, ">=": AT_LEAST}
_AGGREGATES = {"sum": 0, "avg": 1, "count": 2, "min": 3, "max": 4}


@dataclass(frozen=True)
class Before(_Leaf):
    """A leaf as it was at the state before; null at the first state of an instance."""

    leaf: Expr


@dataclass(frozen=True)
class Compared:
    """``left op right`` of columns of numbers: ``left`` of now (None: an aggregate), ``right`` of then or now.

    ``whole``: whether the aggregate is an int for sure (None: it is of the type of its values, the column ``values``).
    """

    left: Expr | None
    op: str
    right: Expr
    whole: bool | None = None
    values: Expr | None = None


@dataclass(frozen=True)
class Network:
    """A network.

    ``program``, ``pairs``, ``root``, ``exports``: as the kernel has them.  ``atoms``: conditions, one column each.
    ``numbers``: columns of int64 keys: (number of a comparison, side 0 or 1), or (-1, i) for the values ``plain[i]``.
    ``queues``, ``width``: how many queues of so many numbers.  ``doubt``: as the kernel has it.
    """

    program: np.ndarray
    pairs: np.ndarray
    root: int
    exports: tuple[int, ...]
    atoms: tuple[Expr, ...]
    compared: tuple[Compared, ...]
    plain: tuple[Expr, ...]
    numbers: tuple[tuple[int, int], ...]
    queues: int
    width: int
    doubt: int = -1

    @cached_property
    def before(self) -> tuple[Expr, ...]:
        """What is asked for as it was at the state before."""
        terms = [*self.atoms, *self.plain]
        for c in self.compared:
            terms += [c.right] if c.left is None else [c.left, c.right]
        found: dict[Expr, None] = {}
        waiting = [n for term in terms for n in term.walk() if isinstance(n, Before)]
        for node in waiting:
            found[node.leaf] = None
            if isinstance(node.leaf, Before):
                waiting.append(node.leaf)
        return tuple(found)

    def doubted(self) -> Network:
        """The same with two nodes for each: 2k is true where node k is for sure, 2k + 1 where it may be.

        The atoms that may hold follow those that hold for sure.
        """
        rows = []
        for row in self.program.tolist():
            for upper in (0, 1):
                new = list(row)
                op = row[k.OP]
                if op == k.ATOM:
                    new[k.A] += upper * len(self.atoms)
                elif op in (k.NOT, k.UNBROKEN):
                    new[k.A] = 2 * row[k.A] + 1 - upper
                elif op not in (k.CONSTANT, k.FIRST, k.AGGREGATE) and row[k.A] >= 0:
                    new[k.A] = 2 * row[k.A] + upper
                if op >= k.AND and row[k.B] >= 0:
                    new[k.B] = 2 * row[k.B] + upper
                if row[k.CLOCK] < -1:
                    new[k.CLOCK] = -2 - (2 * (-2 - row[k.CLOCK]) + upper)
                new[k.QUEUE] = 2 * row[k.QUEUE] + upper * _QUEUES.get(op, 0)
                rows.append(new)
        program = np.array(rows, np.int64).reshape(-1, k.WIDTH)
        exports = tuple(2 * e for e in self.exports)
        return replace(
            self, program=program, root=2 * self.root, exports=exports, queues=2 * self.queues, doubt=2 * self.root + 1
        )

    def queue_sources(self) -> np.ndarray:
        """For every queue of :meth:`doubted` the queue that it is made of."""
        found = np.zeros(2 * self.queues, np.int64)
        for row in self.program:
            n, first = _QUEUES.get(int(row[k.OP]), 0), int(row[k.QUEUE])
            for i in range(n):
                found[2 * first + i] = found[2 * first + n + i] = first + i
        return found


#: how many queues nodes have
_QUEUES = {k.WITHIN: 1, k.UNBROKEN: 1, k.NUMBER: 2, k.SCAN: 1, k.AGGREGATE: 2}


@dataclass
class Builder:
    """Builds a network, node by node; a node is its number."""

    rows: list[list[int]] = field(default_factory=list)
    made: dict[tuple[int, ...], int] = field(default_factory=dict)
    atoms: dict[Expr, int] = field(default_factory=dict)
    compared: dict[Compared, int] = field(default_factory=dict)
    plain: dict[Expr, int] = field(default_factory=dict)
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    pairs: list[tuple[int, int, int]] = field(default_factory=list)
    queues: int = 0
    width: int = 1

    def node(self, op: int, a: int = 0, b: int = 0, **columns: int) -> int:
        """A node with its operands and other columns of a program (lower case)."""
        row = [op, a, b, *([0] * (k.WIDTH - 4)), -1]
        for name, value in columns.items():
            row[getattr(k, name.upper())] = value
        found = self.made.get(tuple(row))
        if found is None:
            found = self.made[tuple(row)] = len(self.rows)
            row[k.QUEUE] = self.queues
            self.queues += _QUEUES.get(op, 0)
            self.rows.append(row)
        return found

    # --- truth ----------------------------------------------------------------------------------------------------

    def constant(self, value: bool) -> int:
        return self.node(k.CONSTANT, int(value))

    def known(self, node: int) -> bool | None:
        """The value of a constant."""
        return bool(self.rows[node][k.A]) if self.rows[node][k.OP] == k.CONSTANT else None

    def atom(self, condition: Expr) -> int:
        return self.node(k.ATOM, self.atoms.setdefault(condition, len(self.atoms)))

    def first(self) -> int:
        return self.node(k.FIRST)

    def inverted(self, node: int) -> int:
        known = self.known(node)
        if known is not None:
            return self.constant(not known)
        return self.rows[node][k.A] if self.rows[node][k.OP] == k.NOT else self.node(k.NOT, node)

    def both(self, nodes: Sequence[int]) -> int:
        return self._chain(k.AND, nodes, True)

    def either(self, nodes: Sequence[int]) -> int:
        return self._chain(k.OR, nodes, False)

    def _chain(self, op: int, nodes: Sequence[int], neutral: bool) -> int:
        found: int | None = None
        for node in dict.fromkeys(nodes):
            known = self.known(node)
            if known is (not neutral):
                return node
            if known is None:
                found = node if found is None else self.node(op, found, node)
        return self.constant(neutral) if found is None else found

    # --- operators ------------------------------------------------------------------------------------------------

    def last(self, node: int) -> int:
        """What was at the state before; not at the first."""
        if self.known(node) is not None:
            return self.inverted(self.first()) if self.known(node) else node
        return self.node(k.LAST, node)

    def since(self, holds: int, begins: int, ages: Ages, *, after: bool = False, clock: int = -1) -> int:
        """``holds since begins``, at an age in ``ages``; with ``after`` from where it begins up to the state before."""
        if self.known(begins) is False or ages.low > ages.high:
            return self.constant(False)
        always = self.known(holds) is True and ages == Ages()
        if always and self.rows[begins][k.OP] == k.FIRST:
            return self.constant(True)
        more = {"after": int(after), "clock": clock}
        if ages.low <= 0 and ages.high == FOREVER:
            return self.node(k.HELD, holds, begins, **more)
        if ages.low <= 0:
            return self.node(k.LATEST, holds, begins, high=ages.high, **more)
        if ages.high == FOREVER:
            return self.node(k.EARLIEST, holds, begins, low=ages.low, **more)
        return self.node(k.WITHIN, holds, begins, low=ages.low, high=ages.high, **more)

    def latest(self, holds: int, begins: int, ages: Ages, clock: int = -1) -> int:
        """As :meth:`since` with ``after``; it knows when the last was that began, for those whose ``clock`` it is: -2
        minus its number."""
        return self.node(k.LATEST, holds, begins, high=ages.high, after=1, clock=clock)

    def unbroken(self, breaks: int, begins: int, ages: Ages, clock: int = -1) -> int:
        """Some state where it begins, and nothing has broken it since, as long as its age is in ``ages``."""
        if ages == Ages() and clock < 0:
            holds = self.inverted(breaks)
            return self.since(holds, self.both([begins, holds]), ages)
        columns = {"low": ages.low, "high": ages.high, "close": ages.close, "clock": clock}
        return self.node(k.UNBROKEN, breaks, begins, **columns)

    def remembered(
        self, holds: int, begins: int, ages: Ages, compared: Sequence[Compared], *, after: bool, clock: int = -1
    ) -> int:
        """As :meth:`since`, and what is now compares with what was then."""
        if self.known(begins) is False or ages.low > ages.high:
            return self.constant(False)
        more = {"low": ages.low, "high": ages.high, "after": int(after), "clock": clock}
        if len(compared) == 1:
            left, right = self.columns(compared[0])
            op = OPERATORS[compared[0].op]
            return self.node(k.NUMBER, holds, begins, compare=op, left=left, right=right, **more)
        found = tuple((*self.columns(c), OPERATORS[c.op]) for c in compared)
        self.width = max(self.width, len(found))
        at = next((i for i in range(len(self.pairs)) if tuple(self.pairs[i : i + len(found)]) == found), None)
        if at is None:
            at = len(self.pairs)
            self.pairs += found
        return self.node(k.SCAN, holds, begins, left=at, right=len(found), **more)

    def between(self, compared: Compared, aggregate: int = -1) -> int:
        """A comparison of now, perhaps of an aggregate."""
        left, right = self.columns(compared)
        return self.node(k.BETWEEN, aggregate, compare=OPERATORS[compared.op], left=left, right=right)

    def aggregate(self, op: str, values: Expr, floats: bool, begins: int, age: int) -> int:
        """An aggregate since a node was last true, or (-1) of states up to an ``age``."""
        at = self.plain.setdefault(values, len(self.plain))
        number = self.numbers.setdefault((-1, at), len(self.numbers))
        kind = _AGGREGATES[op] + (FLOATS if floats else 0)
        return self.node(k.AGGREGATE, kind, begins, high=age, left=number)

    def columns(self, compared: Compared) -> tuple[int, int]:
        """The numbers of the columns of keys of a comparison."""
        at = self.compared.setdefault(compared, len(self.compared))
        left = -1 if compared.left is None else self.numbers.setdefault((at, 0), len(self.numbers))
        return left, self.numbers.setdefault((at, 1), len(self.numbers))

    def network(self, root: int, exports: Sequence[int] = ()) -> Network:
        """What has been built; ``root`` -1: only aggregates are wanted."""
        return Network(
            np.array(self.rows, np.int64).reshape(-1, k.WIDTH),
            np.array(self.pairs, np.int64).reshape(-1, 3),
            root,
            tuple(exports),
            tuple(self.atoms),
            tuple(self.compared),
            tuple(self.plain),
            tuple(self.numbers),
            self.queues,
            self.width,
        )
