"""``φ before ψ`` (phenesthe.md, sections 4.5 and 5): from x to y, if x has ended before y starts and neither does
another φ end nor another ψ start between them; judged per joint binding, each operand kept under its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from occurs.operators.interval import sides
from occurs.operators.interval.bindings import places
from occurs.operators.interval.sides import ROWS, Side, once, split
from occurs.operators.interval.signals import OPEN, Call, Held, Intervals, Lags, Phenomena, State
from occurs.operators.kernels import allen_step as kernels

# State:
#
# ``left``: closed φ rows that may be the last to end before a ψ start that is not known yet, or not decided: of a
#   φ-binding those with the greatest end up to T (all of them), T being the least S of the ψ that can join it, since
#   any further ψ starts after T; those that end after T; and those with the greatest end before the start of a known ψ
#   row that is open or undecided.  Of all others it is known that a later φ ends before any ψ that may still come.
#   ``waits`` = 1: ends after T; such bindings are looked at in every call, others when a φ comes or a ψ is decided.
# ``right``: closed ψ rows [s, e] for which something is not final: another ψ may start before s (S of ψ is less than
#   s - 1), or, under some binding that joins it, another φ may end before s (N of φ is).
# ``begun``: of a ψ-binding the last start up to S of ψ, all later ones, and of every known row that is open or
#   undecided the last start before its own.  (The starts of open rows are in the signal.)
# ``given``: results that might be derived again, and those of the rows in ``right``, which are in part given.


#
# What decides is in the kernel :func:`occurs.operators.kernels.allen_step.before`.

_BEGUN = ("start", "waits")
_WAITING = (*ROWS, "waits")


def fresh(left: tuple[str, ...], right: tuple[str, ...], variables: tuple[str, ...]) -> State:
    return {
        "left": Held.empty(len(left), *_WAITING),
        "right": Held.empty(len(right), *ROWS),
        "begun": Held.empty(len(right), *_BEGUN),
        "given": Held.empty(len(variables), *ROWS),
    }


def advance(
    state: State, left: Side, right: Side, variables: tuple[str, ...], call: Call, repeats: bool
) -> tuple[State, Phenomena]:
    """One call of ``left before right``; ``repeats``: one result can come of several pairs, or of one in two calls."""
    found, kept, pending, begun, lags, cuts, changed = _judged(state, left, right, variables)
    rows, given, at = Intervals.of(found), state["given"], places(left.variables, right.variables, variables)
    if call.closing:
        if repeats:
            rows, _ = once(given, rows, OPEN, Lags.none(variables), state["right"].block, at)
        closed, open = split(rows)
        return fresh(left.variables, right.variables, variables), Phenomena(closed, open, OPEN)
    complete, behind = min(left.known.complete, right.known.complete), Lags(variables, lags, cuts)
    if changed:
        state = {
            "left": Held.of(kept, _WAITING) if changed & 1 else state["left"],
            "right": Held.of(pending, ROWS) if changed & 2 else state["right"],
            "begun": Held.of(begun, _BEGUN) if changed & 4 else state["begun"],
            "given": given,
        }
    if repeats and (len(rows) or len(given)):
        rows, given = once(given, rows, complete, behind, state["right"].block, at)
        state = {**state, "given": given}
    return state, Phenomena(rows, Intervals.empty(len(variables)), complete, behind)


def _judged(
    state: State, left: Side, right: Side, variables: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """What the kernel says of one call."""
    of_left, of_right = Lags.of(left.variables, left.known.lags), Lags.of(right.variables, right.known.lags)
    return kernels.before(
        state["left"].block, left.new.block, left.open.block,
        state["right"].block, right.new.block, right.open.block, state["begun"].block,
        of_left.block, of_left.cuts, of_right.block, of_right.cuts,
        places(left.variables, right.variables, variables), left.known.complete, right.known.complete, sides.FEW,
        kernels.ALWAYS,
    )  # fmt: skip


def certain(state: State, left: Side, right: Side, variables: tuple[str, ...]) -> Intervals:
    """What comes of the open ψ, as far as it is final but for their ends: as if they ended now."""
    state = {**state, "right": Held.empty(len(right.variables), *ROWS)}
    left = replace(left, new=Intervals.empty(len(left.variables)))
    right = replace(right, new=right.open, open=Intervals.empty(len(right.variables)))
    return Intervals.of(_judged(state, left, right, variables)[0])
