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

    ``path``: the temporal operators from the root to it, outermost first.  ``left``, ``right``: the values of a
    comparison, None if they are not known.  ``apart``: of an operator with a bound, ticks between its two states.
    """

    node: syntax.Formula
    state: int
    path: tuple[str, ...]
    left: Any = None
    right: Any = None
    apart: int | None = None

    def parts(self, text: Callable[[Expr], str]) -> tuple[str, Any, str, str, Any]:
        """A comparison as (side, value, operator, other side, value), a constant last; ``text``: of an expression."""
        node = self.node
        assert isinstance(node, syntax.Compare)
        if isinstance(node.left, Literal) or sign_of(node.left) is not None:
            return text(node.right), self.right, turned(node.op), text(node.left), self.left
        return text(node.left), self.left, node.op, text(node.right), self.right


Found: TypeAlias = tuple[Read, ...]


class Unfollowed(Exception):
    """A formula with too many ways."""


def followed(
    formula: syntax.Formula, states: Sequence[State], kind: TimeKind, *, past: bool, constants: Mapping[str, Any],
    events: Collection[str], word: Callable[[syntax.Formula], str],
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

    Returns:
        None if these states alone do not show how it holds.
    """
    if not states:
        return None
    try:
        return next(_Way(states, kind, events, word).of(formula, len(states) - 1 if past else 0, constants, ()), None)
    except Unfollowed:
        return None


class _Way:
    def __init__(
        self, states: Sequence[State], kind: TimeKind, events: Collection[str], word: Callable[[syntax.Formula], str]
    ) -> None:  # fmt: skip
        self.states, self.kind, self.events, self.word, self.steps = states, kind, events, word, 0

    def of(self, f: syntax.Formula, i: int, known: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Found]:
        """The ways in which ``f`` holds at state ``i``; ``known``: what variables remember."""
        self.steps += 1
        if self.steps > MOST:
            raise Unfollowed
        match f:
            case syntax.Truth():
                yield from ((),) if f.value else ()
            case syntax.Not() | syntax.Implies():  # what is absent is not read
                yield ()
            case syntax.And():
                yield from self._all([(p, i) for p in f.operands], known, path)
            case syntax.Or():
                for p in f.operands:
                    yield from self.of(p, i, known, path)
            case syntax.Assign():
                value = self._value(f.term, i, known)
                yield from self.of(f.operand, i, {**known, f.variable.text: value}, path)
            case syntax.Lasttime() | syntax.Nexttime():
                at = i + (1 if isinstance(f, syntax.Nexttime) else -1)
                if 0 <= at < len(self.states):
                    yield from self.of(f.operand, at, known, (*path, self.word(f)))
            case syntax.Eventually() | syntax.Previously():
                for at, apart in self._near(f, i):
                    for found in self.of(f.operand, at, known, (*path, self.word(f))):
                        yield (*self._bound(f, at, path, apart), *found)
            case syntax.Always() | syntax.Throughout():
                near = [(f.operand, at) for at, _ in self._near(f, i)]
                yield from self._all(near, known, (*path, self.word(f)))
            case syntax.Since() | syntax.Until():
                inner = (*path, self.word(f))
                for at, apart in self._near(f, i):
                    between = range(at + 1, i + 1) if isinstance(f, syntax.Since) else range(i, at)
                    for found in self.of(f.right, at, known, inner):
                        for stayed in self._all([(f.left, k) for k in between], known, inner):
                            yield (*self._bound(f, at, path, apart), *found, *stayed)
            case syntax.Compare():
                yield from self._compared(f, i, known, path)
            case syntax.Atom():
                yield from self._happened(f, i, known)
            case _:
                yield ()

    def _all(
        self, parts: Sequence[tuple[syntax.Formula, int]], known: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Found]:
        """The ways in which several formulas hold, each at its state."""
        if not parts:
            yield ()
            return
        (f, i), *rest = parts
        for found in self.of(f, i, known, path):
            for more in self._all(rest, known, path):
                yield (*found, *more)

    def _near(self, f: Any, i: int) -> list[tuple[int, int]]:
        """The states that an operator may lead to, nearest first, each with its distance in ticks."""
        ahead = isinstance(f, syntax.FUTURE)
        order = range(i, len(self.states)) if ahead else range(i, -1, -1)
        window = allowed(f.bound, self.kind)
        apart = [(at, abs(self.states[at].time - self.states[i].time)) for at in order]
        return [(at, ticks) for at, ticks in apart if window.low <= ticks <= window.most]

    def _bound(self, f: Any, at: int, path: tuple[str, ...], apart: int) -> Found:
        return (Read(f, at, (*path, self.word(f)), apart=apart),) if isinstance(f.bound, syntax.Bound) else ()

    def _compared(
        self, f: syntax.Compare, i: int, known: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[Found]:  # fmt: skip
        left, right = self._value(f.left, i, known), self._value(f.right, i, known)
        holds = self._evaluated(Binary(f.op, f.left, f.right), i, known)
        if holds is not False:
            yield (Read(f, i, path, left, right),)

    def _happened(self, f: syntax.Atom, i: int, known: Mapping[str, Any]) -> Iterator[Found]:
        term, values = f.term, self.states[i].values
        name = str(getattr(term, "name", ""))
        rows = values.get(name, name not in self.events)
        if isinstance(rows, list) and isinstance(term, syntax.Apply):
            pairs = [(n, self._value(a, i, known)) for n, a in zip(term.names, term.args, strict=True)]
            wanted = [(n, v) for n, v in pairs if n is not None and v is not None]
            rows = [r for r in rows if all(r.get(n) == v for n, v in wanted)]
        if rows:
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
        state = self.states[i]
        if not isinstance(leaf, Ref):
            raise LookupError(leaf)
        if leaf.scope is not None:
            return state.values[leaf.scope][-1][leaf.name]
        value = known[leaf.name] if leaf.name in known else state.values[leaf.name]
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise LookupError(leaf)
        return value
