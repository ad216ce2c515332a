"""A future formula from state to state: how its obligations are expanded (temporal-logic.md 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from occurs.languages.logic import syntax
from occurs.languages.logic.running.core import AHEAD, free
from occurs.languages.logic.running.directions import directions, serves
from occurs.languages.logic.running.later import Later, later, passed
from occurs.languages.logic.running.past import OfPresent
from occurs.languages.logic.running.residual import (
    DONE,
    FALSE,
    LAST,
    NOW,
    Pending,
    Residual,
    Several,
    Unknown,
    both,
    combined,
    either,
    leaves,
    satisfied,
)
from occurs.languages.logic.running.terms import Values
from occurs.languages.logic.running.trails import Trails
from occurs.languages.logic.running.values import Lost

Expand: TypeAlias = Callable[[bool, Values, Any], Residual]


class Node:
    """A formula that obligations are of: ``names`` of its free variables; how it is expanded at a state; and what it is
    at every later state, as far as comparisons of time tell."""

    __slots__ = ("directions", "expand", "later", "names", "number")

    def __init__(self, number: int, names: tuple[str, ...], directions: tuple[int, ...] | None) -> None:
        self.number, self.names = number, names
        #: per name: is the formula satisfied more easily with greater values (1), with smaller ones (-1)?  None: it is
        #: not so of all of them
        self.directions = directions
        self.expand: Expand
        self.later: Later | None = None

    def pending(self, hold: bool, r: Values) -> Pending:
        """The obligation, with values of its variables."""
        return (self.number, hold, tuple([r[n] for n in self.names]))


class Ahead:
    """A formula, compiled: ``nodes`` by number, the first of the whole formula."""

    def __init__(self, formula: syntax.Formula, present: OfPresent) -> None:
        self.present, self.kind = present, present.kind
        self.nodes: list[Node] = []
        self._known: dict[syntax.Formula, Node] = {}
        self.root = self.node(formula)

    def node(self, f: syntax.Formula) -> Node:
        """The node of a formula that may be pending."""
        if f not in self._known:
            node = self._known[f] = self._made(f)
            node.expand = self.expanded(f)
            node.later = later(f, self.kind)
        return self._known[f]

    def _made(self, f: syntax.Formula) -> Node:
        names = tuple(sorted(free(f)))
        node = Node(len(self.nodes), names, directions(f, names))
        self.nodes.append(node)
        return node

    def expanded(self, f: syntax.Formula) -> Expand:
        """What is left of a formula at a state."""
        if not any(isinstance(n, AHEAD) for n in f.walk()):
            return self._at_once(f)
        match f:
            case syntax.Not():
                inner = self.expanded(f.operand)
                return lambda hold, r, s: inner(not hold, r, s)
            case syntax.And() | syntax.Or():
                parts = [self.expanded(p) for p in f.operands]
                return _joined(isinstance(f, syntax.And), parts)
            case syntax.Assign():
                name, term, operand = f.variable.text, self.present.term(f.term), self.expanded(f.operand)
                return lambda hold, r, s: operand(hold, {**r, name: term(s, r)}, s)
            case syntax.Nexttime():
                following = self.node(f.operand)
                return lambda hold, r, s: (
                    following.pending(True, r) if hold else combined(False, (LAST, following.pending(False, r)))
                )
            case syntax.Until():
                return self._until(f)
        raise TypeError(f"no formula: {type(f).__name__}")

    def _at_once(self, f: syntax.Formula) -> Expand:
        test = self.present.test(f)

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            found = test(s, r)
            if type(found) is Lost:
                return Unknown(found)
            return NOW if found is hold else FALSE

        return expand

    def _until(self, f: syntax.Until) -> Expand:
        # made here, as it waits for itself
        again = self._known.get(f)
        if again is None:
            again = self._known[f] = self._made(f)
            again.later = later(f, self.kind)
            again.expand = self._until(f)
            return again.expand
        mine, right, left = again, self.expanded(f.right), self.expanded(f.left)
        closed = passed(f.right, self.kind)
        always = isinstance(f.left, syntax.Truth) and f.left.value

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            g = right(hold, r, s)
            if hold:
                on = mine.pending(True, r)
                return either(g, on if always else both(left(True, r, s), on))
            if g is FALSE:
                return FALSE
            if closed is not None and closed(r, s.time) is False:
                return g
            return both(g, combined(False, (left(False, r, s), LAST, mine.pending(False, r))))

        return expand

    # --- a residual from state to state -------------------------------------------------------------------------------

    def step(self, residual: Residual, r: Values, s: Any, trails: Trails | None = None) -> tuple[bool | Lost, Residual]:
        """(is this state a new way to be satisfied?, what is left behind it).  ``trails`` go on, if they are given.

        The same as :meth:`advance`, :func:`satisfied` and :meth:`leave`, for the parts of an ``or`` one after another:
        most residuals are one.
        """
        parts = residual.parts if type(residual) is Several and not residual.conjunction else (residual,)
        nodes, time = self.nodes, s.time
        hit: bool | Lost = False
        left: dict[Residual, None] = {}
        for part in parts:
            if type(part) is tuple:
                node = nodes[part[0]]
                names = node.names
                if names:
                    values = dict(r)
                    values.update(zip(names, part[2]))
                    found = node.expand(part[1], values, s)
                else:
                    found = node.expand(part[1], r, s)
            else:
                found = self.advance(part, r, s)
            more = found.parts if type(found) is Several and not found.conjunction else (found,)
            if trails is not None:
                trails.go_on(self, part, more, time)
            for one in more:
                if type(one) is tuple:
                    node = nodes[one[0]]
                    if node.later is not None:
                        values = dict(r)
                        values.update(zip(node.names, one[2]))
                        told = node.later(values, time)
                        if told is not None and told is not one[1]:
                            continue
                    left[one] = None
                elif one is NOW or one is LAST:
                    hit = True
                elif type(one) is Several or type(one) is Unknown:
                    if hit is not True:
                        hit = self._hit(one) or hit
                    rest = self.leave(one, r, time)
                    if rest is not FALSE and rest is not DONE:
                        left[rest] = None
        if trails is not None:
            trails.turn(left)
        if len(left) > 1:
            left = self._undominated(left)
            return hit, Several(False, tuple(left)) if len(left) > 1 else next(iter(left))
        return hit, next(iter(left)) if left else FALSE

    @staticmethod
    def _hit(residual: Residual) -> bool | Lost:
        if satisfied(residual, False)[1]:
            return True
        if satisfied(residual, True)[1]:
            return next(leaf.lost for leaf in leaves(residual) if isinstance(leaf, Unknown))
        return False

    def _undominated(self, parts: dict[Residual, None]) -> dict[Residual, None]:
        """Without obligations that are met only if another one is, too (5.2: a monotone queue)."""
        fronts: dict[int, list[Pending]] = {}
        for part in list(parts):
            if type(part) is not tuple or not part[1]:
                continue
            directions = self.nodes[part[0]].directions
            if directions is None:
                continue
            front = fronts.setdefault(part[0], [])
            for at in range(len(front) - 1, -1, -1):
                other = front[at]
                if serves(part[2], other[2], directions):
                    del front[at]
                    del parts[other]
                elif serves(other[2], part[2], directions):
                    del parts[part]
                    break
            else:
                front.append(part)
        return parts

    def advance(self, residual: Residual, r: Values, s: Any) -> Residual:
        """Every pending obligation expanded at a new state."""
        if type(residual) is tuple:
            node = self.nodes[residual[0]]
            values = dict(r)
            for name, value in zip(node.names, residual[2]):
                values[name] = value
            return node.expand(residual[1], values, s)
        if type(residual) is Several:
            return combined(residual.conjunction, [self.advance(p, r, s) for p in residual.parts])
        return residual

    def leave(self, residual: Residual, r: Values, time: int) -> Residual:
        """The state is over: now is done, last is false; what no later time can satisfy is dropped."""
        if type(residual) is tuple:
            node = self.nodes[residual[0]]
            if node.later is None:
                return residual
            told = node.later({**r, **dict(zip(node.names, residual[2]))}, time)
            return FALSE if told is not None and told is not residual[1] else residual
        if type(residual) is Several:
            return combined(residual.conjunction, [self.leave(p, r, time) for p in residual.parts])
        if residual is NOW:
            return DONE
        if residual is LAST:
            return FALSE
        if type(residual) is Unknown:
            return Unknown(residual.lost, False)
        return residual


def _joined(conjunction: bool, parts: list[Expand]) -> Expand:
    def expand(hold: bool, r: Values, s: Any) -> Residual:
        every = conjunction is hold
        found = []
        for part in parts:
            one = part(hold, r, s)
            if one is FALSE and every:
                return FALSE
            found.append(one)
        return combined(every, found)

    return expand
