"""A future formula from state to state: what is left of it since its activation (temporal-logic.md 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.past import OfPresent
from occurs.operators.temporal.reasons import Trails
from occurs.operators.temporal.residual import (
    FALSE,
    HELD,
    LAST,
    NOW,
    Expand,
    Front,
    Move,
    Node,
    Pending,
    Residual,
    Several,
    Unknown,
    alternatives,
    both,
    combined,
    directions,
    either,
    front,
    leave,
    new_way,
    satisfied,
    spread,
    undominated,
)
from occurs.operators.temporal.terms import Values
from occurs.operators.temporal.times import REACH, ticks
from occurs.operators.temporal.tree import AHEAD, Formula, Generic, Global, Time, Truth, free
from occurs.operators.temporal.values import Lost

_TRUE = tree.Truth(True)


class Ahead:
    """A formula that looks ahead, compiled; its residual is handed in, and goes on.

    ``nodes`` by number, the first of the whole formula.  ``first``: only the first way to be satisfied counts.
    """

    def __init__(self, formula: tree.Formula, present: OfPresent, first: bool) -> None:
        self.first = first
        self.present, self.kind = present, present.kind
        self.nodes: list[Node] = []
        self._known: dict[tree.Formula, Node] = {}
        self._clocks = tree.clocks(formula)
        self.root = self.node(formula)

    def step(self, residual: Residual, r: Values, s: Any, trails: Trails | None = None) -> tuple[bool | Lost, Residual]:
        """(is this state a new way to be satisfied?, what is left behind it).  ``trails`` go on, if they are given."""
        nodes = self.nodes
        parts = residual.parts if type(residual) is Several and not residual.conjunction else (residual,)
        hit: bool | Lost = False
        left: dict[Residual, None] = {}
        fresh: list[Residual] = []
        coming: list[Residual] = []
        for part in parts:
            if type(part) is tuple:
                node = nodes[part[0]]
                if node.goal is not None and part[1] and trails is None and not node.names:
                    found = node.goal(True, r, s)
                    coming.append(part)
                else:
                    found = node.moves[part[1]](part, r, s)
            elif type(part) is Several:
                found = self._moved(part, r, s) if part.conjunction else self.advance(part, r, s)
            else:
                continue  # what was satisfied, or was not known, at an earlier state is no new way
            if trails is not None:
                trails.go_on(self, part, alternatives(_plain(found, part)), s)
            if found is part:
                left[part] = None
            elif found is HELD:
                hit = True
                left[part] = None
            elif found is not FALSE:
                for one in alternatives(found):
                    if type(one) is tuple:
                        if one is not part:
                            fresh.append(one)
                        left[one] = None
                        continue
                    if one is NOW or one is LAST:
                        hit = True
                        continue
                    if type(one) is Unknown:
                        hit = hit or one.lost
                        continue
                    if type(one) is Several and one.new:
                        if hit is not True:
                            hit = new_way(one) or hit
                        one = leave(one)
                    for rest in spread(one, self.first):
                        if type(rest) is not Several and type(rest) is not tuple:
                            continue
                        if rest is not part:
                            fresh.append(rest)
                        left[rest] = None
            if hit is True and self.first:
                # there will be another activation
                return True, FALSE
        for part in coming:
            left[part] = None
        if trails is not None:
            trails.turn(left)
        if fresh and len(left) > 1:
            undominated(left, fresh, self._front)
            self._absorb(left, fresh)
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
        if type(part) is tuple and part[1]:
            known = self.nodes[part[0]].directions
            return None if known is None else (part[0], part[2], known)
        return None

    def _absorb(self, left: dict[Residual, None], fresh: list[Residual]) -> None:
        """Drop each `and` that ends only where one of its parts does that are left themselves; where only the first way
        counts one such part is enough."""
        among = [p for p in (left if any(type(p) is tuple for p in fresh) else fresh) if type(p) is Several]
        enough = any if self.first else all
        for part in among:
            if part in left and part.conjunction and enough([p in left for p in part.parts]):
                del left[part]

    def _moved(self, part: Several, r: Values, s: Any) -> Residual:
        """What becomes of an `and`: itself, HELD, or something else."""
        nodes = self.nodes
        found: list[Residual] = []
        same = there = True
        new = False
        for p in part.parts:
            if type(p) is tuple:
                one = nodes[p[0]].moves[p[1]](p, r, s)
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
            return _plain(self.nodes[residual[0]].moves[residual[1]](residual, r, s), residual)
        if type(residual) is Several:
            found = [self.advance(p, r, s) for p in residual.parts]
            if all(one is p for one, p in zip(found, residual.parts)):
                return residual
            return combined(residual.conjunction, found)
        return residual

    # --- what obligations become, compiled ----------------------------------------------------------------------------

    def node(self, f: tree.Formula) -> Node:
        """The node of a formula that may be pending."""
        node = self._known.get(f)
        if node is None:
            names = tuple(sorted(free(f)))
            node = self._known[f] = Node(len(self.nodes), names, directions(f, names))
            self.nodes.append(node)
            within = timed(f.right, self._clocks, self.kind) if isinstance(f, tree.Until) else None
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

    def _within(self, f: tree.Until, window: Timed, names: tuple[str, ...]) -> tuple[Move, Move]:
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


def _plain(found: Residual, part: Residual) -> Residual:
    """What has become of a part, without HELD."""
    return Several(False, (LAST, part)) if found is HELD else found


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


# --- what comparisons of time tell of all later times -----------------------------------------------------------------


#: what a formula is at every state later than a time, None if it is not known
Later: TypeAlias = Callable[[Values, int], "bool | None"]


def later(f: tree.Formula, kind: TimeKind) -> Later | None:
    """What a formula is at every state later than a time, as far as its comparisons of time tell (None: nothing)."""
    match f:
        case tree.Until():
            # it waits for what never comes, or has it at once
            return later(f.right, kind)
        case tree.Nexttime():
            following = later(f.operand, kind)
            return None if following is None else (lambda r, time: False if following(r, time) is False else None)
        case tree.Assign():
            return _unset(f.variable.text, later(f.operand, kind))
    return _told(f, kind, later)


def _unset(name: str, inner: Later | None) -> Later | None:
    """Whatever value the variable will have."""
    return None if inner is None else (lambda r, time: inner({**r, name: None}, time))


def passed(f: tree.Formula, kind: TimeKind) -> Later | None:
    """The same, but nothing is said of what looks ahead (4.3, *Closed*)."""
    return _told(f, kind, passed)


def _told(f: tree.Formula, kind: TimeKind, of: Callable[[tree.Formula, TimeKind], Later | None]) -> Later | None:
    match f:
        case tree.Not():
            inner = of(f.operand, kind)
            return None if inner is None else (lambda r, time: _opposite(inner(r, time)))
        case tree.And() | tree.Or():
            parts = [of(p, kind) for p in f.operands]
            known = [p for p in parts if p is not None]
            return _decided(known, isinstance(f, tree.Or), len(known) == len(parts)) if known else None
        case tree.Compare():
            return _compared(f, kind)
    return None


def _opposite(told: bool | None) -> bool | None:
    return None if told is None else not told


def _decided(parts: list[Later], decisive: bool, all_known: bool) -> Later:
    def told(r: Values, time: int) -> bool | None:
        known = all_known
        for part in parts:
            found = part(r, time)
            if found is decisive:
                return decisive
            known = known and found is not None
        return (not decisive) if known else None

    return told


def _limit(f: tree.Compare, kind: TimeKind, otherwise: Later) -> Later:
    """The same for ``time op t + c`` with a whole c, which most of them are."""
    known = _start_and_age(f, kind)
    if known is None:
        return otherwise
    (name, after), rising = known, f.op in (">", ">=", "!=")

    def told(r: Values, time: int) -> bool | None:
        at = r[name]
        if type(at) is not int:
            return otherwise(r, time)
        return rising if at + after <= time else None

    return told


Linear: TypeAlias = Callable[[Values], "tuple[Any, Any] | None"]


def _compared(f: tree.Compare, kind: TimeKind) -> Later | None:
    left, right = _linear(f.left, kind), _linear(f.right, kind)
    if left is None or right is None:
        return None
    rising = f.op in (">", ">=", "!=")
    falling = f.op in ("<", "<=", "!=")

    def told(r: Values, time: int) -> bool | None:
        a, b = left(r), right(r)
        if a is None or b is None:
            return None
        factor, rest = a[0] - b[0], b[1] - a[1]
        if factor == 0:
            return None
        if factor > 0:
            return None if rest > time * factor else rising
        return None if rest < time * factor else falling

    return _limit(f, kind, told)


def _linear(t: Expr, kind: TimeKind) -> Linear | None:
    """(a, b) if the term is a * time + b; None if it is nothing of the kind."""
    match t:
        case Literal():
            value = _number(t.value)
            return None if value is None else (lambda r: (0, value))
        case DurationLiteral():
            length = ticks(t.value, kind)
            exact = length.numerator if length.denominator == 1 else length
            return lambda r: (0, exact)
        case Time():
            return lambda r: (1, 0)
        case Global() | Generic():
            name = t.name

            def named(r: Values) -> tuple[Any, Any] | None:
                found = _number(r[name])
                return None if found is None else (0, found)

            return named
        case Unary():
            inner = _linear(t.arg, kind)
            return None if inner is None else (lambda r: None if (a := inner(r)) is None else (-a[0], -a[1]))
        case Binary(op="+" | "-" | "*"):
            left, right = _linear(t.left, kind), _linear(t.right, kind)
            return None if left is None or right is None else _both(t.op, left, right)
    return None


def _both(op: str, left: Linear, right: Linear) -> Linear:
    def found(r: Values) -> tuple[Any, Any] | None:
        a, b = left(r), right(r)
        if a is None or b is None:
            return None
        if op == "*":
            return None if a[0] and b[0] else (a[0] * b[1] + b[0] * a[1], a[1] * b[1])
        return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[0], a[1] - b[1])

    return found


def _number(value: Any) -> Any:
    """An exact number; None if it is none."""
    if type(value) is int:
        return value
    if type(value) is float:
        return Fraction(value) if value - value == 0 else None
    return value if type(value) is Fraction else None


# --- bounds of until --------------------------------------------------------------------------------------------------


#: no age is as great
ENDLESS = 2**64


@dataclass(frozen=True)
class Timed:
    """The ages, in ticks since ``clock``, at which the comparisons hold: ``low`` to ``high``, both closed.

    As far as they tell, what is left of a formula without them (``rest``) is false at all later times from the age
    ``close`` on, and they hold at all later times from the age ``opened`` on (4.3, *Closed*).
    """

    clock: str
    rest: Formula
    low: int = 0
    high: int = ENDLESS
    close: int = ENDLESS
    opened: int = ENDLESS


def timed(f: Formula, known: frozenset[str], kind: TimeKind) -> Timed | None:
    """Of a formula with comparisons of time with one of the ``known`` clocks among its conjuncts."""
    parts = f.operands if isinstance(f, tree.And) else (f,)
    found = [_age_of(p, known, kind) for p in parts]
    clock = next((c[0] for c in found if c is not None), None)
    if clock is None:
        return None
    mine = [c for c in found if c is not None and c[0] == clock]
    rest = tuple(p for p, c in zip(parts, found, strict=True) if c is None or c[0] != clock)
    low, high, close, opened = 0, ENDLESS, ENDLESS, 0
    for _, op, age in mine:
        if op in (">=", ">", "="):
            low, opened = max(low, age + (op == ">")), max(opened, age)
        if op in ("<=", "<", "="):
            high, close, opened = min(high, age - (op == "<")), min(close, age), ENDLESS
    left: Formula = rest[0] if len(rest) == 1 else tree.And(rest) if rest else Truth(True)
    return Timed(clock, left, low, high, close, opened)


def _age_of(f: Expr, known: frozenset[str], kind: TimeKind) -> tuple[str, str, int] | None:
    """``time op clock + c``: (clock, op, c)."""
    found = _start_and_age(f, kind)
    if found is None or not isinstance(f, tree.Compare) or found[0] not in known or f.op == "!=":
        return None
    name, age = found
    # bounds of operators, whose variables are called `#1`, `#2` .., are not added to anything
    return None if age > REACH and not name.startswith("#") else (name, f.op, age)


def _start_and_age(f: Expr, kind: TimeKind) -> tuple[str, int] | None:
    """(t, c) of ``time op t + c`` with a whole c."""
    match f:
        case tree.Compare(
            left=Time(), right=Binary(op="+", left=Global(name=name), right=DurationLiteral(value=length))
        ):
            exact = ticks(length, kind)
        case tree.Compare(left=Time(), right=Binary(op="+", left=Global(name=name), right=Literal(value=int() as n))):
            exact = Fraction(n)
        case _:
            return None
    return (name, exact.numerator) if exact.denominator == 1 else None
