"""``φ before ψ`` (phenesthe.md, sections 4.5 and 5): from x to y, if x has ended before y starts and neither does
another φ end nor another ψ start between them; judged per joint binding, each operand kept under its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from occurs.operators.kernels.preceding import preceding
from occurs.operators.lasting.frontiers import Frontiers, behind, lag, of_ends, of_starts, telling
from occurs.operators.lasting.segments import Sorted, earlier, groups, member, pairs, places, shared, unseen
from occurs.operators.lasting.sides import Side, held, merged, others, results, rows_of, split, touched
from occurs.operators.lasting.signals import OPEN, Call, Codes, Held, Intervals, Lag, Phenomena

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


def fresh(left: tuple[str, ...], right: tuple[str, ...], variables: tuple[str, ...]) -> dict[str, Held]:
    return {
        "left": Held.empty(len(left), "start", "end", "waits"),
        "right": Held.empty(len(right), "start", "end"),
        "begun": Held.empty(len(right), "start", "waits"),
        "given": Held.empty(len(variables), "start", "end"),
    }


def advance(
    state: dict[str, Held], left: Side, right: Side, variables: tuple[str, ...], call: Call, repeats: bool
) -> tuple[dict[str, Held], Phenomena]:
    """One call of ``left before right``; ``repeats``: one result can come of several pairs, or of one in two calls."""
    if not (len(left.new) or len(right.new)) and _unchanged(state, left, right):
        return state, _signal(state, left, right, Intervals.empty(len(variables)))
    judged = _Judged(state, left, right)
    found = judged.results(variables)
    if call.closing:
        closed, open = split(results(state["given"], found, Frontiers(OPEN), variables)[0] if repeats else found)
        return fresh(left.variables, right.variables, variables), Phenomena(closed, open, OPEN)
    pending = judged.y.take(judged.undecided)
    state = {"left": judged.ends(), "right": held(pending), "begun": judged.starts(), "given": state["given"]}
    signal = _signal(state, left, right, found)
    if repeats:
        known = Frontiers(signal.complete, signal.lags)
        found, state["given"] = _given(state["given"], found, pending, known, right, variables)
    return state, Phenomena(found, signal.open, signal.complete, signal.lags)


def _unchanged(state: dict[str, Held], left: Side, right: Side) -> bool:
    """Whether a call without new rows decides nothing: S of ψ has not come as far as any row that waits for it.

    A ψ for which N of φ alone is waited for is looked at in every call."""
    known, y = right.known, rows_of(state["right"])
    if len(y) and (known.starts(right.variables, y.codes, len(y)) >= earlier(y.start)).any():
        return False
    return not (len(_come(state["left"], "end", left, right)) or len(_come(state["begun"], "start", right, right)))


class _Judged:
    """One call, judged by the kernel: what it finds, and what is still to be looked for.

    ``x``: the closed φ that it is about, kept ones and then new ones; ``y``: all closed ψ, likewise.
    """

    def __init__(self, state: dict[str, Held], left: Side, right: Side) -> None:
        self.left, self.right, self._ends, self._begun = left, right, state["left"], state["begun"]
        kept, begun, open = len(state["right"]), state["begun"], right.open
        x, y = Intervals.concat([rows_of(self._ends), left.new]), Intervals.concat([rows_of(state["right"]), right.new])
        mine, theirs = left.variables, right.variables
        y_side, open_side = (theirs, y.codes, len(y)), (theirs, open.codes, len(open))
        x_key, y_key, open_key = groups(shared(mine, theirs), [(mine, x.codes, len(x)), y_side, open_side])
        (x_group,) = groups(mine, [(mine, x.codes, len(x))])
        y_group, open_group, group = groups(theirs, [y_side, open_side, (theirs, begun.codes, len(begun))])

        self._some = touched(x_group, x_key, self._ends, y_key)
        if len(self._some) < len(x):
            x, x_key, x_group = x.take(self._some), x_key[self._some], x_group[self._some]
        self._groups = touched(group, group, begun, y_group)
        if len(self._groups) < len(begun):
            begun, group = begun.take(self._groups), group[self._groups]
        self.x, self.y, self._old = x, y, begun
        n = _N(left, x, right, y)
        self._found_x, self._found_y, self.undecided, self._last, self._last_waits, self._first, self._first_waits = (
            preceding(
                x_key, x_group, x.end, y_key, y_group, y.start, open_key, open_group, open.start,
                group, begun.columns["start"],
                _S(right, mine, x.codes, len(x)), _S(right, theirs, y.codes, len(y)),
                _S(right, theirs, begun.codes, len(begun)), n, kept,
            )
        )  # fmt: skip

    def results(self, variables: tuple[str, ...]) -> Intervals:
        """The results of all closed ψ, as far as they are final."""
        i, j = self._found_x, self._found_y
        if not len(i):
            return Intervals.empty(len(variables))
        mine = self.left.variables, [c[i] for c in self.x.codes]
        theirs = self.right.variables, [c[j] for c in self.y.codes]
        return Intervals(merged(variables, mine, theirs), self.x.start[i], self.y.end[j])

    def ends(self) -> Held:
        """``left`` after the call."""
        if not len(self._some):
            return self._ends
        rest = others(self._ends, self._some[: len(self._some) - len(self.left.new)])
        return Held.concat([rest, held(self.x.take(self._last), waits=self._last_waits)])

    def starts(self) -> Held:
        """``begun`` after the call."""
        if not (len(self._groups) or len(self.right.new)):
            return self._begun
        old, new, at = self._old, self.right.new, self._first
        codes = tuple([np.concatenate(pair)[at] for pair in zip(old.codes, new.codes)])
        start = np.concatenate((old.columns["start"], new.start))[at]
        rows = Held(codes, {"start": start, "waits": self._first_waits})
        return Held.concat([others(self._begun, self._groups), rows])


def _S(right: Side, variables: tuple[str, ...], codes: Codes, rows: int) -> np.ndarray:
    """S of ψ per row, or of all rows."""
    if not right.known.lags:
        return np.array((right.known.complete,))
    return right.known.starts(variables, codes, rows)


def _N(left: Side, x: Intervals, right: Side, y: Intervals) -> np.ndarray:
    """N of φ per row of x and then of y, or of all rows."""
    known = left.known
    if not known.lags:
        return np.array((known.complete,))
    return np.concatenate([known.ends(left.variables, x.codes, len(x)), known.ends(right.variables, y.codes, len(y))])


def certain(state: dict[str, Held], left: Side, right: Side, variables: tuple[str, ...]) -> Intervals:
    """What comes of the open ψ, as far as it is final but for their ends: as if they ended now."""
    state = {**state, "right": Held.empty(len(right.variables), "start", "end")}
    left = replace(left, new=Intervals.empty(len(left.variables)))
    right = replace(right, new=right.open, open=Intervals.empty(len(right.variables)))
    return _Judged(state, left, right).results(variables)


def _given(
    given: Held, found: Intervals, pending: Intervals, known: Frontiers, right: Side, variables: tuple[str, ...]
) -> tuple[Intervals, Held]:
    """What is given now, and what must be remembered as given: what could be derived again from what is not known
    yet, and what will be, as it is of a ψ that is not decided under all bindings."""
    rows, kept = results(given, found, known, variables)
    if not len(pending):
        return rows, kept
    all_rows = Intervals.concat([rows_of(given), rows])
    sides = [(variables, all_rows.codes, len(all_rows)), (right.variables, pending.codes, len(pending))]
    of_row, of_pending = groups(right.variables, sides)
    again = Sorted(of_pending, pending.end).any(of_row, all_rows.end, all_rows.end)
    extra = all_rows.take(again)
    extra = extra.take(unseen(rows_of(kept), extra))
    return rows, held(Intervals.concat([rows_of(kept), extra]))


# --- what is kept -----------------------------------------------------------------------------------------------------


def _come(table: Held, column: str, side: Side, right: Side) -> np.ndarray:
    """The rows that have waited for S of ψ and need not any more.  Of those that still do nothing is new: S is before
    them and before what follows them."""
    at = places(table.columns["waits"])
    if not len(at):
        return at
    known = right.known.starts(side.variables, tuple(c[at] for c in table.codes), len(at))
    return at[known >= table.columns[column][at]]


# --- frontiers --------------------------------------------------------------------------------------------------------


def _signal(state: dict[str, Held], left: Side, right: Side, rows: Intervals) -> Phenomena:
    """``rows`` and the frontiers of what is left: S of φ and the starts of the φ that are open or kept; N of ψ and the
    ends of the ψ that are not decided."""
    kept = rows_of(state["left"])
    lags: list[Lag] = [*of_starts(left.known.lags), *of_ends(right.known.lags), *_undecided(state, left, right)]
    lags.append(behind(left.variables, left.open, kept))
    complete = min(left.known.complete, right.known.complete)
    return Phenomena(rows, Intervals.empty(len(rows.codes)), complete, telling(lags))


def _undecided(state: dict[str, Held], left: Side, right: Side) -> list[Lag]:
    """Where results that are known may still not be final: under the whole binding of a ψ before which another ψ may
    start; else only where the φ that lag join it."""
    y = rows_of(state["right"])
    if not len(y):
        return []
    limit = earlier(y.start)
    alone = right.known.starts(right.variables, y.codes, len(y)) < limit
    whole, rest = y.take(alone), y.take(~alone)
    out = [lag(right.variables, whole.codes, len(whole), ends=earlier(whole.end))]
    limit = limit[~alone]
    for late in left.known.lags:
        common = shared(late.variables, right.variables)
        sides = [(right.variables, rest.codes, len(rest)), (late.variables, late.codes, len(late.ends))]
        key, theirs = groups(common, sides)
        near = places(member(theirs, key))
        table = Sorted(theirs[near], late.ends[near])
        first, last = table.range(key, None, earlier(limit))
        variables = tuple(sorted({*right.variables, *late.variables}))
        for i, place in pairs(first, last):
            j = near[table.order[place]]
            mine = right.variables, tuple(c[i] for c in rest.codes)
            codes = merged(variables, mine, (late.variables, tuple(c[j] for c in late.codes)))
            out.append(lag(variables, codes, len(i), ends=earlier(rest.end[i])))
    return out
