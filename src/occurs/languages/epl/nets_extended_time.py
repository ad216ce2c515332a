"""The clock of extended nets: which row a statement is at, which instant all are at, and what is due.

See :mod:`occurs.languages.epl.nets_extended`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.expr.tree import Binary
from occurs.languages.epl import syntax
from occurs.languages.epl.nets_build import Sheet, number
from occurs.languages.epl.nets_core import Common, plus_one
from occurs.languages.epl.nets_terms import Unsupported
from occurs.languages.epl.nets_types import INT
from occurs.model.time import TimeKind
from occurs.nets.net import P_HN, P_MAX, Role
from occurs.nets.terms import TupleTerm

#: priorities: what is due comes before rows, statements take a row one behind the other
P_TICK, P_ADMIT = 4000, 5000


@dataclass
class Clocks:
    """The places that all statements share: numbers for instances, the instant, new ends of ``within``."""

    shared: Common
    kind: TimeKind
    start: int
    timed: bool
    ids: str = field(init=False)
    time: str = field(init=False)
    new: str = field(init=False)

    def __post_init__(self) -> None:
        b = self.shared.builder
        self.sheet = b.sheet("Rows_and_time", self.shared.f)
        self.ids = b.place("Ids", INT, Role.SEQ, [1])
        self.time = b.place("Time", INT, Role.CLOCK, [self.start])
        self.new = b.place("DueNew", INT)
        b.shared |= {self.ids, self.time}
        if self.timed:
            b.shared.add(self.new)
            self._due(self.sheet)

    def ticks(self, p: syntax.Within) -> int:
        """The length of a guard.  Raises Unsupported if it is no number of ticks."""
        exact = self.kind.convert(p.duration)
        if exact is None or exact.denominator != 1 or exact <= 0:
            raise Unsupported("this duration needs the unit of the integer time column", p.span)
        return int(exact)

    def admit(self, prefix: str, now: str, rank: int) -> None:
        """The statement goes on to the next row of F; those that are evaluated earlier first."""
        b, shared = self.shared.builder, self.shared
        move = b.move(self.sheet, f"{prefix}_admit", P_ADMIT + rank)
        m, n, k, x, t = (b.var(v, INT) for v in ("m", "n", "k", "x", "t"))
        c = b.var("c", shared.types.cf.parts[3])
        move.loops(shared.control, number(0))
        move.takes.append((now, m))
        move.loops(shared.f, TupleTerm((n, k, x, c)))
        move.takes.append((self.time, t))
        move.guard = [Binary("=", n, plus_one(m))]
        move.gives += [(now, n), (self.time, x)]

    def _due(self, sheet: Sheet) -> None:
        """The flow of ends, each instant once, taken in their order as far as the newest row."""
        b, shared = self.shared.builder, self.shared
        due = b.place("Due", INT, Role.F)
        init = b.place("DueInit", INT, Role.INIT, [self.start])
        n, q, t, z = (b.var(v, INT) for v in ("n", "q", "t", "z"))
        merge = b.move(sheet, "due_known", P_MAX)
        merge.loops(shared.control, number(0))
        merge.takes.append((self.new, n))
        merge.loops(due, n)
        add = b.move(sheet, "due_new", P_HN)
        add.loops(shared.control, number(0))
        add.takes.append((self.new, n))
        add.gives.append((due, n))
        tick = b.move(sheet, "tick", P_TICK)
        tick.black = (init, due, "q", "n")
        tick.loops(shared.control, number(0))
        tick.takes.append((init, q))
        tick.loops(due, n)
        tick.loops(shared.clock, z)
        tick.takes.append((self.time, t))
        tick.gives += [(init, plus_one(n)), (self.time, n)]
        tick.guard = [Binary("<=", n, z)]
