"""What becomes of the obligations of a future formula at a state (temporal-logic.md 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from occurs.operators.temporal import tree
from occurs.operators.temporal.closures import Values
from occurs.operators.temporal.directions import directions
from occurs.operators.temporal.later import later, passed
from occurs.operators.temporal.past import OfPresent
from occurs.operators.temporal.residual import (
    FALSE,
    HELD,
    LAST,
    NOW,
    Pending,
    Residual,
    Several,
    Unknown,
    both,
    combined,
    either,
    leave,
)
from occurs.operators.temporal.tree import AHEAD, free
from occurs.operators.temporal.values import Lost
from occurs.operators.temporal.windows import Ages, ages, clocks

Expand: TypeAlias = Callable[[bool, Values, Any], Residual]
#: what becomes of an obligation at a state, with the values of its variables and others
Move: TypeAlias = Callable[[Pending, Values, Any], Residual]
_TRUE = tree.Truth(True)


class Node:
    """A formula that obligations are of: ``names`` of its free variables.

    ``moves``: for obligations that it is not to hold, and that it is, what becomes of one; itself if it stays as it is,
    HELD if it does and is satisfied if this is the last state.  ``begin``: the same where the values are those of its
    variables already.  ``goal``: what has to come, if it is no more than that something comes at last.
    ``comes``: no more than that, or within a time.
    """

    __slots__ = ("begin", "comes", "directions", "goal", "moves", "names", "number")

    def __init__(self, number: int, names: tuple[str, ...], directions: tuple[int, ...] | None) -> None:
        self.number, self.names = number, names
        #: per name: is the formula satisfied more easily with greater values (1), with smaller ones (-1)?  None: it is
        #: not so of all of them
        self.directions = directions
        self.moves: tuple[Move, Move]
        self.begin: tuple[Move, Move]
        self.goal: Expand | None = None
        self.comes = False

    def pending(self, hold: bool, r: Values) -> Pending:
        """The obligation, with values of its variables."""
        return (self.number, hold, tuple([r[n] for n in self.names]))


class Expanding:
    """A formula, compiled: ``nodes`` by number, the first of the whole formula.

    ``first``: only the first way to be satisfied counts.
    """

    def __init__(self, formula: tree.Formula, present: OfPresent, first: bool) -> None:
        self.first = first
        self.present, self.kind = present, present.kind
        self.nodes: list[Node] = []
        self._known: dict[tree.Formula, Node] = {}
        self._clocks = clocks(formula)
        self.root = self.node(formula)

    # --- formulas -----------------------------------------------------------------------------------------------------

    def node(self, f: tree.Formula) -> Node:
        """The node of a formula that may be pending."""
        node = self._known.get(f)
        if node is None:
            names = tuple(sorted(free(f)))
            node = self._known[f] = Node(len(self.nodes), names, directions(f, names))
            self.nodes.append(node)
            within = ages(f.right, self._clocks, self.kind) if isinstance(f, tree.Until) else None
            if isinstance(f, tree.Until) and within is not None:
                node.moves = node.begin = self._within(f, within, names)
            else:
                made = self._until(f, node) if isinstance(f, tree.Until) else _afresh(self.expanded(f))
                node.begin, node.moves = made, (_bound(made[0], names), _bound(made[1], names))
        return node

    def expanded(self, f: tree.Formula) -> Expand:
        """What is left of a formula at a state."""
        if not any(isinstance(n, AHEAD) for n in f.walk()):
            return self._at_once(f)
        match f:
            case tree.Not():
                inner = self.expanded(f.operand)
                return lambda hold, r, s: inner(not hold, r, s)
            case tree.And() | tree.Or():
                parts = [self.expanded(p) for p in f.operands]
                return _joined(isinstance(f, tree.And), parts)
            case tree.Assign():
                name, term, operand = f.variable.text, self.present.term(f.term), self.expanded(f.operand)
                return lambda hold, r, s: operand(hold, {**r, name: term(s, r)}, s)
            case tree.Nexttime():
                return self._nexttime(f)
            case tree.Until():
                return _begun(self.node(f))
        raise TypeError(f"not a formula: {type(f).__name__}")

    def _at_once(self, f: tree.Formula) -> Expand:
        test = self.present.test(f)

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            found = test(s, r)
            if type(found) is Lost:
                return Unknown(found)
            return NOW if found is hold else FALSE

        return expand

    def _nexttime(self, f: tree.Nexttime) -> Expand:
        following, told = self.node(f.operand), later(f.operand, self.kind)

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            # what no later time can satisfy is no obligation
            lost = told is not None and told(r, s.time) is (not hold)
            if hold:
                return FALSE if lost else following.pending(True, r)
            return LAST if lost else Several(False, (LAST, following.pending(False, r)))

        return expand

    def _until(self, f: tree.Until, node: Node) -> tuple[Move, Move]:
        right, left = self.expanded(f.right), self.expanded(f.left)
        closed, told = passed(f.right, self.kind), later(f, self.kind)
        always = node.comes = f.left == _TRUE
        if always and told is None:
            node.goal = right

        def met(one: Pending, r: Values, s: Any) -> Residual:
            g = right(True, r, s)
            if told is not None and told(r, s.time) is False:
                return g
            return _met(g, one, NOW if always else left(True, r, s))

        def unmet(one: Pending, r: Values, s: Any) -> Residual:
            g = right(False, r, s)
            if g is FALSE or (closed is not None and closed(r, s.time) is False):
                return g
            stays = told is None or told(r, s.time) is not True
            return _unmet(g, one, FALSE if always else left(False, r, s), stays)

        return unmet, met

    def _within(self, f: tree.Until, window: Ages, names: tuple[str, ...]) -> tuple[Move, Move]:
        """The same, of an operator with a bound."""
        right, left = self.expanded(window.rest), self.expanded(f.left)
        closed, told = passed(window.rest, self.kind), later(window.rest, self.kind)
        always, at_once = f.left == _TRUE, not any(isinstance(n, AHEAD) for n in window.rest.walk())
        at, low, high = names.index(window.clock), window.low, window.high
        close, opened = window.close, window.opened
        asked = free(window.rest) | free(f.left)
        needed = [(n, i) for i, n in enumerate(names) if n in asked]

        def met(one: Pending, r: Values, s: Any) -> Residual:
            values = one[2]
            age = s.time - values[at]
            if needed:
                r = r.copy()
                for name, i in needed:
                    r[name] = values[i]
            g = right(True, r, s) if low <= age <= high else FALSE
            if age >= close or (told is not None and told(r, s.time) is False):
                return g
            return _met(g, one, NOW if always else left(True, r, s))

        def unmet(one: Pending, r: Values, s: Any) -> Residual:
            values = one[2]
            age = s.time - values[at]
            if needed:
                r = r.copy()
                for name, i in needed:
                    r[name] = values[i]
            if low <= age <= high:
                g = right(False, r, s)
            else:
                g = NOW if at_once else either(right(False, r, s), NOW)
            if g is FALSE or age >= close or (closed is not None and closed(r, s.time) is False):
                return g
            stays = age < opened or told is None or told(r, s.time) is not True
            return _unmet(g, one, FALSE if always else left(False, r, s), stays)

        return unmet, met


def _bound(move: Move, names: tuple[str, ...]) -> Move:
    """With the values of its own variables."""
    if not names:
        return move

    def bound(one: Pending, r: Values, s: Any) -> Residual:
        r = r.copy()
        r.update(zip(names, one[2]))
        return move(one, r, s)

    return bound


def _met(g: Residual, one: Pending, so_far: Residual) -> Residual:
    """An `until` that is to hold: what is awaited came to ``g``, what must hold meanwhile to ``so_far``."""
    if so_far is FALSE:
        return g
    on: Residual = one if so_far is NOW else both(so_far, one)
    return on if g is FALSE else either(g, on)


def _unmet(g: Residual, one: Pending, so_far: Residual, stays: bool) -> Residual:
    """One that is not to hold; ``stays``: may what is awaited still come?  Both are residuals of the opposites."""
    if g is NOW and so_far is FALSE and stays:
        return HELD
    rest = combined(False, (so_far, LAST, one if stays else FALSE))
    # `last` is as new as `now`
    return rest if g is NOW else both(g, rest)


def _afresh(expand: Expand) -> tuple[Move, Move]:
    """Of obligations that stand for one state."""
    return (lambda one, r, s: expand(False, r, s)), (lambda one, r, s: expand(True, r, s))


def _begun(node: Node) -> Expand:
    """An obligation that begins, and is at once looked at."""

    def expand(hold: bool, r: Values, s: Any) -> Residual:
        one = node.pending(hold, r)
        found = node.begin[hold](one, r, s)
        return Several(False, (LAST, one)) if found is HELD else found

    return expand


def _joined(conjunction: bool, parts: list[Expand]) -> Expand:
    def expand(hold: bool, r: Values, s: Any) -> Residual:
        every = conjunction is hold
        found = []
        waits = False
        for part in parts:
            one = part(hold, r, s)
            if one is FALSE and every:
                return FALSE
            waits = waits or type(one) is tuple
            found.append(one)
        if waits and every:
            # what waits is not satisfied at this state
            found = [leave(one) for one in found]
            if len(found) == 2 and type(found[0]) is tuple and type(found[1]) is tuple and found[0] != found[1]:
                return Several(True, (found[0], found[1]))
        return combined(every, found)

    return expand
