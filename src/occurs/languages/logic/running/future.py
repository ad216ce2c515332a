"""A future formula from state to state: how its obligations are expanded (temporal-logic.md 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from occurs.languages.logic import syntax
from occurs.languages.logic.running.core import AHEAD, free
from occurs.languages.logic.running.directions import Front, directions, front, undominated
from occurs.languages.logic.running.later import later, passed
from occurs.languages.logic.running.past import OfPresent
from occurs.languages.logic.running.residual import (
    DONE,
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
    leaves,
    satisfied,
)
from occurs.languages.logic.running.terms import Values
from occurs.languages.logic.running.trails import Trails
from occurs.languages.logic.running.values import Lost

Expand: TypeAlias = Callable[[bool, Values, Any], Residual]
#: what becomes of an obligation at a state, with the values of its variables and others
Move: TypeAlias = Callable[[Pending, Values, Any], Residual]


class Node:
    """A formula that obligations are of: ``names`` of its free variables.

    ``moves``: for obligations that it is not to hold, and that it is, what becomes of one; itself if it stays as it is,
    HELD if it does and is satisfied if this is the last state.
    """

    __slots__ = ("directions", "moves", "names", "number")

    def __init__(self, number: int, names: tuple[str, ...], directions: tuple[int, ...] | None) -> None:
        self.number, self.names = number, names
        #: per name: is the formula satisfied more easily with greater values (1), with smaller ones (-1)?  None: it is
        #: not so of all of them
        self.directions = directions
        self.moves: tuple[Move, Move]

    def pending(self, hold: bool, r: Values) -> Pending:
        """The obligation, with values of its variables."""
        return (self.number, hold, tuple([r[n] for n in self.names]))

    def move(self, one: Pending, r: Values, s: Any) -> Residual:
        """What becomes of an obligation."""
        names = self.names
        if names:
            r = r.copy()
            r.update(zip(names, one[2]))
        return self.moves[one[1]](one, r, s)


class Ahead:
    """A formula, compiled: ``nodes`` by number, the first of the whole formula."""

    def __init__(self, formula: syntax.Formula, present: OfPresent) -> None:
        self.present, self.kind = present, present.kind
        self.nodes: list[Node] = []
        self._known: dict[syntax.Formula, Node] = {}
        self.root = self.node(formula)

    # --- formulas -----------------------------------------------------------------------------------------------------

    def node(self, f: syntax.Formula) -> Node:
        """The node of a formula that may be pending."""
        node = self._known.get(f)
        if node is None:
            names = tuple(sorted(free(f)))
            node = self._known[f] = Node(len(self.nodes), names, directions(f, names))
            self.nodes.append(node)
            node.moves = self._until(f) if isinstance(f, syntax.Until) else _afresh(self.expanded(f))
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
                return self._nexttime(f)
            case syntax.Until():
                return _begun(self.node(f))
        raise TypeError(f"no formula: {type(f).__name__}")

    def _at_once(self, f: syntax.Formula) -> Expand:
        test = self.present.test(f)

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            found = test(s, r)
            if type(found) is Lost:
                return Unknown(found)
            return NOW if found is hold else FALSE

        return expand

    def _nexttime(self, f: syntax.Nexttime) -> Expand:
        following, told = self.node(f.operand), later(f.operand, self.kind)

        def expand(hold: bool, r: Values, s: Any) -> Residual:
            # what no later time can satisfy is no obligation
            lost = told is not None and told(r, s.time) is (not hold)
            if hold:
                return FALSE if lost else following.pending(True, r)
            return LAST if lost else Several(False, (LAST, following.pending(False, r)))

        return expand

    def _until(self, f: syntax.Until) -> tuple[Move, Move]:
        right, left = self.expanded(f.right), self.expanded(f.left)
        closed, told = passed(f.right, self.kind), later(f, self.kind)
        always = isinstance(f.left, syntax.Truth) and f.left.value

        def met(one: Pending, r: Values, s: Any) -> Residual:
            g = right(True, r, s)
            if told is not None and told(r, s.time) is False:
                return g
            on: Residual = one
            if not always:
                so_far = left(True, r, s)
                if so_far is FALSE:
                    return g
                if so_far is not NOW:
                    on = both(so_far, one)
            return on if g is FALSE else either(g, on)

        def unmet(one: Pending, r: Values, s: Any) -> Residual:
            g = right(False, r, s)
            if g is FALSE or (closed is not None and closed(r, s.time) is False):
                return g
            stays = told is None or told(r, s.time) is not True
            so_far = FALSE if always else left(False, r, s)
            if g is NOW and so_far is FALSE and stays:
                return HELD
            rest = combined(False, (so_far, LAST, one if stays else FALSE))
            # `last` is as new as `now`
            return rest if g is NOW else both(g, rest)

        return unmet, met

    # --- a residual from state to state -------------------------------------------------------------------------------

    def step(self, residual: Residual, r: Values, s: Any, trails: Trails | None = None) -> tuple[bool | Lost, Residual]:
        """(is this state a new way to be satisfied?, what is left behind it).  ``trails`` go on, if they are given."""
        nodes = self.nodes
        parts = residual.parts if type(residual) is Several and not residual.conjunction else (residual,)
        hit: bool | Lost = False
        left: dict[Residual, None] = {}
        fresh: list[Residual] = []
        for part in parts:
            if type(part) is tuple:
                found = nodes[part[0]].move(part, r, s)
            elif type(part) is Several:
                found = self._moved(part, r, s) if part.conjunction else self.advance(part, r, s)
            else:
                continue  # what was satisfied, or was not known, at an earlier state is no new way
            if trails is not None:
                trails.go_on(self, part, _parts(_plain(found, part)), s.time)
            if found is part:
                left[part] = None
            elif found is HELD:
                hit = True
                left[part] = None
            elif found is not FALSE:
                for one in _parts(found):
                    if one is NOW or one is LAST:
                        hit = True
                        continue
                    if type(one) is Unknown:
                        hit = hit or one.lost
                        continue
                    if type(one) is Several and one.new:
                        if hit is not True:
                            hit = _hit(one) or hit
                        one = leave(one)
                    for rest in _parts(one):
                        if type(rest) is not Several and type(rest) is not tuple:
                            continue
                        if rest is not part:
                            fresh.append(rest)
                        left[rest] = None
        if trails is not None:
            trails.turn(left)
        if fresh and len(left) > 1:
            undominated(left, fresh, self._front)
        elif not fresh and len(left) == len(parts):
            return hit, residual
        if len(left) > 1:
            return hit, Several(False, tuple(left))
        return hit, next(iter(left)) if left else FALSE

    def _front(self, part: Residual) -> Front | None:
        """What a part can be compared by."""
        if type(part) is Several:
            if part.front is None:
                part.front = front(part.parts, self.nodes) or ()
            return part.front or None
        return front((part,), self.nodes)

    def _moved(self, part: Several, r: Values, s: Any) -> Residual:
        """What becomes of an `and`: itself, HELD, or something else."""
        nodes = self.nodes
        found: list[Residual] = []
        same = there = True
        new = False
        for p in part.parts:
            if type(p) is tuple:
                one = nodes[p[0]].move(p, r, s)
                if one is FALSE:
                    return FALSE
                if one is HELD:
                    new = True
                else:
                    there = False
                    same = same and one is p
            elif type(p) is Several:
                one = self.advance(p, r, s)
                if one is FALSE:
                    return FALSE
                same = same and one is p
                there = there and same and satisfied(p, False)[0]
            else:
                one, same = p, False
            found.append(one)
        if same:
            return HELD if there and new else part
        return combined(True, [_plain(one, p) for one, p in zip(found, part.parts)])

    def advance(self, residual: Residual, r: Values, s: Any) -> Residual:
        """Every pending obligation expanded at a new state; the same object if nothing has changed."""
        if type(residual) is tuple:
            return _plain(self.nodes[residual[0]].move(residual, r, s), residual)
        if type(residual) is Several:
            found = [self.advance(p, r, s) for p in residual.parts]
            if all(one is p for one, p in zip(found, residual.parts)):
                return residual
            return combined(residual.conjunction, found)
        return residual


def _parts(r: Residual) -> tuple[Residual, ...]:
    """Of an `or`."""
    return r.parts if type(r) is Several and not r.conjunction else (r,)


def _plain(found: Residual, part: Residual) -> Residual:
    """What has become of a part, without HELD."""
    if found is not HELD:
        return found
    return combined(False, (LAST, part))


def _afresh(expand: Expand) -> tuple[Move, Move]:
    """Of obligations that stand for one state."""
    return (lambda one, r, s: expand(False, r, s)), (lambda one, r, s: expand(True, r, s))


def _begun(node: Node) -> Expand:
    """An obligation that begins, and is at once looked at."""

    def expand(hold: bool, r: Values, s: Any) -> Residual:
        one = node.pending(hold, r)
        found = node.moves[hold](one, r, s)
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
            # what waits is not satisfied now: what is, adds nothing, and if it has to be the last state it never is
            if LAST in found:
                return FALSE
            found = [one for one in found if one is not NOW]
        return combined(every, found)

    return expand


def _hit(residual: Several) -> bool | Lost:
    """Is this state a new way?  A Lost if that is not known."""
    if satisfied(residual, False)[1]:
        return True
    if residual.unknown and satisfied(residual, True)[1]:
        return next(leaf.lost for leaf in leaves(residual) if isinstance(leaf, Unknown))
    return False


def leave(residual: Residual) -> Residual:
    """The state is over: now is done, last is false."""
    if type(residual) is Several:
        return combined(residual.conjunction, [leave(p) for p in residual.parts]) if residual.new else residual
    if residual is NOW:
        return DONE
    if residual is LAST:
        return FALSE
    if type(residual) is Unknown:
        return Unknown(residual.lost, False)
    return residual
