"""Monitors of temporal triggers that go state by state and keep only what later states need (temporal-logic.md 5.1).

An oracle, transcribed: the residual of a future formula, and the paper's formulas of past ones (:class:`Past`).  It is
compared with the reference semantics, and says when a trigger can fire no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, TypeAlias

from occurs.errors import InputProblem
from occurs.expr import tree
from occurs.expr.reference import ticks
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics import Run
from occurs.languages.logic.semantics.formula import Known, Looking, core, passed
from occurs.languages.logic.semantics.histories import Instance
from occurs.languages.logic.semantics.states import Catalogue, State
from occurs.languages.logic.semantics.values import Lost, Outcome, aggregate, every, opposite, problem_of, some
from occurs.languages.logic.sql import parameters, sources
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class Pending:
    """To be evaluated at the next state: a formula that is to hold, or not to hold, with values of its variables."""

    formula: syntax.Formula
    hold: bool
    rho: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Unknown:
    """What is not known, at this state (``new``) or an earlier one."""

    lost: Lost
    new: bool = True


@dataclass(frozen=True)
class Several:
    """``and`` or ``or`` of several."""

    op: str
    parts: tuple[Residual, ...]


#: what is left to be satisfied; False, DONE (at an earlier state), NOW, LAST (only if this is the last state)
Residual: TypeAlias = "bool | str | Pending | Unknown | Several"

DONE, NOW, LAST = "done", "now", "last"


def combined(op: str, parts: Iterable[Residual]) -> Residual:
    """Flat, each part once; False decides an ``and`` and is nothing in an ``or``, DONE is nothing in an ``and``."""
    flat: dict[Residual, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.parts if isinstance(part, Several) and part.op == op else (part,))
    if op == "and" and False in flat:
        return False
    rest = [p for p in flat if p != (DONE if op == "and" else False)]
    if not rest:
        return DONE if op == "and" else False
    return rest[0] if len(rest) == 1 else Several(op, tuple(rest))


def satisfied(r: Residual, unknown: bool) -> tuple[bool, bool]:
    """Is a residual satisfied with pending = false, and does some now or last take part?"""
    match r:
        case Several(op="and"):
            found = [satisfied(p, unknown) for p in r.parts]
            there = all(s for s, _ in found)
            return there, there and any(new for _, new in found)
        case Several():
            found = [satisfied(p, unknown) for p in r.parts]
            return any(s for s, _ in found), any(new for _, new in found)
        case Unknown():
            return unknown, unknown and r.new
    return r in (DONE, NOW, LAST), r in (NOW, LAST)


def parts_of(r: Residual) -> list[Residual]:
    """All leaves."""
    return [leaf for p in r.parts for leaf in parts_of(p)] if isinstance(r, Several) else [r]


class Future:
    """The residual of a future formula since its activation."""

    def __init__(self, formula: syntax.Formula, names: frozenset[str], known: Known, kind: TimeKind) -> None:
        self.names, self.known, self.kind = names, known, kind
        self.residual: Residual = Pending(formula, True, ())

    def advance(self, look: Present) -> None:
        """Every pending obligation is expanded at a new state."""
        self.residual = self.replaced(
            self.residual, lambda r: self.expand(r.formula, r.hold, dict(r.rho), look) if isinstance(r, Pending) else r
        )

    def replaced(self, r: Residual, by: Any) -> Residual:
        if isinstance(r, Several):
            return combined(r.op, [self.replaced(p, by) for p in r.parts])
        found: Residual = by(r)
        return found

    def hit(self) -> Outcome:
        """Is this a new way to be satisfied?"""
        if satisfied(self.residual, False)[1]:
            return True
        if satisfied(self.residual, True)[1]:
            return next(r.lost for r in parts_of(self.residual) if isinstance(r, Unknown))
        return False

    def leave(self, time: int) -> None:
        """The state is over: now is done, last is false; what no later time can satisfy is dropped."""

        def after(r: Residual) -> Residual:
            if isinstance(r, Pending):
                told = later(r.formula, dict(r.rho), time, self.known, self.kind)
                return False if told is not None and told != r.hold else r
            if isinstance(r, Unknown):
                return replace(r, new=False)
            return DONE if r == NOW else False if r == LAST else r

        self.residual = self.replaced(self.residual, after)

    @property
    def pending(self) -> int:
        """How many obligations are left."""
        return sum(isinstance(r, Pending) for r in parts_of(self.residual))

    # --- expansion ----------------------------------------------------------------------------------------------------

    def expand(self, f: syntax.Formula, hold: bool, rho: Mapping[str, Any], look: Present) -> Residual:
        """What is left of an obligation at the state of ``look``."""
        match f:
            case syntax.Not():
                return self.expand(f.operand, not hold, rho, look)
            case syntax.And() | syntax.Or():
                op = "and" if isinstance(f, syntax.And) == hold else "or"
                return combined(op, [self.expand(p, hold, rho, look) for p in f.operands])
            case syntax.Assign():
                value = look.value(f.term, 0, rho)
                return self.expand(f.operand, hold, {**rho, f.variable.text: value}, look)
            case syntax.Nexttime():
                next_ = self.obligation(f.operand, hold, rho)
                return next_ if hold else combined("or", [LAST, next_])
            case syntax.Until():
                g = self.expand(f.right, hold, rho, look)
                again = self.obligation(f, hold, rho)
                if hold:
                    return combined("or", [g, combined("and", [self.expand(f.left, True, rho, look), again])])
                if passed(f.right, rho, look.states[0].time, self.known, self.kind) is False:
                    return g
                return combined("and", [g, combined("or", [self.expand(f.left, False, rho, look), LAST, again])])
        outcome = look.satisfied(f, 0, {n: v for n, v in rho.items() if n in free(f, self.names)})
        if isinstance(outcome, Lost):
            return Unknown(outcome)
        return NOW if outcome == hold else False

    def obligation(self, f: syntax.Formula, hold: bool, rho: Mapping[str, Any]) -> Pending:
        """The same formula with the same values of its free variables is one obligation."""
        mine = free(f, self.names)
        return Pending(f, hold, tuple(sorted((n, v) for n, v in rho.items() if n in mine)))


def later(f: syntax.Formula, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    """What a formula is at every state later than ``time``, as far as its comparisons of time tell; None: unknown."""
    match f:
        case syntax.Not():
            inner = later(f.operand, rho, time, known, kind)
            return None if inner is None else not inner
        case syntax.And() | syntax.Or():
            found = [later(p, rho, time, known, kind) for p in f.operands]
            decisive = isinstance(f, syntax.Or)
            return decisive if decisive in found else None if None in found else not decisive
        case syntax.Until():
            # it waits for what never comes, or has it at once
            return later(f.right, rho, time, known, kind)
        case syntax.Nexttime():
            return False if later(f.operand, rho, time, known, kind) is False else None
        case syntax.Assign():
            inner_rho = {**rho, f.variable.text: None}
            return later(f.operand, inner_rho, time, known, kind)
    return passed(f, rho, time, known, kind)


class Monitor:
    """One instance of a trigger, state by state.

    ``fired``: at the state given last?  ``over``: it can fire no more.
    """

    def __init__(self, instance: Instance, catalogue: Catalogue, kind: TimeKind) -> None:
        self.trigger = instance.trigger
        self.settings = Looking(catalogue, kind, [], instance.generics)
        self.formula = unbounded(self.trigger.formula)
        self.gap = None if self.trigger.gap is None else ticks(self.trigger.gap, kind)
        self.last: int | None = None
        self.fired = self.over = False
        self.activate()

    def activate(self) -> None:
        """Afresh: nothing before is seen again."""
        self.past = Past(self.formula, self.settings)
        self.future = Future(self.formula, self.past.names, self.settings.known, self.settings.kind)

    @property
    def size(self) -> int:
        """How many obligations, comparisons and values are kept."""
        return self.past.size + (0 if self.trigger.past else self.future.pending)

    def advance(self, state: State) -> None:
        """A new state.  InputProblem if something that is not known decides."""
        look = self.past.advance(state)
        free_ = self.gap is None or self.last is None or state.time - self.last >= self.gap
        if self.trigger.past:
            hit = self.past.outcome(self.past.f(self.formula, look), {})
        else:
            self.future.advance(look)
            hit = self.future.hit()
        if free_ and isinstance(hit, Lost):
            raise InputProblem(replace(problem_of(hit), definition=self.trigger.name.text))
        self.fired = free_ and hit is True
        if self.fired:
            self.last = state.time
        if self.fired and not self.trigger.continues:
            self.activate()
            return
        self.past.prune(state.time)
        if not self.trigger.past:
            self.future.leave(state.time)
            plain = not self.trigger.continues and self.gap is None
            self.over = self.future.residual is False if plain else not self.future.pending


def firings(run: Run) -> list[tuple[str, tuple[Any, ...], int]]:
    """When the monitors of all instances fire: trigger, values of the generic variables, time."""
    found = []
    for instance in run.instances():
        monitor = Monitor(instance, run.catalogue, run.kind)
        for state in instance.states:
            monitor.advance(state)
            if monitor.fired:
                found.append((instance.trigger.name.text, tuple(instance.generics.values()), state.time))
    return found


def notices(
    definitions: Sequence[syntax.Definition],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    inputs: Mapping[str, Schema] | None = None,
    made: Sequence[Occurrence] = (),
    start: int | None = None,
    until: int | None = None,
) -> list[Occurrence]:
    """When instances can fire no more: trigger, time and generic variables, by time, then trigger.

    Arguments are those of :func:`occurs.languages.logic.semantics.evaluate`.  These are the latest times at
    which it must be said; it may be said earlier.
    """
    run = Run(definitions, history, kind, inputs, made, start, until)
    found = []
    for instance in run.instances():
        monitor = Monitor(instance, run.catalogue, kind)
        for state in instance.states:
            monitor.advance(state)
            if monitor.over:
                found.append(Occurrence(instance.trigger.name.text, state.time, dict(instance.generics)))
                break
    return sorted(found, key=lambda n: (n.time, n.type, list(map(str, n.attributes.values()))))


# --- formulas without bounds ------------------------------------------------------------------------------------------

# A bound is the comparison of time that it stands for (temporal-logic.md 4.2): ``f until[<=c] g`` is
# ``[t <- time](f until (g and time <= t + c))``, ``f since[<=c] g`` is ``[t <- time](f since (g and time >= t - c))``.
# The variables of bounds are called ``#1``, ``#2`` ..

TIME = tree.Ref(None, "time")
_MIRRORED = {"<=": ">=", "<": ">", ">=": "<=", ">": "<", "=": "="}


def unbounded(formula: syntax.Formula) -> syntax.Formula:
    """The formula in the core, without bounds."""
    numbers = count(1)

    def walk(f: syntax.Formula) -> syntax.Formula:
        match f:
            case syntax.Until() | syntax.Since():
                plain = replace(f, left=walk(f.left), right=walk(f.right), bound=None)
                if f.bound is None:
                    return plain
                name = f"#{next(numbers)}"
                tests = _tests(f.bound, tree.Ref(None, name), isinstance(f, syntax.Until))
                inner = replace(plain, right=syntax.And((plain.right, *tests)))
                return syntax.Assign(syntax.Name(name), TIME, inner)
            case syntax.Not() | syntax.Assign() | syntax.Nexttime() | syntax.Lasttime():
                return replace(f, operand=walk(f.operand))
            case syntax.And() | syntax.Or():
                return replace(f, operands=tuple(walk(p) for p in f.operands))
        return f

    return walk(core(formula))


def _tests(bound: syntax.Bound, start: tree.Expr, future: bool) -> Iterator[syntax.Formula]:
    """The comparisons that a bound stands for; ``start``: the time of the state where the operator is evaluated."""

    def test(op: str, duration: Duration) -> syntax.Formula:
        limit = tree.Binary("+" if future else "-", start, tree.DurationLiteral(duration))
        return syntax.Compare(op if future else _MIRRORED[op], TIME, limit)

    if bound.second is None:
        yield test(bound.op, bound.first)
    else:
        yield test(">=", bound.first)
        yield test("<=", bound.second)


def variables(node: tree.Expr) -> frozenset[str]:
    """All global variables that are assigned somewhere."""
    return frozenset(n.variable.text for n in node.walk() if isinstance(n, syntax.Assign))


def free(node: tree.Expr, names: frozenset[str]) -> frozenset[str]:
    """Those of the global variables ``names`` that are free in a formula or term."""
    if isinstance(node, syntax.Assign):
        return free(node.term, names) | (free(node.operand, names) - {node.variable.text})
    if isinstance(node, syntax.Sql):
        return names & {*parameters(node.text), *(s.name for s in sources(node.text))}
    if isinstance(node, tree.Ref) and node.scope is None:
        return names & {node.name}
    return frozenset().union(*(free(c, names) for c in node.children))


# --- formulas of the past ---------------------------------------------------------------------------------------------

# For every subformula g with a past operator and every state i there is F(g, i): whether g holds at i, as a formula
# over the global variables that are free in g (the paper, section 4.3).  It is made of F(.., i) and F(.., i - 1) of its
# parts, so that no more than the last F of every ``since`` and ``lasttime`` is kept.  Comparisons of a variable that is
# assigned ``time`` are decided once no later time can change them.  An atom with free variables keeps its state only if
# it looks at tables or events with them; else the values of the state are put into it.


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


def combined_past(op: str, parts: Iterable[F]) -> F:
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
            return combined_past(f.op, [mapped(p, change) for p in f.parts])
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
                op = "and" if isinstance(g, syntax.And) else "or"
                return combined_past(op, [self.f(p, look) for p in g.operands])
            case syntax.Assign():
                value = self.f_of_term(g.term, look)
                return mapped(self.f(g.operand, look), lambda leaf: self.put(leaf, g.variable.text, value))
            case syntax.Lasttime():
                if g not in self.found:
                    self.found[g] = self.before.get(g, False)
                return self.found[g]
            case syntax.Since():
                if g not in self.found:
                    earlier = combined_past("and", [self.f(g.left, look), self.before.get(g, False)])
                    self.found[g] = combined_past("or", [self.f(g.right, look), earlier])
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
