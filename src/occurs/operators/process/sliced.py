"""What a slicer gives: a row per value, lists of the newest ones, maps of all (pipes.md, 4.4)."""

from __future__ import annotations

import numpy as np

from occurs.operators.process.columns import Col, Obj, Rec, null_col
from occurs.operators.process.items import Call, Items
from occurs.operators.process.slicing import Made, Own, changes_of
from occurs.operators.process.snapshots import Changes, Snap


def given_of(
    form: str, own: Own, x: Items, found: Made | None, gone: list[tuple[np.ndarray, np.ndarray]],
    flushed: Made | None, before: Made | None, call: Call,
) -> Items:  # fmt: skip
    """The outputs of a slicer in its ``form`` (map, each, last).

    ``found``: what slices gave, ``flushed``: at the ends of traces; ``gone``: the rows with which slices ended and the
    numbers of these; ``before``: the newest values before this call, for maps.
    """
    parts = [p for p in (found, flushed) if p is not None and len(p)]
    step, about, code = _places(own, x, call)
    made = Made.join(parts) if parts else None
    single = x.code is None
    if made is not None and len(made) > 1:
        row = made.row
        if not made.ordered and (row[1:] <= row[:-1]).any():
            made = made.take(np.lexsort((np.arange(len(row)), made.born, row)))
    if form == "each":
        if made is None:
            return Items.none(single=single)
        value: Col = Rec({"key": made.keys, "value": made.value}, len(made))
        same = made.row is not None and len(made) == len(x) and not len(x.ends)
        if same and (made.ordered or bool((made.row == np.arange(len(x))).all())):
            return x.with_value(value)
        at = made.row
        return Items(value, step[at], about[at], None if code is None else code[at])
    if form == "last":
        return _lasts(made, step, about, code)
    if not len(x.ends):
        return x.with_value(_maps(own, len(step), made, gone, before, code, None))
    rows = np.arange(len(x))
    if flushed is not None and len(flushed):
        rows = np.concatenate([rows, np.unique(flushed.row)])
    value = _maps(own, len(step), made, gone, before, code, rows)
    return Items(value, step[rows], about[rows], None if code is None else code[rows])


def _places(own: Own, x: Items, call: Call) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Step, event spoken of, trace (None: there is one) of the outputs of every row; those of ends are behind those of
    items."""
    if not len(x.ends):
        return x.step, x.about, x.code
    ends = x.ends.code
    step = np.maximum(x.ends.step, own.step.upto(call.instances)[ends])
    return (
        np.concatenate([x.step, step]),
        np.concatenate([x.about, own.about.upto(call.instances)[ends]]),
        None if x.code is None else np.concatenate([x.code, ends]),
    )


def _lasts(made: Made | None, step: np.ndarray, about: np.ndarray, code: np.ndarray | None) -> Items:
    """The list of the newest of the slices that gave something."""
    if made is None:
        return Items.none(single=code is None)
    last = np.ones(len(made), np.bool_)
    # a slice that ends may leave its slot to another one with the same item
    born = made.born
    last[:-1] = (made.row[1:] != made.row[:-1]) | (born[1:] != born[:-1])
    row, values = made.row[last], made.value.filter(last).pylist()
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    stops = np.append(starts[1:], len(row))
    lists = [tuple(values[a:b]) for a, b in zip(starts.tolist(), stops.tolist())]
    at = row[starts]
    return Items(Obj.of(lists), step[at], about[at], None if code is None else code[at])


def before_of(own: Own) -> Made:
    """The newest values of slices before this call."""
    newest = own.newest
    slot = newest.code
    there = own.slots.alive[slot] if len(slot) else np.zeros(0, np.bool_)
    slot = slot[there]
    value = newest.value.filter(there) if len(there) else null_col(0)
    keys = own.slots.keys(slot) if len(slot) else null_col(0)
    return Made(np.full(len(slot), -1), slot, own.owners(), keys, value)


def _maps(
    own: Own, count: int, made: Made | None, gone: list[tuple[np.ndarray, np.ndarray]],
    before: Made | None, code: np.ndarray | None, rows: np.ndarray | None,
) -> Col:  # fmt: skip
    """The snapshots ``rows`` (None: all)."""
    assert before is not None
    parts = [p for p in (before, made) if p is not None and len(p)]
    if made is not None and len(made):
        alive = own.slots.alive[made.slot] & (own.slots.born[made.slot] == made.born) if gone else None
        if alive is not None and not alive.all():
            kept = np.flatnonzero(alive)
            own.newest.put(made.slot[kept], made.value.take(kept))
        else:
            own.newest.put(made.slot, made.value)
    if not parts or (code is None and not gone):
        return Snap(changes_of([before] if made is None else [before, made], count), rows)
    every = Made.join(parts)
    size = len(every)
    since, born = every.row, every.born
    # slices that were removed may have left their slots to others: their numbers tell them apart
    slot = np.unique(born, return_inverse=True)[1]
    keys, values = every.keys, every.value
    lost = np.zeros(size, np.bool_)
    if gone:
        number = np.unique(born)
        went, who = np.concatenate([g[0] for g in gone]), np.concatenate([g[1] for g in gone])
        at = np.searchsorted(number, who)
        known = (at < len(number)) & (number[np.minimum(at, len(number) - 1)] == who)
        went, at = went[known], at[known]
        since = np.concatenate([since, went + 1])
        born = np.concatenate([born, who[known]])
        slot = np.concatenate([slot, at])
        lost = np.concatenate([lost, np.ones(len(went), np.bool_)])
        nothing = np.full(len(went), -1)
        keys, values = (c.take(np.concatenate([np.arange(size), nothing])) for c in (keys, values))
        # what goes is gone before anything new of the same row is there
        order = np.lexsort((np.arange(len(since)), ~lost, since))
        since, born, slot, lost = since[order], born[order], slot[order], lost[order]
        keys, values = keys.take(order), values.take(order)
    if code is None:
        named = {"since": since, "slot": slot, "gone": lost, "born": born, "keys": keys, "values": values}
        return Snap(Changes(count, named.__getitem__, True), rows)
    shown = np.arange(count) if rows is None else rows
    return _maps_of_traces(every, since, slot, born, lost, keys, values, code, shown, count)


def _maps_of_traces(
    every: Made, since: np.ndarray, slot: np.ndarray, born: np.ndarray, lost: np.ndarray, keys: Col,
    values: Col, code: np.ndarray, rows: np.ndarray, count: int,
) -> Col:  # fmt: skip
    """Each trace of the slicer sees its own slices only."""
    trace_of = dict(zip(every.born.tolist(), every.trace.tolist()))
    trace = np.array([trace_of[b] for b in born.tolist()], np.int64)
    out = np.empty(len(rows), object)
    for c in np.unique(code[rows]).tolist():
        mine = np.flatnonzero(trace == c)
        named = {
            "since": since[mine], "slot": slot[mine], "gone": lost[mine], "born": born[mine],
            "keys": keys.take(mine), "values": values.take(mine),
        }  # fmt: skip
        part = Changes(count, named.__getitem__, True)
        here = np.flatnonzero(code[rows] == c)
        for i, v in zip(here.tolist(), Snap(part, rows[here]).pylist()):
            out[i] = v
    return Obj(out)
