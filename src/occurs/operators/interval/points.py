r"""Formulas over instants: or, and, and not, projection, start, end, in (phenesthe.md, sections 4.2 and 4.3).

None of these keeps anything between calls: all that can be true at an instant comes in the call of that instant, and
an interval that an instant lies in is active in its call.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.errors import LimitProblem
from occurs.operators.interval.bindings import (
    Groups,
    OfBoth,
    OfLeft,
    as_points,
    as_spans,
    distinct,
    instants,
    joined,
    joint,
    member,
    pairs,
    pick,
    shared,
)
from occurs.operators.interval.signals import Held, Instants, Intervals, Points, Signal, State, Stateless
from occurs.operators.kernels.row_index import spread


@dataclass(frozen=True)
class Either(Stateless):
    """phi or psi, of the same variables."""

    variables: tuple[str, ...]

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        left, right = as_points(inputs[0]), as_points(inputs[1])
        if not len(right):
            return state, left
        if not len(left):
            return state, right
        codes = tuple(np.concatenate(pair) for pair in zip(left.codes, right.codes))
        both = Points(codes, np.concatenate([left.time, right.time]), left.since, left.complete)
        return state, distinct(both)


@dataclass(frozen=True)
class Both(OfBoth, Stateless):
    """phi and psi: at the same instant, the variables that both have being equal."""

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        left, right = as_points(inputs[0]), as_points(inputs[1])
        if not len(left) or not len(right):
            return state, _no_points(len(self.variables), left)
        on = shared(self.left, self.right)
        key, other = instants(
            [(pick(left.codes, self.left, on), left.time), (pick(right.codes, self.right, on), right.time)]
        )
        i, j = pairs(key, other)
        codes = joined(self.variables, (self.left, left.codes, i), (self.right, right.codes, j))
        return state, Points(codes, left.time[i], left.since, left.complete)


@dataclass(frozen=True)
class Without(OfLeft, Stateless):
    """phi and not psi; psi's variables are among phi's."""

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        left, right = as_points(inputs[0]), as_points(inputs[1])
        if not len(left) or not len(right):
            return state, left
        key, other = instants([(pick(left.codes, self.left, self.right), left.time), (right.codes, right.time)])
        return state, left.take(~member(key, other))


@dataclass(frozen=True)
class PooledPoints(Stateless):
    """phi for any values of the variables that are not among ``variables``: a union of sets."""

    operand: tuple[str, ...]
    variables: tuple[str, ...]

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        points = as_points(inputs[0])
        codes = pick(points.codes, self.operand, self.variables)
        pooled = Points(codes, points.time, points.since, points.complete)
        return state, distinct(pooled) if len(self.variables) < len(self.operand) else pooled


@dataclass(frozen=True)
class Starts(Stateless):
    """start(phi): where an interval of phi begins, whether or not it has ended."""

    variables: tuple[str, ...]

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        spans = as_spans(inputs[0])
        return state, Points(spans.began.codes, spans.began.start, spans.since, spans.complete)


@dataclass(frozen=True)
class Ends(Stateless):
    """end(phi): where an interval of phi ends."""

    variables: tuple[str, ...]

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        spans = as_spans(inputs[0])
        return state, Points(spans.closed.codes, spans.closed.end, spans.since, spans.complete)


@dataclass(frozen=True)
class Inside(OfBoth, Stateless):
    """phi in psi: at an instant within an interval, its ends included, the variables that both have being equal."""

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        points, spans = as_points(inputs[0]), as_spans(inputs[1])
        if not len(points) or not (len(spans.closed) or len(spans.open)):
            return state, _no_points(len(self.variables), points)
        on = shared(self.left, self.right)
        key, *others = joint(
            [(pick(points.codes, self.left, on), len(points))]
            + [(pick(part.codes, self.right, on), len(part)) for part in (spans.closed, spans.open)]
        )
        near = [member(other, key) for other in others]
        active = Intervals.concat([spans.closed.take(near[0]), spans.open.take(near[1])])
        i, j = self._pairs(key, points.time, np.concatenate([o[m] for o, m in zip(others, near)]), active)
        codes = joined(self.variables, (self.left, points.codes, i), (self.right, active.codes, j))
        return state, Points(codes, points.time[i], points.since, points.complete)

    def _pairs(
        self, key: np.ndarray, time: np.ndarray, other: np.ndarray, active: Intervals
    ) -> tuple[np.ndarray, np.ndarray]:
        """(point, interval) with the instant in the interval: instants are looked up per interval, so that what is
        spread out is what is found."""
        groups = Groups(key, time)
        j, i = spread(*groups.between(other, active.start, active.end), groups.order)
        return i, j


def _no_points(variables: int, like: Points) -> Points:
    nothing = np.zeros(0, np.int64)
    return Points((nothing,) * variables, nothing, like.since, like.complete)


#: as many ticks of a window are looked at
MOST = 1_000_000


@dataclass(frozen=True)
class Ticks(Stateless):
    """The clock: the ticks t >= 0 of (frontier - ``window``, frontier], each in one call, for formulas that are true
    almost always.  Raises LimitProblem if they are too many."""

    window: int
    name: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        return ()

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        before = max(call.frontier - self.window, -1)
        listed(call.frontier - before, self.name)
        time = np.arange(max(call.since, before) + 1, call.frontier + 1, dtype=np.int64)
        return state, Points((), time, call.since, call.complete)


@dataclass(frozen=True)
class Missing:
    """``not phi``, per binding: the ticks t >= 0 of (frontier - ``window``, frontier] at which phi is not true, for
    the bindings under which it is true at another one of them.

    Only closing says which bindings these are.  State, ``seen``: the phi-instants in the window.  Raises LimitProblem
    if the instants are too many.
    """

    variables: tuple[str, ...]
    window: int
    name: str = ""

    def fresh(self) -> State:
        return {"seen": Held.empty(len(self.variables), "time")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Points]:
        phi = as_points(inputs[0])
        before = max(call.frontier - self.window, -1)
        seen = Held.concat([state["seen"], Held(phi.codes, {"time": phi.time})])
        seen = seen.take(seen.columns["time"] > before)
        found = _no_points(len(self.variables), phi)
        if call.closing and len(seen):
            found = self._missing(seen, before, call.frontier, found)
        return {"seen": seen}, found

    def _missing(self, seen: Held, before: int, frontier: int, like: Points) -> Points:
        (key,) = joint([(seen.codes, len(seen))])
        _, row, number = np.unique(key, return_index=True, return_inverse=True)
        ticks = frontier - before
        listed(len(row) * ticks, self.name)
        missing = np.ones((len(row), ticks), np.bool_)
        missing[number, seen.columns["time"] - before - 1] = False
        which, tick = np.nonzero(missing)
        return Points(tuple([c[row[which]] for c in seen.codes]), tick + before + 1, like.since, like.complete)


def listed(count: int, name: str) -> None:
    """Raises LimitProblem if a formula that is true almost always has more instants in a window than can be listed."""
    if count > MOST:
        raise LimitProblem.of(
            "too-many-instants",
            f"`{name}` is true almost always, but the window has {count} ticks",
            hint=f"at most {MOST} ticks can be listed: combine the negation with an event, or use a smaller window",
        )
