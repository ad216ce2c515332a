"""Processors with another one inside, and machines, in the reference semantics of pipes (pipes.md 4.2 to 4.4, 4.7).

An inner processor is run on a whole trace of its own, again and again; nothing is carried from one run to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from occurs.languages.esql.semantics.expressions import selects, value_of
from occurs.languages.esql.semantics.traces import (
    Front,
    Inputs,
    Item,
    Moment,
    Trace,
    end_of,
    fronts,
    numbered,
    of_front,
    values,
)
from occurs.languages.esql.semantics.values import Fault, is_true, map_of
from occurs.model.time import Duration
from occurs.operators.process import tree
from occurs.operators.process.values import Record, Set, Sharp, distinct, key

if TYPE_CHECKING:
    from occurs.languages.esql.semantics import Scope


def window(p: tree.Window, inputs: Inputs, scope: Scope) -> list[Trace]:
    """For each full window: the last item of φ run on the complete trace of its items; nothing if there is none."""
    used = fronts(inputs)
    out: list[list[Item]] = [[] for _ in p.inner.outputs]
    for i, front in enumerate(used):
        some = _inside(p.width, used, i, scope)
        if some is None:
            continue
        at = max(item.at for item in front)
        traces = [Trace(tuple(of_front(f, f[k].value) for f in some), at) for k in range(len(inputs))]
        for k, made in enumerate(scope.run(p.inner, traces)):
            out[k] += [of_front(front, item.value) for item in made.items[-1:]]
    end = end_of(inputs, used)
    return [Trace(tuple(items), end) for items in out]


def _inside(width: int | Duration, used: list[Front], i: int, scope: Scope) -> list[Front] | None:
    """The window that ends with front i: the last n, or all of the time (t-d, t]; None if it is not full."""
    if isinstance(width, int):
        return used[i - width + 1 : i + 1] if i >= width - 1 else None
    time = max(item.at for item in used[i]).time
    return [f for f in used[: i + 1] if max(item.at for item in f).time > time - scope.ticks(width)]


def run_on(p: tree.Each, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The last item of φ run on the elements of each list as a complete trace; null and ``[]`` give nothing."""
    (x,) = inputs
    out: list[Item] = []
    for n, item in enumerate(x.items):
        some = numbered(n, _elements, item.value)
        if some:
            (made,) = scope.run(p.inner, [Trace(tuple(item._replace(value=v) for v in some), item.at)])
            out += [item._replace(value=i.value) for i in made.items[-1:]]
    return [Trace(tuple(out), x.end)]


def _elements(value: Any) -> tuple[Any, ...]:
    if value is None or isinstance(value, tuple):
        return value or ()
    raise Fault("bad-value", "is not a list", value)


def reset(p: tree.Reset, inputs: Inputs, scope: Scope) -> list[Trace]:
    """φ gets x_i; when g_i is true its last item on the complete trace so far, and it starts afresh."""
    used = fronts(inputs)
    out: list[Item] = []
    so_far: list[Item] = []
    for n, front in enumerate(used):
        so_far.append(of_front(front, front[0].value))
        if numbered(n, is_true, front[1].value):
            at = max(item.at for item in front)
            (made,) = scope.run(p.inner, [Trace(tuple(so_far), at)])
            out += [of_front(front, item.value) for item in made.items[-1:]]
            so_far = []
    return [Trace(tuple(out), end_of(inputs, used))]


# --- 4.4 ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Slice:
    """One slice that exists: what was sent to it, under the number of the input item as step; its newest item."""

    id: Any
    items: list[Item] = field(default_factory=list)
    newest: list[Any] = field(default_factory=list)


def slice_(p: tree.Slice, inputs: Inputs, scope: Scope) -> list[Trace]:
    """After every input item, in the form asked for, what the slices have produced."""
    (x,) = inputs
    there: list[_Slice] = []
    out: list[Item] = []
    for i, item in enumerate(x.items):
        to_all, ids = numbered(i, _addressees, p, item.value, scope)
        there += [_Slice(id_) for id_ in ids if key(id_) not in {key(s.id) for s in there}]
        wanted = {key(id_) for id_ in ids}
        produced: list[tuple[_Slice, list[Any]]] = []
        for one in there:
            if to_all or key(one.id) in wanted:
                one.items.append(item._replace(at=Moment(i, item.at.time)))
                produced.append((one, _produced(p, one, i, None, scope)))
        out += [item._replace(value=v) for v in _given(p, there, produced)]
        ended = [one for one, made in produced if numbered(i, _until, p, one, made, scope)]
        there = [one for one in there if one not in ended]
    if x.end is not None:
        produced = [(one, _produced(p, one, len(x), x.end, scope)) for one in there]
        if any(made for _, made in produced):
            last = x.items[-1]._replace(at=x.known_at(x.items[-1].at))
            out += [last._replace(value=v) for v in _given(p, there, produced)]
    return [Trace(tuple(out), x.end)]


def _addressees(p: tree.Slice, value: Any, scope: Scope) -> tuple[bool, list[Any]]:
    """Whether the item goes to all slices that exist, and the ids of the others; EXPLODED: of each distinct one."""
    found = value_of(p.key, (value,), scope.context)
    ids = list(distinct(found)) if p.exploded and isinstance(found, (tuple, Set)) else [found]
    return Sharp.ALL in ids, [i for i in ids if i is not None and i is not Sharp.ALL]


def _produced(p: tree.Slice, one: _Slice, step: int, end: Moment | None, scope: Scope) -> list[Any]:
    """What a slice has given at this step: the items of φ on all that was sent to it that are known then."""
    trace = Trace(tuple(one.items), None if end is None else Moment(step, end.time))
    (made,) = scope.run(p.inner, [trace], {"slice": one.id})
    found = [item.value for item in made.items if item.at.step == step]
    one.newest = found[-1:] or one.newest
    return found


def _until(p: tree.Slice, one: _Slice, made: list[Any], scope: Scope) -> bool:
    context = {**scope.context, "slice": one.id}
    return p.until is not None and any(selects(p.until, (v,), context) for v in made)


def _given(p: tree.Slice, there: list[_Slice], produced: list[tuple[_Slice, list[Any]]]) -> list[Any]:
    """The map of the newest items; rows {key, value} of all that came; a list of the newest of those that came."""
    if p.form == "each":
        return [Record((("key", one.id), ("value", v))) for one, made in produced for v in made]
    if p.form == "last":
        some = tuple(made[-1] for _, made in produced if made)
        return [some] if some else []
    return [map_of((one.id, one.newest[0]) for one in there if one.newest)]


# --- 4.7 ------------------------------------------------------------------------------------------------------------


def machine(p: tree.Machine, inputs: Inputs, scope: Scope) -> list[Trace]:
    """Per front: the first transition whose guard is true, SET from left to right, the output of the new state."""
    states = {s.name: s for s in p.states}
    registers = {n: value_of(start, (), scope.context) for n, start in p.registers}
    here = states[p.start]
    used = fronts(inputs)
    out: list[Item] = []

    def step(front: Front) -> list[Any]:
        nonlocal here
        items = values(front)
        taken = next(
            (
                t
                for t in sorted(here.transitions, key=lambda t: t.condition is None)
                if t.condition is None or selects(t.condition, items, {**scope.context, **registers})
            ),
            None,
        )
        if taken is None:
            return []
        here = states[taken.target]
        for name, new in taken.sets:
            registers[name] = value_of(new, items, {**scope.context, **registers})
        if here.output is None:
            return []
        return [value_of(here.output, items, {**scope.context, **registers})]

    if not here.transitions:
        return [Trace((), scope.beginning)]
    for n, front in enumerate(used):
        out += [of_front(front, v) for v in numbered(n, step, front)]
        if not here.transitions:
            return [Trace(tuple(out), max(item.at for item in front))]
    return [Trace(tuple(out), end_of(inputs, used))]


MEANING: dict[type[tree.Processor], Callable[[Any, Inputs, Scope], list[Trace]]] = {
    tree.Window: window,
    tree.Each: run_on,
    tree.Reset: reset,
    tree.Slice: slice_,
    tree.Machine: machine,
}
