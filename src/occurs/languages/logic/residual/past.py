"""The paper's algorithm for past formulas (temporal-logic.md 5.1; the paper's section 4.3).

For every subformula g with a past operator and every state i there is F(g, i): whether g holds at i, as a formula over
the global variables that are free in g.  It is made of F(.., i) and F(.., i - 1) of its parts, so that no more than
the last F of every ``since`` and ``lasttime`` is kept.  Comparisons of a variable that is assigned ``time`` are decided
once no later time can change them.  An atom with free variables keeps its state only if it looks at tables or events
with them; else the values of the state are put into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from occurs.expr import tree
from occurs.languages.logic import syntax
from occurs.languages.logic.residual.core import TIME, free, variables
from occurs.languages.logic.semantics.closed import passed
from occurs.languages.logic.semantics.core import core
from occurs.languages.logic.semantics.formula import Looking
from occurs.languages.logic.semantics.states import State
from occurs.languages.logic.semantics.values import Lost, Outcome, aggregate, every, opposite, some, ticks
from occurs.model.types import Type


@dataclass(frozen=True)
class Kept:
    """A term, or an atom, of a state, with free variables.

    ``open``: those whose value is not known; ``values`` of the others, which may be terms with free variables of their
    own.  ``state``: where to look up tables and events; None if it looks at none.
    """

    node: tree.Expr
    open: frozenset[str]
    values: tuple[tuple[str, Any], ...] = ()
    state: State | None = None

    @property
    def waiting(self) -> frozenset[str]:
        """All variables without which it has no value."""
        return self.open.union(*(v.waiting for _, v in self.values if isinstance(v, Kept)))

    def put(self, name: str, value: Any) -> Kept:
        """With a value for a variable."""
        values = {n: v.put(name, value) if isinstance(v, Kept) else v for n, v in self.values}
        if name in self.open:
            values[name] = value
        return replace(self, open=self.open - {name}, values=tuple(values.items()))


@dataclass(frozen=True)
class Node:
    """``and`` or ``or`` of several."""

    op: str
    parts: tuple[F, ...]


@dataclass(frozen=True)
class Negation:
    """``not``."""

    part: F


#: whether a formula held, as far as it does not depend on variables
F: TypeAlias = "Outcome | Kept | Node | Negation"


def negated(f: F) -> F:
    """Simplified."""
    if isinstance(f, bool | Lost):
        return opposite(f)
    return f.part if isinstance(f, Negation) else Negation(f)


def combined(op: str, parts: Iterable[F]) -> F:
    """Simplified: constants are gone, parts of the same kind are flat, each is there once."""
    flat: dict[F, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.parts if isinstance(part, Node) and part.op == op else (part,))
    decisive = op == "or"
    known = [p for p in flat if isinstance(p, bool | Lost)]
    constant = (some if decisive else every)(known)
    rest: list[F] = [p for p in flat if not isinstance(p, bool | Lost)]
    if constant is decisive or not rest:
        return constant
    rest += [constant] if isinstance(constant, Lost) else []
    return rest[0] if len(rest) == 1 else Node(op, tuple(rest))


def mapped(f: F, change: Callable[[Kept], F]) -> F:
    """Every leaf changed."""
    match f:
        case Kept():
            return change(f)
        case Negation():
            return negated(mapped(f.part, change))
        case Node():
            return combined(f.op, [mapped(p, change) for p in f.parts])
    return f


def leaves(f: F) -> int:
    """How many leaves are kept."""
    match f:
        case Kept():
            return 1
        case Negation():
            return leaves(f.part)
        case Node():
            return sum(leaves(p) for p in f.parts)
    return 0


class Present(Looking):
    """One state; aggregates and past operators come from what is kept of those before it."""

    def __init__(self, past: Past, state: State) -> None:
        super().__init__(past.settings.catalogue, past.settings.kind, [state], past.settings.generics)
        self.past = past

    def satisfied(self, f: syntax.Formula, i: int, rho: Mapping[str, Any]) -> Outcome:
        if isinstance(f, syntax.Since | syntax.Lasttime):
            return self.past.outcome(self.past.found[f], rho)
        return super().satisfied(f, i, rho)

    def value(self, t: tree.Expr, i: int, rho: Mapping[str, Any]) -> Any:
        if isinstance(t, syntax.Aggregate):
            return self.past.aggregates[t]
        return super().value(t, i, rho)


class Past:
    """What is kept for the past operators and aggregates of a formula without bounds since its activation.

    ``settings``: an empty history, for the catalogue, the kind of time and the generic variables.
    """

    def __init__(self, formula: syntax.Formula, settings: Looking) -> None:
        self.settings = settings
        self.names = variables(formula)
        self.operators = [n for n in formula.walk() if isinstance(n, syntax.Since | syntax.Lasttime)]
        self.terms = list(dict.fromkeys(n for n in formula.walk() if isinstance(n, syntax.Aggregate)))[::-1]
        self.times = frozenset(x for x in self.names if present(formula, x))
        #: the times and values over which each aggregate goes
        self.ages: dict[syntax.Aggregate, list[tuple[int, Any]] | Lost | None] = dict.fromkeys(self.terms)
        self.aggregates: dict[syntax.Aggregate, Any] = {}
        #: F(g, i - 1) of every since, and of the operand of every lasttime
        self.before: dict[syntax.Formula, F] = {}
        #: F(g, i) of every past operator
        self.found: dict[syntax.Formula, F] = {}

    @property
    def size(self) -> int:
        """How much is kept."""
        kept = sum(len(v) for v in self.ages.values() if isinstance(v, list))
        return kept + sum(leaves(f) for f in self.before.values())

    def advance(self, state: State) -> Present:
        """To a new state."""
        look = Present(self, state)
        for term in self.terms:
            self.aggregate(term, look, state.time)
        self.found = {}
        kept: dict[syntax.Formula, F] = {}
        for g in self.operators:
            kept[g] = self.f(g if isinstance(g, syntax.Since) else g.operand, look)
            self.f(g, look)
        self.before = kept
        return look

    def aggregate(self, term: syntax.Aggregate, look: Present, time: int) -> None:
        """Values since the predicate held last, or of so much time."""
        if term.predicate is not None:
            holds = look.satisfied(core(term.predicate), 0, {})
            if holds is not False:
                self.ages[term] = holds if isinstance(holds, Lost) else []
        elif self.ages[term] is None:
            self.ages[term] = []
        ages = self.ages[term]
        if isinstance(ages, list):
            ages.append((time, look.value(term.arg, 0, {})))
            if term.within is not None:
                most = ticks(term.within, self.settings.kind)
                ages = self.ages[term] = [(t, v) for t, v in ages if time - t <= most]
        found = ages if isinstance(ages, Lost) else aggregate(term.op, [v for _, v in ages or ()])
        self.aggregates[term] = found

    def f(self, g: syntax.Formula, look: Present) -> F:
        """F(g, i)."""
        match g:
            case syntax.Not():
                return negated(self.f(g.operand, look))
            case syntax.And() | syntax.Or():
                return combined("and" if isinstance(g, syntax.And) else "or", [self.f(p, look) for p in g.operands])
            case syntax.Assign():
                value = self.f_of_term(g.term, look)
                return mapped(self.f(g.operand, look), lambda leaf: self.put(leaf, g.variable.text, value))
            case syntax.Lasttime():
                if g not in self.found:
                    self.found[g] = self.before.get(g, False)
                return self.found[g]
            case syntax.Since():
                if g not in self.found:
                    earlier = combined("and", [self.f(g.left, look), self.before.get(g, False)])
                    self.found[g] = combined("or", [self.f(g.right, look), earlier])
                return self.found[g]
        return self.leaf(g, look)

    def f_of_term(self, term: tree.Expr, look: Present) -> Any:
        """The value that is assigned; a term over outer variables is kept."""
        open_ = free(term, self.names)
        return self.kept(self.partial(term, look), open_, look) if open_ else look.value(term, 0, {})

    def leaf(self, atom: syntax.Formula, look: Present) -> F:
        """An atom: decided, or with the values of the state in it."""
        open_ = free(atom, self.names)
        if not open_:
            return look.atomic(atom, 0, {})
        return self.kept(atom.with_children(tuple(self.partial(c, look) for c in atom.children)), open_, look)

    def kept(self, node: tree.Expr, open_: frozenset[str], look: Present) -> Kept:
        catalogue = self.settings.catalogue
        of_state = (*catalogue.tables, *catalogue.views, *catalogue.events)
        looks = any(
            isinstance(n, syntax.Sql) or (isinstance(n, syntax.Apply) and n.name in of_state) for n in node.walk()
        )
        return Kept(node, open_, (), look.states[0] if looks else None)

    def partial(self, t: tree.Expr, look: Present) -> tree.Expr:
        """A term with values for all parts that do not depend on variables."""
        event = isinstance(t, syntax.Apply) and t.name in look.catalogue.events
        if not free(t, self.names) and not isinstance(t, syntax.Sql) and not event:
            return tree.Literal(look.value(t, 0, {}), Type.NULL)
        return t.with_children(tuple(self.partial(c, look) for c in t.children))

    def put(self, leaf: Kept, name: str, value: Any) -> F:
        """A value for a variable; a leaf that waits for nothing is decided."""
        filled = leaf.put(name, value)
        return filled if filled.waiting else self.decided(filled)

    def decided(self, kept: Kept) -> Any:
        """The value of a term or atom that waits for nothing."""
        values = {n: self.decided(v) if isinstance(v, Kept) else v for n, v in kept.values}
        state = kept.state or State(0, self.settings.catalogue, {}, {})
        look = Looking(self.settings.catalogue, self.settings.kind, [state], self.settings.generics)
        if isinstance(kept.node, syntax.Formula):
            return look.atomic(kept.node, 0, values)
        return look.value(kept.node, 0, values)

    def outcome(self, f: F, rho: Mapping[str, Any]) -> Outcome:
        """What a formula is with values for all its variables."""
        for name, value in rho.items():
            f = mapped(f, lambda leaf, n=name, v=value: self.put(leaf, n, v))  # type: ignore[misc]
        assert isinstance(f, bool | Lost)
        return f

    def prune(self, time: int) -> None:
        """Decides what no time later than ``time`` can change."""
        self.before = {g: mapped(f, lambda leaf: self.pruned(leaf, time)) for g, f in self.before.items()}

    def pruned(self, leaf: Kept, time: int) -> F:
        if not isinstance(leaf.node, syntax.Compare) or leaf.state is not None or len(leaf.open) != 1:
            return leaf
        (name,) = leaf.open
        if name not in self.times or leaf.waiting != leaf.open:
            return leaf
        # the variable will have the time of some later state
        values = {n: self.decided(v) if isinstance(v, Kept) else v for n, v in leaf.values}
        told = passed(_timed(leaf.node, name), values, time, self.settings.known, self.settings.kind)
        return leaf if told is None else told


def _timed(node: syntax.Compare, name: str) -> syntax.Compare:
    """``time`` for a variable."""
    found = tree.rewrite(node, lambda n: TIME if n == tree.Ref(None, name) else None)
    assert isinstance(found, syntax.Compare)
    return found


def present(formula: syntax.Formula, x: str) -> bool:
    """Is a variable always the time of the state at which the past operators that it is free in are evaluated?"""

    def later(f: tree.Expr) -> bool:
        ahead = [n for n in f.walk() if isinstance(n, syntax.Nexttime | syntax.Until)]
        past = (m for n in ahead for m in n.walk() if isinstance(m, syntax.Since | syntax.Lasttime))
        return any(x in free(m, frozenset((x,))) for m in past)

    assigned = [n for n in formula.walk() if isinstance(n, syntax.Assign) and n.variable.text == x]
    return all(n.term == TIME and not later(n.operand) for n in assigned)
