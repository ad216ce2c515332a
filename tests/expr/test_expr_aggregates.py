"""The catalogue of aggregates, and that plain computations agree with columns and share no code with the engine."""

from __future__ import annotations

import dis
import math
from collections.abc import Callable, Iterator
from random import Random
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from occurs.expr.aggregates import AGGREGATES, plain_aggregate
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference import Evaluator
from occurs.model.types import Type
from occurs.operators.aggregates import Reduced, reduced
from occurs.operators.columns import Column
from occurs.operators.frame import Index


def over(name: str, values: list[Any], type: Type, lo: list[int], hi: list[int], number: float | None) -> list[Any]:
    """The aggregates of ranges of a column, as the engine computes them."""
    column = Column.of(pa.array(values, {Type.INT: pa.int64(), Type.FLOAT: pa.float64()}.get(type)), type)
    node = Reduced(name, "V", AGGREGATES[name].typed(type) or Type.NULL, number, type)
    nothing = np.zeros(0, np.int64)
    index = Index(np.arange(len(values)), nothing, nothing, nothing)
    found = reduced(node, column, index, np.array(lo, np.int64), np.array(hi, np.int64), lambda _: None)
    return found.arrow.to_pylist()


def number_of(name: str) -> float | None:
    return 90.0 if name == "percentile" else None


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isclose(a, b, rel_tol=1e-14)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("name", sorted(AGGREGATES))
def test_example(name: str) -> None:
    known = AGGREGATES[name]
    assert known.doc.endswith(".")
    if known.text:
        distinct = "count distinct" if name == "count" else name
        assert over(distinct, list(known.values), Type.INT, [0], [len(known.values)], number_of(name)) == [known.value]
        there = [v for v in known.values if v is not None]
        assert plain_aggregate(distinct, there, number_of(name)) == known.value


@pytest.mark.parametrize("name", sorted(AGGREGATES))
@pytest.mark.parametrize("type", [Type.INT, Type.FLOAT, Type.NULL])
def test_columns_and_the_plain_computation_agree(name: str, type: Type) -> None:
    rng = Random(f"{name} {type}")
    for _ in range(60):
        n = rng.randrange(12)
        draw: Callable[[], Any] = (lambda: rng.randint(-9, 9)) if type is Type.INT else (lambda: rng.uniform(-9, 9))
        values = [None if type is Type.NULL or rng.random() < 0.2 else draw() for _ in range(n)]
        ends = [sorted((rng.randint(0, n), rng.randint(0, n))) for _ in range(6)]
        got = over(name, values, type, [a for a, _ in ends], [b for _, b in ends], number_of(name))
        for (a, b), found in zip(ends, got, strict=True):
            there = [v for v in values[a:b] if v is not None]
            wanted = plain_aggregate(name, there, number_of(name))
            whole = AGGREGATES[name].result is None and type is Type.FLOAT and wanted is not None
            assert same(found, float(wanted) if whole else wanted), (name, values[a:b], found, wanted)


def reached(function: Any, seen: set[int]) -> Iterator[Any]:
    """Everything that the code of a function names, and that of the functions of Occurs that it names."""
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    read = [step for code in codes(function.__code__) for step in dis.get_instructions(code)]
    named = [function.__globals__.get(step.argval) for step in read if step.opname == "LOAD_GLOBAL"]
    for one in (*held, *named, *(function.__defaults__ or ())):
        yield one
        yield from reached(one, seen)


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from codes(inner)


@pytest.mark.parametrize("name", sorted({*AGGREGATES, *CATALOGUE, "an expression"}))
def test_the_plain_computation_shares_nothing_with_the_engine(name: str) -> None:
    known = [catalogue[name] for catalogue in (AGGREGATES, CATALOGUE) if name in catalogue]
    plain = [k.reference for k in known] or [f for f in vars(Evaluator).values() if isinstance(f, FunctionType)]
    for one in (one for f in plain for one in reached(f, set())):
        module = one.__name__ if isinstance(one, ModuleType) else str(getattr(one, "__module__", ""))
        assert not module.startswith(("numpy", "pyarrow")), (name, one)
        assert one not in [k.run for k in known]
