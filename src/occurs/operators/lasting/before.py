"""``φ before ψ`` (phenesthe.md, sections 4.5 and 5): from x to y, if x has ended before y starts and neither does
another φ end nor another ψ start between them; judged per joint binding, each operand kept under its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from occurs.operators.lasting.frontiers import Frontiers, lag, of_ends, of_starts, telling
from occurs.operators.lasting.segments import Sorted, earlier, groups, later, member, pairs, places, shared, unseen
from occurs.operators.lasting.sides import Side, held, merged, results, rows_of, split
from occurs.operators.lasting.signals import NEVER, OPEN, Call, Codes, Held, Intervals, Lag, Phenomena

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
    keys = _Keys(state, left, right)
    wanted = Intervals.concat([rows_of(state["right"]), right.new])
    found = _found(state, left, right, wanted, keys, variables)
    if call.closing:
        closed, open = split(results(state["given"], found, Frontiers(OPEN), variables)[0] if repeats else found)
        return fresh(left.variables, right.variables, variables), Phenomena(closed, open, OPEN)
    undecided = ~_decided(wanted, left, right)
    pending = wanted.take(undecided)
    key, group = np.concatenate([keys.key[1], keys.key[4]]), np.concatenate([keys.right[0], keys.right[1]])
    state = {
        "left": _ends(state["left"], left, right, pending, key[undecided], keys),
        "right": held(pending),
        "begun": _starts(state["begun"], right, pending, group[undecided], keys),
        "given": state["given"],
    }
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


class _Keys:
    """Numbers of bindings, comparable in one call.

    ``key``: of the shared variables, of the kept φ, the undecided ψ, the new φ, the open φ, the new ψ, the open ψ;
    ``left``: of all variables of φ, of the kept and the new ones; ``right``: of all variables of ψ, of the undecided,
    the new, the open ones and of the starts kept.
    """

    def __init__(self, state: dict[str, Held], left: Side, right: Side) -> None:
        def side(variables: tuple[str, ...], rows: Held | Intervals) -> tuple[tuple[str, ...], Codes, int]:
            return variables, rows.codes, len(rows)

        x, y = left.variables, right.variables
        own = [side(x, state["left"]), side(y, state["right"]), side(x, left.new), side(x, left.open)]
        own += [side(y, right.new), side(y, right.open)]
        self.key = groups(shared(x, y), own)
        self.left = groups(x, [own[0], own[2]])
        self.right = groups(y, [own[1], own[4], own[5], side(y, state["begun"])])


# --- results ----------------------------------------------------------------------------------------------------------


def _found(
    state: dict[str, Held], left: Side, right: Side, wanted: Intervals, keys: _Keys, variables: tuple[str, ...]
) -> Intervals:
    """The results of all closed ψ in ``wanted``, as far as they are final."""
    if not len(wanted):
        return Intervals.empty(len(variables))
    y_key, y_group = np.concatenate([keys.key[1], keys.key[4]]), np.concatenate([keys.right[0], keys.right[1]])
    known = right.known.starts(right.variables, wanted.codes, len(wanted)) >= earlier(wanted.start)
    at = places(known & member(y_key, np.concatenate([keys.key[0], keys.key[2]])))
    if not len(at):
        return Intervals.empty(len(variables))
    y, y_key = wanted.take(at), y_key[at]
    last = _last_start(state, right, wanted, y, y_group, y_group[at], keys)

    near = places(member(keys.key[0], y_key)), places(member(keys.key[2], y_key))
    x = Intervals.concat([rows_of(state["left"]).take(near[0]), left.new.take(near[1])])
    x_key = np.concatenate([keys.key[0][near[0]], keys.key[2][near[1]]])
    table = Sorted(np.concatenate([keys.left[0][near[0]], keys.left[1][near[1]]]), x.end)
    # one row per φ-binding: its number, its key, N
    heads = places(np.concatenate([[True], table.group[1:] != table.group[:-1]])) if len(x) else table.order
    binding, of = table.group[heads], table.order[heads]
    final = left.known.ends(left.variables, tuple(c[of] for c in x.codes), len(of))
    bindings = Sorted(x_key[of], binding)
    parts = []
    for i, place in pairs(*bindings.range(y_key, None, None)):
        b = bindings.order[place]
        ready = final[b] >= earlier(y.start[i])
        i, b = i[ready], b[ready]
        begin, end = table.range(binding[b], None, earlier(y.start[i]))
        hit = end > begin
        i, b, greatest = i[hit], b[hit], table.value[end[hit] - 1]
        near_enough = greatest >= last[i]
        i, b, greatest = i[near_enough], b[near_enough], greatest[near_enough]
        for row, tie in pairs(*table.range(binding[b], greatest, greatest)):
            j, k = table.order[tie], i[row]
            beside = (left.variables, tuple(c[j] for c in x.codes)), (right.variables, tuple(c[k] for c in y.codes))
            parts.append(Intervals(merged(variables, *beside), x.start[j], y.end[k]))
    return Intervals.concat(parts) if parts else Intervals.empty(len(variables))


def certain(state: dict[str, Held], left: Side, right: Side, variables: tuple[str, ...]) -> Intervals:
    """What comes of the open ψ, as far as it is final but for their ends: as if they ended now."""
    state = {**state, "right": Held.empty(len(right.variables), "start", "end")}
    left = replace(left, new=Intervals.empty(len(left.variables)))
    right = replace(right, new=right.open, open=Intervals.empty(len(right.variables)))
    return _found(state, left, right, right.new, _Keys(state, left, right), variables)


def _last_start(
    state: dict[str, Held],
    right: Side,
    wanted: Intervals,
    y: Intervals,
    wanted_group: np.ndarray,
    group: np.ndarray,
    keys: _Keys,
) -> np.ndarray:
    """The last start of ψ before each y, under its binding; ``NEVER`` if there is none."""
    begun, open = member(keys.right[3], group), member(keys.right[2], group)
    table = Sorted(
        np.concatenate([wanted_group, keys.right[2][open], keys.right[3][begun]]),
        np.concatenate([wanted.start, right.open.start[open], state["begun"].columns["start"][begun]]),
    )
    first, last = table.range(group, None, earlier(y.start))
    out = np.full(len(y), NEVER, np.int64)
    out[last > first] = table.value[last[last > first] - 1]
    return out


def _decided(y: Intervals, left: Side, right: Side) -> np.ndarray:
    """Whether all results of a closed ψ are final, under every binding."""
    limit = earlier(y.start)
    out = right.known.starts(right.variables, y.codes, len(y)) >= limit
    at = places(out)
    out[at] = left.known.ends(right.variables, tuple(c[at] for c in y.codes), len(at)) >= limit[at]
    return out


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


def _ends(old: Held, left: Side, right: Side, pending: Intervals, pending_key: np.ndarray, keys: _Keys) -> Held:
    """``left`` after the call."""
    late = keys.left[0][_come(old, "end", left, right)]
    again = member(keys.left[0], np.concatenate([late, keys.left[1]]))
    again |= member(keys.key[0], np.concatenate([keys.key[1], keys.key[4]]))
    rows = Intervals.concat([rows_of(old).take(again), left.new])
    if not len(rows):
        return old
    key, group = np.concatenate([keys.key[0][again], keys.key[2]]), np.concatenate([keys.left[0][again], keys.left[1]])
    table = Sorted(group, rows.end)
    rows, key, end, following = rows.take(table.order), key[table.order], table.value, table.following()
    known = right.known.starts(left.variables, rows.codes, len(rows))
    keep = following > known
    open = member(keys.key[5], key[~keep])
    wanted = Sorted(
        np.concatenate([pending_key, keys.key[5][open]]), np.concatenate([pending.start, right.open.start[open]])
    )
    keep[~keep] = wanted.any(key[~keep], later(end[~keep]), following[~keep])
    return Held.concat([old.take(~again), held(rows, waits=(end > known).astype(np.int64)).take(keep)])


def _starts(old: Held, right: Side, pending: Intervals, pending_group: np.ndarray, keys: _Keys) -> Held:
    """``begun`` after the call."""
    late = keys.right[3][_come(old, "start", right, right)]
    again = member(keys.right[3], np.concatenate([late, keys.right[0], keys.right[1]]))
    kept = old.take(again)
    codes = tuple(np.concatenate(c) for c in zip(kept.codes, right.new.codes))
    group = np.concatenate([keys.right[3][again], keys.right[1]])
    if not len(group):
        return old
    table = Sorted(group, np.concatenate([kept.columns["start"], right.new.start]))
    once = np.concatenate([[True], (table.group[1:] != table.group[:-1]) | (table.value[1:] != table.value[:-1])])
    group, start, following = table.group[once], table.value[once], table.following()[once]
    codes = tuple(c[table.order[once]] for c in codes)
    known = right.known.starts(right.variables, codes, len(start))
    keep = following > known
    open = member(keys.right[2], group[~keep])
    wanted = Sorted(
        np.concatenate([pending_group, keys.right[2][open]]), np.concatenate([pending.start, right.open.start[open]])
    )
    keep[~keep] = wanted.any(group[~keep], later(start[~keep]), following[~keep])
    waits = (start > known).astype(np.int64)
    return Held.concat([old.take(~again), Held(codes, {"start": start, "waits": waits}).take(keep)])


# --- frontiers --------------------------------------------------------------------------------------------------------


def _signal(state: dict[str, Held], left: Side, right: Side, rows: Intervals) -> Phenomena:
    """``rows`` and the frontiers of what is left: S of φ and the starts of the φ that are open or kept; N of ψ and the
    ends of the ψ that are not decided."""
    variables = tuple(sorted({*left.variables, *right.variables}))
    kept = rows_of(state["left"])
    lags: list[Lag] = [*of_starts(left.known.lags), *of_ends(right.known.lags), *_undecided(state, left, right)]
    lags.append(lag(left.variables, left.open.codes, len(left.open), starts=earlier(left.open.start)))
    lags.append(lag(left.variables, kept.codes, len(kept), starts=earlier(kept.start)))
    complete = min(left.known.complete, right.known.complete)
    return Phenomena(rows, Intervals.empty(len(variables)), complete, telling(lags))


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
    for behind in left.known.lags:
        common = shared(behind.variables, right.variables)
        sides = [(right.variables, rest.codes, len(rest)), (behind.variables, behind.codes, len(behind.ends))]
        key, theirs = groups(common, sides)
        near = places(member(theirs, key))
        table = Sorted(theirs[near], behind.ends[near])
        first, last = table.range(key, None, earlier(limit))
        variables = tuple(sorted({*right.variables, *behind.variables}))
        for i, place in pairs(first, last):
            j = near[table.order[place]]
            mine = right.variables, tuple(c[i] for c in rest.codes)
            codes = merged(variables, mine, (behind.variables, tuple(c[j] for c in behind.codes)))
            out.append(lag(variables, codes, len(i), ends=earlier(rest.end[i])))
    return out
