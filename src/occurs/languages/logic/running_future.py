"""What is left of a future formula since its activation: obligations (temporal-logic.md 5.1).

The residual is made of and/or over *done* (satisfied at an earlier state), *now*, *last* (satisfied only if this is the
last state) and *pending*: to be evaluated at the next state.  Equal obligations are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.languages.logic import syntax
from occurs.languages.logic.checks_nodes import Generic, Global, Time
from occurs.languages.logic.running_core import AHEAD, free
from occurs.languages.logic.running_past import OfPresent, ticks
from occurs.languages.logic.running_terms import Values
from occurs.languages.logic.running_values import Lost, Relation
from occurs.model.time import TimeKind


class Mark:
    """``done``, ``now``, ``last``, or false."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> str:
        return self.name.upper()


FALSE, DONE, NOW, LAST = Mark("false"), Mark("done"), Mark("now"), Mark("last")
MARKS = {m.name: m for m in (FALSE, DONE, NOW, LAST)}


class Unknown:
    """What is not known, at this state (``new``) or an earlier one."""

    __slots__ = ("lost", "new")

    def __init__(self, lost: Lost, new: bool = True) -> None:
        self.lost, self.new = lost, new


class Several:
    """``and``, or ``or``, of several."""

    __slots__ = ("_hash", "conjunction", "parts")

    def __init__(self, conjunction: bool, parts: tuple[Residual, ...]) -> None:
        self.conjunction, self.parts = conjunction, parts
        self._hash: int | None = None

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.conjunction, self.parts))
        return self._hash

    def __eq__(self, other: object) -> bool:
        return type(other) is Several and self.conjunction == other.conjunction and self.parts == other.parts


#: (number of the node, is it to hold?, values of its free variables)
Pending: TypeAlias = tuple[int, bool, tuple[Any, ...]]
Residual: TypeAlias = "Mark | Unknown | Several | Pending"


def combined(conjunction: bool, parts: Iterable[Residual]) -> Residual:
    """Flat, each part once; false decides an ``and`` and is nothing in an ``or``, done is nothing in an ``and``."""
    flat: dict[Residual, None] = {}
    for part in parts:
        if type(part) is Several and part.conjunction is conjunction:
            for inner in part.parts:
                flat[inner] = None
        elif part is FALSE:
            if conjunction:
                return FALSE
        elif part is not DONE or not conjunction:
            flat[part] = None
    if not flat:
        return DONE if conjunction else FALSE
    if len(flat) == 1:
        return next(iter(flat))
    return Several(conjunction, tuple(flat))


def either(a: Residual, b: Residual) -> Residual:
    """``or`` of two."""
    if a is FALSE or b is FALSE or a is b:
        return b if a is FALSE else a
    if type(a) is not Several and type(b) is not Several:
        return a if a == b else Several(False, (a, b))
    return combined(False, (a, b))


def both(a: Residual, b: Residual) -> Residual:
    """``and`` of two."""
    if a is FALSE or b is FALSE:
        return FALSE
    return b if a is DONE else a if b is DONE or a is b else combined(True, (a, b))


def satisfied(r: Residual, unknown: bool) -> tuple[bool, bool]:
    """Is it satisfied with pending = false, and does some now or last take part?"""
    if type(r) is Several:
        if r.conjunction:
            new = False
            for part in r.parts:
                there, also = satisfied(part, unknown)
                if not there:
                    return False, False
                new = new or also
            return True, new
        found = [satisfied(part, unknown) for part in r.parts]
        return any(there for there, _ in found), any(also for _, also in found)
    if type(r) is Mark:
        return r is not FALSE, r is NOW or r is LAST
    if type(r) is Unknown:
        return unknown, unknown and r.new
    return False, False


def leaves(r: Residual) -> Iterator[Residual]:
    """All but and/or."""
    if type(r) is Several:
        for part in r.parts:
            yield from leaves(part)
    else:
        yield r


Expand: TypeAlias = Callable[[bool, Values, Any], Residual]
Later: TypeAlias = Callable[[Values, int], "bool | None"]


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


#: (role, text, time) each: values that were remembered, states that were looked at
Trail: TypeAlias = tuple[tuple[str, str, int], ...]


#: entries of a trail; of what is satisfied at many states the latest are kept
LONGEST = 32


class Trails:
    """How each obligation has come about; ``hit``: how the formula was satisfied at this state, in one way."""

    def __init__(self, of: dict[Pending, Trail] | None = None) -> None:
        self.of: dict[Pending, Trail] = of or {}
        self.hit: Trail = ()
        self._next: dict[Pending, Trail] = {}

    def go_on(self, ahead: Ahead, part: Residual, found: Iterable[Residual], time: int) -> None:
        """What has become of a part of the residual at a state."""
        before = [leaf for leaf in leaves(part) if type(leaf) is tuple]
        base = tuple(dict.fromkeys(entry for leaf in before for entry in self.of.get(leaf, ())))[-LONGEST:]
        for one in found:
            if not self.hit and (one is NOW or one is LAST or (type(one) is Several and satisfied(one, False)[1])):
                self.hit = (*base, ("state", "state", time))
            for leaf in leaves(one):
                if type(leaf) is tuple and leaf not in self._next:
                    self._next[leaf] = base if leaf in before else (*base, *self._new(ahead, leaf, before, time))

    @staticmethod
    def _new(ahead: Ahead, leaf: Pending, before: Sequence[Pending], time: int) -> Trail:
        """What an obligation remembers that those before it did not."""
        known = {pair for one in before for pair in zip(ahead.nodes[one[0]].names, one[2])}
        own = [(n, v) for n, v in zip(ahead.nodes[leaf[0]].names, leaf[2]) if n[0] != "#" and (n, v) not in known]
        made = tuple((name, shown(value), time) for name, value in own)
        return made or ((("state", "state", time),) if all(one[0] != leaf[0] for one in before) else ())

    def turn(self, left: Iterable[Residual]) -> None:
        """To the next state: of obligations that are not left nothing is known any more."""
        self.of = {leaf: self._next[leaf] for part in left for leaf in leaves(part) if type(leaf) is tuple}
        self._next = {}


def shown(value: Any) -> str:
    """A value as text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{len(value.rows)} rows" if isinstance(value, Relation) else str(value)


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
                if _serves(part[2], other[2], directions):
                    del front[at]
                    del parts[other]
                elif _serves(other[2], part[2], directions):
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


# --- obligations that serve for others --------------------------------------------------------------------------------


def _serves(a: tuple[Any, ...], b: tuple[Any, ...], directions: tuple[int, ...]) -> bool:
    """Is a formula satisfied with the values ``a`` whenever it is with ``b``?"""
    for x, y, direction in zip(a, b, directions):
        if type(x) not in _NUMBERS or type(y) not in _NUMBERS:
            return False
        if (x < y) if direction > 0 else (x > y):
            return False
    return True


_NUMBERS = (int, float)


def directions(f: syntax.Formula, names: Sequence[str]) -> tuple[int, ...] | None:
    """Per variable whether greater values (1) or smaller ones (-1) satisfy a formula more easily; None if that is not
    so of every one."""
    if not names or len(names) > 3:
        return None
    found = [_direction(f, name) for name in names]
    return None if None in found or 0 in found else tuple(d for d in found if d is not None)


def _direction(f: Expr, name: str) -> int | None:
    """0: it makes no difference."""
    if name not in free(f):
        return 0
    match f:
        case syntax.And() | syntax.Or():
            return _same(_direction(p, name) for p in f.operands)
        case syntax.Until():
            return _same((_direction(f.left, name), _direction(f.right, name)))
        case syntax.Nexttime():
            return _direction(f.operand, name)
        case syntax.Assign() if name not in free(f.term):
            return _direction(f.operand, name)
        case syntax.Not() if not any(isinstance(n, AHEAD) for n in f.walk()):
            inner = _direction(f.operand, name)
            return None if inner is None else -inner
        case syntax.Compare(op="<" | "<=" | ">" | ">="):
            left, right = _slope(f.left, name), _slope(f.right, name)
            if left is None or right is None:
                return None
            # `a <= b` is easier with a greater b
            found = _same((-left, right))
            return found if found is None or f.op in ("<", "<=") else -found
    return None


def _slope(t: Expr, name: str) -> int | None:
    """Does a term grow (1) or fall (-1) with a variable?"""
    match t:
        case Global():
            return int(t.name == name)
        case Unary():
            inner = _slope(t.arg, name)
            return None if inner is None else -inner
        case Binary(op="+" | "-"):
            left, right = _slope(t.left, name), _slope(t.right, name)
            if left is None or right is None:
                return None
            return _same((left, right if t.op == "+" else -right))
        case Binary(op="*") if isinstance(t.left, Literal) or isinstance(t.right, Literal):
            factor, other = (t.left, t.right) if isinstance(t.left, Literal) else (t.right, t.left)
            assert isinstance(factor, Literal)
            inner = _slope(other, name)
            value = factor.value
            if inner is None or isinstance(value, str | None) or value == 0 or value - value != 0:
                return None if name in free(t) else 0
            return inner if value > 0 else -inner
    return 0 if name not in free(t) else None


def _same(found: Iterable[int | None]) -> int | None:
    """One direction, if there is one."""
    signs = set(found) - {0}
    return None if None in signs or len(signs) > 1 else next(iter(signs), 0)


# --- what comparisons of time tell ------------------------------------------------------------------------------------


def later(f: syntax.Formula, kind: TimeKind) -> Later | None:
    """What a formula is at every state later than a time, as far as its comparisons of time tell (None: nothing)."""
    match f:
        case syntax.Until():
            # it waits for what never comes, or has it at once
            return later(f.right, kind)
        case syntax.Nexttime():
            following = later(f.operand, kind)
            return None if following is None else (lambda r, time: False if following(r, time) is False else None)
        case syntax.Assign():
            return _unset(f.variable.text, later(f.operand, kind))
    return _told(f, kind, later)


def _unset(name: str, inner: Later | None) -> Later | None:
    """Whatever value the variable will have."""
    return None if inner is None else (lambda r, time: inner({**r, name: None}, time))


def passed(f: syntax.Formula, kind: TimeKind) -> Later | None:
    """The same, but nothing is said of what looks ahead (4.3, *Closed*)."""
    return _told(f, kind, passed)


def _told(f: syntax.Formula, kind: TimeKind, of: Callable[[syntax.Formula, TimeKind], Later | None]) -> Later | None:
    match f:
        case syntax.Not():
            inner = of(f.operand, kind)
            return None if inner is None else (lambda r, time: _opposite(inner(r, time)))
        case syntax.And() | syntax.Or():
            parts = [of(p, kind) for p in f.operands]
            known = [p for p in parts if p is not None]
            return _decided(known, isinstance(f, syntax.Or), len(known) == len(parts)) if known else None
        case syntax.Compare():
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


def _limit(f: syntax.Compare, kind: TimeKind, otherwise: Later) -> Later:
    """The same for ``time op t + c`` with a whole c, which most of them are."""
    match f:
        case syntax.Compare(
            left=Time(), right=Binary(op="+", left=Global() as start, right=DurationLiteral() as length)
        ):
            exact = ticks(length.value, kind)
        case syntax.Compare(left=Time(), right=Binary(op="+", left=Global() as start, right=Literal(value=int() as n))):
            exact = Fraction(n)
        case _:
            return otherwise
    if exact.denominator != 1:
        return otherwise
    after, name, rising = exact.numerator, start.name, f.op in (">", ">=", "!=")

    def told(r: Values, time: int) -> bool | None:
        at = r[name]
        if type(at) is not int:
            return otherwise(r, time)
        return rising if at + after <= time else None

    return told


Linear: TypeAlias = Callable[[Values], "tuple[Any, Any] | None"]


def _compared(f: syntax.Compare, kind: TimeKind) -> Later | None:
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
