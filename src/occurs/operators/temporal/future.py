"""A future formula from state to state: what is left of it since its activation (temporal-logic.md 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.past import OfPresent, Values
from occurs.operators.temporal.times import REACH, ticks
from occurs.operators.temporal.tree import AHEAD, Formula, Generic, Global, Time, Truth, free
from occurs.operators.temporal.values import Lost

if TYPE_CHECKING:
    from occurs.operators.temporal.reasons import Trails

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


# --- what is left of a formula: obligations ---------------------------------------------------------------------------
# The residual is made of and/or over *done* (satisfied at an earlier state), *now*, *last* (satisfied only if this is
# the last state) and *pending*: to be evaluated at the next state.  Equal obligations are one.


class Mark:
    """``done``, ``now``, ``last``, or false."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __reduce__(self) -> str:
        return self.name.upper()


FALSE, DONE, NOW, LAST = Mark("false"), Mark("done"), Mark("now"), Mark("last")
MARKS = {m.name: m for m in (FALSE, DONE, NOW, LAST)}
#: satisfied if this is the last state, and else waiting as before; never part of a residual
HELD = Mark("held")


class Unknown:
    """What is not known, at this state (``new``) or an earlier one.  Those of one kind are one: the first."""

    __slots__ = ("lost", "new")

    def __init__(self, lost: Lost, new: bool = True) -> None:
        self.lost, self.new = lost, new

    def __hash__(self) -> int:
        return hash((self.lost.problem.kind, self.new))

    def __eq__(self, other: object) -> bool:
        return type(other) is Unknown and self.new == other.new and self.lost.problem.kind == other.lost.problem.kind


class Several:
    """``and``, or ``or``, of several.

    ``new``: is something of this state among it?  ``unknown``: is something unknown?  ``waits``: is something pending?
    ``done``: is it an `and` with an `or` that was satisfied?
    ``front``: by what it can be compared, () by nothing, None as long as nobody has asked.
    """

    __slots__ = ("_hash", "conjunction", "done", "front", "new", "parts", "unknown", "waits")

    def __init__(self, conjunction: bool, parts: tuple[Residual, ...]) -> None:
        self.conjunction, self.parts = conjunction, parts
        self._hash: int | None = None
        self.front: Any = None
        self.new = self.unknown = self.waits = self.done = False
        for part in parts:
            if type(part) is tuple:
                self.waits = True
            elif type(part) is Several:
                self.new, self.unknown = self.new or part.new, self.unknown or part.unknown
                self.waits = self.waits or part.waits
                self.done = self.done or (conjunction and DONE in part.parts)
            elif type(part) is Unknown:
                self.new, self.unknown = self.new or part.new, True
            elif part is NOW or part is LAST:
                self.new = True

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.conjunction, self.parts))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(other) is Several and self.conjunction == other.conjunction and self.parts == other.parts


#: (number of the node, is it to hold?, values of its free variables)
Pending: TypeAlias = tuple[int, bool, tuple[Any, ...]]
Residual: TypeAlias = "Mark | Unknown | Several | Pending"


Expand: TypeAlias = Callable[[bool, Values, Any], Residual]
#: what becomes of an obligation at a state, with the values of its variables and others
Move: TypeAlias = Callable[[Pending, Values, Any], Residual]


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


def alternatives(r: Residual) -> tuple[Residual, ...]:
    """The parts of an `or`."""
    return r.parts if type(r) is Several and not r.conjunction else (r,)


def new_way(residual: Several) -> bool | Lost:
    """Is it satisfied at this state in a new way?  A Lost if that is not known."""
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


#: how many of the parts of an `and` may be done already: each of them doubles what they are spread into
MOST = 2


def spread(residual: Residual, first: bool) -> tuple[Residual, ...]:
    """The parts of an `or`; `(done or a) and b` is `b or a and b`, of which each serves for others more easily.

    ``first``: only the first way to be satisfied counts; then it is `b`.
    """
    parts = alternatives(residual)
    if all(type(p) is not Several or not p.done for p in parts):
        return parts
    found: dict[Residual, None] = {}
    for part in parts:
        done = [p for p in part.parts if type(p) is Several and DONE in p.parts] if type(part) is Several else []
        if not done or (len(done) > MOST and not first):
            found[part] = None
            continue
        assert type(part) is Several
        ways: list[list[Residual]] = [[p for p in part.parts if p not in done]]
        for one in () if first else done:
            rest = combined(False, [p for p in one.parts if p is not DONE])
            ways = [*ways, *([*way, rest] for way in ways)]
        for way in ways:
            found |= dict.fromkeys(alternatives(combined(True, way)))
    return tuple(found)


# --- obligations that serve for others --------------------------------------------------------------------------------


#: what an `and` of obligations can be compared by with others: which they are, with the values that have to be equal;
#: the other values; their directions
Front: TypeAlias = tuple[Any, tuple[Any, ...], tuple[int, ...]]


def front(parts: Sequence[Residual], nodes: Sequence[Node]) -> Front | None:
    """Of an `and` of obligations; None if no values serve for others."""
    key: list[Any] = []
    values: tuple[Any, ...] = ()
    of: tuple[int, ...] = ()
    for part in parts:
        if type(part) is not tuple:
            return None
        number, hold, own = part
        known = nodes[number].directions if hold else None
        if known is None:
            key.append(part)
        else:
            key.append(number)
            values += own
            of += known
    return (tuple(key), values, of) if of else None


def undominated(left: dict[Residual, None], fresh: Iterable[Residual], of: Callable[[Residual], Front | None]) -> None:
    """Drop from what is ``left`` obligations that are met only if another one is, too (5.2: a monotone queue); only the
    ``fresh`` ones have not been compared before."""
    new = [(part, known) for part in fresh if (known := of(part)) is not None]
    if not new:
        return
    groups: dict[Any, dict[Residual, tuple[Any, ...]]] = {known[0]: {} for _, known in new}
    for part in left:
        known = of(part)
        if known is not None and known[0] in groups:
            groups[known[0]][part] = known[1]
    for part, (key, values, directions) in new:
        group = groups[key]
        if part not in group:
            continue
        for other, others in list(group.items()):
            if other == part:
                continue
            if serves(values, others, directions):
                del group[other], left[other]
            elif serves(others, values, directions):
                del group[part], left[part]
                break


def serves(a: tuple[Any, ...], b: tuple[Any, ...], directions: tuple[int, ...]) -> bool:
    """Is a formula satisfied with the values ``a`` whenever it is with ``b``?"""
    for x, y, direction in zip(a, b, directions):
        if type(x) not in _NUMBERS or type(y) not in _NUMBERS:
            return False
        if (x < y) if direction > 0 else (x > y):
            return False
    return True


_NUMBERS = (int, float)


def directions(f: tree.Formula, names: Sequence[str]) -> tuple[int, ...] | None:
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
        case tree.And() | tree.Or():
            return _same(_direction(p, name) for p in f.operands)
        case tree.Until():
            return _same((_direction(f.left, name), _direction(f.right, name)))
        case tree.Nexttime():
            return _direction(f.operand, name)
        case tree.Assign() if name not in free(f.term):
            return _direction(f.operand, name)
        case tree.Not() if not any(isinstance(n, AHEAD) for n in f.walk()):
            inner = _direction(f.operand, name)
            return None if inner is None else -inner
        case tree.Compare(op="<" | "<=" | ">" | ">="):
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
