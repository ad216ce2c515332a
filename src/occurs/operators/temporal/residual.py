"""What is left of a future formula since its activation: obligations (temporal-logic.md 5.1).

The residual is made of and/or over *done* (satisfied at an earlier state), *now*, *last* (satisfied only if this is the
last state) and *pending*: to be evaluated at the next state.  Equal obligations are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from occurs.expr.tree import Binary, Expr, Literal, Unary
from occurs.operators.temporal import tree
from occurs.operators.temporal.terms import Values
from occurs.operators.temporal.tree import AHEAD, Global, free
from occurs.operators.temporal.values import Lost


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
