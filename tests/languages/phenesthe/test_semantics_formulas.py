"""The reference semantics of Phenesthe on trees and sets built by hand."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import pytest

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr import tree
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics import Row, evaluate, intervals
from occurs.languages.phenesthe.semantics.intervals import GREATEST, INFINITY
from occurs.languages.phenesthe.semantics.scope import Project, scoped, variables
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

TICKS = TimeKind(False, None)


def atom(name: str, *arguments: str) -> syntax.Atom:
    values = [syntax.Anything() if a == "_" else syntax.Variable(a) for a in arguments]
    return syntax.Atom(syntax.Name(name), tuple(syntax.Argument(v) for v in values))


def given(sort: str, name: str, *attributes: str) -> syntax.Declaration:
    return syntax.Declaration(sort, syntax.Name(name), tuple(syntax.Attribute(syntax.Name(a)) for a in attributes))


def defined(sort: str, name: str, head: str, body: syntax.Relation) -> syntax.Definition:
    arguments = tuple(syntax.HeadArgument(syntax.Name(v), syntax.Variable(v)) for v in head.split())
    return syntax.Definition(sort, syntax.Name(name), arguments, body)


def test_a_state_per_value() -> None:
    program = [
        given("event", "a", "k"),
        given("event", "b", "k"),
        defined("state", "s", "K", syntax.MaximalRange(atom("a", "K"), atom("b", "K"))),
    ]
    history = [Row("a", 1, {"k": "v"}), Row("a", 2, {"k": "w"}), Row("b", 3, {"k": "v"}), Row("b", 3, {"k": "x"})]
    found = evaluate(program, history, kind=TICKS)
    assert found == {"s": {(frozenset({("K", "v")}), 1, 3), (frozenset({("K", "w")}), 2, None)}}


def test_scopes_are_the_smallest_formulas() -> None:
    inner = syntax.MaximalRange(atom("a", "K", "L"), atom("b", "K", "L"))
    body = syntax.Intersection(inner, atom("p", "K", "M"))
    found = scoped(body, frozenset("K"))
    assert found == syntax.Intersection(
        Project(inner, frozenset("L")),
        Project(atom("p", "K", "M"), frozenset("M")),
    )
    assert variables(found) == {"K"}
    assert variables(scoped(body, frozenset())) == frozenset()


def test_definitions_may_stand_in_any_order_but_not_in_a_cycle() -> None:
    program = [defined("event", "e", "", atom("f")), defined("event", "f", "", atom("a")), given("event", "a")]
    assert list(evaluate(program, [Row("a", 1)], kind=TICKS).items()) == [
        ("f", {(frozenset(), 1)}),
        ("e", {(frozenset(), 1)}),
    ]
    with pytest.raises(DefinitionProblem) as caught:
        evaluate([*program[:1], defined("event", "f", "", atom("e"))], [], kind=TICKS)
    assert caught.value.kind == "cycle"


def test_what_has_infinitely_many_instants_is_refused() -> None:
    a, b = atom("a"), atom("b")
    for body in (syntax.Not(a), syntax.Or(a, syntax.Not(b)), syntax.MaximalRange(a, syntax.Not(b))):
        sort = "state" if isinstance(body, syntax.MaximalRange) else "event"
        with pytest.raises(DefinitionProblem) as caught:
            evaluate([given("event", "a"), given("event", "b"), defined(sort, "e", "", body)], [], kind=TICKS)
        assert caught.value.kind == "unguarded-negation"


def test_double_negations_list_what_they_can() -> None:
    a, b = atom("a"), atom("b")
    program = [
        given("event", "a"),
        given("event", "b"),
        defined("event", "same", "", syntax.Not(syntax.Not(a))),
        defined("event", "only", "", syntax.Not(syntax.Or(syntax.Not(a), b))),
        defined("event", "some", "", syntax.Not(syntax.And(syntax.Not(a), syntax.Not(b)))),
    ]
    found = evaluate(program, [Row("a", 1), Row("a", 2), Row("b", 2), Row("b", 3)], kind=TICKS)
    instants = {name: sorted(r[1] for r in rows) for name, rows in found.items()}
    assert instants == {"same": [1, 2], "only": [1], "some": [1, 2, 3]}


@pytest.mark.parametrize(
    ("left", "op", "right", "outcome"),
    [
        (2**62, "*", 4, "error"),
        (2**62, "+", 1, "true"),
        (1, "/", 0, "false"),
        (-7, "mod", 4, "true"),
    ],
)
def test_conditions_without_a_value(left: int, op: str, right: int, outcome: str) -> None:
    term = tree.Binary(op, tree.Ref(None, "X"), tree.Literal(right, Type.INT))
    condition = syntax.Comparison(tree.Binary("!=", term, tree.Literal(0, Type.INT)))
    program = [given("event", "a", "x"), defined("event", "e", "X", syntax.And(atom("a", "X"), condition))]
    history = [Row("a", 1, {"x": left})]
    if outcome == "error":
        with pytest.raises(InputProblem) as caught:
            evaluate(program, history, kind=TICKS)
        assert caught.value.kind == "overflow"
    else:
        assert len(evaluate(program, history, kind=TICKS)["e"]) == (outcome == "true")


def test_an_overflow_that_decides_nothing_is_no_error() -> None:
    ref = tree.Ref(None, "X")
    huge = syntax.Comparison(tree.Binary(">", tree.Binary("*", ref, ref), tree.Literal(0, Type.INT)))
    small = syntax.Comparison(tree.Binary("<", ref, tree.Literal(9, Type.INT)))
    history = [Row("a", 1, {"x": 2**40}), Row("a", 2, {"x": 3})]
    for condition, instants in ((syntax.And(small, huge), [2]), (syntax.Or(syntax.Not(small), huge), [1, 2])):
        body = syntax.And(atom("a", "X"), condition)
        found = evaluate([given("event", "a", "x"), defined("event", "e", "X", body)], history, kind=TICKS)
        assert sorted(r[1] for r in found["e"]) == instants


def test_durations_are_whole_ticks() -> None:
    body = syntax.Iteration(atom("a"), "<", Duration(Fraction(3, 2), ticks=True))
    with pytest.raises(DefinitionProblem) as caught:
        evaluate([given("event", "a"), defined("state", "s", "", body)], [], kind=TICKS)
    assert caught.value.kind == "bad-duration"
    body = syntax.Iteration(atom("a"), "<", Duration(Fraction(10**6)))
    program = [given("event", "a"), defined("state", "s", "", body)]
    with pytest.raises(DefinitionProblem) as caught:
        evaluate(program, [], kind=TICKS)
    assert caught.value.kind == "missing-unit"
    found = evaluate(program, [Row("a", 1), Row("a", 1000), Row("a", 2000)], kind=TimeKind(False, "ms"))
    assert found == {"s": {(frozenset(), 1, 1000)}}


# --- sets of one binding ----------------------------------------------------------------------------------------------


def test_the_last_tick_there_is() -> None:
    """Nothing wraps: behind the greatest tick nothing resumes, before the least nothing ends."""
    least = -(2**63)
    assert intervals.complement({(0, INFINITY)}, {(5, GREATEST)}) == {(0, 4)}
    assert intervals.complement({(least, 9)}, {(least, 3)}) == {(4, 9)}


def test_touching_coalesces_and_neighbours_do_not() -> None:
    assert intervals.coalesced({(1, 3), (3, 5), (6, 7), (0, 9)} - {(0, 9)}) == {(1, 5), (6, 7)}
    assert intervals.coalesced({(1, 3), (3, 5), (6, 7), (2, INFINITY)}) == {(1, INFINITY)}


def test_open_ends_are_neither_equal_nor_ordered() -> None:
    x, y = (1, INFINITY), (1, INFINITY)
    for rel in intervals.RELATIONS:
        assert intervals.related(rel, {x}, {y}) == set()
        assert intervals.related(rel, {x}, {(3, INFINITY)}) == set()
        assert intervals.related(rel, {(3, INFINITY)}, {x}) == set()


def test_converses_exchange_their_sides() -> None:
    left, right = {(1, 3), (3, 5), (2, 9)}, {(3, 7), (3, 5), (1, 9)}
    for converse, rel in intervals.CONVERSES.items():
        assert intervals.related(converse, left, right) == intervals.related(rel, right, left)
    assert set(intervals.CONVERSES) == set(syntax.INVERSES)
    assert set(intervals.RELATIONS) == set(intervals.RESULTS) == set(syntax.RELATIONS)


def test_shares_nothing_with_the_engine() -> None:
    """Imports of the reference: trees, types, time, errors, itself."""
    allowed = {"occurs.errors", "occurs.expr", "occurs.languages.phenesthe", "occurs.model.time", "occurs.model.types"}
    allowed |= {"occurs.expr.aggregates", "occurs.expr.dialect", "occurs.expr.reference"}
    files = list((Path(syntax.__file__).parent / "semantics").glob("*.py"))
    assert len(files) >= 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("occurs"):
                what, names = node.module or "", {a.name for a in node.names}
                assert what in allowed or "phenesthe.semantics" in what, what
                assert what != "occurs.expr" or names == {"tree"}
                if what == "occurs.languages.phenesthe":
                    assert all(n == "syntax" or n.startswith("semantics") for n in names)
