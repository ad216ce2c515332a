"""The laws of operators for every processor of pipes: cutting, restart, splitting, forgetting, meaning."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from tests.generators.random_pipes import PROCESSORS, random_pipe
from tests.textcases.pipes import alike, plain

from occurs.errors import InputProblem, OccursError
from occurs.expr.tree import Binary, Literal, Param
from occurs.languages.esql.semantics import Run as Reference
from occurs.languages.esql.semantics import in_order
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.process import tree
from occurs.operators.process.columns import concat
from occurs.operators.process.run import Batch, Run, column_of
from occurs.operators.process.values import Bag, Map, Record, Set, Troolean

KIND = TimeKind(False, None)


def batch(events):
    """Occurrences as the engine takes them."""
    times = np.array([e.time for e in events], np.int64)
    sources = {}
    for t in sorted({e.type for e in events}):
        rows = [i for i, e in enumerate(events) if e.type == t]
        values = [Record(tuple(events[i].attributes.items())) for i in rows]
        sources[t] = (np.array(rows, np.int64), column_of(values))
    return Batch(times, sources)


def shown(value):
    """A value of the engine as the comparison has it."""
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, Set):
        return sorted((shown(v) for v in value), key=lambda v: (v is not None, isinstance(v, str), v))
    if isinstance(value, Bag):
        return sorted(map(shown, value), key=repr)
    if isinstance(value, tuple):
        return [shown(v) for v in value]
    if isinstance(value, Map):
        return [(shown(k), shown(v)) for k, v in value.items]
    if isinstance(value, Record):
        return {n: shown(v) for n, v in value.columns}
    return value


def bags_alike(a, b):
    """Bags come in any order."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and (alike(a, b) or alike(sorted(a, key=repr), sorted(b, key=repr)))
    return alike(a, b)


def items(pipe, kind, events, ended, cuts=(), restart=False):
    """(value, step, time, about) of all items."""
    run = Run([pipe], kind=kind, about=True)
    out = []

    def take(found):
        (e,) = found
        assert e.about_time is not None
        rows = zip(e.value.pylist(), e.step.tolist(), e.time.tolist(), e.about.tolist(), e.about_time.tolist())
        out.extend((shown(v), s, t, a) for v, s, t, a, _ in rows)

    edges = [0, *sorted(cuts), len(events)]
    for first, last in pairwise(edges):
        take(run.advance(batch(events[first:last])))
        if restart:
            kept = run.save()
            run = Run([pipe], kind=kind, about=True)
            run.load(kept)
    if ended:
        take(run.close(events[-1].time if events else 0))
    return out


def same(found, expected):
    return len(found) == len(expected) and all(
        bags_alike(a[0], b[0]) and a[1:] == b[1:] for a, b in zip(found, expected)
    )


def check(processor, seed):
    rng = random.Random(f"{seed}/{processor}")
    case = random_pipe(rng, processor=processor)
    events = sorted(case.events, key=in_order)
    pipe = case.definitions[0].pipe
    reference = Reference(case.definitions, events, kind=case.kind, ended=case.ended)
    try:
        expected = [(plain(f.value), f.step, f.time, f.about) for f in reference.of(case.definitions[0])]
    except OccursError as problem:
        kind = problem.kind
        with pytest.raises(type(problem), check=lambda error: error.kind == kind):
            items(pipe, case.kind, events, case.ended)
        return
    cuts = [rng.randint(0, len(events)) for _ in range(3)]
    for way, given, restart in (("whole", (), False), ("cut", cuts, False), ("by item", range(len(events)), True)):
        found = items(pipe, case.kind, events, case.ended, given, restart)
        assert same(found, expected), (processor, seed, way, found, expected)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_meaning_cutting_restart(processor):
    for seed in range(2):
        check(processor, seed)


@pytest.mark.long
@pytest.mark.parametrize("processor", PROCESSORS)
def test_meaning_cutting_restart_of_many(processor):
    for seed in range(100, 200):
        check(processor, seed)


# --- splitting ------------------------------------------------------------------------------------------------------


def node(processor, *inputs):
    return tree.Node(processor, tuple(inputs)).out()


STAR = node(tree.Placeholder())
ITEM = tree.Input(0)


def number(value):
    return Literal(value, Type.INT)


INNER = {
    "sum": node(tree.Cumulate("addition"), STAR),
    "window": node(tree.Window(2, tree.Inner(1, (node(tree.Cumulate("maximum"), STAR),))), STAR),
    "with the next": node(tree.Lift((Binary("-", ITEM, tree.Input(1)),)), STAR, node(tree.Trim(1), STAR)),
    "soon greater": node(
        tree.Formula(tree.Eventually(tree.Atom(0))), node(tree.Lift((Binary(">", ITEM, number(6)),)), STAR)
    ),
}


@pytest.mark.parametrize("name", INNER)
def test_splitting(name):
    """What the slices of one key give does not depend on the items of others."""
    rng = random.Random(name)
    x = node(tree.Events(("x",)))
    key = Binary("mod", ITEM, number(3))
    pipe = node(tree.Slice(key, tree.Inner(1, (INNER[name],)), "each"), x)
    values = [rng.randrange(12) for _ in range(60)]

    def given(some):
        run = Run([pipe], kind=KIND)
        out = []
        for first in range(0, len(some), 7):
            part = some[first : first + 7]
            at = np.array([i for i, _ in part], np.int64)
            (found,) = run.advance(Batch(at, {"x": (np.arange(len(part)), column_of([v for _, v in part]))}))
            out += list(zip(found.time.tolist(), map(shown, found.value.pylist())))
        return out

    whole = given(list(enumerate(values)))
    apart = [row for k in range(3) for row in given([(i, v) for i, v in enumerate(values) if v % 3 == k])]
    assert len(whole) > 10
    assert sorted(whole, key=repr) == sorted(apart, key=repr)


# --- forgetting -----------------------------------------------------------------------------------------------------


def response():
    def is_(value):
        return node(tree.Lift((Binary("=", Binary("mod", ITEM, number(10)), number(value)),)), X)

    return tree.Implies(tree.Atom(0), tree.Eventually(tree.Atom(1))), (is_(3), is_(7))


X = node(tree.Events(("x",)))
FORMULA, ATOMS = response()
TOTAL = tree.Inner(1, (node(tree.Cumulate("addition"), STAR),))
SOON = tree.ListOf((Binary("+", ITEM, number(2)),))
REACHED = node(tree.Formula(tree.Eventually(tree.Atom(0))), node(tree.Lift((Binary("=", ITEM, Param("k")),)), STAR))
KEPT = {
    "window of 5": (node(tree.Window(5, TOTAL), X), 10),
    "verdicts": (node(tree.Formula(FORMULA), *ATOMS), 30),
    "three values": (node(tree.Formula(tree.Globally(FORMULA), troolean=True), *ATOMS), 30),
    "filter that waits": (node(tree.Filter(), X, node(tree.Formula(FORMULA), *ATOMS)), 60),
    "slices that end": (
        node(tree.Slice(Binary("div", ITEM, number(2)), TOTAL, until=Binary(">=", ITEM, number(0))), X),
        12,
    ),
    "for all": (node(tree.Formula(tree.Quantified(True, "k", SOON, 0, tree.Inner(1, (REACHED,)))), X), 60),
}


@pytest.mark.parametrize("name", KEPT)
def test_forgetting(name):
    """What is kept does not grow with the history."""
    pipe, bound = KEPT[name]
    run = Run([pipe], kind=KIND)
    most = []
    for first in range(0, 4000, 100):
        at = np.arange(first, first + 100)
        run.advance(Batch(at, {"x": (np.arange(100), column_of(at.tolist()))}))
        most.append(run.rows())
    assert max(most) <= bound
    assert max(most[20:]) <= max(most[:20]) + 2


# --- the rest -------------------------------------------------------------------------------------------------------


def test_copies_are_independent():
    run: Run = Run([node(tree.Cumulate("addition"), X), node(tree.Trim(3), X)], kind=KIND)
    run.advance(Batch(np.arange(2), {"x": (np.arange(2), column_of([1, 2]))}))
    other = run.copy()
    run.advance(Batch(np.array([2]), {"x": (np.arange(1), column_of([100]))}))
    total, rest = other.advance(Batch(np.arange(2, 4), {"x": (np.arange(2), column_of([3, 4]))}))
    assert (total.value.pylist(), rest.value.pylist()) == ([6, 10], [4])


def test_many_pieces_are_one_batch(monkeypatch):
    from occurs.operators.process import run as module

    pipe = node(tree.Window(3, TOTAL), X)
    values = column_of(list(range(50)))
    (whole,) = Run([pipe], kind=KIND).advance(Batch(np.arange(50), {"x": (np.arange(50), values)}))
    monkeypatch.setattr(module, "PIECE", 7)
    (pieces,) = Run([pipe], kind=KIND).advance(Batch(np.arange(50), {"x": (np.arange(50), values)}))
    assert pieces.value.pylist() == whole.value.pylist() == [3 * i + 3 for i in range(48)]
    assert pieces.time.tolist() == whole.time.tolist() == list(range(2, 50))
    assert concat([pieces.value, whole.value]).pylist() == pieces.value.pylist() * 2


@pytest.mark.parametrize("first", [0, 4])
def test_overflow_names_the_item(first):
    """Also of an item that comes in a later call."""
    run = Run([node(tree.Cumulate("addition"), X)], kind=KIND)
    if first:
        run.advance(Batch(np.arange(first), {"x": (np.arange(first), column_of([0] * first))}))
    values = column_of([1, 2**62, 2**62])
    with pytest.raises(InputProblem, match=rf"item {first + 2} of Cumulate: {2**62} makes the result") as found:
        run.advance(Batch(np.arange(first, first + 3), {"x": (np.arange(3), values)}))
    assert (found.value.kind, found.value.first.row, found.value.first.value) == ("overflow", first + 2, 2**62)


def test_nothing_comes_after_the_end():
    run = Run([X], kind=KIND)
    run.close(0)
    with pytest.raises(InputProblem, match="after the end"):
        run.advance(Batch(np.arange(1), {"x": (np.arange(1), column_of([1]))}))
