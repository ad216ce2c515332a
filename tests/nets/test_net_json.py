"""Nets as `.net.json`: nothing is lost, and what is read is checked (epl-and-nets.md, 4B)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from odd_nets import wild
from small_nets import INT, NEXT, example_1, figure_3, number

from occurs.errors import DefinitionProblem, OccursError, SyntaxProblem
from occurs.expr.tree import Binary, Call, DurationLiteral, In, IsNull, Like, Literal, Unary
from occurs.model.time import Duration
from occurs.model.types import Type
from occurs.nets.colours import Alias, Bool, Int, List, Real, Record, Union, Unit
from occurs.nets.layout import placed
from occurs.nets.net import Arc, Net, Page, Place, Role, Transition
from occurs.nets.netjson import read, write
from occurs.nets.terms import FieldTerm, TupleTerm, var
from occurs.nets.transform import to_priority_net


def odd() -> Net:
    """What the other nets do not have: odd constants, all nodes, notes."""
    real, unit = Real("R"), Unit("U")
    held = Union("V", (("some", Record("E", ())), ("none", None), ("more", List("L", real))))
    terms = (
        TupleTerm((IsNull(var("n"), True), In(var("n"), (number(1), number(2))), Like(var("s"), var("t")))),
        Call("if", (Unary("not", var("b")), Literal(None, Type.NULL), Literal(2**80, Type.INT))),
        Literal(math.inf, Type.FLOAT),
        Literal(2, Type.FLOAT),
        Literal("Infinity", Type.STRING),
        Literal(1_700_000_000_000_000, Type.TIMESTAMP),
        Binary("mod", FieldTerm("1", var("p")), Unary("neg", var("n"))),
    )
    places = (
        Place("p", held, (("more", (0.1, math.inf, -math.inf)), ("some", ()), ("none", ()), ("none", ()))),
        Place("q", Alias("B", Bool("Bo")), (True, False, True), "q", Role.SEQ, (0.25, -1e-3)),
        Place("u \u2028 \ud800", unit, ((), ())),
    )
    page = Page("Ω", places, (Transition("t", terms[:1], 7),), (Arc("p", "t", False, terms), Arc("q", "t", True, ())))
    colours = (real, unit, Record("E", ()), List("L", real), held, Bool("Bo"), Alias("B", Bool("Bo")))
    return Net("odd", colours, (("n", real),), (page, Page("empty")), ("made by hand",))


NETS = {
    "example_1": example_1(),
    "figure_3": figure_3(NEXT),
    "encoded": placed(to_priority_net(figure_3())),
    "wild": wild(),
    "odd": odd(),
}


@pytest.mark.parametrize("name", NETS)
def test_nothing_is_lost(name: str) -> None:
    net = NETS[name]
    text = write(net)
    again = read(text, "x.net.json")
    assert again == net
    assert repr(again) == repr(net)  # also 1 and 1.0 and true are told apart
    assert write(again) == text
    assert read(text.encode("utf-8"), "x.net.json") == net
    assert json.loads(text)["version"] == 1


def test_not_a_number() -> None:
    page = Page("P", (Place("p", Real("R"), (math.nan,)),))
    again = read(write(Net("n", (Real("R"),), (), (page,))), "x")
    assert math.isnan(again.places["p"].initial[0])  # type: ignore[arg-type]


def test_colours_that_were_not_declared_are() -> None:
    page = Page("P", (Place("p", List("L", INT)),))
    assert read(write(Net("n", (), (), (page,))), "x").colours == (INT, List("L", INT))


def test_whole_numbers_may_stand_for_reals() -> None:
    text = write(Net("n", (Real("R"),), (), (Page("P", (Place("p", Real("R"), (2.0,)),)),)))
    assert read(text.replace("2.0", "2"), "x").places["p"].initial == (2.0,)


def test_what_a_net_does_not_hold() -> None:
    page = replace(example_1().pages[0], transitions=(Transition("t", (DurationLiteral(Duration(5)),)),), arcs=())
    with pytest.raises(DefinitionProblem, match="nets do not support DurationLiteral"):
        write(replace(example_1(), pages=(page,)))


def refused(text: str | bytes) -> OccursError:
    with pytest.raises(OccursError) as caught:
        read(text, "x.net.json")
    assert caught.value.file == "x.net.json"
    return caught.value


def test_torn_texts() -> None:
    text = write(figure_3())
    error = refused(text[:500])
    assert isinstance(error, SyntaxProblem)
    assert "not valid JSON" in error.message
    assert error.line == text[:500].count("\n") + 1
    assert "has two keys `format`" in refused('{"format": "occurs net", "format": 1}').message
    for data in (b"\xff\xfe\x00", '{"a": NaN}', "[" * 100_000):
        assert isinstance(refused(data), SyntaxProblem)


Change = Callable[[dict[str, Any]], object]


def _set(*path: Any, to: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        node: Any = document
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = to

    return change


def _page(*path: Any, to: Any) -> Change:
    return _set("pages", 0, *path, to=to)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (_set("format", to="pnml"), "no-net", 'expected an object with "format": "occurs net"'),
        (_set("version", to=2), "version", "version: the net has version 2, but only version 1 can be read"),
        (lambda d: d.pop("name"), "missing-key", "the text: `name` is missing"),
        (_set("colour", to=[]), "unknown-key", "the text: unknown key `colour`"),
        (_set("colours", 1, "parts", 0, to="Int"), "unknown-colour", "colours[1].parts[0]: unknown colour `Int`"),
        (_set("colours", 1, "kind", to="tuple"), "unknown-colour", "colours[1].kind: unknown kind `tuple`"),
        (_set("colours", 1, "name", to="INT"), "duplicate", "colours[1].name: two colours are called `INT`"),
        (_set("colours", 0, "of", to="INT"), "unknown-key", "colours[0]: unknown key `of`"),
        (_set("variables", 1, "name", to="n"), "duplicate", "variables[1].name: two variables are called `n`"),
        (_set("variables", 0, "colour", to="X"), "unknown-colour", "variables[0].colour: unknown colour `X`"),
        (_set("pages", to={}), "bad-value", "pages: found {}, expected an array"),
        (_page("name", to=3), "bad-value", "pages[0].name: found 3, expected a text"),
        (_page("places", 0, "colour", to="X"), "unknown-colour", "pages[0].places[0].colour: unknown colour `X`"),
        (_page("places", 1, "name", to="Control"), "duplicate",
         "pages[0].places[1].name: two nodes are called `Control`"),
        (_page("places", 0, "role", to="control"), "unknown-role", "pages[0].places[0].role: unknown role 'control'"),
        (_page("places", 0, "initial", 0, "value", to="a"), "bad-value",
         "pages[0].places[0].initial[0].value: 'a' is not a value of INT (int)"),
        (_page("places", 0, "initial", 0, "value", to=True), "bad-value",
         "pages[0].places[0].initial[0].value: True is not a value of INT (int)"),
        (_page("places", 0, "initial", 0, "value", to=[1]), "bad-value",
         "pages[0].places[0].initial[0].value: [1] is not a value of INT (int)"),
        (_page("places", 2, "initial", 0, "value", to=[1]), "bad-value",
         "pages[0].places[2].initial[0].value: found [1], expected 2 parts"),
        (_page("places", 2, "initial", 0, "count", to=-1), "bad-value",
         "pages[0].places[2].initial[0].count: found -1, expected a whole number from 0"),
        (_page("places", 2, "initial", 0, "count", to=10**12), "too-many-tokens",
         "pages[0].places[2].initial[0].count: a place can have at most 10000000 tokens"),
        (_page("places", 0, "at", to=[1, "2"]), "bad-value",
         "pages[0].places[0].at: found [1, '2'], expected two numbers, x and y"),
        (_page("transitions", 0, "priority", to="P_HIGH"), "bad-value",
         "pages[0].transitions[0].priority: found 'P_HIGH', expected a whole number from 0"),
        (_page("transitions", 0, "black", "n", to=1), "bad-value",
         "pages[0].transitions[0].black.n: found 1, expected a text"),
        (_page("transitions", 0, "guard", 0, to="m > 1"), "bad-value",
         "pages[0].transitions[0].guard[0]: found 'm > 1', expected a term: an object with `node`"),
        (_page("transitions", 0, "guard", 0, "node", to="Eval"), "unknown-node",
         "pages[0].transitions[0].guard[0].node: there is no `Eval`"),
        (_page("transitions", 0, "guard", 0, "op", to="**"), "bad-value",
         "pages[0].transitions[0].guard[0].op: found '**', expected an operator"),
        (_page("transitions", 0, "guard", 0, "right", "value", to="0"), "bad-value",
         "pages[0].transitions[0].guard[0].right.value: found '0', expected a constant of type int"),
        (_page("transitions", 0, "guard", 0, "left", to=None), "bad-value",
         "pages[0].transitions[0].guard[0].left: found None, expected a term: an object with `node`"),
        (_page("arcs", 0, "place", to="Inti"), "unknown-name",
         "pages[0].arcs[0].place: there is no place 'Inti' on this page"),
        (_page("arcs", 0, "input", to=1), "bad-value", "pages[0].arcs[0].input: found 1, expected true or false"),
        (_page("arcs", 0, "terms", to=None), "bad-value", "pages[0].arcs[0].terms: found None, expected an array"),
    ],
)  # fmt: skip
def test_wrong_texts(change: Change, kind: str, message: str) -> None:
    document = json.loads(write(figure_3(NEXT)))
    change(document)
    error = refused(json.dumps(document))
    assert isinstance(error, DefinitionProblem)
    assert (error.kind, error.message) == (kind, error.message)
    assert message in error.message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"case": "lots"}, "value.case: found 'lots', expected one of some, none, more"),
        ({"case": "none", "value": None}, "value: `none` cannot hold a value"),
        ({"case": "more"}, "value: `more` must hold a value of L"),
        ({"case": "more", "value": ["1"]}, "value.value[0]: '1' is not a value of R (real)"),
        ({"case": "some", "value": {"x": 1}}, "value.value: unknown key `x`"),
    ],
)
def test_wrong_unions(value: Any, message: str) -> None:
    document = json.loads(write(odd()))
    document["pages"][0]["places"][0]["initial"][0]["value"] = value
    assert refused(json.dumps(document)).message == f"pages[0].places[0].initial[0].{message}"


def test_terms_nested_too_deep() -> None:
    term: Any = {"node": "Ref", "scope": None, "name": "n", "index": None}
    text = write(Net("n", (Int("INT"),), (), (Page("P", (), (Transition("t", (var("n"),)),)),)))
    inner = json.dumps(term)
    deep = '{"node": "Unary", "op": "neg", "arg": ' * 3000 + inner + "}" * 3000
    document = json.loads(text)
    document["pages"][0]["transitions"][0]["guard"] = ["@"]
    error = refused(json.dumps(document).replace('"@"', deep))
    assert "deep" in error.message or "recursion" in error.message
