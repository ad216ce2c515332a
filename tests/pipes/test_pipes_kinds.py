"""Types of ports: what goes into what, and that values are of the types that graphs promise."""

from __future__ import annotations

import random

import pytest
from tests.generators.random_pipes import PROCESSORS, random_pipe

from occurs.expr.tree import Binary, Call, Literal, Param, Ref
from occurs.languages.esql.semantics import Run
from occurs.model.types import Schema, Type
from occurs.operators.process import kinds, tree
from occurs.operators.process.function_kinds import Unfit, kind_of, typed
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    INT,
    NUMBER,
    TEXT,
    TROOLEAN,
    Kind,
    goes_into,
    list_of,
    map_of,
    tuple_of,
)
from occurs.operators.process.tree import Attribute, Input, ListOf, Node
from occurs.operators.process.typing import Mismatch, Typing
from occurs.operators.process.values import Bag, Map, Record, Set, Troolean

EVENT = Schema((("v", Type.INT), ("f", Type.FLOAT), ("b", Type.BOOL), ("k", Type.STRING)))
TYPES = Typing({"X0": EVENT, "X1": EVENT})


def fits(value, kind: Kind) -> bool:
    """Whether a value is of a type."""
    if value is None or kind == ANY:
        return True
    for python, names in ((bool, "bool troolean"), (int, "int number"), (float, "number"), (str, "text")):
        if isinstance(value, python):
            return kind.name in names.split()
    if isinstance(value, Record):
        return kind.columns is not None and all(fits(v, dict(kind.columns)[n]) for n, v in value.columns)
    if isinstance(value, Map):
        return kind.name == "map" and all(fits(k, kind.args[0]) and fits(v, kind.args[1]) for k, v in value.items)
    if isinstance(value, Troolean):
        return kind == TROOLEAN
    name = {tuple: "list", Set: "set", Bag: "bag"}[type(value)]
    return kind.name == name and all(fits(v, kind.args[0]) for v in value)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_values_are_of_the_types_that_graphs_promise(processor):
    for seed in range(6):
        case = random_pipe(random.Random(f"kinds {processor} {seed}"), processor=processor)
        (definition,) = case.definitions
        (kind,) = TYPES.kinds([definition.pipe])
        run = Run([definition], case.events, kind=case.kind, ended=case.ended, until=case.until)
        assert [f.value for f in run.of(definition) if not fits(f.value, kind)] == [], (seed, str(kind))


@pytest.mark.parametrize(
    ("given", "wanted", "goes"),
    [
        (INT, NUMBER, True),
        (NUMBER, INT, False),
        (BOOL, TROOLEAN, True),
        (TROOLEAN, BOOL, False),
        (ANY, TEXT, True),
        (TEXT, ANY, True),
        (kinds.NULL, TEXT, True),
        (TEXT, NUMBER, False),
        (list_of(INT), list_of(NUMBER), True),
        (list_of(TEXT), list_of(NUMBER), False),
        (list_of(INT), kinds.set_of(INT), False),
        (map_of(TEXT, INT), map_of(TEXT, NUMBER), True),
        (tuple_of((("a", INT), ("b", TEXT))), tuple_of((("a", NUMBER),)), True),
        (tuple_of((("a", INT),)), tuple_of((("b", INT),)), False),
        (tuple_of((("a", INT),)), kinds.TUPLE, True),
    ],
)
def test_what_goes_into_what(given, wanted, goes):
    assert goes_into(given, wanted) is goes


def test_types_are_written_as_in_the_specification():
    row = tuple_of((("a", list_of(INT)), ("b", map_of(TEXT, TROOLEAN))))
    assert str(row) == "tuple{a: list<int>, b: map<text, troolean>}"


def _text(value: str) -> Literal:
    return Literal(value, Type.STRING)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (Binary("+", Input(0), Param("x")), "type-mismatch"),
        (Binary("<", Input(0), _text("a")), "type-mismatch"),
        (Binary("and", Input(0), Input(0)), "type-mismatch"),
        (Call("size", (Input(0),)), "type-mismatch"),
        (Call("if", (Input(0), Input(0), Input(0))), "type-mismatch"),
        (Call("sqrt", (Input(0), Input(0))), "arity"),
        (Call("if", (Input(0), Input(0), Input(0), Input(0))), "arity"),
        (Call("sizee", (Input(0),)), "unknown-function"),
        (Ref(None, "a"), "unknown-attribute"),
        (Attribute(Input(1), "b"), "unknown-attribute"),
        (Param("y"), "unknown-name"),
        (Input(2), "unknown-name"),
    ],
)
def test_what_is_wrong_with_a_function(function, kind):
    with pytest.raises(Unfit) as problem:
        kind_of(function, (INT, tuple_of((("c", INT),))), {"x": TEXT})
    assert problem.value.finding.kind == kind


def test_everything_that_is_wrong_is_found():
    found = []
    both = ListOf((Binary("+", Input(0), _text("a")), Call("sqrt", (_text("a"),))))
    assert typed(both, (INT,), {}, found.append) == list_of(ANY)
    assert [f.kind for f in found] == ["type-mismatch", "type-mismatch"]


def test_a_connection_that_does_not_fit_names_port_and_types():
    source = Node(tree.Events(("X0",))).out()
    values = Node(tree.Lift((Ref(None, "v"),)), (source,)).out()
    with pytest.raises(Mismatch) as problem:
        TYPES.kinds([Node(tree.Filter(), (values, values)).out()])
    assert (problem.value.port, problem.value.found, problem.value.wanted) == (1, INT, "bool")


def test_a_register_is_widened_by_what_is_set():
    source = Node(tree.Events(("X0",))).out()
    state = tree.State("s", Param("r"), (tree.Transition(None, "s", (("r", Ref(None, "f")),)),))
    machine = tree.Machine("s", (state,), (("r", Literal(0, Type.INT)),))
    assert TYPES.kinds([Node(machine, (source,)).out()]) == [NUMBER]
