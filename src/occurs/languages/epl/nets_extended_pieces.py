"""What the extended translation is built of: elements of lists, instances that live, transitions (nets_extended)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from occurs.expr.tree import Expr, Ref
from occurs.languages.epl.nets_build import Move, Sheet, number
from occurs.languages.epl.nets_core import Core, Firing, alias, plus_one
from occurs.languages.epl.nets_extended_time import Clocks
from occurs.languages.epl.nets_types import INT, NONE
from occurs.nets.net import P_HN, Role
from occurs.nets.terms import Inject, ListTerm, Term, TupleTerm

#: no event
ABSENT_TERM = TupleTerm((number(0), number(0), number(0), Inject(NONE, None)))


@dataclass(frozen=True)
class Mark:
    """The element of a list that says which instance a search belongs to, and its Alive place."""

    name: str
    alive: str


#: an element of a search's list: the event of a tag, or a mark
Slot = str | Mark


@dataclass(frozen=True)
class Around:
    """Where a pattern stands: the elements of the list that its searches begin with; is it below ``not``?"""

    prior: tuple[Slot, ...] = ()
    absent: bool = False


@dataclass
class Pieces(Core):
    """One statement: how its places, transitions and tokens are made."""

    clocks: Clocks = field(kw_only=True)
    #: the number of the row that the statement is at
    now: str = field(init=False)

    def page(self, what: str, *shown: str) -> Sheet:
        return self.b.sheet(f"{self.prefix}_{what}", *shown)

    def private(self, sheet: Sheet, name: str, role: Role | None = Role.END) -> str:
        return self.b.place(f"{sheet.name}_{name}", self.end, role)

    def move(self, sheet: Sheet, name: str, priority: int = P_HN) -> Move:
        move = self.b.move(sheet, f"{sheet.name}_{name}", priority)
        move.loops(self.shared.control, number(0))
        return move

    def whole(self, name: str) -> Ref:
        return self.b.var(name, INT)

    def element(self, slot: Slot) -> Term:
        """An element of a list, whatever it is."""
        name = slot.name if isinstance(slot, Mark) else alias(slot)
        return self.b.var(f"{name}_e", self.shared.types.cf, ("element", name))

    def mark(self, mark: Mark) -> Term:
        """The element of an instance, taken apart."""
        start = self.b.var(f"{mark.name}_x", INT, ("mark", mark.name, "x"))
        return TupleTerm((self.id(mark), number(0), start, Inject(NONE, None)))

    def id(self, mark: Mark) -> Ref:
        return self.b.var(f"{mark.name}_n", INT, ("mark", mark.name, "n"))

    def token(self, r: Term, items: Sequence[Slot], apart: Mark | None = None) -> Term:
        """``(r, [..])``, with the element of instance ``apart`` taken apart."""
        return TupleTerm((r, ListTerm(tuple(self.mark(s) if s is apart else self.element(s) for s in items))))

    def alive(self, move: Move, mark: Mark, over: bool) -> None:
        """The instance must live; ``over``: it ends with this."""
        move.takes.append((mark.alive, self.id(mark)))
        if not over:
            move.gives.append((mark.alive, self.id(mark)))

    def next_row(self, move: Move) -> Term:
        """The number of the row behind the one that the statement is at."""
        m = self.whole("m")
        move.loops(self.now, m)
        return plus_one(m)

    def asked(self, conditions: Sequence[Expr]) -> list[str]:
        """The tags of other events that conditions speak of."""
        return list(dict.fromkeys(r.scope for c in conditions for r in c.walk() if isinstance(r, Ref) and r.scope))

    def bound(self, slot: Slot, known: Sequence[str], missing: Sequence[str]) -> Term:
        """An element of a list: taken apart if it is asked for."""
        if isinstance(slot, Mark):
            return self.mark(slot)
        if slot in missing:
            return ABSENT_TERM
        return self.vars.event(slot) if slot in known else self.element(slot)

    def note(
        self, move: Move, tag: str | None, items: Sequence[Slot], known: Sequence[str], missing: Sequence[str]
    ) -> None:
        """Keeps what a transition does."""
        numbers = []
        for t in (s for s in items if isinstance(s, str) and s not in missing):
            var = self.vars.number(t) if t == tag or t in known else self.element(t)
            assert isinstance(var, Ref)
            numbers.append((t, var.name))
        self.firings[move.name] = Firing(self.rank, tag, tuple(numbers), tag is None)
