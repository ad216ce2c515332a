"""Allen's relations between instants and intervals (phenesthe.md, sections 4.5 and 5): D from E, S or D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from occurs.operators.interval.bindings import joint, later, member, pick, places, shared, union, unseen
from occurs.operators.interval.ranges import clipped, lengths
from occurs.operators.interval.signals import (
    OPEN,
    Held,
    Instants,
    Intervals,
    Lag,
    Lags,
    Phenomena,
    Points,
    Signal,
    Spans,
    State,
)
from occurs.operators.kernels import allen as kernels
from occurs.operators.kernels.allen import NAMES, once, related
from occurs.operators.kernels.blocks import alike

#: so many kept rows may be looked at in every call
FEW = 32
#: which interval comes of a pair: that of the left, that of the right, or from the start of one to the end of the other
RESULTS = {
    "meets": kernels.HULL, "overlaps": kernels.HULL, "starts": kernels.RIGHT, "finishes": kernels.RIGHT,
    "equals": kernels.RIGHT, "contains": kernels.LEFT,
}  # fmt: skip
_ROWS, _WAITING = ("start", "end"), ("start", "end", "waits")
#: the columns of the tables of state
_COLUMNS = {"left": _WAITING, "right": _WAITING, "given": _ROWS}
_COLUMNS_OF_BEFORE = {"left": _WAITING, "right": _ROWS, "begun": ("start", "waits"), "given": _ROWS}
#: no rows of any side that are undecided
_NO_ROWS = np.zeros((2, 0), np.int64)


@dataclass(frozen=True)
class Related:
    """``φ rel ψ`` for ``before meets overlaps finishes starts equals contains``; operands of the sorts ``event``,
    ``state`` or ``dynamic`` with the variables ``left`` and ``right``.

    All but ``before`` need pairs alone: a result is final when both rows are.  State:

    ``left``, ``right``: the closed rows that may still gain a partner, which is either not known yet, or known and
    open (kernel ``awaiting``).  Between states whose operands are complete alike that is: for ``meets``, ``starts``,
    ``overlaps`` what an open ψ began in or at; for ``contains``, per ψ-binding, the latest of those inside an open φ;
    nothing else.  ``waits`` = 1: looked at in every call, as what is not known yet decides; the others are when a
    partner closes.
    ``given``: results that might be derived a second time from other rows.

    State of ``before`` (what decides is in the kernel :func:`occurs.operators.kernels.allen.before`):

    ``left``: closed φ rows that may be the last to end before a ψ start that is not known yet, or not decided: of a
    φ-binding those with the greatest end up to T (all of them), T being the least S of the ψ that can join it, since
    any further ψ starts after T; those that end after T; and those with the greatest end before the start of a known ψ
    row that is open or undecided.  Of all others it is known that a later φ ends before any ψ that may still come.
    ``waits`` = 1: ends after T; such bindings are looked at in every call, others when a φ comes or a ψ is decided.
    ``right``: closed ψ rows [s, e] for which something is not final: another ψ may start before s (S of ψ is less than
    s - 1), or, under some binding that joins it, another φ may end before s (N of φ is).
    ``begun``: of a ψ-binding the last start up to S of ψ, all later ones, and of every known row that is open or
    undecided the last start before its own.  (The starts of open rows are in the signal.)
    ``given``: results that might be derived again, and those of the rows in ``right``, which are in part given.

    ``tables``: the variables of the bindings in every table.
    """

    rel: str
    left_sort: str
    right_sort: str
    left: tuple[str, ...]
    right: tuple[str, ...]

    @cached_property
    def variables(self) -> tuple[str, ...]:
        return union(self.left, self.right)

    @cached_property
    def _number(self) -> int:
        return 0 if self.rel == "before" else NAMES.index(self.rel)

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
        return self._number, self._result, self._repeats

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        tables = {"left": self.left, "right": self.right, "given": self.variables}
        return {**tables, "begun": self.right} if self.rel == "before" else tables

    @property
    def _columns(self) -> Mapping[str, tuple[str, ...]]:
        return _COLUMNS_OF_BEFORE if self.rel == "before" else _COLUMNS

    def fresh(self) -> State:
        variables = self.tables
        return {name: Held.empty(len(variables[name]), *columns) for name, columns in self._columns.items()}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Phenomena]:
        return self._advance(state, Side.of(self.left, inputs[0], call), Side.of(self.right, inputs[1], call), call)

    def _advance(self, state: State, left: Side, right: Side, call: Instants) -> tuple[State, Phenomena]:
        found, after, lags, cuts, changed = self._judged(state, left, right)
        rows = Intervals.of(found)
        if call.closing:
            rows, _ = self._once(state, rows, OPEN, Lags.none(self.variables))
            ended = rows.end != OPEN
            return self.fresh(), Phenomena(rows.take(ended), rows.take(~ended), OPEN)
        complete, behind = self._complete(left, right), Lags(self.variables, lags, cuts)
        if changed:
            state = dict(state)
            for bit, (name, block) in enumerate(zip(self._columns, after)):
                if changed >> bit & 1:
                    state[name] = Held.of(block, self._columns[name])
        rows, given = self._once(state, rows, complete, behind)
        if given is not state["given"]:
            state = {**state, "given": given}
        return state, Phenomena(rows, Intervals.empty(len(self.variables)), complete, behind)

    def _judged(
        self, state: State, left: Side, right: Side
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...], np.ndarray, np.ndarray, int]:
        """What the kernel says of one call: the results; the tables ``left``, ``right`` and, of ``before``, ``begun``;
        lags and their cuts; and, bit by bit, which of the tables have changed."""
        rows = (
            state["left"].block, left.new.block, left.open.block,
            state["right"].block, right.new.block, right.open.block,
        )  # fmt: skip
        frontiers = (
            left.lags.block, left.lags.cuts, right.lags.block, right.lags.cuts,
            self.places, left.complete, right.complete, FEW, kernels.ALWAYS,
        )  # fmt: skip
        if self.rel == "before":
            found, *after, lags, cuts, changed = kernels.before(*rows, state["begun"].block, *frontiers)
        else:
            found, *after, lags, cuts, changed = kernels.beside(self._number, self._result, *rows, *frontiers)
        return found, tuple(after), lags, cuts, changed

    def _once(self, state: State, rows: Intervals, complete: int, lags: Lags) -> tuple[Intervals, Held]:
        """The rows that were not given before, each once; and of what has been given now, what could be derived again
        (see the kernel)."""
        given = state["given"]
        if not self._repeats or not (len(given) or len(rows)):
            return rows, given
        pending = state["right"].block if self.rel == "before" else _NO_ROWS
        found, kept = once(given.block, rows.block, complete, lags.block, lags.cuts, pending, self.places)
        return Intervals.of(found), given if alike(given.block, kept) else Held.of(kept, _ROWS)

    def certain(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> Intervals:
        """The open results that will be in the answer however the history goes on: to be asked for after a call, with
        the state it gave and its inputs.

        ``advance`` leaves them out, as nothing but provisional output needs them: S lags behind their rows instead.
        A row that has not ended will end after N; it is put in place with this least end.
        """
        left, right = Side.of(self.left, inputs[0], call), Side.of(self.right, inputs[1], call)
        if call.closing or self.rel in ("finishes", "equals"):
            return Intervals.empty(len(self.variables))
        if self.rel == "before":
            # what comes of the open ψ, as far as it is final but for their ends: as if they ended now
            nothing = Intervals.empty(len(self.right))
            state = {**state, "right": Held.empty(len(self.right), *_ROWS)}
            left, right = (
                replace(left, new=Intervals.empty(len(self.left))),
                replace(right, new=right.open, open=nothing),
            )
            found = Intervals.of(self._judged(state, left, right)[0])
        else:
            inside = self.rel == "contains"
            side, kept = (left, state["right"].intervals()) if inside else (right, state["left"].intervals())
            least = later(side.lags.least(side.complete, 1, side.open))
            open = Intervals(side.open.codes, side.open.start, np.maximum(least, later(side.open.start)))
            x, y = (open, kept) if inside else (kept, open)
            on = shared(self.left, self.right)
            x_key, y_key = joint([(pick(x.codes, self.left, on), len(x)), (pick(y.codes, self.right, on), len(y))])
            (group,) = joint([(y.codes, len(y))])
            pairs = related(self._number, x_key, x.start, x.end, 0, y_key, y.start, y.end, group, 0)
            found = Intervals.of(kernels.results(self.places, x.block, y.block, *pairs, self._result))
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

    def _complete(self, left: Side, right: Side) -> int:
        """Up to where starts and ends are known that do not lag: as those of the sides that give them."""
        if self._result == kernels.HULL:
            return min(left.complete, right.complete)
        return (left if self._result == kernels.LEFT else right).complete


@dataclass(frozen=True)
class Side:
    """One operand of a relation in one call.

    ``new``: the rows that became final in it; at closing the open ones too, with the end ``OPEN``.  ``open``: all that
    are known to have begun and have not ended; nothing at closing.  ``complete``, ``lags``: up to where the rest is
    known.
    """

    new: Intervals
    open: Intervals
    complete: int
    lags: Lags

    @staticmethod
    def of(variables: tuple[str, ...], signal: Signal, call: Instants) -> Side:
        lags: Sequence[Lag] | Lags = ()
        if isinstance(signal, Points):
            new, open = Intervals(signal.codes, signal.time, signal.time), Intervals.empty(len(variables))
        elif isinstance(signal, Spans):
            new, open = signal.closed, signal.open
        else:
            new, open, lags = signal.closed, signal.open, signal.lags
        if call.closing:
            new, open, lags = Intervals.concat([new, open]), Intervals.empty(len(variables)), ()
        return Side(new, open, OPEN if call.closing else signal.complete, Lags.of(variables, lags))


@dataclass(frozen=True)
class ShortBefore(Related):
    """``before`` below a filter that drops results longer than ``longest`` ticks: it may emit those or not.

    State: that of ``before``, less what cannot be part of a shorter result, nor keep one from being found.
    """

    longest: int = 0

    def _advance(self, state: State, left: Side, right: Side, call: Instants) -> tuple[State, Phenomena]:
        state, signal = super()._advance(state, left, right, call)
        return (state if call.closing else self._young(state, left, right)), signal

    def _young(self, state: State, left: Side, right: Side) -> State:
        """The state without what is too old."""
        known, phi, begun = right.lags.least_end(right.complete), state["left"], state["begun"]
        if known == OPEN:
            return state
        # no result that is not given yet ends before
        end = int(state["right"].columns["end"].min(initial=known + 1))
        young = ~self._old(phi, end)
        if not young.all():
            # a φ that is young, or is not known yet, is not the last before a ψ if an old one ended later
            young |= phi.columns["end"] > left.lags.least_end(left.complete)
            (key,) = joint([(phi.codes, len(phi))])
            young = member(key, key[young])
            state = {**state, "left": phi.take(young)} if not young.all() else state
        old = self._old(begun, end)
        return {**state, "begun": begun.take(~old)} if old.any() else state

    def _old(self, rows: Held, end: int) -> np.ndarray:
        """Whether a result from there would be too long."""
        start = rows.columns["start"]
        return lengths(start, np.maximum(start, end)) > clipped(self.longest)
