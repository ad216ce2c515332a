"""Allen's relations between instants and intervals (phenesthe.md, sections 4.5 and 5): D from E, S or D."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from occurs.operators.kernels.intervals import dominated
from occurs.operators.lasting import before
from occurs.operators.lasting.frontiers import Frontiers, lag, of_ends, of_starts, telling
from occurs.operators.lasting.segments import (
    Sorted,
    containing,
    earlier,
    groups,
    later,
    member,
    pairs,
    places,
    shared,
    unseen,
)
from occurs.operators.lasting.settled import settle, unchanged
from occurs.operators.lasting.sides import Side, held, merged, results, rows_of, split
from occurs.operators.lasting.signals import NEVER, OPEN, Call, Held, Intervals, Lag, Phenomena, Signal


@dataclass(frozen=True)
class Related:
    """``φ rel ψ`` for ``before meets overlaps finishes starts equals contains``; operands of the sorts ``event``,
    ``state`` or ``dynamic`` with the variables ``left`` and ``right``.

    ``before`` has its own module.  All others need pairs alone: a result is final when both rows are.  State:

    ``left``, ``right``: the closed rows that may still gain a partner, which is either not known yet, or known and
    open (:data:`PARTNERS`).  Between states whose operands are complete alike that is: for ``meets``, ``starts``,
    ``overlaps`` what an open ψ began in or at; for ``contains``, per ψ-binding, the latest of those inside an open φ;
    nothing else.  ``waits`` = 1: looked at in every call, as what is not known yet decides; the others are when a
    partner closes.
    ``given``: results that might be derived a second time from other rows.

    ``tables``: the variables of the bindings in every table.
    """

    rel: str
    left_sort: str
    right_sort: str
    left: tuple[str, ...]
    right: tuple[str, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return tuple(sorted({*self.left, *self.right}))

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        tables = {"left": self.left, "right": self.right, "given": self.variables}
        return {**tables, "begun": self.right} if self.rel == "before" else tables

    def fresh(self) -> dict[str, Held]:
        if self.rel == "before":
            return before.fresh(self.left, self.right, self.variables)
        kept = ("start", "end", "waits")
        return {
            "left": Held.empty(len(self.left), *kept),
            "right": Held.empty(len(self.right), *kept),
            "given": Held.empty(len(self.variables), "start", "end"),
        }

    def advance(
        self, state: dict[str, Held], inputs: tuple[Signal, ...], call: Call
    ) -> tuple[dict[str, Held], Phenomena]:
        left, right = Side.of(self.left, inputs[0], call), Side.of(self.right, inputs[1], call)
        if call.closing:
            return self._advance(state, left, right, call)
        lags = unchanged(state, left, right)
        if lags is not None:
            nothing = Intervals.empty(len(self.variables))
            return state, Phenomena(nothing, nothing, self._complete(left, right), lags)
        state, signal = self._advance(state, left, right, call)
        settle(state, left, right, signal.lags)
        return state, signal

    def _advance(
        self, state: dict[str, Held], left: Side, right: Side, call: Call
    ) -> tuple[dict[str, Held], Phenomena]:
        """A call in which something may change."""
        if self.rel == "before":
            return before.advance(state, left, right, self.variables, call, self._repeats())
        if not (len(left.new) or len(right.new)) and self._unchanged(state, left, right):
            return state, self._signal(state, left, right, Intervals.empty(len(self.variables)))
        keys = _Keys(state, left, right)
        found = self._found(state, left, right, keys)
        if call.closing:
            if self._repeats():
                found, _ = results(state["given"], found, Frontiers(OPEN), self.variables)
            closed, open = split(found)
            return self.fresh(), Phenomena(closed, open, OPEN)
        state = {**state, "left": self._kept(state, 0, left, right, keys)}
        state["right"] = self._kept(state, 1, right, left, keys)
        signal = self._signal(state, left, right, found)
        if self._repeats():
            rows, state["given"] = results(
                state["given"], found, Frontiers(signal.complete, signal.lags), self.variables
            )
            signal = Phenomena(rows, signal.open, signal.complete, signal.lags)
        return state, signal

    def _unchanged(self, state: dict[str, Held], left: Side, right: Side) -> bool:
        """Whether a call without new rows decides nothing: S and N have not come as far as any row that waits for
        them.  (A row that an open one keeps is looked at in every call if N of the other side matters to it.)"""
        for which, side, other in ((0, left, right), (1, right, left)):
            table = state[("left", "right")[which]]
            at = places(table.columns["waits"])
            if not len(at):
                continue
            rows = rows_of(table).take(at)
            limits = PARTNERS[self.rel][which](rows.start, rows.end)
            if (other.known.starts(side.variables, rows.codes, len(rows)) >= limits.start).any():
                return False
            if limits.end is None:
                continue
            if (other.known.ends(side.variables, rows.codes, len(rows)) >= limits.end).any():
                return False
        return True

    def certain(self, state: dict[str, Held], inputs: tuple[Signal, ...], call: Call) -> Intervals:
        """The open results that will be in the answer however the history goes on: to be asked for after a call, with
        the state it gave and its inputs.

        ``advance`` leaves them out, as nothing but provisional output needs them: S lags behind their rows instead.
        A row that has not ended will end after N; it is put in place with this least end.
        """
        left, right = Side.of(self.left, inputs[0], call), Side.of(self.right, inputs[1], call)
        if call.closing or self.rel in ("finishes", "equals"):
            return Intervals.empty(len(self.variables))
        if self.rel == "before":
            found = before.certain(state, left, right, self.variables)
        else:
            inside = self.rel == "contains"
            side, kept = (left, rows_of(state["right"])) if inside else (right, rows_of(state["left"]))
            least = later(side.known.ends(side.variables, side.open.codes, len(side.open)))
            open = Intervals(side.open.codes, side.open.start, np.maximum(least, later(side.open.start)))
            x, y = (open, kept) if inside else (kept, open)
            sides = [(left.variables, x.codes, len(x)), (right.variables, y.codes, len(y))]
            x_key, y_key = groups(shared(left.variables, right.variables), sides)
            parts = self._pairs(x, x_key, y, y_key)
            found = Intervals.concat(parts) if parts else Intervals.empty(len(self.variables))
        found = Intervals(found.codes, found.start, np.full(len(found), OPEN, np.int64))
        return found.take(unseen(Intervals.empty(len(self.variables)), found))

    def _repeats(self) -> bool:
        """Whether one result can come of several pairs, or of one pair in two calls.

        The rows of a state under one binding differ in their starts and in their ends, so there only ``contains``
        names one row for several others; and a state has one frontier for all bindings, so that what comes of a row
        becomes final under all of them in one call.
        """
        return self.rel == "contains" or "dynamic" in (self.left_sort, self.right_sort)

    # --- pairs --------------------------------------------------------------------------------------------------------

    def _found(self, state: dict[str, Held], left: Side, right: Side, keys: _Keys) -> Intervals:
        """The results of all pairs of which at least one row is new."""
        old_left, old_right = rows_of(state["left"]), rows_of(state["right"])
        parts = []
        if len(left.new):
            near = places(member(keys.old[1], keys.new[0]))
            others = Intervals.concat([old_right.take(near), right.new])
            parts += self._pairs(left.new, keys.new[0], others, np.concatenate([keys.old[1][near], keys.new[1]]))
        if len(right.new) and len(old_left):
            near = places(member(keys.old[0], keys.new[1]))
            parts += self._pairs(old_left.take(near), keys.old[0][near], right.new, keys.new[1])
        return Intervals.concat(parts) if parts else Intervals.empty(len(self.variables))

    def _pairs(self, x: Intervals, x_key: np.ndarray, y: Intervals, y_key: np.ndarray) -> list[Intervals]:
        """What ``x rel y`` gives for rows of equal keys, in blocks."""
        if not (len(x) and len(y)):
            return []
        join = JOINS[self.rel]
        table = Sorted(y_key, y.end if join.by_end else y.start)
        first, last = table.range(x_key, *join.limits(x.start, x.end))
        found: Iterator[tuple[np.ndarray, np.ndarray]] = ((i, table.order[place]) for i, place in pairs(first, last))
        if self.rel == "contains" and int((last - first).sum()) > 4 * (len(x) + len(y)):
            found = containing(x, x_key, y, y_key, groups(self.right, [(self.right, y.codes, len(y))])[0])
        out = []
        for i, j in found:
            true = join.true(x.start[i], x.end[i], y.start[j], y.end[j])
            i, j = i[true], j[true]
            codes = merged(
                self.variables, (self.left, tuple(c[i] for c in x.codes)), (self.right, tuple(c[j] for c in y.codes))
            )
            start = y.start[j] if join.result == "y" else x.start[i]
            end = x.end[i] if join.result == "x" else y.end[j]
            out.append(Intervals(codes, start, end))
        return out

    # --- what is kept -------------------------------------------------------------------------------------------------

    def _kept(self, state: dict[str, Held], which: int, side: Side, other: Side, keys: _Keys) -> Held:
        """The closed rows of one side that may still gain a partner on the other."""
        old = state[("left", "right")[which]]
        again = (old.columns["waits"] == 1) | member(keys.old[which], keys.new[1 - which])
        rows = Intervals.concat([rows_of(old).take(again), side.new])
        key = np.concatenate([keys.old[which][again], keys.new[which]])
        if not len(rows):
            return old
        limits = PARTNERS[self.rel][which](rows.start, rows.end)
        possible = np.ones(len(rows), np.bool_)
        if limits.end is not None:
            possible = other.known.ends(side.variables, rows.codes, len(rows)) < limits.end
        unknown = possible.copy()
        at = places(possible)
        starts = other.known.starts(side.variables, tuple(c[at] for c in rows.codes), len(at))
        unknown[at] = starts < limits.start[at]
        at = places(possible & ~unknown)
        if len(at) and len(other.open):
            near = places(member(keys.open[1 - which], key[at]))
            begun = Sorted(keys.open[1 - which][near], other.open.start[near])
            possible[at] = begun.any(key[at], limits.first[at], limits.last[at])
        else:
            possible = unknown
        waits = (unknown | (limits.end is not None)).astype(np.int64)
        new = held(rows, waits=waits).take(possible)
        out = Held.concat([old.take(~again), new])
        return _latest(out, len(out) - len(new), other, side.variables) if self.rel == "contains" and which else out

    def _signal(self, state: dict[str, Held], left: Side, right: Side, rows: Intervals) -> Phenomena:
        """``rows`` and the frontiers of what is left: of the side that gives the start, S and the starts of what may
        still gain a partner; of the side that gives the end, N and the ends of these."""
        result = JOINS[self.rel].result
        from_start, from_end = right if result == "y" else left, left if result == "x" else right
        lags: list[Lag] = [*of_starts(from_start.known.lags), *of_ends(from_end.known.lags)]
        lags.append(
            lag(from_start.variables, from_start.open.codes, len(from_start.open), earlier(from_start.open.start))
        )
        kept = rows_of(state["right" if result == "y" else "left"])
        lags.append(lag(from_start.variables, kept.codes, len(kept), starts=earlier(kept.start)))
        kept = rows_of(state["left" if result == "x" else "right"])
        lags.append(lag(from_end.variables, kept.codes, len(kept), ends=earlier(kept.end)))
        return Phenomena(rows, Intervals.empty(len(self.variables)), self._complete(left, right), telling(lags))

    def _complete(self, left: Side, right: Side) -> int:
        """Up to where starts and ends are known that do not lag: as those of the sides that give them."""
        result = "hull" if self.rel == "before" else JOINS[self.rel].result
        return min(side.known.complete for side, other in ((left, "y"), (right, "x")) if result != other)


class _Keys:
    """The bindings of the shared variables in one call, per side: of what was kept, what is new, what is open."""

    def __init__(self, state: dict[str, Held], left: Side, right: Side) -> None:
        common = shared(left.variables, right.variables)
        sides = [
            (s.variables, rows.codes, len(rows))
            for s, old in ((left, state["left"]), (right, state["right"]))
            for rows in (rows_of(old), s.new, s.open)
        ]
        of = groups(common, sides)
        self.old, self.new, self.open = (of[0], of[3]), (of[1], of[4]), (of[2], of[5])


def _latest(table: Held, first_new: int, other: Side, variables: tuple[str, ...]) -> Held:
    """For ``contains``: per ψ-binding without the rows to which another one is preferable, as it starts no earlier and
    is surely inside whatever the first is inside of.  Only bindings of rows from ``first_new`` on are looked at."""
    if first_new == len(table):
        return table
    (group,) = groups(variables, [(variables, table.codes, len(table))])
    at = places(member(group, group[first_new:]))
    rows, group = table.take(at), group[at]
    start, end = rows.columns["start"], rows.columns["end"]
    end = np.maximum(end, other.known.ends(variables, rows.codes, len(rows)))  # what may come ends later than that
    by_start = Sorted(group, start)
    order = by_start.order
    keep = np.ones(len(table), np.bool_)
    keep[at[order]] = ~dominated(by_start.group, by_start.value, end[order])
    return table.take(keep)


# --- the relations as arithmetic on columns ---------------------------------------------------------------------------

Column = np.ndarray


class Join(NamedTuple):
    """How pairs are found: the y whose start (end, if ``by_end``) is within ``limits`` of x and of which ``true``
    holds; ``result`` is ``x``, ``y``, or from the start of x to the end of y (``hull``).  An open end is ``OPEN``; two
    of them are neither equal nor ordered."""

    result: str
    limits: Callable[[Column, Column], tuple[Column, Column]]
    true: Callable[[Column, Column, Column, Column], Column]
    by_end: bool = False


JOINS = {
    "meets": Join("hull", lambda s, e: (e, e), lambda s, e, ys, ye: e != OPEN),
    "overlaps": Join("hull", lambda s, e: (later(s), np.where(e == OPEN, s, earlier(e))), lambda s, e, ys, ye: e < ye),
    "starts": Join("y", lambda s, e: (s, s), lambda s, e, ys, ye: e < ye),
    "finishes": Join("y", lambda s, e: (e, e), lambda s, e, ys, ye: (ys < s) & (e != OPEN), by_end=True),
    "equals": Join("y", lambda s, e: (s, s), lambda s, e, ys, ye: (e == ye) & (e != OPEN)),
    "contains": Join("x", lambda s, e: (later(s), earlier(e)), lambda s, e, ys, ye: ye < e),
}


class Partners(NamedTuple):
    """When a closed row may still gain a partner.  ``end``: only if N of the other side is less (None: whatever N is).
    ``start``: a row that is not known yet, if S of the other side is less.  ``first``, ``last``: an open one, if it
    began between them."""

    end: Column | None
    start: Column
    first: Column
    last: Column


def _any_before(s: Column) -> tuple[Column, Column, Column]:
    return earlier(s), np.full(len(s), NEVER, np.int64), earlier(s)


_Rule = Callable[[Column, Column], Partners]
#: for a row [s, e] of the left side, and for one of the right side
PARTNERS: dict[str, tuple[_Rule, _Rule]] = {
    "meets": (lambda s, e: Partners(None, e, e, e), lambda s, e: Partners(s, *_any_before(s))),
    "overlaps": (
        lambda s, e: Partners(None, earlier(e), later(s), earlier(e)),
        lambda s, e: Partners(earlier(e), *_any_before(s)),
    ),
    "starts": (lambda s, e: Partners(None, s, s, s), lambda s, e: Partners(earlier(e), s, s, s)),
    "finishes": (lambda s, e: Partners(e, *_any_before(s)), lambda s, e: Partners(e, e, later(s), earlier(e))),
    "equals": (lambda s, e: Partners(e, s, s, s), lambda s, e: Partners(e, s, s, s)),
    "contains": (
        lambda s, e: Partners(earlier(e), earlier(e), later(s), earlier(e)),
        lambda s, e: Partners(None, *_any_before(s)),
    ),
}
