"""What a transition needs, taken apart for the fast simulator (epl-and-nets.md, section 4B, Simulation).

The tokens that a transition takes fall into *parts*: needs that share variables, conjuncts of the guard or places.
What one part finds does not depend on the others, so the bindings of a transition are all combinations of those of its
parts.  A part of two needs is a join: by key where the guard equates the two sides, from a number on where it says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeGuard

from occurs.errors import DefinitionProblem, OccursError, Problem
from occurs.expr.tree import Binary, Call, Expr, Literal, Ref, Unary, conjuncts
from occurs.nets.colours import Bool, Enum, Int, String, plain
from occurs.nets.evaluate import Compiled, compile_term
from occurs.nets.firing import Plan, plan_of, where
from occurs.nets.matching import Matcher, binds, compile_pattern, needs, taken_apart
from occurs.nets.net import Arc, Net, Role, Transition
from occurs.nets.terms import EnumTerm, TupleTerm, var, variables
from occurs.nets.typing import Typing


@dataclass(frozen=True)
class Need:
    """One token to be taken, looked at alone.

    ``matches`` binds all variables of ``term`` (some of them hidden ones of ours); ``tests`` are the conjuncts (of
    ``guard``) that speak of nothing else.  ``fixed``: places in the token (index of the outermost tuple) that must have
    that value.
    """

    holder: str
    term: Expr
    guard: tuple[Expr, ...]
    matches: Matcher
    tests: tuple[Compiled, ...]
    fixed: tuple[tuple[int, object], ...]


@dataclass(frozen=True)
class Join:
    """How two needs go together; the left one comes first in the order of bindings unless ``swapped``.

    ``left_key``, ``right_key``: equal where the two fit.  ``number``: the variable of the right tokens' first field,
    which ``least`` (of the left token) bounds from below (``strict``: must be exceeded); None without such a bound.
    ``tests``: what else must be true of both; ``bounds``: the conjuncts that ``least`` stands for.
    """

    left_key: tuple[Compiled, ...]
    right_key: tuple[Compiled, ...]
    number: str | None
    least: Compiled | None
    strict: bool
    tests: tuple[Compiled, ...]
    bounds: tuple[Compiled, ...]
    swapped: bool


@dataclass(frozen=True)
class PartPlan:
    """Needs that belong together.  ``variables``: what each binds; ``positions``: their numbers in the order of
    bindings, ascending (see :class:`RulePlan`); ``join`` for two needs on two places.

    ``steps``: for all others, conjuncts by the number of needs (at least 1) that have to be there to judge them.
    ``black``: if the first need has the Init token, the variable of the numbers of which only the least counts.
    ``gate``: several transitions have this part (of one need); its number among such parts.
    """

    needs: tuple[Need, ...]
    variables: tuple[frozenset[str], ...]
    positions: tuple[int, ...]
    join: Join | None
    steps: tuple[tuple[int, Compiled], ...]
    black: str | None
    gate: int | None = None


@dataclass(frozen=True)
class RulePlan:
    """A transition taken apart.  Tokens are numbered in the order of bindings: Init, F, then as the arcs are.

    ``never``: is a conjunct without variables false?  ``takes``: (part, its need, holder) of tokens that do not come
    back at once; ``puts``: (arc, holder, term, has it its place's colour whatever the binding?) of tokens that are not
    just given back.  ``hidden``: variables of ours.  ``whole``: the plan of the reference for a transition that has
    more than tokens one by one (computed multisets, free variables, time, chance); it has no parts then.
    """

    transition: Transition
    parts: tuple[PartPlan, ...]
    never: bool
    takes: tuple[tuple[int, int, str], ...]
    puts: tuple[tuple[Arc, str, Compiled, bool], ...]
    hidden: frozenset[str]
    whole: Plan | None = None


def rules(net: Net) -> tuple[RulePlan, ...]:
    """All transitions taken apart, the most urgent first, then in the order of the net."""
    if "rules" not in net.memo:
        ordered = sorted(net.transitions.values(), key=lambda t: t.priority)
        net.memo["rules"] = _gated([_Maker(net, t).rule() for t in ordered])
    found: tuple[RulePlan, ...] = net.memo["rules"]
    return found


def is_whole(plan: Plan) -> bool:
    """Whether a transition has more than tokens that are taken and put one by one."""
    more = any(p.many or p.delay is not None for p in plan.puts) or any(t.holder in plan.timed for t in plan.takes)
    late = any(p.holder in plan.timed for p in plan.puts)
    return bool(plan.free or plan.late or plan.chance or plan.clock or more or late)


def _gated(plans: list[RulePlan]) -> tuple[RulePlan, ...]:
    """With numbers for the parts that several transitions share (Control, in nets of event processing)."""

    def shape(part: PartPlan) -> tuple[object, ...]:
        need = part.needs[0]
        return need.holder, need.term, need.guard

    single = [[shape(p) if len(p.needs) == 1 and p.black is None else None for p in plan.parts] for plan in plans]
    users = Counter(s for shapes in single for s in set(shapes) if s is not None)
    gates = {s: k for k, s in enumerate(s for s, n in users.items() if n > 1)}
    return tuple(
        replace(
            plan,
            parts=tuple(
                replace(p, gate=None if s is None else gates.get(s)) for p, s in zip(plan.parts, shapes, strict=True)
            ),
        )
        for plan, shapes in zip(plans, single, strict=True)
    )


@dataclass
class _Maker:
    """Takes one transition apart."""

    net: Net
    transition: Transition
    hidden: list[str] = field(default_factory=list)
    guard: list[Expr] = field(default_factory=list)

    def rule(self) -> RulePlan:
        # finds what is wrong with the transition, in the words of the reference
        plan = plan_of(self.net, self.transition.name)
        if is_whole(plan):
            return RulePlan(self.transition, (), False, (), (), frozenset(), plan)
        try:
            return self._rule()
        except OccursError as problem:
            message = f"{where(self.net, self.transition.name)}: {problem.message}"
            raise DefinitionProblem(Problem(problem.kind, message)) from None

    def _rule(self) -> RulePlan:
        t, net = self.transition, self.net
        arcs = [(arc, term) for arc in net.inputs[t.name] for term in arc.terms]
        if t.black is not None:
            primary = {t.black.f: 1, t.black.init: 0}
            arcs.sort(key=lambda a: primary.get(a[0].place, 2))
            self.guard.append(Binary(">=", var(t.black.n), var(t.black.r)))
        self.guard += [c for g in t.guard for c in conjuncts(g)]
        terms = [self._pattern(term) for _, term in arcs]
        holders = [net.holder(arc.place) for arc, _ in arcs]
        always = [g for g in self.guard if not variables(g)]
        self.guard = [g for g in self.guard if variables(g)]
        groups = self._groups(terms, holders)
        parts = tuple(self._part(group, terms, holders) for group in groups)
        at = {position: (p, k) for p, group in enumerate(groups) for k, position in enumerate(group)}
        back = [(net.holder(arc.place), arc, term) for arc in net.outputs[t.name] for term in arc.terms]
        takes = []
        for position, (arc, term) in enumerate(arcs):
            same = next((b for b in back if b[0] == net.holder(arc.place) and b[2] == term), None)
            if same is None:
                takes.append((*at[position], holders[position]))
            else:
                back.remove(same)
        typed = all(self._typed(arc, term) for arc, term in arcs)
        puts = tuple(
            (arc, holder, self._compiled(term), typed and self._typed(arc, term) and _total(term))
            for holder, arc, term in back
        )
        never = not all(self._compiled(g)({}) is True for g in always)
        return RulePlan(t, parts, never, tuple(takes), puts, frozenset(self.hidden))

    # -- terms -------------------------------------------------------------------------------------------------------
    def _compiled(self, term: Expr) -> Compiled:
        return compile_term(term, self.net.colour_of)

    def _typed(self, arc: Arc, term: Expr) -> bool:
        return Typing(self.net.colour_of, self.net.colours).check(term, self.net.places[arc.place].colour)

    def _pattern(self, term: Expr) -> Expr:
        """``term`` with variables of ours for what needs values from other tokens; the guard equates the two."""
        lacking = needs(term)
        if not lacking:
            return term
        if not taken_apart(term):
            name = f"?{len(self.hidden)}"
            self.hidden.append(name)
            self.guard.append(Binary("=", var(name), term))
            return var(name)
        return term.with_children(tuple(self._pattern(c) if needs(c) & lacking else c for c in term.children))

    def _need(self, term: Expr, holder: str, bound: set[str]) -> Need:
        own = [g for g in self.guard if variables(g) <= bound]
        fixed = (
            tuple((k, p.value) for k, p in enumerate(term.parts) if _constant(p)) if isinstance(term, TupleTerm) else ()
        )
        tests = tuple(self._compiled(g) for g in own)
        return Need(holder, term, tuple(own), compile_pattern(term, set(), self.net.colour_of), tests, fixed)

    # -- parts -------------------------------------------------------------------------------------------------------
    def _groups(self, terms: list[Expr], holders: list[str]) -> list[list[int]]:
        """The numbers of the needs that belong together, each group ascending."""
        group = list(range(len(terms)))

        def unite(members: Iterable[int]) -> None:
            found = {group[m] for m in members}
            for k, g in enumerate(group):
                if g in found:
                    group[k] = min(found)

        bound = [binds(t) for t in terms]
        names = set().union(*bound) if bound else set()
        for name in names:
            unite(k for k, b in enumerate(bound) if name in b)
        for g in self.guard:
            unite(k for k, b in enumerate(bound) if b & variables(g))
        for holder in set(holders):
            unite(k for k, h in enumerate(holders) if h == holder)
        return [[k for k, g in enumerate(group) if g == first] for first in sorted(set(group))]

    def _part(self, group: list[int], terms: list[Expr], holders: list[str]) -> PartPlan:
        t = self.transition
        bound = [binds(terms[k]) for k in group]
        parts = tuple(self._need(terms[k], holders[k], b) for k, b in zip(group, bound, strict=True))
        names = set().union(*bound)
        shared = [g for g in self.guard if variables(g) <= names and not any(variables(g) <= b for b in bound)]
        black = t.black.n if t.black is not None and group[0] == 0 else None
        join, steps = None, []
        if len(group) == 2 and parts[0].holder != parts[1].holder:
            join = self._join([terms[k] for k in group], bound, shared, [self._flow(holders[k]) for k in group])
            if black is not None and (join.swapped or join.number != black):
                join = None
        if join is None:
            seen: set[str] = set()
            left = list(shared)
            for number, b in enumerate(bound, start=1):
                seen |= b
                steps += [(number, self._compiled(g)) for g in left if variables(g) <= seen]
                left = [g for g in left if not variables(g) <= seen]
        return PartPlan(parts, tuple(map(frozenset, bound)), tuple(group), join, tuple(steps), black)

    def _flow(self, holder: str) -> bool:
        return bool(self.net.roles[holder] & {Role.F, Role.INPUT})

    def _join(self, terms: list[Expr], bound: list[set[str]], shared: list[Expr], flow: list[bool]) -> Join:
        # the rows are what searches look at: the right side
        swapped = flow[0] and not flow[1]
        if swapped:
            terms, bound = terms[::-1], bound[::-1]
        left, right = bound
        keys: list[tuple[Expr, Expr]] = [(var(v), var(v)) for v in sorted(left & right)]
        number = _number(terms[1])
        rest, bounds, least, strict = [], [], None, False
        for g in shared:
            sides = _sides(g, left, right)
            if sides is not None and sides[0] == "=":
                keys.append(sides[1:])
                if not all(self._exact(e) for e in sides[1:]):
                    rest.append(g)
            elif sides is not None and least is None and self._is_bound(*sides, number):
                least, strict = self._compiled(sides[1]), sides[0] == ">"
                bounds.append(g)
            else:
                rest.append(g)
        return Join(
            tuple(self._compiled(a) for a, _ in keys),
            tuple(self._compiled(b) for _, b in keys),
            number.name if number is not None and least is not None else None,
            least,
            strict,
            tuple(self._compiled(g) for g in rest),
            tuple(self._compiled(g) for g in bounds),
            swapped,
        )

    def _is_bound(self, op: str, low: Expr, high: Expr, number: Ref | None) -> bool:
        """Is it a least value, never null, of the number of a right token?"""
        return op in (">=", ">") and high == number and self._exact(high) and _total(low)

    def _exact(self, term: Expr) -> bool:
        """A variable that is never null or not a number: equal if Python says so."""
        if not isinstance(term, Ref) or term.name not in self.net.colour_of:
            return False
        return isinstance(plain(self.net.colour_of[term.name]), Int | String | Bool | Enum)


#: operators and functions that are never null, and of the colour that their operands say
_TOTAL = {"+", "-", "*", "=", "!=", "<", "<=", ">", ">=", "and", "or", "neg", "not"}
_TOTAL_CALLS = {"abs", "append", "concat", "cons", "length", "real", "if"}


def _total(term: Expr) -> bool:
    """Has a well-typed ``term`` a value for all values of its variables?"""
    for node in term.walk():
        if isinstance(node, Binary | Unary) and node.op not in _TOTAL:
            return False
        if isinstance(node, Call) and node.name not in _TOTAL_CALLS:
            return False
    return True


def _constant(term: Expr) -> TypeGuard[Literal | EnumTerm]:
    return isinstance(term, Literal | EnumTerm)


def _number(term: Expr) -> Ref | None:
    """The variable that is the token or its first field."""
    if isinstance(term, TupleTerm) and term.parts:
        term = term.parts[0]
    return term if isinstance(term, Ref) else None


_TURNED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _sides(g: Expr, left: set[str], right: set[str]) -> tuple[str, Expr, Expr] | None:
    """A comparison of something of the left with something of the right token, as (op, left, right): right op left."""
    if not isinstance(g, Binary) or g.op not in _TURNED:
        return None
    a, b = variables(g.left), variables(g.right)
    if a and b and not a & b:
        if a <= right and b <= left:
            return g.op, g.right, g.left
        if a <= left and b <= right:
            return _TURNED[g.op], g.left, g.right
    return None
