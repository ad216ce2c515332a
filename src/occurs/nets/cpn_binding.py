"""A net whose variables CPN Tools can bind (epl-and-nets.md, section 4B, `.cpn` files).

CPN Tools searches, for each transition, the cheapest order of steps after which all variables have values:

- A token that is a pattern binds its variables, if none of them has a value yet.
- If the token is a tuple or record, those of its entries whose variables all have values are compared; the variables
  of the other entries must still be without a value.
- A token whose variables all have values is looked up.
- ``pattern = value`` in the guard binds the variables of the pattern, or compares.

Where there is no such order it rejects the net.  It cannot compile a pattern with a computed part, and it does not
always compare a variable that is twice in a pattern.  If the variables of a transition fall into several groups (of
tokens and conditions with common variables), an equation that compares may become code about a variable of another
group, which it cannot compile either.

Such inscriptions are written with new variables, and the guard compares those.  A comparison that must not bind is
written ``not(a <> b)``.  The binding elements are the same, and so are the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count, groupby

from occurs.expr.tree import Binary, Call, Expr, Literal, Ref, Unary, rewrite
from occurs.nets.colours import Colour, List, Product, Record, Union, members, plain
from occurs.nets.functional.tree import Delayed, Many
from occurs.nets.matching import binds, taken_apart
from occurs.nets.ml import has_reals
from occurs.nets.net import Arc, Net, Page, Transition
from occurs.nets.terms import EnumTerm, Inject, RecordTerm, Term, TupleTerm, var, variables
from occurs.nets.typing import Typing

#: what the steps of CPN Tools' search cost: to bind by a pattern, by a pattern with known entries, to look up, to bind
#: or compare by an equation, only to compare, to try all values of a colour
PATTERN, KEYED, LOOKED_UP, EQUATION, COMPARED, TRIED = 1000, 200, 100, 10, 20, 10000
#: so many values of a colour CPN Tools tries
MOST_TRIED = 100
#: of equally cheap orders the one in which an equation compares is assumed
AGAIN = EQUATION - 1


def bindable(net: Net) -> Net:
    """``net`` in such a form that CPN Tools finds values for the variables of its transitions."""
    names = _Names(dict(net.variables), net.colours)
    pages = tuple(_page(net, page, names) for page in net.pages)
    return net if pages == net.pages else replace(net, variables=tuple(names.variables.items()), pages=pages)


def is_whole(colour: Colour) -> bool:
    """Whether the tokens of a place are written as whole values, ``((a, b):COLOUR)``.

    CPN Tools compares entries of tuples and records by code that needs ML's ``=``, which values with reals do not have.
    """
    return has_reals(colour)


def order(
    tokens: Sequence[tuple[Sequence[Term], bool]], equations: Sequence[Binary], is_small: Callable[[str], bool]
) -> frozenset[int] | None:
    """Which equations give variables their values again in the order that CPN Tools finds; None if it finds none.

    Args:
        tokens: The terms of the tokens that a transition takes, for each place, and whether they are written as whole
            values (:func:`is_whole`).
        equations: The equations of its guard.
        is_small: Whether the colour of a variable is so small that CPN Tools tries all its values.
    """
    known: dict[str, int] = {}
    steps = [s for k, (terms, whole) in enumerate(tokens) for s in _takes(terms, whole, k, known)]
    places = len(tokens)
    for k, equation in enumerate(equations, places):
        left, right = (_bits(variables(side), known) for side in (equation.left, equation.right))
        steps.append(_Step(COMPARED, left | right, 0, k, done=True))
        steps += [
            _Step(EQUATION, needs, gives, k, done=True, again=True)
            for side, gives, needs in ((equation.left, left, right), (equation.right, right, left))
            if gives and _is_pattern(side)
        ]
    bound_by = 0
    for step in steps:
        bound_by |= step.gives
    every = (1 << len(known)) - 1
    steps += [_Step(TRIED, 0, 1 << k, None) for v, k in known.items() if not bound_by >> k & 1 and is_small(v)]
    return _cheapest(steps, every, (1 << (places + len(equations))) - 1, places)


# --- the order of steps ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    """A step of the search; sets of variables are bits.

    ``place``: the number of the place, or of the equation; ``done``: it is finished with this step; ``again``: the
    variables may have values before; ``entries``: the variables of the entries of a tuple, None for other patterns.
    """

    cost: int
    needs: int
    gives: int
    place: int | None
    done: bool = False
    again: bool = False
    entries: tuple[int, ...] | None = None

    def price(self, bound: int) -> int | None:
        """What the step costs when the variables of ``bound`` have values; None if it cannot be done."""
        if self.needs & ~bound:
            return None
        if self.again:
            return AGAIN if self.gives & bound else self.cost
        if not self.gives & bound and not (self.entries and 0 in self.entries):
            return self.cost
        keys = [e for e in self.entries or () if not e & ~bound]
        return KEYED if keys and not any(e & bound for e in self.entries or () if e & ~bound) else None


def _takes(terms: Sequence[Term], whole: bool, place: int, known: dict[str, int]) -> Iterator[_Step]:
    """The steps by which the tokens of one place give values, and by which they are looked up."""
    alone = len(list(groupby(terms))) == 1
    yield _Step(LOOKED_UP, _bits(set().union(*map(variables, terms)), known), 0, place, done=True)
    for term in dict.fromkeys(terms):
        if _is_pattern(term) and binds(term):
            entries = None
            if isinstance(term, TupleTerm | RecordTerm) and len(term.parts) > 1 and not whole:
                entries = tuple(_bits(variables(part), known) for part in term.parts)
            yield _Step(PATTERN, 0, _bits(variables(term), known), place, alone, entries=entries)


def _cheapest(steps: Sequence[_Step], every: int, all_done: int, places: int) -> frozenset[int] | None:
    number = count()
    queue: list[tuple[int, int, int, int, frozenset[int]]] = [(0, next(number), 0, 0, frozenset())]
    seen: set[tuple[int, int]] = set()
    while queue:
        cost, _, bound, done, again = heappop(queue)
        if bound == every and done == all_done:
            return again
        if (bound, done) in seen:
            continue
        seen.add((bound, done))
        ways = [(step.price(bound), step) for step in steps if step.place is None or not done >> step.place & 1]
        possible = [(price, step) for price, step in ways if price is not None]
        # what gives no variable a value can as well be done at once
        settled = [w for w in possible if w[1].done and not w[1].gives & ~bound]
        for price, step in [min(settled, key=lambda w: w[0])] if settled else possible:
            now = done | 1 << step.place if step.place is not None and step.done else done
            more = {step.place - places} if step.place is not None and price == AGAIN else set[int]()
            heappush(queue, (cost + price, next(number), bound | step.gives, now, again | more))
    return None


def _bits(names: Iterable[str], known: dict[str, int]) -> int:
    found = 0
    for name in names:
        found |= 1 << known.setdefault(name, len(known))
    return found


def _is_pattern(term: Term) -> bool:
    """Does ML take a term as a pattern?  It takes no reals."""
    if isinstance(term, Literal):
        return not isinstance(term.value, float)
    return isinstance(term, Ref | EnumTerm) or (taken_apart(term) and all(map(_is_pattern, term.children)))


# --- the form of transitions -----------------------------------------------------------------------------------------


@dataclass
class _Names:
    """The variables of a net, which get more."""

    variables: dict[str, Colour]
    colours: tuple[Colour, ...]

    def new(self, like: str, colour: Colour, used: set[str]) -> Ref:
        """A variable of ``colour`` that is not in ``used``, which gets it."""
        names = (f"{like}_{k}" for k in count(2))
        name = next(n for n in names if n not in used and self.variables.setdefault(n, colour) == colour)
        used.add(name)
        return var(name)

    def is_small(self, name: str) -> bool:
        """Has its colour no more values than CPN Tools tries?"""
        values = members(self.variables[name])
        return values is not None and len(values) <= MOST_TRIED

    def is_equation(self, term: Term) -> bool:
        """Is it written with ML's ``=``, which values with reals do not have?"""
        if not isinstance(term, Binary) or term.op != "=":
            return False
        typing = Typing(self.variables, self.colours)
        return not any(has_reals(typing.infer(side)) for side in (term.left, term.right))


def _page(net: Net, page: Page, names: _Names) -> Page:
    transitions, arcs = list[Transition](), dict[str, list[Arc]]()
    colours = {p.name: p.colour for p in page.places}
    for arc in page.arcs:
        arcs.setdefault(arc.transition, []).append(arc)
    for transition in page.transitions:
        own = arcs.get(transition.name, [])
        if not any(isinstance(t, Many | Delayed) for a in own if a.input for t in a.terms):
            terms = [t for a in own for t in a.terms] + [t for t in (transition.delay, *transition.guard) if t]
            form = _Form(names, colours, list(transition.guard), _together(net, own), _names(terms))
            form.make()
            transition, arcs[transition.name] = replace(transition, guard=tuple(form.guard)), form.arcs
        transitions.append(transition)
    moved = tuple(a for own in arcs.values() for a in own)
    return replace(page, transitions=tuple(transitions), arcs=page.arcs if set(moved) == set(page.arcs) else moved)


def _together(net: Net, arcs: Sequence[Arc]) -> list[Arc]:
    """Tokens of one fusion set are all taken from one of its places: CPN Tools looks for those of each place alone."""
    first: dict[str, str] = {}
    for arc in arcs:
        if arc.input:
            first.setdefault(net.holder(arc.place), arc.place)
    if {a.place for a in arcs if a.input} <= set(first.values()):
        return list(arcs)
    found: dict[tuple[str, bool], Arc] = {}
    for arc in arcs:
        place = first.get(net.holder(arc.place), arc.place)
        before = found.get((place, arc.input))
        terms = arc.terms if before is None else (*before.terms, *arc.terms)
        found[place, arc.input] = replace(arc, place=place, terms=terms)
    return list(found.values())


@dataclass
class _Form:
    """A transition that gets the form in which CPN Tools can bind its variables."""

    names: _Names
    #: of the places
    colours: Mapping[str, Colour]
    guard: list[Term]
    arcs: list[Arc]
    #: the names of its variables
    used: set[str]

    def make(self) -> None:
        several = len(self._groups()) > 1
        for place, term in self._taken():
            if isinstance(term, TupleTerm | RecordTerm) or _is_pattern(term):
                self._change(place, term, self._apart(term, self.colours[place], set()))
        again, met = self._order(), set[str]()
        for place, term in self._taken():
            if again is None:
                new = self._apart(term, self.colours[place], set())
                self._change(place, term, self._renamed(new, met, is_whole(self.colours[place])))
                again = self._order()
            met |= variables(term)
        if several:
            self.guard = [
                Unary("not", Binary("!=", g.left, g.right)) if isinstance(g, Binary) and k in (again or ()) else g
                for k, g in enumerate(self.guard)
            ]

    def _taken(self) -> list[tuple[str, Term]]:
        return list(dict.fromkeys((a.place, t) for a in self.arcs if a.input for t in a.terms))

    def _change(self, place: str, old: Term, new: Term) -> None:
        """Another term at the arcs of a place, also at those that give the token back: one line shows both."""
        self.arcs = [
            replace(a, terms=tuple(new if t == old else t for t in a.terms)) if a.place == place else a
            for a in self.arcs
        ]

    def _groups(self) -> list[set[str]]:
        """The variables in groups that no token and no condition connects."""
        groups: list[set[str]] = []
        for own in (*(_names(a.terms) for a in self.arcs if a.input), *map(variables, self.guard)):
            connected = [g for g in groups if g & own]
            groups = [g for g in groups if not g & own] + ([own.union(*connected)] if own else [])
        return groups

    def _order(self) -> frozenset[int] | None:
        """The conditions that give variables their values again; None if there is no order."""
        found = frozenset[int]()
        for group in self._groups():
            equations = {k: g for k, g in enumerate(self.guard) if self.names.is_equation(g) and group & variables(g)}
            taken = [a for a in self.arcs if a.input and group & _names(a.terms)]
            tokens = [(a.terms, is_whole(self.colours[a.place])) for a in taken]
            again = order(tokens, [g for g in equations.values() if isinstance(g, Binary)], self.names.is_small)
            if again is None:
                return None
            found |= {k for n, k in enumerate(equations) if n in again}
        return found

    def _fresh(self, term: Term, like: str, colour: Colour) -> Term:
        """A new variable instead of ``term``, if its colour is declared."""
        if colour not in self.names.colours:
            return term
        made = self.names.new(like, colour, self.used)
        self.guard.append(Binary("=", made, term))
        return made

    def _apart(self, term: Term, colour: Colour, seen: set[str], top: bool = True) -> Term:
        """``term`` without computed parts, and with each variable once."""
        if isinstance(term, Ref):
            again = term.name in seen
            seen.add(term.name)
            return self._fresh(term, term.name, colour) if again else term
        if taken_apart(term):
            parts = zip(term.children, _colours(term, colour), strict=True)
            new = tuple(self._apart(part, c, seen, False) for part, c in parts)
            return term if new == term.children else term.with_children(new)
        return term if top or _is_pattern(term) else self._fresh(term, "computed", colour)

    def _renamed(self, term: Term, met: set[str], whole: bool) -> Term:
        """``term`` with new variables for those of ``met``, but for entries that are compared as they are."""

        def rename(node: Expr) -> Expr | None:
            if not isinstance(node, Ref) or node.name not in met:
                return None
            return self._fresh(node, node.name, self.names.variables[node.name])

        if isinstance(term, TupleTerm | RecordTerm) and not whole:
            return replace(term, parts=tuple(p if isinstance(p, Ref) else rewrite(p, rename) for p in term.parts))
        return rewrite(term, rename) if taken_apart(term) else term


def _names(terms: Iterable[Term]) -> set[str]:
    return set[str]().union(*map(variables, terms))


def _colours(term: Term, colour: Colour) -> tuple[Colour, ...]:
    """The colours of the parts of a term that is taken apart."""
    colour = plain(colour)
    if isinstance(colour, Product):
        return colour.parts
    if isinstance(colour, Record):
        return tuple(c for _, c in colour.fields)
    if isinstance(colour, List):
        return (colour.of, colour) if isinstance(term, Call) else (colour.of,) * len(term.children)
    held = colour.case(term.constructor) if isinstance(colour, Union) and isinstance(term, Inject) else None
    return () if held is None else (held,)
