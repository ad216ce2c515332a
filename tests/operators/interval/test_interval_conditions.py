"""Conditions and facts, against plain Python per binding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from signal_checks import Binding, World, agrees, event, intervals, joint_bindings, restricted, state

from occurs.errors import InputProblem
from occurs.expr.tree import Binary, Expr, Literal, Ref, Unary
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.conditions import FactRows, Known, Member, Where
from occurs.operators.interval.signals import NEVER, Instants, Lag, Phenomena, Points
from occurs.operators.interval.values import Values

A, B, C = (Ref(None, v) for v in "abc")
NAMES = ("zero", "one", "two")
TYPES = {"a": Type.INT, "b": Type.INT, "c": Type.STRING, "d": Type.INT}
#: a condition, its variables, and what it means (numbers are their codes, texts the names of theirs)
CONDITIONS: list[tuple[Expr, str, Callable[[dict[str, int]], bool]]] = [
    (Binary(">", Binary("+", A, B), Literal(2, Type.INT)), "ab", lambda v: v["a"] + v["b"] > 2),
    (Binary("=", A, Literal(1.0, Type.FLOAT)), "a", lambda v: v["a"] == 1),
    (Binary("!=", C, Literal("two", Type.STRING)), "c", lambda v: v["c"] != 2),
    (
        Binary("or", Binary("=", C, Literal("one", Type.STRING)), Unary("not", Binary("<", A, B))),
        "abc",
        lambda v: v["c"] == 1 or not v["a"] < v["b"],
    ),
    # 1 / 0 is null, and null satisfies nothing
    (Binary("<", Binary("/", Literal(1, Type.INT), A), Literal(5, Type.INT)), "a", lambda v: v["a"] != 0),
    (Literal(False, Type.BOOL), "", lambda v: False),
]


def known_values() -> Values:
    """Values with the codes 0, 1 and 2 for the numbers, and for the names, of that order."""
    values = Values()
    assert values.encode(Column.of(pa.array([0, 1, 2]), Type.INT)).tolist() == [0, 1, 2]
    assert values.encode(Column.of(pa.array(NAMES), Type.STRING)).tolist() == [0, 1, 2]
    return values


def operands(world: World, v: tuple[str, ...]) -> list[tuple[str, Any, Any]]:
    """(sort, meaning, operand) of an event and of a state."""
    world.base = 0
    delay = world.rng.choice((0, 0, 2))
    phi, psi = world.events(v), world.states(v)
    return [("event", phi, event(phi, v, delay)), ("state", psi, state(psi, v, delay))]


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
@pytest.mark.parametrize("seed", range(6))
def test_where(seed: int, number: int) -> None:
    world = World(seed)
    condition, used, satisfied = CONDITIONS[number]
    v = tuple(sorted({*used, *world.variables("abc")}))
    for sort, meaning, operand in operands(world, v):
        node = Where(sort, v, tuple(TYPES[n] for n in v), condition, "d")
        expected = {b: items for b, items in meaning.items() if satisfied(dict(zip(v, b)))}
        agrees(node, [operand], expected, world, values=known_values())


def facts(world: World, v: tuple[str, ...]) -> tuple[set[Binding], FactRows]:
    """Random rows, some of them with nulls that bind nothing."""
    rows = {tuple(world.rng.choice((0, 1, 2, 5)) for _ in v) for _ in range(world.rng.randint(0, 6))}
    given: list[tuple[int | None, ...]] = [*rows, *([(None,) * len(v)] if v else [])]
    world.rng.shuffle(given)
    columns = {}
    for k, name in enumerate(v):
        numbers = [r[k] for r in given]
        texts = [n if n is None else NAMES[n] if n < 3 else "other" for n in numbers]
        columns[name] = pa.array(texts, pa.string()) if TYPES[name] is Type.STRING else pa.array(numbers, pa.int64())
    table = pa.table({"x": pa.array([0] * len(given), pa.int64()), **columns}).select(list(v))
    return rows, FactRows(v, table)


@pytest.mark.parametrize("seed", range(25))
def test_known_and_unknown(seed: int) -> None:
    world, values = World(seed), known_values()
    v, w = world.variables("abc"), world.variables("abcd")
    within = tuple(sorted(world.rng.sample(v, world.rng.randint(0, len(v)))))
    rows, fact = facts(world, w)
    others, other = facts(world, within)
    # what is only in a fact gets its code when it is asked for
    of_value = {
        n: values.encode(Column.of(pa.array([0, 1, 2, 5]), t)) if t is Type.INT else
        values.encode(Column.of(pa.array([*NAMES, "other"]), t)) for n, t in TYPES.items()
    }  # fmt: skip
    coded = {tuple(int(of_value[n][(0, 1, 2, 5).index(c)]) for n, c in zip(w, r)): None for r in rows}
    for sort, meaning, operand in operands(world, v):
        expected = {b: meaning[x] for b, x, _ in joint_bindings(meaning, v, coded, w)}
        agrees(Known(sort, v, tuple(sorted({*v, *w})), fact), [operand], expected, world, values=values)
        expected = {b: items for b, items in meaning.items() if restricted(b, v, within) not in others}
        unknown = Where(sort, v, tuple(TYPES[n] for n in v), Unary("not", Member(other)), "d")
        agrees(unknown, [operand], expected, world, values=values)


def test_of_dynamic_phenomena() -> None:
    rows: list[tuple[Binding, int, float]] = [((0,), 1, 5), ((1,), 2, 5), ((1,), 3, 9), ((2,), 2, 4)]
    lag = Lag(("a",), (np.array([1]),), np.array([4]), np.array([6]))
    signal = Phenomena(intervals(rows, 1), intervals([((1,), 8, float("inf")), ((0,), 8, float("inf"))], 1), 9, (lag,))
    call = Instants(NEVER, 9, known_values())
    kept = Where("dynamic", ("a",), (Type.INT,), Binary(">", A, Literal(0, Type.INT)), "d").advance({}, (signal,), call)
    assert isinstance(kept[1], Phenomena)
    assert kept[1].closed.start.tolist() == [2, 3, 2]
    assert kept[1].open.codes[0].tolist() == [1]
    assert (kept[1].complete, kept[1].lags) == (9, (lag,))
    fact = FactRows(("a", "b"), pa.table({"a": [1, 1], "b": [0, 2]}))
    found = Known("dynamic", ("a",), ("a", "b"), fact).advance({}, (signal,), call)[1]
    assert isinstance(found, Phenomena)
    assert sorted(zip(*(c.tolist() for c in found.closed.codes), found.closed.end.tolist())) == [
        (1, 0, 5), (1, 0, 9), (1, 2, 5), (1, 2, 9),
    ]  # fmt: skip


def test_overflow_is_an_error_only_where_it_hides_the_answer() -> None:
    values = Values()
    large = values.encode(Column.of(pa.array([2**62, 1]), Type.INT))
    call = Instants(NEVER, 9, values)
    points = Points((large,), np.array([3, 4]), NEVER, 9)
    more = Binary(">", Binary("*", A, Literal(4, Type.INT)), Literal(2, Type.INT))
    with pytest.raises(InputProblem, match="condition of `d`, with a = 4611686018427387904") as problem:
        Where("event", ("a",), (Type.INT,), more, "d").advance({}, (points,), call)
    assert (problem.value.kind, problem.value.definition) == ("overflow", "d")
    small = Binary("and", more, Binary("<", A, Literal(10, Type.INT)))
    _, kept = Where("event", ("a",), (Type.INT,), small, "d").advance({}, (points,), call)
    assert isinstance(kept, Points)
    assert kept.time.tolist() == [4]
