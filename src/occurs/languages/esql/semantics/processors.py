"""Processors that see one item after the other, in the reference semantics of pipes (pipes.md 4.2, 4.3, 4.8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from occurs.expr import tree as core
from occurs.expr.reference_functions import nearest_float
from occurs.languages.esql.semantics import documents
from occurs.languages.esql.semantics.expressions import STRICT, Context, average, evaluate, selects, value_of
from occurs.languages.esql.semantics.traces import (
    Inputs,
    Item,
    Trace,
    each,
    end_of,
    fronts,
    numbered,
    of_front,
    values,
    with_values,
)
from occurs.languages.esql.semantics.values import (
    ARITHMETIC,
    COMPARISONS,
    Fault,
    Lost,
    as_truth,
    clean,
    elements_of,
    is_true,
    kleene,
    map_of,
    opposite,
    set_of,
    strict,
)
from occurs.operators.process import tree
from occurs.operators.process.tree import Input
from occurs.operators.process.values import Bag, Record, Troolean

if TYPE_CHECKING:
    from occurs.languages.esql.semantics import Scope


def lift(p: tree.Lift, inputs: Inputs, scope: Scope) -> list[Trace]:
    """o_i = f(x1_i .. xm_i), of the fronts that WHERE lets through."""
    if p.early:
        return [early(p.functions[0], inputs, scope)]
    used = fronts(inputs)

    def apply(front: tuple[Item, ...]) -> list[Any] | None:
        if p.where is not None and not selects(p.where, values(front), scope.context):
            return None
        return [value_of(f, values(front), scope.context) for f in p.functions]

    found = [(front, made) for front, made in zip(used, each(used, apply)) if made is not None]
    end = end_of(inputs, used)
    return [Trace(tuple(of_front(f, made[k]) for f, made in found), end) for k in range(len(p.functions))]


# --- Σ --------------------------------------------------------------------------------------------------------------

_NOTHING = object()

#: the words of COMBINE: the function, and the start (none: the first item that is not null)
_WORDS: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "addition": (ARITHMETIC["+"], 0),
    "multiplication": (ARITHMETIC["*"], 1),
    "subtraction": (ARITHMETIC["-"], _NOTHING),
    "division": (ARITHMETIC["/"], _NOTHING),
    "maximum": (STRICT["maximum"], _NOTHING),
    "minimum": (STRICT["minimum"], _NOTHING),
    "conjunction": (lambda a, b: kleene([a, b], False), True),
    "disjunction": (lambda a, b: kleene([a, b], True), False),
    "bag union": (lambda a, b: Bag(a.elements + elements_of(b)), Bag()),
}


def cumulate(p: tree.Cumulate, inputs: Inputs, scope: Scope) -> list[Trace]:
    """o_i = f(o_{i-1}, x_i).  A null leaves the value unchanged, but of AND and OR, which are Kleene's."""
    start: Any
    if isinstance(p.function, str):
        run, start = _WORDS[p.function]
    else:
        body = p.function
        run, start = lambda a, b: value_of(body, (a, b), scope.context), _NOTHING
    if p.start is not None:
        start = value_of(p.start, (), scope.context)
    logical = p.function in ("conjunction", "disjunction")
    if logical and p.start is None and any(isinstance(i.value, Troolean) for i in inputs[0].items):
        start = Troolean.UNKNOWN
    so_far = start
    out = []
    for n, item in enumerate(inputs[0].items):
        if item.value is not None or logical:
            # the first item is checked as the function would
            so_far = numbered(n, _step, run, so_far, item.value)
        out.append(item._replace(value=None if so_far is _NOTHING else so_far))
    return [Trace(tuple(out), inputs[0].end)]


def _step(run: Callable[[Any, Any], Any], so_far: Any, value: Any) -> Any:
    if so_far is _NOTHING:
        return value
    found = clean(run(so_far, value))
    if isinstance(found, Lost):
        raise Fault("overflow", "makes the result exceed 64 bits", value)
    return found


def count(p: tree.Count, inputs: Inputs, scope: Scope) -> list[Trace]:
    """How many there were."""
    return [_one_to_one(inputs[0], lambda so_far: len(so_far))]


def moment(p: tree.Moment, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The mean of x^n of the items so far; nulls are ignored; null before the first."""
    return [_one_to_one(inputs[0], lambda so_far: average(tuple(_power(v, p.n) for v in _numbers(so_far))))]


def _power(value: Any, n: int) -> Any:
    """A power, exact of what is exact."""
    return math.copysign(math.inf, value if n % 2 else 1) if _huge(value, n) else value**n


def _huge(value: Any, n: int) -> bool:
    """Whether the power of a float is beyond float64."""
    return isinstance(value, float) and math.isfinite(value) and n * math.log2(abs(value) or 1) >= 1024


def deviation(p: tree.Deviation, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The population standard deviation, sqrt(E[(x-mean)^2]), of the items so far; nulls are ignored."""

    def of(so_far: list[Any]) -> Any:
        there = _numbers(so_far)
        if not there:
            return None
        mean = sum(there) / len(there)
        if isinstance(mean, float):
            return math.nan
        return nearest_float(sum((v - mean) ** 2 for v in there) / len(there)) ** 0.5

    return [_one_to_one(inputs[0], of)]


def _numbers(so_far: list[Any]) -> list[Any]:
    """Those that are not null: exact, unless one is infinite or NaN."""
    there = [v for v in so_far if v is not None]
    for v in there:
        ARITHMETIC["neg"](v)
    return [Fraction(v) for v in there] if all(map(math.isfinite, there)) else [float(v) for v in there]


def _one_to_one(trace: Trace, f: Callable[[list[Any]], Any]) -> Trace:
    """Each item answered with ``f`` of the values so far."""
    found = [i.value for i in trace.items]
    made = each(range(len(found)), lambda n: f(found[: n + 1]))
    return with_values(trace, made)


# --- which items ----------------------------------------------------------------------------------------------------


def decimate(p: tree.Decimate, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x_0, x_n, x_2n ..; LAST TOO: at the end the last one, if it was none of them."""
    (x,) = inputs
    out = list(x.items[:: p.n])
    if p.last and x.end is not None and x.items and (len(x) - 1) % p.n != 0:
        out.append(_at_the_end(x, x.items[-1]))
    return [Trace(tuple(out), x.end)]


def _at_the_end(x: Trace, item: Item) -> Item:
    return item._replace(at=x.known_at(item.at))


def freeze(p: tree.Freeze, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x_0 once per item."""
    (x,) = inputs
    return [with_values(x, (x.items[0].value for _ in x.items))]


def trim(p: tree.Trim, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x_n, x_{n+1} .."""
    return [Trace(inputs[0].items[p.n :], inputs[0].end)]


def filter_(p: tree.Filter, inputs: Inputs, scope: Scope) -> list[Trace]:
    """(x1_i ..) if g_i is true."""
    used = fronts(inputs)
    kept = [f for f, true in zip(used, each(used, lambda f: is_true(f[-1].value))) if true]
    end = end_of(inputs, used)
    return [Trace(tuple(of_front(f, f[k].value) for f in kept), end) for k in range(len(inputs) - 1)]


def first(p: tree.First, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The first n; the trace ends with the n-th."""
    (x,) = inputs
    if len(x) < p.n:
        return [x]
    return [Trace(x.items[: p.n], x.items[p.n - 1].at if p.n else scope.beginning)]


def last(p: tree.Last, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The last item, at the end."""
    (x,) = inputs
    there = x.items[-1:] if x.end is not None else ()
    return [Trace(tuple(_at_the_end(x, i) for i in there), x.end)]


def every(p: tree.Every, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The first item, then the first with time >= that of the last kept + d."""
    width = scope.ticks(p.width)
    kept: list[Item] = []
    for item in inputs[0].items:
        if not kept or item.at.time >= kept[-1].at.time + width:
            kept.append(item)
    return [Trace(tuple(kept), inputs[0].end)]


def where(p: tree.Where, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The items of which the condition is true."""
    (x,) = inputs
    true = each(x.items, lambda i: selects(p.condition, (i.value,), scope.context))
    return [Trace(tuple(i for i, t in zip(x.items, true) if t), x.end)]


def stop_when(p: tree.StopWhen, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The items before the first of which the condition is true: with it the trace ends."""
    (x,) = inputs
    for n, item in enumerate(x.items):
        if numbered(n, selects, p.condition, (item.value,), scope.context):
            return [Trace(x.items[:n], item.at)]
    return [x]


def merge(p: tree.Merge, inputs: Inputs, scope: Scope) -> list[Trace]:
    """By step, then number of the input, then position; ends when all have."""
    found = [(i.at.step, k, n, i) for k, x in enumerate(inputs) for n, i in enumerate(x.items)]
    ends = [x.end for x in inputs]
    end = None if None in ends else max(e for e in ends if e is not None)
    return [Trace(tuple(i for *_, i in sorted(found, key=lambda f: f[:3])), end)]


def insert(p: tree.Insert, inputs: Inputs, scope: Scope) -> list[Trace]:
    """n times the constant with the first item."""
    (x,) = inputs
    value = value_of(p.value, (), scope.context)
    return [Trace(tuple(i._replace(value=value) for i in x.items[:1] * p.n) + x.items, x.end)]


def repeat(p: tree.Repeat, inputs: Inputs, scope: Scope) -> list[Trace]:
    """Each item n times."""
    return [Trace(tuple(i for i in inputs[0].items for _ in range(p.n)), inputs[0].end)]


def repeat_by(p: tree.RepeatBy, inputs: Inputs, scope: Scope) -> list[Trace]:
    """Each item as often as the other input says; null: not at all."""
    used = fronts(inputs)
    times = each(used, lambda f: _times(f[1].value))
    return [Trace(tuple(of_front(f, f[0].value) for f, n in zip(used, times) for _ in range(n)), end_of(inputs, used))]


def _times(n: Any) -> int:
    if n is None:
        return 0
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise Fault("bad-value", "is not a valid number of repetitions", n)
    return n


# --- collections ----------------------------------------------------------------------------------------------------


def pack(p: tree.Pack, inputs: Inputs, scope: Scope) -> list[Trace]:
    """When the guard is true the list so far; it then starts with this item.  The rest, if there is any, at the end."""
    used = fronts(inputs)
    end = end_of(inputs, used)
    out: list[Item] = []
    so_far: list[Any] = []
    for n, front in enumerate(used):
        if numbered(n, is_true, front[1].value):
            out.append(of_front(front, tuple(so_far)))
            so_far = []
        so_far.append(front[0].value)
    if end is not None and so_far:
        out.append(of_front(used[-1], tuple(so_far))._replace(at=end))
    return [Trace(tuple(out), end)]


def unpack(p: tree.Unpack, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The elements of each list, set or bag; null and ``[]`` give nothing."""
    (x,) = inputs
    found = each(x.items, lambda i: () if i.value is None else elements_of(i.value))
    return [Trace(tuple(i._replace(value=v) for i, vs in zip(x.items, found) for v in vs), x.end)]


_COLLECTIONS: dict[str, Callable[[list[Any]], Any]] = {"list": tuple, "set": set_of, "bag": lambda v: Bag(tuple(v))}


def collect(p: tree.Collect, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The list, set or bag of the items so far."""
    return [_one_to_one(inputs[0], _COLLECTIONS[p.into])]


def collect_map(p: tree.CollectMap, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The map of the fronts so far; a later value of a key replaces the earlier one."""
    used = fronts(inputs)
    pairs = [(f[0].value, f[1].value) for f in used]
    items = tuple(of_front(f, map_of(pairs[: n + 1])) for n, f in enumerate(used))
    return [Trace(items, end_of(inputs, used))]


def predicates(p: tree.Predicates, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The domains and the predicates that the items so far assert."""
    (x,) = inputs
    asserted = each(x.items, lambda i: _asserted(p, i.value))
    seen: list[tuple[str, tuple[Any, ...]]] = []
    made = []
    for found in asserted:
        seen += [] if found is None else [found]
        every = [(d, a) for name, of in seen for d, a in zip(p.signatures[name], of)]
        domains = [(d, set_of(a for n, a in every if n == d)) for d in _domains(p)]
        made.append(Record((*domains, *((n, set_of(of for m, of in seen if m == n)) for n in p.signatures))))
    return [with_values(x, made)]


def _domains(p: tree.Predicates) -> list[str]:
    """Each once, in the order of the predicates."""
    return list(dict.fromkeys(d for of in p.signatures.values() for d in of))


def _asserted(p: tree.Predicates, item: Any) -> tuple[str, tuple[Any, ...]] | None:
    """The predicate of an item with its arguments: blanks around them, nulls and blank texts are left out."""
    if item is None:
        return None
    values = [v for _, v in item.columns] if isinstance(item, Record) else item
    if not isinstance(values, (list, tuple)):
        raise Fault("bad-value", "is not a list or a tuple of a predicate and its arguments", item)
    if not values or not isinstance(values[0], str) or values[0] not in p.signatures:
        return None
    of = tuple(v.strip() if isinstance(v, str) else v for v in values[1:] if v is not None)
    of = tuple(v for v in of if v != "")
    wanted = len(p.signatures[values[0]])
    if len(of) != wanted:
        many = "1 argument" if len(of) == 1 else f"{len(of)} arguments"
        raise Fault("bad-value", f"has {many}, but `{values[0]}` has {wanted}", item)
    return values[0], of


def same(p: tree.Processor, inputs: Inputs, scope: Scope) -> list[Trace]:
    """Nothing happens to the items."""
    return list(inputs)


# --- APPLY EARLY: partial evaluation ----------------------------------------------------------------------------------


class Missing:
    """The value that an input does not have yet, or one that depends on it."""


MISSING = Missing()


def early(function: core.Expr, inputs: Sequence[Trace], scope: Scope) -> Trace:
    """o_i as soon as the items of front i that are present decide it, in the order of i.

    It must be decided before an input ends that has no item i.  The trace ends when an input has ended and is used up.
    """
    out: list[Item] = []
    for i in range(max(map(len, inputs))):
        decided = numbered(i, _decided, function, i, inputs, scope)
        if decided is None:
            break
        if out:
            decided = decided._replace(at=max(decided.at, out[-1].at))
        out.append(decided)
    used = [t.end for t in inputs if t.end is not None and len(t) <= len(out)]
    at = out[-1].at if out else scope.beginning
    return Trace(tuple(out), min((max(e, at) for e in used), default=None))


def _decided(function: core.Expr, i: int, inputs: Sequence[Trace], scope: Scope) -> Item | None:
    """Output i with the moment at which it is decided."""
    for at in sorted({t.items[i].at for t in inputs if i < len(t)}):
        if any(t.end is not None and len(t) <= i and t.end <= at for t in inputs):
            return None
        there = [t.items[i] if i < len(t) and t.items[i].at <= at else None for t in inputs]
        found = partial(function, [MISSING if x is None else x.value for x in there], scope.context)
        if isinstance(found, Lost):
            raise Fault("overflow", "an integer does not fit in 64 bits", None)
        if found is not MISSING:
            return Item(found, at, next(x for x in there if x is not None).about)
    return None


def partial(node: core.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value, or MISSING: AND, OR, IMPLIES and ``if`` do without what cannot change it."""
    if not _of_front(node):
        return evaluate(node, front, context)
    match node:
        case Input():
            return front[node.index]
        case core.Binary(op="and"):
            return _kleene([partial(c, front, context) for c in node.children], False)
        case core.Binary(op="or"):
            return _kleene([partial(c, front, context) for c in node.children], True)
        case core.Call(name="implies"):
            left, right = (partial(c, front, context) for c in node.args)
            return _kleene([left if left is MISSING else opposite(left), right], True)
        case core.Call(name="if"):
            *pairs, default = node.args
            for condition, value in zip(pairs[::2], pairs[1::2]):
                found = partial(condition, front, context)
                if found is MISSING or isinstance(found, Lost):
                    return found
                if found is True:
                    return partial(value, front, context)
            return partial(default, front, context)
        case core.Ref():
            return MISSING if MISSING in front else evaluate(node, front, context)
    parts = [partial(c, front, context) for c in node.children]
    if any(p is MISSING for p in parts):
        return MISSING
    # a part may be decided although an item in it is missing, so the node is evaluated over the values of its parts
    over = tuple(Input(k) if _of_front(c) else c for k, c in enumerate(node.children))
    return evaluate(node.with_children(over), parts, context)


def _of_front(node: core.Expr) -> bool:
    return any(isinstance(n, (Input, core.Ref)) for n in node.walk())


def _kleene(values: list[Any], decisive: bool) -> Any:
    """Decided by one that is there."""
    there = [as_truth(v) for v in values if v is not MISSING]
    if len(there) < len(values) and not any(v in (decisive, Troolean("T" if decisive else "F")) for v in there):
        return MISSING
    return kleene(there, decisive)


# --- documents, tuples and texts --------------------------------------------------------------------------------------


def _read(read: Callable[[Any], Any]) -> Callable[[Any, Inputs, Scope], list[Trace]]:
    """Each item read; null of null, and of what cannot be read if the processor says so."""

    def one(value: Any, bad: str) -> Any:
        try:
            return None if value is None else read(value)
        except Fault:
            if bad == "null":
                return None
            raise

    def run(p: Any, inputs: Inputs, scope: Scope) -> list[Trace]:
        (x,) = inputs
        made = each(x.items, lambda i: one(i.value, p.bad))
        return [with_values(x, made)]

    return run


def tuples(p: tree.Tuples, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The first line names the columns, the others are tuples of text; a null gives nothing."""
    (x,) = inputs
    lines = [(item, line) for item, some in zip(x.items, each(x.items, _lines)) for line in some]
    if not lines:
        return [Trace((), x.end)]
    (names,) = each(lines[:1], lambda found: _header(found[1]))
    made = each(lines[1:], lambda found: _named(names, found[1]))
    return [Trace(tuple(i._replace(value=v) for (i, _), v in zip(lines[1:], made)), x.end)]


def _lines(item: Item) -> list[list[str | None]]:
    return [] if item.value is None else documents.read_csv(item.value)


def _header(line: list[str | None]) -> list[str]:
    if len(set(line)) < len(line):
        raise Fault("bad-value", "names a column twice", line)
    return [n or "" for n in line]


def _named(names: list[str], line: list[str | None]) -> Record:
    if len(line) > len(names):
        raise Fault("bad-value", f"has {len(line)} fields, but there are {len(names)} columns", line)
    return Record(tuple(zip(names, [*line, *[None] * (len(names) - len(line))])))


def regex(p: tree.Regex, inputs: Inputs, scope: Scope) -> list[Trace]:
    """A tuple of the groups of the first match; null if there is none."""
    (x,) = inputs
    made = each(x.items, lambda i: documents.groups(p.pattern, p.names, i.value))
    return [with_values(x, made)]


def plot(p: tree.Plot, inputs: Inputs, scope: Scope) -> list[Trace]:
    """What is drawn, in place of the picture."""
    (x,) = inputs
    return [with_values(x, (documents.Picture(p, i.value) for i in x.items))]


# --- signals ----------------------------------------------------------------------------------------------------------


def _is(op: str, a: Any, b: Any) -> bool:
    """Whether a comparison is true: with null it is not."""
    return strict(COMPARISONS[op], a, b) is True


def threshold(p: tree.Threshold, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x if x > limit, else 0."""
    (x,) = inputs
    made = each(x.items, lambda i: i.value if _is(">", i.value, p.limit) else 0)
    return [with_values(x, made)]


def _last(x: Trace, n: int, f: Callable[[tuple[Any, ...]], Any]) -> Trace:
    """``f`` of the last n items, from item n-1 on."""
    found = [i.value for i in x.items]
    made = each(range(n - 1, len(x)), lambda k: f(tuple(found[k - n + 1 : k + 1])))
    return Trace(tuple(i._replace(value=v) for i, v in zip(x.items[n - 1 :], made)), x.end)


def smooth(p: tree.Smooth, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The mean of the last n; null if one is null."""
    return [_last(inputs[0], p.n, lambda some: None if None in some else average(some))]


def plateaus(p: tree.Plateaus, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The mean of the last n if they differ by no more than the tolerance, else 0."""

    def of(some: tuple[Any, ...]) -> Any:
        mean = None if None in some else average(some)
        known = mean is not None and mean == mean  # NaN is no plateau
        return mean if known and max(some) - min(some) <= p.tolerance else 0

    return [_last(inputs[0], p.n, of)]


def peaks(p: tree.Peaks, inputs: Inputs, scope: Scope) -> list[Trace]:
    """x_i if it is greater than the r items before and not less than the r items after, else 0.

    Known with item i+r, or at the end.
    """
    (x,) = inputs
    found = [i.value for i in x.items]

    def of(i: int) -> Item | None:
        later = i + p.reach
        if later >= len(x) and x.end is None:
            return None
        before, after = found[max(0, i - p.reach) : i], found[i + 1 : later + 1]
        peak = all(_is(">", found[i], b) for b in before) and all(_is(">=", found[i], a) for a in after)
        at = x.items[later].at if later < len(x) else x.known_at(x.items[i].at)
        value = found[i] if peak and found[i] is not None else 0
        return Item(value, at, x.items[i].about)

    return [Trace(tuple(i for i in each(range(len(x)), of) if i is not None), x.end)]


def dead_time(p: tree.DeadTime, inputs: Inputs, scope: Scope) -> list[Trace]:
    """After an item that is not zero the next n are 0."""
    out: list[Item] = []
    dead = 0
    for item in inputs[0].items:
        if dead:
            dead -= 1
            out.append(item._replace(value=0))
        else:
            dead = p.n if _is("!=", item.value, 0) else 0
            out.append(item)
    return [Trace(tuple(out), inputs[0].end)]


def travel_rise(p: tree.TravelRise, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The height of the last n, negative if the greatest comes before the least, if the way from item to item is longer
    than that from the first to the last and the slack; else 0."""

    def of(some: tuple[Any, ...]) -> Any:
        if None in some or any(v != v for v in some):
            return 0.0
        travel = sum(abs(float(b) - float(a)) for a, b in pairwise(some))
        if not travel > abs(float(some[-1]) - float(some[0])) + p.slack:
            return 0.0
        height = float(max(some)) - float(min(some))
        return height if some.index(min(some)) < some.index(max(some)) else -height

    return [_last(inputs[0], p.n, of)]


def persist(p: tree.Persist, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The item of the greatest size so far; n items after it the next one gives 0, and all begins anew."""
    out: list[Item] = []
    held, since = 0.0, 0
    for item in inputs[0].items:
        since += 1
        if item.value is not None and abs(item.value) > abs(held):
            held, since = float(item.value), 0
        if since > p.n:
            held, since = 0.0, 0
        out.append(item._replace(value=held))
    return [Trace(tuple(out), inputs[0].end)]


def noise(p: tree.Noise, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The k-th item and the k-th number that splitmix64 makes of the seed."""
    (x,) = inputs
    most = 2**64

    def random(k: int) -> float:
        z = (p.seed + (k + 1) * 0x9E3779B97F4A7C15) % most
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % most
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % most
        return ((z ^ (z >> 31)) >> 11) / 2**53

    made = (None if i.value is None else i.value + (random(k) - 0.5) * p.spread for k, i in enumerate(x.items))
    return [with_values(x, made)]


MEANING: dict[type[tree.Processor], Callable[[Any, Inputs, Scope], list[Trace]]] = {
    tree.Lift: lift,
    tree.Cumulate: cumulate,
    tree.Count: count,
    tree.Moment: moment,
    tree.Deviation: deviation,
    tree.Decimate: decimate,
    tree.Freeze: freeze,
    tree.Trim: trim,
    tree.Filter: filter_,
    tree.First: first,
    tree.Last: last,
    tree.Every: every,
    tree.Where: where,
    tree.StopWhen: stop_when,
    tree.Merge: merge,
    tree.Insert: insert,
    tree.Repeat: repeat,
    tree.RepeatBy: repeat_by,
    tree.Pack: pack,
    tree.Unpack: unpack,
    tree.Collect: collect,
    tree.Predicates: predicates,
    tree.CollectMap: collect_map,
    tree.Print: same,
    tree.Xml: _read(documents.read_xml),
    tree.Json: _read(documents.read_json),
    tree.Tuples: tuples,
    tree.Regex: regex,
    tree.Plot: plot,
    tree.Threshold: threshold,
    tree.Smooth: smooth,
    tree.Plateaus: plateaus,
    tree.Peaks: peaks,
    tree.DeadTime: dead_time,
    tree.TravelRise: travel_rise,
    tree.Persist: persist,
    tree.Noise: noise,
}
