r"""From instants to intervals: maximal range, minimal range, iteration (phenesthe.md, sections 4.4 and 5).

Ranges follow all marks in the order of time in one kernel; iteration needs the instant before of each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from occurs.operators.interval.bindings import (
    Groups,
    OfLeft,
    as_points,
    earlier,
    joint,
    member,
    pick,
    shifted,
)
from occurs.operators.interval.delayed_release import release
from occurs.operators.interval.signals import (
    NEVER,
    OPEN,
    Held,
    Instants,
    Intervals,
    Lags,
    Phenomena,
    Points,
    Signal,
    Spans,
    State,
)
from occurs.operators.kernels.intervals import ascending
from occurs.operators.kernels.range_scan import stretches


@dataclass(frozen=True)
class MaximalRange(OfLeft):
    """``phi ~> psi``: from the first phi-instant on, up to the next (psi and not phi)-instant.

    The variables of psi are among those of phi.
    """

    def fresh(self) -> State:
        return {"open": Held.empty(len(self.left), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        phi, psi, held = as_points(inputs[0]), as_points(inputs[1]), state["open"]
        if not len(phi) and not (len(psi) and len(held)):
            return state, Spans.unchanged(held.opened(), phi.since, phi.complete)
        found = _Stretches(self.left, self.right, held, phi, psi, latest=False)
        spans = Spans(found.closed(), found.began(), found.open.opened(), phi.since, phi.complete)
        return (state if found.open is held else {"open": found.open}), spans


@dataclass(frozen=True)
class MinimalRange(OfLeft):
    """``phi ~>> psi``: from the latest phi-instant before a (psi and not phi)-instant to the first such instant.

    Of the last phi-instant of a binding it is not known whether an interval begins there: the signal is complete up to
    the tick before the least of them.
    """

    def fresh(self) -> State:
        n = len(self.left)
        return {"pending": Held.empty(n, "start"), "ended": Held.empty(n, "start", "end")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        phi, psi, pending, ended = as_points(inputs[0]), as_points(inputs[1]), state["pending"], state["ended"]
        since = _before(pending.columns["start"], phi.since)
        parts = [ended.intervals()]
        if len(phi) or (len(psi) and len(pending)):
            found = _Stretches(self.left, self.right, pending, phi, psi, latest=True)
            parts.append(found.closed())
            pending = found.open
        complete = OPEN if phi.complete == OPEN else _before(pending.columns["start"], phi.complete)
        nothing = Intervals.empty(len(self.left))
        spans, ended, _ = release(nothing, Intervals.concat(parts), _NONE, since, complete)
        return {"pending": pending, "ended": ended}, spans


@dataclass(frozen=True)
class Iteration:
    """``phi <@ D``: from the first to the last of a run of two or more phi-instants, each ``op`` ``ticks`` after the
    one before.

    ``op``: < <= = >= >.  With < <= = a run is over when the next instant would come too late, so the signal is
    behind by ``ticks`` (less one with <).  With >= > the run may always go on: the signal is complete up to the tick
    before the least last instant of all runs.
    """

    variables: tuple[str, ...]
    op: str
    ticks: int

    def fresh(self) -> State:
        n = len(self.variables)
        return {"runs": Held.empty(n, "first", "last"), "ended": Held.empty(n, "start", "end")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Spans]:
        phi, runs, ended = as_points(inputs[0]), state["runs"], state["ended"]
        since, parts = self._complete(runs, phi.since), [ended.intervals()]
        if len(phi):
            runs, done = self._extended(runs, phi)
            parts.append(done)
        complete = self._complete(runs, phi.complete)
        over = runs.columns["last"] <= complete
        if over.any():
            parts.append(finished(runs.take(over)))
            runs = runs.take(~over)
        whole = finished(runs)
        soon = Held((), {"start": whole.start[whole.start > since]})
        spans, ended, _ = release(whole.starts().opened(), Intervals.concat(parts), soon, since, complete)
        return {"runs": runs, "ended": ended}, spans

    def _complete(self, runs: Held, complete: int) -> int:
        """How far intervals are known if instants are up to ``complete``."""
        if self.op in ("<", "<=", "="):
            return shifted(complete, -(self.ticks - 1 if self.op == "<" else self.ticks))
        return complete if complete == OPEN else _before(runs.columns["last"], complete)

    def _extended(self, runs: Held, phi: Points) -> tuple[Held, Intervals]:
        """The runs after the new instants, and the intervals of those that they end."""
        key, other = joint([(phi.codes, len(phi)), (runs.codes, len(runs))])
        touched = member(other, key)
        old = runs.take(touched)
        key = np.concatenate([other[touched], key])
        time = np.concatenate([old.columns["last"], phi.time])
        order = Groups(key, time).order
        key, time = key[order], time[order]
        codes = tuple(np.concatenate([o, c])[order] for o, c in zip(old.codes, phi.codes))
        # the beginning of the run that a mark would continue: a new instant is one itself
        begin = np.concatenate([old.columns["first"], phi.time])[order]
        same = key[1:] == key[:-1]
        linked = np.zeros(len(key), np.bool_)
        linked[1:] = same & LENGTHS[self.op](lengths(time[:-1], time[1:]), clipped(self.ticks))
        at = np.flatnonzero(~linked)
        to = np.append(at[1:], len(key)) - 1
        going = np.ones(len(key), np.bool_)
        going[:-1] = ~same
        found = Held(tuple(c[at] for c in codes), {"first": begin[at], "last": time[to]})
        current = going[to]
        return Held.concat([runs.take(~touched), found.take(current)]), finished(found.take(~current))


# --- ranges whose intervals are emitted one by one, each binding by itself --------------------------------------------
#
# Read as states, minimal ranges and iterations are complete up to the tick before the least instant of all bindings at
# which an interval may still begin.  Here they are read as dynamic phenomena: an interval is emitted as soon as the
# event has come that ends it, and only the bindings that wait lag.


@dataclass(frozen=True)
class EagerRange(MinimalRange):
    """``phi ~>> psi`` as a dynamic phenomenon.

    State, ``pending``: the last phi-instant of every binding since its last (psi and not phi)-instant.
    """

    def fresh(self) -> State:
        return {"pending": Held.empty(len(self.left), "start")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:  # type: ignore[override]
        phi, psi, pending = as_points(inputs[0]), as_points(inputs[1]), state["pending"]
        closed = nothing = Intervals.empty(len(self.left))
        if len(phi) or (len(psi) and len(pending)):
            found = _Stretches(self.left, self.right, pending, phi, psi, latest=True)
            closed, pending = found.closed(), found.open
        if call.closing:
            return self.fresh(), Phenomena(closed, nothing, OPEN)
        # what begins at such an instant ends later than all that is known
        ends = np.full(len(pending), phi.complete, np.int64)
        behind = Lags.none(self.left).and_also(pending.codes, earlier(pending.columns["start"]), ends)
        return {"pending": pending}, Phenomena(closed, nothing, phi.complete, behind)


@dataclass(frozen=True)
class EagerIteration(Iteration):
    """An iteration whose runs a next instant ends: ``=@ >=@ >@``.  State, ``runs``: as of an iteration."""

    def fresh(self) -> State:
        return {"runs": Held.empty(len(self.variables), "first", "last")}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:  # type: ignore[override]
        phi, runs, parts = as_points(inputs[0]), state["runs"], [Intervals.empty(len(self.variables))]
        if len(phi):
            runs, done = self._extended(runs, phi)
            parts.append(done)
        over = runs.columns["last"] <= self._over(phi.complete)
        if over.any():
            parts.append(finished(runs.take(over)))
            runs = runs.take(~over)
        closed, nothing = Intervals.concat(parts), Intervals.empty(len(self.variables))
        if call.closing:
            return self.fresh(), Phenomena(closed, nothing, OPEN)
        first, last = runs.columns["first"], runs.columns["last"]
        ends = np.where(first < last, earlier(last), phi.complete)
        behind = Lags.none(self.variables).and_also(runs.codes, earlier(first), ends)
        return {"runs": runs}, Phenomena(closed, nothing, phi.complete, behind)

    def _over(self, complete: int) -> int:
        """Up to where the last instants of runs lie that no further one continues."""
        if self.op == "=" or complete == OPEN:
            return self._complete(Held.empty(0, "last"), complete)
        return int(np.iinfo(np.int64).min)


# --- marks, runs and lengths ------------------------------------------------------------------------------------------


_NONE = Held.empty(0, "start")


class _Stretches:
    """The stretches that end, begin and stay open in a call; ``held``: those that were open, by ``start``."""

    def __init__(
        self, left: tuple[str, ...], right: tuple[str, ...], held: Held, phi: Points, psi: Points, latest: bool
    ) -> None:
        phi, psi, start = _in_order(phi), _in_order(psi), held.columns["start"]
        sides = [(held.codes, len(start)), (phi.codes, len(phi.time)), (psi.codes, len(psi.time))]
        if left == right:
            keys = heads = joint(sides)
        else:
            keys = joint(sides[:2])
            heads = joint([*((pick(codes, left, right), n) for codes, n in sides[:2]), sides[2]])
        self._ended, self._ends, self._began, self._began_ends, now = stretches(
            keys[0], heads[0], start, keys[1], heads[1], phi.time, heads[2], psi.time, latest
        )
        self._codes, self._time, self.open = held.codes, start, held
        if len(phi.time):
            self._codes = tuple([np.concatenate(pair) for pair in zip(held.codes, phi.codes)])
            self._time = np.concatenate((start, phi.time))
        if len(phi.time) or len(self._ended):
            self.open = Held(tuple([c[now] for c in self._codes]), {"start": self._time[now]})

    def closed(self) -> Intervals:
        return self._rows(self._ended, self._ends)

    def began(self) -> Intervals:
        return self._rows(self._began, self._began_ends)

    def _rows(self, at: np.ndarray, end: np.ndarray) -> Intervals:
        return Intervals(tuple([c[at] for c in self._codes]), self._time[at], end)


def _in_order(points: Points) -> Points:
    """The instants in the order of time."""
    return points if ascending(points.time) else points.take(np.argsort(points.time, kind="stable"))


def finished(runs: Held) -> Intervals:
    """The intervals of runs of two or more instants."""
    first, last = runs.columns["first"], runs.columns["last"]
    return Intervals(runs.codes, first, last).take(first < last)


def _before(starts: np.ndarray, complete: int) -> int:
    """The tick before the least of ``starts``, if that is before ``complete``."""
    return min(complete, max(int(starts.min()) - 1, NEVER)) if len(starts) else complete


#: comparisons of lengths (uint64) with a duration
LENGTHS = {
    "<": np.less, "<=": np.less_equal, "=": np.equal, ">=": np.greater_equal, ">": np.greater,
    "less": np.less, "at_most": np.less_equal, "equal": np.equal, "at_least": np.greater_equal, "greater": np.greater,
}  # fmt: skip


def lengths(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """uint64 lengths of ``start`` <= ``end``, exact also where they are beyond int64."""
    return end.view(np.uint64) - start.view(np.uint64)


def clipped(ticks: int) -> np.uint64:
    """A duration to compare lengths with; no length is as great as the greatest uint64."""
    return np.uint64(min(ticks, int(np.iinfo(np.uint64).max)))
