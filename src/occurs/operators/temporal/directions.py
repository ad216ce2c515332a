"""Obligations that serve for others: with greater, or with smaller, values (temporal-logic.md 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeAlias

from occurs.expr.tree import Binary, Expr, Literal, Unary
from occurs.operators.temporal import tree
from occurs.operators.temporal.residual import Residual
from occurs.operators.temporal.tree import AHEAD, Global, free

#: what an `and` of obligations can be compared by with others: which they are, with the values that have to be equal;
#: the other values; their directions
Front: TypeAlias = tuple[Any, tuple[Any, ...], tuple[int, ...]]


class OfNode(Protocol):
    """What is known of the formula of obligations."""

    directions: tuple[int, ...] | None


def front(parts: Sequence[Residual], nodes: Sequence[OfNode]) -> Front | None:
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
