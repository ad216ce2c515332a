"""What a trigger keeps, and for how long, in words (temporal-logic.md 5.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from occurs.expr.tree import Expr
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.bounds import conjuncts
from occurs.languages.logic.checks.nodes import Time
from occurs.languages.logic.running.core import free
from occurs.languages.logic.running.past import term_of_time
from occurs.languages.logic.running.program import Reading
from occurs.languages.logic.running.steps import Window
from occurs.languages.logic.running.trigger import Trigger
from occurs.model.time import TimeKind, duration

CONSTANT, WINDOW, GROWS = "constant", "window", "grows"


@dataclass(frozen=True)
class Remembered:
    """The value of a variable is kept for ``ticks`` (None: without end)."""

    variable: str
    ticks: int | None


def words(trigger: Trigger) -> tuple[tuple[str, ...], str]:
    """What is read, which states are looked at, what is kept; and the size of that (common.md, section 7)."""
    out = [f"reads {', '.join(sorted(set(map(_read, trigger.readings)))) or 'nothing'}"]
    if trigger.observes_all:
        out.append("history: every state of the input")
    elif trigger.every is not None:
        out.append(f"history: the states in which its input changes, and every {duration(trigger.every, trigger.kind)}")
    if trigger.generics:
        names = ", ".join(n for n, _ in trigger.generics)
        out.append(f"one instance per value of {names}")
    size = CONSTANT
    for one in remembered(trigger.resolved.formula, trigger.kind):
        if one.ticks is None:
            size = GROWS
            out.append(f"{one.variable}: every value, without limit [unbounded]")
        else:
            size = WINDOW if size == CONSTANT else size
            out.append(f"{one.variable}: for {duration(one.ticks, trigger.kind)} after its assignment")
    if size == CONSTANT and any(map(_timed, trigger.resolved.formula.walk())):
        size = WINDOW
    return tuple(out), size


def _read(reading: Reading) -> str:
    own = [f"{c} = {v!r}" for c, v in reading.fixed] + [f"{c} = {n}" for c, n in reading.keyed]
    return f"{reading.type}({', '.join(own)})" if own else reading.type


def _timed(node: Expr) -> bool:
    """Does a bound need the times of a window?"""
    if isinstance(node, syntax.Aggregate):
        return node.within is not None
    bound = getattr(node, "bound", None)
    return isinstance(bound, syntax.Bound) and bound.op in ("=", ">=", ">", "in")


def remembered(formula: Expr, kind: TimeKind) -> list[Remembered]:
    """How long every assigned value is kept: the sum of the bounds along the nesting of what it is free in."""
    out: dict[str, int | None] = {}
    assigned = [n for n in formula.walk() if isinstance(n, syntax.Assign)]
    clocks = frozenset(n.variable.text for n in assigned if n.term == Time())
    for node in formula.walk():
        if isinstance(node, syntax.Assign):
            name = node.variable.text
            found = _kept(node.operand, name, clocks, kind)
            known = out.get(name, 0)
            out[name] = None if found is None or known is None else max(found, known)
    return [Remembered(n, t) for n, t in out.items()]


def _kept(f: Expr, name: str, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """The longest time for which ``f`` may have to be evaluated with a value of the variable; None: without end."""
    if name not in free(f):
        return 0
    inner = [_kept(c, name, clocks, kind) for c in f.children]
    if None in inner:
        return None
    most = max((t for t in inner if t is not None), default=0)
    if isinstance(f, syntax.FUTURE + syntax.PAST) and not isinstance(f, syntax.Nexttime | syntax.Lasttime):
        own = length(f, clocks, kind)
        return None if own is None else own + most
    return most


def length(f: syntax.Formula, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """How far an operator looks, by its bound or by a comparison of time on its right; None: without end."""
    bound = getattr(f, "bound", None)
    ends = [Window.of(bound, kind).high]
    ends += [_limit(op, a, b, isinstance(f, syntax.FUTURE), clocks, kind) for op, a, b in _goal(f)]
    return min((max(e, 0) for e in ends if e is not None), default=None)


def _goal(f: syntax.Formula) -> Iterator[tuple[str, Expr, Expr]]:
    """The comparisons that hold wherever an operator ends."""
    if isinstance(f, syntax.Eventually | syntax.Previously):
        yield from conjuncts(f.operand, True)
    elif isinstance(f, syntax.Always | syntax.Throughout):
        yield from conjuncts(f.operand, False)
    elif isinstance(f, syntax.Until | syntax.Since):
        yield from conjuncts(f.right, True)
    elif isinstance(f, syntax.Release):
        yield from conjuncts(f.right, False)


def _limit(op: str, left: Expr, right: Expr, ahead: bool, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """c of ``time <= t + c``, looking back of ``time >= t - c``."""
    a, b = term_of_time(left, clocks, kind), term_of_time(right, clocks, kind)
    if a is None or b is None or op not in ("<", "<=", ">", ">=", "="):
        return None
    for swapped in (False, True) if op == "=" else (op in (">", ">="),):
        # the greater side less the smaller one is at least nothing
        times, own, rest = (y - x for x, y in zip(*((b, a) if swapped else (a, b)), strict=True))
        if own == -times and (times < 0 if ahead else times > 0):
            return math.ceil(Fraction(rest) / abs(times))
    return None
