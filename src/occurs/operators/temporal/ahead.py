"""Formulas that look ahead as rows of obligations (temporal-logic.md 5.1); what looks back in them is of the network.

:mod:`occurs.operators.kernels.obligations` says what a row is.  A comparison of values of two states has one side at
each of them: what is remembered of a state is a column of that state, in a slot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from occurs.expr.tree import DurationLiteral, Expr, Literal
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.kernels import obligations as k
from occurs.operators.temporal import tree
from occurs.operators.temporal.network import OPERATORS, Builder, Compared, Network, Residual
from occurs.operators.temporal.times import REACH, linear
from occurs.operators.temporal.tree import FLIPPED, Generic, Global, Time, free, lowered
from occurs.operators.temporal.vectorising import STATES, Formulas, Scope, Unsuited, forward, plain, sort, temporal

#: no age is as great
_ENDLESS = 2**63 - 1
#: slots that an obligation may have: two bits of a number are about each
_MOST_SLOTS = 30
#: parts of a formula that has rows: `p unless q` doubles p, so depth makes more of them than anybody writes
_MOST_PARTS = 1_000
_TRUE = tree.Truth(True)


def network_ahead(formula: tree.Formula, kind: TimeKind) -> Network:
    """The network of a formula that looks ahead.  :class:`Unsuited` says why it has none."""
    plain_formula = lowered(formula)
    if _size(plain_formula, {}) > _MOST_PARTS:
        raise Unsuited(f"more than {_MOST_PARTS} parts")
    rows = Rows(Builder(), kind)
    rows.row(plain_formula, True, {}, 0)
    return rows.network()


def _size(node: Expr, known: dict[int, int]) -> int:
    """The number of parts of a formula, those that stand at several places counted at each.  ``known``: by identity,
    as a formula in which many parts are shared has too many places to visit."""
    if id(node) not in known:
        known[id(node)] = 1 + sum(_size(child, known) for child in node.children)
    return known[id(node)]


@dataclass(frozen=True)
class Remembered:
    """What a variable has: a ``term`` of the state ``moment``, -1: of any.  ``by``: the assignment that it is of."""

    term: Expr
    moment: int
    by: int


#: global variables
Known = Mapping[str, Remembered]


@dataclass
class Rows:
    """The rows of one formula, operands first.

    ``slots``: (where its value comes from, number of the assignment).  ``assigned``: the row of each assignment.
    """

    b: Builder
    kind: TimeKind
    rows: list[list[int]] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)
    slots: dict[tuple[int, int], int] = field(default_factory=dict)
    assigned: list[int] = field(default_factory=list)
    moments: int = 0

    def add(self, op: int, begin: int | None = None, **columns: int) -> int:
        """A row; ``begin``: the first row below it."""
        row = [0] * k.ROW
        row[k.OP], row[k.BEGIN] = op, len(self.rows) if begin is None else begin
        for name, value in columns.items():
            row[getattr(k, name.upper())] = value
        self.rows.append(row)
        return len(self.rows) - 1

    def network(self) -> Network:
        """The whole; the last row is that of the formula."""
        rows = np.array(self.rows, np.int64).reshape(-1, k.ROW)
        slots = np.array([(source, self.assigned[by]) for source, by in self.slots], np.int64).reshape(-1, 2)
        if len(slots) > _MOST_SLOTS:
            raise Unsuited(f"more than {_MOST_SLOTS} remembered values")
        free_, directions = self._free(rows, slots)
        told = np.array(self.told, np.int64).reshape(-1, 2)
        made = Residual(rows, told, slots, free_, directions)
        self.b.width = max(self.b.width, made.width)
        return self.b.network(-1, residual=made)

    def _free(self, rows: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which slots an obligation of a row has, and which of their values serve for others."""
        uses = np.zeros((len(rows), len(slots)), np.bool_)
        signs = np.zeros((len(rows), len(slots)), np.int64)
        mixed = np.zeros((len(rows), len(slots)), np.bool_)
        for r, row in enumerate(rows):
            sign = -1 if row[k.NEGATED] else 1
            if row[k.OP] in (k.REMEMBERED, k.AGED) and row[k.A] >= 0:
                uses[r, row[k.A]] = True
                # `time <= t + c` is easier with a greater t
                rising, falling = row[k.LOW] > 0, row[k.HIGH] < _ENDLESS
                if row[k.OP] == k.REMEMBERED or rising == falling:
                    mixed[r, row[k.A]] = True
                else:
                    signs[r, row[k.A]] = sign if falling else -sign
            elif row[k.OP] == k.COMPARED:
                for side, of in ((row[k.LEFT], -1), (row[k.RIGHT], 1)):
                    if side < 0:
                        uses[r, -1 - side] = True
                        way = {OPERATORS["<"]: 1, OPERATORS["<="]: 1, OPERATORS[">"]: -1, OPERATORS[">="]: -1}
                        signs[r, -1 - side] = of * way.get(int(row[k.COMPARE]), 0) * sign
                        mixed[r, -1 - side] = int(row[k.COMPARE]) not in way
        found, directions = np.zeros_like(uses), np.zeros_like(signs)
        for r, row in enumerate(rows):
            below = slice(row[k.BEGIN], r + 1)
            inside = (slots[:, 1] >= row[k.BEGIN]) & (slots[:, 1] <= r)
            found[r] = uses[below].any(axis=0) & ~inside
            up, down = (signs[below] > 0).any(axis=0), (signs[below] < 0).any(axis=0)
            known = (up != down) & ~mixed[below].any(axis=0)
            negative = np.isin(rows[below, k.OP], (k.AVOIDED, k.NEXT_OR_LAST)).any()
            if found[r].any() and known[found[r]].all() and not negative:
                rows[r, k.SERVES] = 1
                directions[r] = np.where(found[r], np.where(up, 1, -1), 0)
        return found, directions

    # --- formulas -----------------------------------------------------------------------------------------------------

    def row(self, f: tree.Formula, hold: bool, known: Known, now: int) -> int:
        """The row of a formula that is to hold, or not to hold, at the state ``now``."""
        begin = len(self.rows)
        match f:
            case tree.Not():
                return self.row(f.operand, not hold, known, now)
            case tree.And() | tree.Or() if forward(f) or free(f) & known.keys() or self.timed(f):
                op = k.BOTH if isinstance(f, tree.And) is hold else k.EITHER
                found = self.row(f.operands[0], hold, known, now)
                for part in f.operands[1:]:
                    found = self.add(op, begin, a=found, b=self.row(part, hold, known, now))
                return found
            case tree.Assign() if forward(f) or free(f) & known.keys() or self.timed(f):
                return self.assign(f, hold, known, now)
            case tree.Nexttime():
                inner = self.row(f.operand, hold, known, self.later())
                told = self.telling(f.operand, known)
                return self.add(k.NEXT if hold else k.NEXT_OR_LAST, begin, a=inner, **told)
            case tree.Until():
                later = self.later()
                left = self.row(f.left, hold, known, later)
                right = self.row(f.right, hold, known, later)
                told = self.telling(f.right, known)
                if not hold:
                    told |= self.telling(f.right, known, closing=True)
                return self.add(k.AWAITED if hold else k.AVOIDED, begin, a=right, b=left, **told)
        if forward(f):
            raise Unsuited("what looks forward inside what does not")
        return self.atom(f, hold, known, now)

    def later(self) -> int:
        """The number of a further state."""
        self.moments += 1
        return self.moments

    def timed(self, f: tree.Formula) -> bool:
        """Does a comparison of times take part?"""
        return any(isinstance(n, tree.Compare) and any(isinstance(t, Time) for t in n.walk()) for n in f.walk())

    def assign(self, f: tree.Assign, hold: bool, known: Known, now: int) -> int:
        begin, by = len(self.rows), len(self.assigned)
        if temporal(f.term):
            raise Unsuited("an aggregate is remembered")
        self.assigned.append(-1)
        moment = self.moment(f.term, known, now)
        before = [known[n].by for n in free(f.term)]
        origin = by if moment in (now, -1) else max(before)
        value = Remembered(self.filled(f.term, known), moment, origin)
        inner = self.row(f.operand, hold, {**known, f.variable.text: value}, now)
        self.assigned[by] = self.add(k.SAME, begin, a=inner)
        return self.assigned[by]

    def moment(self, node: Expr, known: Known, now: int) -> int:
        """The state that a term, or a formula without operators, is of; -1: of any."""
        found = {known[n].moment for n in free(node)}
        if any(isinstance(n, STATES) or temporal(n) for n in node.walk()):
            found.add(now)
        found -= {-1}
        if len(found) > 1:
            raise Unsuited("a term of remembered and of present values")
        return next(iter(found), -1)

    def filled(self, node: Expr, known: Known) -> Expr:
        return Scope({n: known[n].term for n in free(node)}).filled(node)

    def by(self, node: Expr, known: Known) -> int:
        """The last assignment that something is of."""
        return max(known[n].by for n in free(node) if known[n].moment >= 0)

    # --- what is of one state, or of two ------------------------------------------------------------------------------

    def atom(self, f: tree.Formula, hold: bool, known: Known, now: int) -> int:
        negated = int(not hold)
        if isinstance(f, tree.Compare):
            age = self.age(f, known, now)
            if age is not None:
                return self.add(k.AGED, negated=negated ^ (f.op == "!="), **age)
            sides = [self.moment(side, known, now) for side in (f.left, f.right)]
            if sides[0] != sides[1] and -1 not in sides:
                return self.compared(f, sides, negated, known, now)
        moment = self.moment(f, known, now)
        if moment in (-1, now):
            scope = Scope({n: known[n].term for n in free(f)})
            node = Formulas(self.b, self.kind).past(f, scope)
            return self.add(k.NODE, a=node, negated=negated)
        node = self.b.atom(plain(self.filled(f, known)))
        return self.add(k.REMEMBERED, a=self.slot(-2 - node, self.by(f, known)), negated=negated)

    def compared(self, f: tree.Compare, sides: list[int], negated: int, known: Known, now: int) -> int:
        """Of terms of two states."""
        terms = [plain(self.filled(side, known)) for side in (f.left, f.right)]
        kinds = [sort(t, self.kind) for t in terms]
        if not all(t in (Type.INT, Type.FLOAT, Type.TIMESTAMP, Type.BOOL) for t in kinds):
            raise Unsuited("remembered text")
        if (Type.BOOL in kinds and kinds[0] != kinds[1]) or any(isinstance(n, Time) for n in _leaves(f)):
            raise Unsuited("a time at which something ends")
        columns = self.b.columns(Compared(terms[0], f.op, terms[1]))
        left, right = (
            column if moment == now else -1 - self.slot(column, self.by(side, known))
            for column, moment, side in zip(columns, sides, (f.left, f.right), strict=True)
        )
        return self.add(k.COMPARED, compare=OPERATORS[f.op], left=left, right=right, negated=negated)

    def slot(self, source: int, by: int) -> int:
        return self.slots.setdefault((source, by), len(self.slots))

    def age(self, f: tree.Compare, known: Known, now: int) -> dict[str, int] | None:
        """A comparison of the time now with that of a state, or with a fixed one; None if it is another one."""
        times = [n for n in _leaves(f) if isinstance(n, Time)]
        names = free(f)
        clocks = {n for n in names if known[n].term == Time() and known[n].moment >= 0}
        if not times:
            return None
        if names != clocks or any(isinstance(n, Generic) for n in _leaves(f)):
            if all(isinstance(n, Time | Literal | DurationLiteral | Generic | Global) for n in _leaves(f)):
                raise Unsuited("a time at which something ends")
            return None
        left, right = linear(f.left, names, self.kind), linear(f.right, names, self.kind)
        if left is None or right is None:
            return None
        time, clock, rest = (a - b for a, b in zip(left, right, strict=True))
        moments = {known[n].moment for n in names}
        if time == 0 and not clock:
            return None
        if moments == {now}:
            return None
        if len(moments) > 1 or clock not in (-time, 0) or bool(clock) != bool(names):
            raise Unsuited("a time at which something ends")
        slot = self.slot(k.OF_TIME, self.by(f, known)) if names else -1
        return {"a": slot, **_ages(f.op if time > 0 else FLIPPED[f.op], -rest / time)}

    # --- what is told of all later times (4.3, *Closed*) --------------------------------------------------------------

    def telling(self, f: tree.Formula, known: Known, closing: bool = False) -> dict[str, int]:
        """What holds at all later times as far as comparisons of times tell; ``closing``: nothing of what looks
        ahead."""
        begin = len(self.told)
        if not self._tell(f, known, closing):
            del self.told[begin:]
        names = ("closed", "closed_end") if closing else ("told", "told_end")
        return dict(zip(names, (begin, len(self.told)), strict=True))

    def _tell(self, f: tree.Formula, known: Known, closing: bool) -> bool:
        """Whether anything is told."""
        match f:
            case tree.Until() if not closing:
                return self._tell(f.right, known, closing)
            case tree.Nexttime() if not closing:
                found = self._tell(f.operand, known, closing)
                self.told.append((k.TOLD_NEXT, 0))
                return found
            case tree.Assign() if not closing:
                return self._tell(f.operand, {n: v for n, v in known.items() if n != f.variable.text}, closing)
            case tree.Not():
                found = self._tell(f.operand, known, closing)
                self.told.append((k.TOLD_NOT, 0))
                return found
            case tree.And() | tree.Or():
                found = self._tell(f.operands[0], known, closing)
                for part in f.operands[1:]:
                    found = self._tell(part, known, closing) or found
                    self.told.append((k.TOLD_AND if isinstance(f, tree.And) else k.TOLD_OR, 0))
                return found
            case tree.Compare() if free(f) <= known.keys():
                age = self.age(f, known, -2)
                if age is not None:
                    self.told.append((k.TOLD_AGE, self.aged(age)))
                    if f.op == "!=":
                        self.told.append((k.TOLD_NOT, 0))
                    return True
        self.told.append((k.TOLD_NOTHING, 0))
        return False

    def aged(self, age: Mapping[str, int]) -> int:
        """The last row with these ages."""
        wanted = {getattr(k, name.upper()): value for name, value in age.items()}
        return next(
            r
            for r in range(len(self.rows) - 1, -1, -1)
            if self.rows[r][k.OP] == k.AGED and all(self.rows[r][c] == v for c, v in wanted.items())
        )


def _leaves(f: Expr) -> Iterator[Expr]:
    return (n for n in f.walk() if not n.children)


def _ages(op: str, limit: Fraction) -> dict[str, int]:
    """The ages of whole ticks that are ``op limit`` (!=: those that are not), from which on none, or every one is."""
    low, high = math.ceil(limit), math.floor(limit)
    if abs(limit) > REACH:
        raise Unsuited("a duration beyond 64 bits of ticks")
    if op in ("<=", "<"):
        return {"low": -_ENDLESS, "high": high if op == "<=" else low - 1, "close": low, "opened": _ENDLESS}
    if op in (">=", ">"):
        return {"low": low if op == ">=" else high + 1, "high": _ENDLESS, "close": _ENDLESS, "opened": low}
    return {"low": low, "high": high, "close": low, "opened": _ENDLESS}
