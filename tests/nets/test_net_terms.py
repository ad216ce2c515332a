"""Terms: evaluated, matched against tokens, their colours."""

from __future__ import annotations

from typing import Any

import pytest

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.tree import Binary, Call, Expr, In, IsNull, Like, Literal, Unary
from occurs.model.types import Type
from occurs.nets.colours import Alias, Bool, Colour, Enum, Int, List, Product, Real, Record, String, Union, Unit
from occurs.nets.evaluate import evaluate
from occurs.nets.matching import compile_pattern, fits, match
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, TupleTerm, var
from occurs.nets.typing import Typing, same, spelled

INT, REAL, STRING, BOOL = Int("INT"), Real("REAL"), String("STRING"), Bool("BOOL")
CT = Record("CT", (("ma", INT), ("name", STRING)))
C = Union("C", (("pA", CT), ("none", None)))
CF = Product("CF", (INT, INT, INT, C))
CFS = List("List_CFs", CF)
DAY = Enum("DAY", ("mon", "tue"))
COLOURS: tuple[Colour, ...] = (INT, REAL, STRING, BOOL, CT, C, CF, CFS, DAY)
VARIABLES = {"x": INT, "y": INT, "u": REAL, "s": STRING, "b": BOOL, "e": CF, "l": CFS, "k": CFS, "t": CT, "d": DAY}
X, Y, U, S, B, E, L, T = map(var, "xyusbelt")
EVENT = (1, 1, 10, ("pA", (20, "ann")))


def n(value: int) -> Literal:
    return Literal(value, Type.INT)


def op(sign: str, left: Expr, right: Expr) -> Binary:
    return Binary(sign, left, right)


def call(name: str, *args: Expr) -> Call:
    return Call(name, args)


NULL = op("/", X, n(0))
EVENT_TERM = TupleTerm((n(1), n(1), n(10), Inject("pA", RecordTerm(("ma", "name"), (op("*", X, n(2)), S)))))
VALUES: list[tuple[Expr, Any]] = [
    (op("%", n(-7), n(3)), -1),
    (op("mod", n(-7), n(3)), 2),
    (op("div", n(-7), n(3)), -3),
    (op("%", n(7), n(-3)), 1),
    (op("%", Literal(-7.5, Type.FLOAT), n(2)), -1.5),
    (op("/", n(7), n(2)), 3.5),
    (Unary("neg", X), -10),
    (Unary("not", op(">", X, Y)), False),
    (NULL, None),
    (op("+", NULL, n(1)), None),
    (op("=", NULL, NULL), None),
    (Unary("not", op("=", NULL, n(1))), None),
    (op("and", op("=", NULL, n(1)), op("<", X, n(0))), False),
    (op("or", op("=", NULL, n(1)), op(">", X, n(0))), True),
    (op("and", op(">", X, n(0)), op("=", NULL, n(1))), None),
    (op("or", op("<", X, n(0)), op("<", X, n(1))), False),
    (op("and", op("=", NULL, n(1)), op(">", X, n(0))), None),
    (op("or", op("=", NULL, n(1)), op("<", X, n(0))), None),
    (IsNull(NULL), True),
    (IsNull(X, negated=True), True),
    (In(X, (n(1), n(10))), True),
    (In(X, (n(1), NULL)), None),
    (In(X, (n(1),), negated=True), True),
    (call("if", op(">", X, Y), S, var("s")), "ann"),
    (call("if", op("=", NULL, n(1)), n(1), n(2)), 2),
    (call("length", L), 2),
    (call("list.take", L, n(1)), (EVENT,)),
    (call("list.take", L, n(3)), None),
    (call("list.drop", L, n(2)), ()),
    (call("list.nth", L, n(0)), EVENT),
    (call("list.nth", L, n(-1)), None),
    (call("append", L, ListTerm((E,))), (EVENT, EVENT, EVENT)),
    (call("cons", E, ListTerm(())), (EVENT,)),
    (call("abs", n(-3)), 3),
    (call("min", X, Y, n(5)), 3),
    (call("max", X, Y), 10),
    (call("real", X), 10.0),
    (call("concat", S, Literal("!", Type.STRING)), "ann!"),
    (FieldTerm("name", T), "ann"),
    (FieldTerm("3", E), 10),
    (EnumTerm("mon"), "mon"),
    (Inject("none", None), ("none", ())),
    (TupleTerm(()), ()),
    (EVENT_TERM, EVENT),
]
BINDING = {"x": 10, "y": 3, "u": 2.5, "s": "ann", "b": True, "e": EVENT, "l": (EVENT, EVENT), "t": (20, "ann")}


@pytest.mark.parametrize(("term", "value"), VALUES)
def test_evaluate(term: Expr, value: Any) -> None:
    found = evaluate(term, BINDING, variables=VARIABLES)
    assert found == value
    assert type(found) is type(value)


def test_evaluate_checks_the_colour_it_is_given() -> None:
    assert evaluate(EVENT_TERM, BINDING, CF) == EVENT
    with pytest.raises(InputProblem, match="10 is not a value of STRING"):
        evaluate(X, BINDING, STRING)


@pytest.mark.parametrize("term", [Like(S, S), call("sqrt", X)])
def test_what_has_no_place_in_a_net(term: Expr) -> None:
    with pytest.raises(DefinitionProblem, match="is not supported in nets"):
        evaluate(term, BINDING)


def test_a_field_needs_a_record_that_has_it() -> None:
    with pytest.raises(DefinitionProblem, match="`nam`"):
        evaluate(FieldTerm("nam", T), BINDING, variables=VARIABLES)


MATCHES: list[tuple[Expr, Any, dict[str, Any], dict[str, Any] | None]] = [
    (X, 3, {}, {"x": 3}),
    (X, 3, {"x": 3}, {"x": 3}),
    (X, 3, {"x": 4}, None),
    (n(3), 3, {}, {}),
    (n(3), 4, {}, None),
    (EnumTerm("mon"), "tue", {}, None),
    (TupleTerm((X, X)), (1, 2), {}, None),
    (TupleTerm((X, op("+", X, n(1)))), (1, 2), {}, {"x": 1}),
    (TupleTerm((op("+", X, n(1)), X)), (2, 1), {}, {"x": 1}),
    (TupleTerm((op("+", X, n(1)), X)), (3, 1), {}, None),
    (op("+", X, n(1)), 5, {"x": 4}, {"x": 4}),
    (Inject("pA", RecordTerm(("ma", "name"), (X, S))), ("pA", (1, "a")), {}, {"x": 1, "s": "a"}),
    (Inject("pA", RecordTerm(("ma", "name"), (X, S))), ("none", ()), {}, None),
    (Inject("none", None), ("none", ()), {}, {}),
    (ListTerm((X, Y)), (1, 2), {}, {"x": 1, "y": 2}),
    (ListTerm((X, Y)), (1, 2, 3), {}, None),
    (ListTerm(()), (), {}, {}),
    (call("cons", X, L), (1, 2, 3), {}, {"x": 1, "l": (2, 3)}),
    (call("cons", X, L), (), {}, None),
    (call("cons", X, ListTerm((op("*", X, Y), Y))), (2, 6, 3), {}, {"x": 2, "y": 3}),
    (call("cons", op("*", X, Y), ListTerm((X, Y))), (6, 2, 3), {}, {"x": 2, "y": 3}),
    (call("cons", op("*", X, Y), ListTerm((X, Y))), (7, 2, 3), {}, None),
    (TupleTerm((X, TupleTerm((n(1), U, S)))), (1, (1, 2.0, "z")), {}, {"x": 1, "u": 2.0, "s": "z"}),
]


@pytest.mark.parametrize(("term", "value", "binding", "found"), MATCHES)
def test_match(term: Expr, value: Any, binding: dict[str, Any], found: dict[str, Any] | None) -> None:
    before = dict(binding)
    assert match(term, value, binding) == found
    assert binding == before
    if found is not None:
        assert evaluate(term, found, variables=VARIABLES) == value


@pytest.mark.parametrize(("term", "value", "binding", "found"), MATCHES)
def test_what_matches_fits(term: Expr, value: Any, binding: dict[str, Any], found: dict[str, Any] | None) -> None:
    assert fits(term)(value) or found is None


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (TupleTerm((X, n(2))), (2, 1)),
        (TupleTerm((X, TupleTerm((n(2), Y)))), (2, (1, 2))),
        (Inject("pA", X), ("pB", 1)),
        (Inject("pA", n(1)), ("pA", 2)),
        (ListTerm((X,)), ()),
        (call("cons", n(1), L), (2, 1)),
        (call("cons", X, ListTerm((Y,))), (2,)),
        (EnumTerm("mon"), "tue"),
    ],
)
def test_what_does_not_fit_whatever_the_variables_are(term: Expr, value: Any) -> None:
    assert not fits(term)(value)
    assert match(term, value, {}) is None


def test_a_pattern_needs_its_variables() -> None:
    with pytest.raises(DefinitionProblem, match="`y`"):
        compile_pattern(TupleTerm((X, op("+", Y, n(1)))), set())


TYPED: list[tuple[Expr, Colour, str | None]] = [
    (EVENT_TERM, CF, None),
    (E, CF, None),
    (ListTerm(()), CFS, None),
    (ListTerm((E, EVENT_TERM)), CFS, None),
    (ListTerm((E, X)), CFS, "found INT, expected CF"),
    (op("+", X, U), REAL, None),
    (op("+", X, U), INT, "found REAL, expected INT"),
    (op("/", X, Y), REAL, None),
    (X, REAL, "found INT, expected REAL"),
    (call("real", X), REAL, None),
    (op("+", X, S), INT, "`+` takes numbers, found STRING"),
    (op("<", B, B), BOOL, "`<` takes numbers or strings, found BOOL"),
    (op("=", X, S), BOOL, "found INT and STRING"),
    (op("=", X, U), BOOL, None),
    (op("=", L, call("list.take", var("k"), call("length", L))), BOOL, None),
    (op("and", B, X), BOOL, "found INT, expected BOOL"),
    (In(X, (Y, n(1))), BOOL, None),
    (In(X, (S,)), BOOL, "`in` takes two values of one colour"),
    (Literal(None, Type.NULL), INT, "null does not have a colour"),
    (var("s1"), STRING, "unknown variable `s1`"),
    (Inject("pA", X), C, "found INT, expected CT"),
    (Inject("pA", None), C, "`pA` must hold CT"),
    (Inject("none", X), C, "`none` cannot hold a value"),
    (Inject("pB", X), C, "`pB` does not belong to a union of the net"),
    (EnumTerm("mon"), DAY, None),
    (op("=", var("d"), EnumTerm("tue")), BOOL, None),
    (EnumTerm("wed"), DAY, "`wed` does not belong to an enumeration of the net"),
    (FieldTerm("ma", T), INT, None),
    (FieldTerm("mb", T), INT, "CT has no field `mb`"),
    (FieldTerm("4", E), C, None),
    (TupleTerm((X, Y)), Unit("UNIT"), "found INT * INT, expected UNIT"),
    (TupleTerm(()), Unit("UNIT"), None),
    (RecordTerm(("ma",), (X,)), CT, "found {ma: INT}, expected CT"),
    (call("cons", E, L), CFS, None),
    (call("cons", X, L), CFS, "`cons` takes two values of one colour, found List_CFs and list of INT"),
    (call("append", L, X), CFS, "`append` of List_CFs, INT is not supported in nets"),
    (call("list.nth", L, n(0)), CF, None),
    (call("length", X), INT, "`length` of INT is not supported"),
    (call("if", B, X, Y), INT, None),
    (call("max", X, U), REAL, None),
    (call("concat", S, X), STRING, "found INT, expected STRING"),
    (Unary("not", X), BOOL, "found INT, expected BOOL"),
    (Like(S, S), BOOL, "Like is not supported in nets"),
]


@pytest.mark.parametrize(("term", "colour", "wrong"), TYPED)
def test_typing(term: Expr, colour: Colour, wrong: str | None) -> None:
    typing = Typing(VARIABLES, COLOURS)
    assert typing.check(term, colour) is (wrong is None)
    assert wrong is None or wrong in "; ".join(typing.wrong)


def test_colours_are_compared_by_what_they_are_made_of() -> None:
    assert same(Alias("NO", INT), Int("Number"))
    assert same(Product("P", (INT, Alias("A", STRING))), Product("Q", (INT, STRING)))
    assert not same(INT, REAL)
    assert not same(Enum("E", ("a",)), Enum("F", ("b",)))
    assert spelled(Product("", (INT, List("", CT)))) == "INT * list of CT"
