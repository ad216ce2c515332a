"""The same graph by boxes, by methods and as text."""

from __future__ import annotations

import pytest

from occurs import pipes
from occurs.languages.esql.checks import definitions
from occurs.languages.esql.semantics import Run
from occurs.model.canonical import canonical
from occurs.model.occurrence import Occurrence
from occurs.operators.process.kinds import ANY, TUPLE
from occurs.operators.process.tree import spelling
from occurs.pipes import fn, ltl, signal, stats
from occurs.pipes.programs import definitions as definitions_of
from occurs.testing.cases import KINDS


def total(p):
    return p.cumulate(fn.add)


def boxed(box, *sources):
    """A box over some pipes."""
    for port, pipe in enumerate(sources):
        pipes.connect(pipe, box, port)
    return box.out()


EVENTS = [Occurrence("X0", t, {"v": v}) for t, v in enumerate((3, 1, 4, 1, 5, 9, 2, 6))]
X = pipes.source("X0").v
ODD = X % 2 == 1


@pytest.mark.parametrize(
    ("composed", "connected"),
    [
        (X.cumulate(fn.maximum), boxed(pipes.Cumulate(fn.maximum), X)),
        (X.cumulate(fn("$0 * 2 + $1"), 1), boxed(pipes.Cumulate(fn("$0 * 2 + $1"), 1), X)),
        (X.decimate(2, last=True), boxed(pipes.Decimate(2, True), X)),
        (X.freeze(), boxed(pipes.Freeze(), X)),
        (X.trim(2), boxed(pipes.Trim(2), X)),
        (X.filter(ODD), boxed(pipes.Filter(), X, ODD)),
        (X.window(2, total), boxed(pipes.Window(2, total), X)),
        (X.slice_each(fn("$0"), total, until=fn("$0 > 3")),
         boxed(pipes.Slice(fn("$0"), total, "each", until=fn("$0 > 3")), X)),
        (X.first(2), boxed(pipes.First(2), X)),
        (X.last(), boxed(pipes.Last(), X)),
        (X.every("2 s"), boxed(pipes.Every("2 s"), X)),
        (X.where(fn("$0 > 1")), boxed(pipes.Where(fn("$0 > 1")), X)),
        (X.stop_when(fn("$0 > 1")), boxed(pipes.StopWhen(fn("$0 > 1")), X)),
        (pipes.merge(X, ODD), boxed(pipes.Merge(), X, ODD)),
        (X.insert(2, 0), boxed(pipes.Insert(2, 0), X)),
        (X.repeat(2), boxed(pipes.Repeat(2), X)),
        (X.repeat(X % 2), boxed(pipes.RepeatBy(), X, X % 2)),
        (X.pack(ODD), boxed(pipes.Pack(), X, ODD)),
        (X.unpack(), boxed(pipes.Unpack(), X)),
        (X.each(total), boxed(pipes.Each(total), X)),
        (X.reset_by(ODD, total), boxed(pipes.Reset(total), X, ODD)),
        (X.collect_bag(), boxed(pipes.Collect("bag"), X)),
        (pipes.collect_map(X % 2, X), boxed(pipes.CollectMap(), X % 2, X)),
        (X + X, boxed(pipes.Lift(fn.add), X, X)),
        (pipes.lift(fn.and_, early=True)(ODD, ODD), boxed(pipes.Lift(fn.and_, early=True), ODD, ODD)),
    ],
)  # fmt: skip
def test_boxes_and_methods_make_the_same_graph(composed, connected):
    assert spelling((composed.graph,)) == spelling((connected.graph,))


@pytest.mark.parametrize(
    ("composed", "text"),
    [
        (X + X.decimate(4), "X0.v + EVERY 4 TH OF X0.v"),
        (X.cumulate(fn.multiply, 2), "COMBINE X0.v WITH MULTIPLICATION STARTING AT 2"),
        (X.cumulate("bag union"), "COMBINE X0.v WITH BAG UNION"),
        (X.abs() - 2, "|X0.v| - 2"),
        (X / 2 > 1, "X0.v / 2 > 1"),
        (X.is_null() | ~(X == 3), "X0.v IS NULL OR NOT X0.v = 3"),
        (X.filter(X > 1), "FILTER X0.v WITH (X0.v > 1)"),
        (X.window("5 s", total), "GET (THE SUM OF *) FROM X0.v ON A WINDOW OF 5 s"),
        (X.slice(fn("$0 MOD 2"), total), "SLICE X0.v WITH (THE SUM OF *) ON $0 MOD 2"),
        (X.slice_last(fn("[$0, 1]"), total, explode=True), "SLICE LAST X0.v WITH (THE SUM OF *) ON [$0, 1] EXPLODED"),
        (ltl.G((X > 1) >> ltl.X(X > 2)), "G ((X0.v > 1) -> X (X0.v > 2))"),
        (ltl.U(X > 1, X > 2).at_end("finite"), "(X0.v > 1) U (X0.v > 2) AT END FINITE"),
        (~ltl.upto(X > 1, X > 2), "NOT ((X0.v > 1) UPTO (X0.v > 2))"),
        (ltl.exists("x", fn("[$0]"), X, lambda p: ltl.F(p > pipes.var("x"))),
         "EXISTS $x IN [$0] ON X0.v : F (* > $x)"),
        (ltl.some("x", fn("[$0]"), X, lambda p: ltl.after(p > pipes.var("x"))),
         "SOME $x IN [$0] ON X0.v : AFTER (* > $x)"),
        (stats.count(X), "THE COUNT OF X0.v"),
        (stats.moment(X, 3), "THE MOMENT 3 OF X0.v"),
        (stats.standard_deviation(X), "THE STANDARD DEVIATION OF X0.v"),
        (signal.threshold(X, 3), "X0.v THRESHOLD 3"),
        (signal.peaks(X, 2), "THE PEAK OF X0.v WITHIN 2"),
        (signal.plateaus(X, 2), "THE PLATEAU OF X0.v WITHIN 2"),
        (X.regex("(a)", "k"), "REGEX '(a)' WITH NAMES k IN X0.v"),
        (X.xml(), "THE XML OF X0.v"),
        (X.json(), "THE JSON OF X0.v"),
        (X.tuples(), "THE TUPLES OF X0.v"),
        (X.print(), "PRINT X0.v"),
        (pipes.select({"a": fn("v"), "b": fn("v + 1")}, pipes.source("X0"), where=fn("v > 1")),
         "SELECT v AS a, v + 1 AS b FROM X0 WHERE v > 1"),
    ],
)  # fmt: skip
def test_python_and_text_mean_the_same(composed, text):
    (python,) = definitions_of(composed)
    (written,) = definitions(f"{text}.")
    if spelled(python) == spelled(written):
        return
    # a text is one function where operators of Python are several: then what comes out is compared
    found, expected = (
        [(f.value, f.step, f.about) for f in Run([d], EVENTS, kind=KINDS["s"], ended=True).of(d)]
        for d in (python, written)
    )
    assert found == expected
    assert found


def spelled(definition):
    """The graph, whatever is known of the type of the events."""
    found = spelling((definition.pipe,))
    for item in (ANY, TUPLE, None):
        found = found.replace(f'["item", {canonical(item)}]', '"item"')
    return found
