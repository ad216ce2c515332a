"""Which conditions of a formula were read at which state, for the derivation of a firing (why.md, section 10).

The states are those of one way to be satisfied, as `because` gives them.  A formula is followed from the state of the
firing back, or from the activation on; every comparison is evaluated by the expression engine at the state that its
temporal operators lead to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

from occurs.errors import OccursError
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import evaluate, leaves
from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.languages.kit.clauses import sign_of, turned
from occurs.languages.logic import syntax
from occurs.model.time import TimeKind
from occurs.operators.temporal.times import allowed

#: steps after which a formula with very many ways is given up
MOST = 20_000


@dataclass(frozen=True)
class State:
    """A state that was read: its time and the values of its variables; of events the rows."""

    time: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Read:
    """A condition at a state: ``node`` of the formula; ``state``: the number of the state.

    ``path``: the temporal operators and negations from the root to it, outermost first.  ``left``, ``right``: the
    values of a comparison, None if they are not known.  ``apart``: of an operator with a bound, ticks between its two
    states.  ``holds``: whether the condition holds there; what stands below a negation does not.
    """

    node: syntax.Formula
    state: int
    path: tuple[str, ...]
    left: Any = None
    right: Any = None
    apart: int | None = None
    holds: bool = True

    def parts(self, text: Callable[[Expr], str]) -> tuple[str, Any, str, str, Any]:
        """A comparison as (side, value, operator, other side, value), a constant last; ``text``: of an expression."""
        node = self.node
        assert isinstance(node, syntax.Compare)
        if isinstance(node.left, Literal) or sign_of(node.left) is not None:
            return text(node.right), self.right, turned(node.op), text(node.left), self.left
        return text(node.left), self.left, node.op, text(node.right), self.right


Found: TypeAlias = tuple[Read, ...]
#: a formula, and whether it holds
Part: TypeAlias = tuple[syntax.Formula, bool]


class Unfollowed(Exception):
    """A formula with too many ways."""


def followed(
    formula: syntax.Formula, states: Sequence[State], kind: TimeKind, *, past: bool, constants: Mapping[str, Any],
    events: Collection[str], word: Callable[[syntax.Formula], str], times: Sequence[int] = (),
) -> Found | None:  # fmt: skip
    """The conditions of a formula at the states of one way in which it holds, in the order of the formula.

    Args:
        formula: The formula of a trigger.
        states: The states that were read, in the order of time.
        kind: What times are.
        past: Whether the formula looks back, from the last state; else it looks ahead, from the first.
        constants: The values of declared constants.
        events: The types of events, whose names are formulas.
        word: A temporal operator as it is written.
        times: Times of states that were perhaps not read, so that neighbours of states are known.

    Returns:
        None if these states alone do not show how it holds.
    """
    if not states:
        return None
    way = _Way(states, kind, events, word, times)
    try:
        return next(way.of(formula, way.last if past else way.first, constants, (), True), None)
    except Unfollowed:
        return None


class _Way:
    """``times``: of all states; ``number``: by place among them the number of a state that was read."""

    def __init__(
        self, states: Sequence[State], kind: TimeKind, events: Collection[str], word: Callable[[syntax.Formula], str],
        times: Sequence[int],
    ) -> None:  # fmt: skip
        self.states, self.kind, self.events, self.word, self.steps = states, kind, events, word, 0
        first, last = states[0].time, states[-1].time
        self.times = sorted({s.time for s in states} | {t for t in times if first <= t <= last})
        at = {t: i for i, t in enumerate(self.times)}
        self.number = {at[s.time]: n for n, s in enumerate(states)}
        self.first, self.last = at[first], at[last]

    def of(
        self, f: syntax.Formula, i: int, known: Mapping[str, Any], path: tuple[str, ...], holds: bool
    ) -> Iterator[Found]:
        """The ways in which ``f`` holds at state ``i``, or does not hold; ``known``: what variables remember."""
        self.steps += 1
        if self.steps > MOST:
            raise Unfollowed
        match f:
            case syntax.Truth():
                yield from ((),) if f.value is holds else ()
            case syntax.Not():
                yield from self.of(f.operand, i, known, (*path, self.word(f)), not holds)
            case syntax.Implies():
                sides = [(f.left, i, not holds), (f.right, i, holds)]
                yield from self._any(sides, known, path) if holds else self._all(sides, known, path)
            case syntax.And() | syntax.Or():
                parts = [(p, i, holds) for p in f.operands]
                every = isinstance(f, syntax.And) is holds
                yield from self._all(parts, known, path) if every else self._any(parts, known, path)
            case syntax.Assign():
                value = self._value(f.term, i, known)
                yield from self.of(f.operand, i, {**known, f.variable.text: value}, path, holds)
            case syntax.Lasttime() | syntax.Nexttime():
                at = i + (1 if isinstance(f, syntax.Nexttime) else -1)
                if 0 <= at < len(self.times):
                    yield from self.of(f.operand, at, known, (*path, self.word(f)), holds)
                elif not holds:
                    yield ()
            case syntax.Eventually() | syntax.Previously():
                reach = self._some if holds else self._none
                yield from reach(f, i, None, (f.operand, holds), known, path)
            case syntax.Always() | syntax.Throughout():
                reach = self._none if holds else self._some
                yield from reach(f, i, None, (f.operand, holds), known, path)
            case syntax.Since() | syntax.Until():
                reach = self._some if holds else self._none
                yield from reach(f, i, (f.left, holds), (f.right, holds), known, path)
            case syntax.Release():  # not (not f until not g)
                reach = self._none if holds else self._some
                yield from reach(f, i, (f.left, holds), (f.right, holds), known, path)
            case syntax.WeakUntil() if holds:
                yield from self._some(f, i, (f.left, True), (f.right, True), known, path)
                yield from self._none(f, i, None, (f.left, True), known, path)
            case syntax.WeakUntil():
                yield from self._some(f, i, (f.right, False), (f.left, False), known, path, itself=True)
            case syntax.Compare():
                yield from self._compared(f, i, known, path, holds)
            case syntax.Atom():
                yield from self._happened(f, i, known, holds)
            case syntax.Exists():
                yield from ((Read(f, self.number[i], path, holds=holds),),) if i in self.number else ()
            case _:
                yield ()

    def _all(
        self, parts: Sequence[tuple[syntax.Formula, int, bool]], known: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Found]:
        """The ways in which several formulas hold, or do not, each at its state."""
        if not parts:
            yield ()
            return
        (f, i, holds), *rest = parts
        for found in self.of(f, i, known, path, holds):
            for more in self._all(rest, known, path):
                yield (*found, *more)

    def _any(
        self, parts: Sequence[tuple[syntax.Formula, int, bool]], known: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Found]:
        """The ways in which one of several formulas holds, or does not."""
        for f, i, holds in parts:
            yield from self.of(f, i, known, path, holds)

    def _some(
        self, f: Any, i: int, stay: Part | None, goal: Part, known: Mapping[str, Any], path: tuple[str, ...],
        itself: bool = False,
    ) -> Iterator[Found]:  # fmt: skip
        """At some state in reach ``goal``, and ``stay`` at those before it, ``itself`` among them.

        A part is a formula and whether it holds.
        """
        inner, step = (*path, self.word(f)), 1 if isinstance(f, syntax.FUTURE) else -1
        for at, apart in self._near(f, i):
            between = [k for k in range(i, at + step * itself, step) if k in self.number]
            stays = [] if stay is None else [(stay[0], k, stay[1]) for k in between]
            for found in self.of(goal[0], at, known, inner, goal[1]):
                for stayed in self._all(stays, known, inner):
                    yield (*self._bound(f, at, path, apart), *found, *stayed)

    def _none(
        self, f: Any, i: int, leave: Part | None, goal: Part, known: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Found]:
        """At every state in reach ``goal``, up to one with ``leave``."""
        inner, step = (*path, self.word(f)), 1 if isinstance(f, syntax.FUTURE) else -1
        near = {at for at, _ in self._near(f, i)}
        parts: list[tuple[syntax.Formula, int, bool]] = []
        for at in (k for k in range(i, len(self.times) if step > 0 else -1, step) if k in self.number):
            parts += [(goal[0], at, goal[1])] if at in near else []
            if leave is not None:
                yield from self._all([*parts, (leave[0], at, leave[1])], known, inner)
        yield from self._all(parts, known, inner)

    def _near(self, f: Any, i: int) -> list[tuple[int, int]]:
        """The states that an operator may lead to, nearest first, each with its distance in ticks."""
        ahead = isinstance(f, syntax.FUTURE)
        order = range(i, len(self.times)) if ahead else range(i, -1, -1)
        window = allowed(getattr(f, "bound", None), self.kind)
        apart = [(at, abs(self.times[at] - self.times[i])) for at in order]
        return [(at, ticks) for at, ticks in apart if window.low <= ticks <= window.most]

    def _bound(self, f: Any, at: int, path: tuple[str, ...], apart: int) -> Found:
        if not isinstance(getattr(f, "bound", None), syntax.Bound) or at not in self.number:
            return ()
        return (Read(f, self.number[at], (*path, self.word(f)), apart=apart),)

    def _compared(
        self, f: syntax.Compare, i: int, known: Mapping[str, Any], path: tuple[str, ...], holds: bool
    ) -> Iterator[Found]:  # fmt: skip
        if i not in self.number:
            return
        left, right = self._value(f.left, i, known), self._value(f.right, i, known)
        if self._evaluated(Binary(f.op, f.left, f.right), i, known) is not (not holds):
            yield (Read(f, self.number[i], path, left, right, holds=holds),)

    def _happened(self, f: syntax.Atom, i: int, known: Mapping[str, Any], holds: bool) -> Iterator[Found]:
        if i not in self.number:
            return
        term, values = f.term, self.states[self.number[i]].values
        name = str(getattr(term, "name", ""))
        if name not in values and name not in self.events:  # of tables and views the states have no values
            yield ()
            return
        rows, sure = values.get(name, False), True
        if isinstance(rows, list) and isinstance(term, syntax.Apply):
            pairs = [(n, self._value(a, i, known)) for n, a in zip(term.names, term.args, strict=True)]
            wanted = [(n, v) for n, v in pairs if n is not None and v is not None]
            sure = len(wanted) == len(pairs)
            rows = [r for r in rows if all(r.get(n) == v for n, v in wanted)]
        if bool(rows) is holds or (rows and not sure):
            yield ()

    def _value(self, term: Expr, i: int, known: Mapping[str, Any]) -> Any:
        return self._evaluated(term, i, known)

    def _evaluated(self, term: Expr, i: int, known: Mapping[str, Any]) -> Any:
        """The value of a term at a state; None if it is not known there."""
        try:
            columns = {leaf: pa.array([self._leaf(leaf, i, known)]) for leaf in leaves(term)}
            return evaluate(term, columns.__getitem__, 1, kind=self.kind, dialect=LOGIC).values[0].as_py()
        except (OccursError, LookupError, TypeError):  # aggregates, views and tables are not of one state
            return None

    def _leaf(self, leaf: Expr, i: int, known: Mapping[str, Any]) -> Any:
        state = self.states[self.number[i]]
        if not isinstance(leaf, Ref):
            raise LookupError(leaf)
        if leaf.scope is not None:
            return state.values[leaf.scope][-1][leaf.name]
        value = known[leaf.name] if leaf.name in known else state.values[leaf.name]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise LookupError(leaf)
        return value
