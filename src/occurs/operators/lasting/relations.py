"""Allen's relations between instants and intervals (phenesthe.md, sections 4.5 and 5): D from E, S or D."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from occurs.operators.kernels.relating import NAMES, awaiting, decided, preferable, related
from occurs.operators.lasting import before
from occurs.operators.lasting.frontiers import Frontiers, behind, lag, of_ends, of_starts, telling
from occurs.operators.lasting.segments import (
    earlier,
    groups,
    later,
    shared,
    unseen,
)
from occurs.operators.lasting.settled import settle, unchanged
from occurs.operators.lasting.sides import Side, held, merged, others, results, rows_of, split, touched
from occurs.operators.lasting.signals import OPEN, Call, Codes, Held, Intervals, Lag, Phenomena, Signal


@dataclass(frozen=True)
class Related:
    """``φ rel ψ`` for ``before meets overlaps finishes starts equals contains``; operands of the sorts ``event``,
    ``state`` or ``dynamic`` with the variables ``left`` and ``right``.

    ``before`` has its own module.  All others need pairs alone: a result is final when both rows are.  State:

    ``left``, ``right``: the closed rows that may still gain a partner, which is either not known yet, or known and
    open (kernel ``awaiting``).  Between states whose operands are complete alike that is: for ``meets``, ``starts``,
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

    @cached_property
    def _number(self) -> int:
        return NAMES.index(self.rel)

    @cached_property
    def _result(self) -> str:
        return RESULTS.get(self.rel, "hull")

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
        x, y = (
            Intervals.concat([rows_of(state["left"]), left.new]),
            Intervals.concat([rows_of(state["right"]), right.new]),
        )
        keys = _Keys(x, y, left, right)
        pairs = related(
            self._number,
            keys.x,
            x.start,
            x.end,
            len(state["left"]),
            keys.y,
            y.start,
            y.end,
            keys.group,
            len(state["right"]),
        )
        found = self._results(x, y, pairs)
        if call.closing:
            if self._repeats():
                found, _ = results(state["given"], found, Frontiers(OPEN), self.variables)
            closed, open = split(found)
            return self.fresh(), Phenomena(closed, open, OPEN)
        state = {
            "left": self._kept(
                state["left"], False, x, keys.x, left, right, keys.y[len(state["right"]) :], keys.right_open
            ),
            "right": self._kept(
                state["right"], True, y, keys.y, right, left, keys.x[len(state["left"]) :], keys.left_open
            ),
            "given": state["given"],
        }
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
        for name, side, other in (("left", left, right), ("right", right, left)):
            table = state[name]
            if not len(table):
                continue
            start, end, waits = table.columns["start"], table.columns["end"], table.columns["waits"]
            s, n = _known(other, side, table.codes, len(table))
            if decided(self._number, name == "right", start, end, waits, s, n):
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
            (group,) = groups(self.right, [(self.right, y.codes, len(y))])
            found = self._results(
                x, y, related(self._number, x_key, x.start, x.end, 0, y_key, y.start, y.end, group, 0)
            )
        found = Intervals(found.codes, found.start, np.full(len(found), OPEN, np.int64))
        return found.take(unseen(Intervals.empty(len(self.variables)), found))

    def _repeats(self) -> bool:
        """Whether one result can come of several pairs, or of one pair in two calls.

        The rows of a state under one binding differ in their starts and in their ends, so there only ``contains``
        names one row for several others; and a state has one frontier for all bindings, so that what comes of a row
        becomes final under all of them in one call.
        """
        return self.rel == "contains" or "dynamic" in (self.left_sort, self.right_sort)

    def _results(self, x: Intervals, y: Intervals, pairs: tuple[np.ndarray, np.ndarray]) -> Intervals:
        """What is so of pairs of rows."""
        i, j = pairs
        if not len(i):
            return Intervals.empty(len(self.variables))
        codes = merged(self.variables, (self.left, [c[i] for c in x.codes]), (self.right, [c[j] for c in y.codes]))
        start = y.start[j] if self._result == "y" else x.start[i]
        return Intervals(codes, start, x.end[i] if self._result == "x" else y.end[j])

    # --- what is kept -------------------------------------------------------------------------------------------------

    def _kept(
        self,
        old: Held,
        right: bool,
        rows: Intervals,
        key: np.ndarray,
        side: Side,
        other: Side,
        new: np.ndarray,
        open: np.ndarray,
    ) -> Held:
        """The closed rows of one side that may still gain a partner on the other; ``rows``: the old and the new ones.
        ``key``, ``new``, ``open``: bindings of the rows, and of the new and the open ones of the other side."""
        some = touched(key, key, old, new)
        if not len(some):
            return old
        rest = others(old, some[: len(some) - len(side.new)])
        if len(some) < len(rows):
            rows, key = rows.take(some), key[some]
        s, n = _known(other, side, rows.codes, len(rows))
        at, waits = awaiting(self._number, right, key, rows.start, rows.end, s, n, open, other.open.start)
        out = Held.concat([rest, held(rows.take(at), waits=waits)])
        return _latest(out, len(out) - len(at), other, side.variables) if self.rel == "contains" and right else out

    def _signal(self, state: dict[str, Held], left: Side, right: Side, rows: Intervals) -> Phenomena:
        """``rows`` and the frontiers of what is left: of the side that gives the start, S and the starts of what may
        still gain a partner; of the side that gives the end, N and the ends of these."""
        result = self._result
        from_start, from_end = right if result == "y" else left, left if result == "x" else right
        lags: list[Lag] = [*of_starts(from_start.known.lags), *of_ends(from_end.known.lags)]
        kept = rows_of(state["right" if result == "y" else "left"])
        lags.append(behind(from_start.variables, from_start.open, kept, ends=from_start is from_end))
        if from_start is not from_end:
            kept = rows_of(state["right"])
            lags.append(lag(from_end.variables, kept.codes, len(kept), ends=earlier(kept.end)))
        return Phenomena(rows, Intervals.empty(len(self.variables)), self._complete(left, right), telling(lags))

    def _complete(self, left: Side, right: Side) -> int:
        """Up to where starts and ends are known that do not lag: as those of the sides that give them."""
        result = self._result
        return min(side.known.complete for side, other in ((left, "y"), (right, "x")) if result != other)


class _Keys:
    """The bindings of the shared variables in one call: of the closed and of the open rows of each side; and of all
    variables of the right one, of its closed rows."""

    def __init__(self, x: Intervals, y: Intervals, left: Side, right: Side) -> None:
        mine, theirs = left.variables, right.variables
        self.x, self.left_open, self.y, self.right_open = groups(
            shared(mine, theirs),
            [
                (mine, x.codes, len(x)),
                (mine, left.open.codes, len(left.open)),
                (theirs, y.codes, len(y)),
                (theirs, right.open.codes, len(right.open)),
            ],
        )
        (self.group,) = groups(theirs, [(theirs, y.codes, len(y))])


def _known(other: Side, side: Side, codes: Codes, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """S and N of the other side, per row of this one or for all."""
    if not other.known.lags:
        complete = np.array((other.known.complete,))
        return complete, complete
    return other.known.starts(side.variables, codes, rows), other.known.ends(side.variables, codes, rows)


def _latest(table: Held, first_new: int, other: Side, variables: tuple[str, ...]) -> Held:
    """For ``contains``: per ψ-binding without the rows to which another one is preferable, as it starts no earlier and
    is surely inside whatever the first is inside of.  Only bindings of rows from ``first_new`` on are looked at."""
    if first_new == len(table):
        return table
    (group,) = groups(variables, [(variables, table.codes, len(table))])
    # what may come ends later than what is known
    if other.known.lags:
        known = other.known.ends(variables, table.codes, len(table))
    else:
        known = np.array((other.known.complete,))
    at = preferable(group, table.columns["start"], np.maximum(table.columns["end"], known), first_new)
    return table if len(at) == len(table) else table.take(at)


#: which interval comes of a pair: that of the left, that of the right, or from the start of one to the end of the other
RESULTS = {"meets": "hull", "overlaps": "hull", "starts": "y", "finishes": "y", "equals": "y", "contains": "x"}
