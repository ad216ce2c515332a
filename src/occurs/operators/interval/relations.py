"""Allen's relations between instants and intervals (phenesthe.md, sections 4.5 and 5): D from E, S or D."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from occurs.operators.interval import before, sides
from occurs.operators.interval.bindings import joint, later, pick, places, shared, unseen
from occurs.operators.interval.sides import Side, once, rows_of, split
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Lags, Phenomena, Signal, State
from occurs.operators.interval.unchanged_cache import settle, unchanged
from occurs.operators.kernels import allen_step as kernels
from occurs.operators.kernels.allen_pairs import NAMES, related


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
    def _result(self) -> int:
        return RESULTS.get(self.rel, kernels.HULL)

    @cached_property
    def places(self) -> np.ndarray:
        """Where either side has each variable."""
        return places(self.left, self.right, self.variables)

    @property
    def parameters(self) -> tuple[int, int, bool]:
        """What kernels want to know: the number of the relation, what comes of a pair, and whether it comes again."""
        return (0 if self.rel == "before" else self._number), self._result, self._repeats

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        tables = {"left": self.left, "right": self.right, "given": self.variables}
        return {**tables, "begun": self.right} if self.rel == "before" else tables

    def fresh(self) -> State:
        if self.rel == "before":
            return before.fresh(self.left, self.right, self.variables)
        return {
            "left": Held.empty(len(self.left), *_WAITING),
            "right": Held.empty(len(self.right), *_WAITING),
            "given": Held.empty(len(self.variables), "start", "end"),
        }

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Phenomena]:
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

    def _advance(self, state: State, left: Side, right: Side, call: Call) -> tuple[State, Phenomena]:
        """A call in which something may change."""
        if self.rel == "before":
            return before.advance(state, left, right, self.variables, call, self._repeats)
        of_left, of_right = Lags.of(self.left, left.known.lags), Lags.of(self.right, right.known.lags)
        found, kept, others, lags, cuts, changed = kernels.beside(
            self._number, self._result,
            state["left"].block, left.new.block, left.open.block,
            state["right"].block, right.new.block, right.open.block,
            of_left.block, of_left.cuts, of_right.block, of_right.cuts,
            self.places, left.known.complete, right.known.complete, sides.FEW, kernels.ALWAYS,
        )  # fmt: skip
        rows, given = Intervals.of(found), state["given"]
        if call.closing:
            if self._repeats:
                rows, _ = once(given, rows, OPEN, Lags.none(self.variables), _NO_ROWS, self.places)
            closed, open = split(rows)
            return self.fresh(), Phenomena(closed, open, OPEN)
        complete, behind = self._complete(left, right), Lags(self.variables, lags, cuts)
        if self._repeats and (len(rows) or len(given)):
            rows, given = once(given, rows, complete, behind, _NO_ROWS, self.places)
        if changed or given is not state["given"]:
            state = {
                "left": Held.of(kept, _WAITING) if changed & 1 else state["left"],
                "right": Held.of(others, _WAITING) if changed & 2 else state["right"],
                "given": given,
            }
        return state, Phenomena(rows, Intervals.empty(len(self.variables)), complete, behind)

    def certain(self, state: State, inputs: tuple[Signal, ...], call: Call) -> Intervals:
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
            on = shared(self.left, self.right)
            x_key, y_key = joint([(pick(x.codes, self.left, on), len(x)), (pick(y.codes, self.right, on), len(y))])
            (group,) = joint([(y.codes, len(y))])
            pairs = related(self._number, x_key, x.start, x.end, 0, y_key, y.start, y.end, group, 0)
            found = self._results(x, y, pairs)
        found = Intervals(found.codes, found.start, np.full(len(found), OPEN, np.int64))
        return found.take(unseen(Intervals.empty(len(self.variables)), found))

    @cached_property
    def _repeats(self) -> bool:
        """Whether one result can come of several pairs, or of one pair in two calls.

        The rows of a state under one binding differ in their starts and in their ends, so there only ``contains``
        names one row for several others; and a state has one frontier for all bindings, so that what comes of a row
        becomes final under all of them in one call.
        """
        return self.rel == "contains" or "dynamic" in (self.left_sort, self.right_sort)

    def _results(self, x: Intervals, y: Intervals, pairs: tuple[np.ndarray, np.ndarray]) -> Intervals:
        """What is so of pairs of rows."""
        return Intervals.of(kernels.results(self.places, x.block, y.block, *pairs, self._result))

    def _complete(self, left: Side, right: Side) -> int:
        """Up to where starts and ends are known that do not lag: as those of the sides that give them."""
        if self._result == kernels.HULL:
            return min(left.known.complete, right.known.complete)
        return (left if self._result == kernels.LEFT else right).known.complete


#: no rows of any side that are undecided
_NO_ROWS = np.zeros((2, 0), np.int64)
_WAITING = ("start", "end", "waits")
#: which interval comes of a pair: that of the left, that of the right, or from the start of one to the end of the other
RESULTS = {
    "meets": kernels.HULL, "overlaps": kernels.HULL, "starts": kernels.RIGHT, "finishes": kernels.RIGHT,
    "equals": kernels.RIGHT, "contains": kernels.LEFT,
}  # fmt: skip
