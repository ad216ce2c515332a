"""The quick ways of machines, formulas and slices over whole columns: texts as dictionaries, pieces, restarts."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from tests.textcases.pipes import alike, plain

from occurs import pipes
from occurs.languages.esql.semantics import Run as Reference
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.operators.process import functions as distinct
from occurs.operators.process import run as engine
from occurs.operators.process.network import fused
from occurs.operators.process.tree import Definition
from occurs.operators.process.values import as_python
from occurs.pipes import fn, ltl

KIND = TimeKind(False, None)
TEXTS = ("a", "b", "c")


def total(p):
    return p.cumulate(fn.add)


def machine(rng, x, texts, registers):
    """A random machine; with registers its guards and SETs are sums and comparisons."""
    of_item = [f"$0 = '{t}'" for t in TEXTS] if texts else ["$0 > 2", "$0 = 3", "$0 < 5"]
    numbers = ["$n", "$m", "1", "-2", *([] if texts else ["$0"])]

    def guard():
        parts = rng.sample(of_item, rng.randint(0, 2))
        if registers:
            parts += rng.choice(
                [[], ["$f"], ["NOT $f"], [f"$n {rng.choice(['<', '>', '=', '!='])} {rng.choice(numbers)}"]]
            )
        return fn(" AND ".join(parts)) if parts else fn("true")

    def sets():
        if not registers:
            return {}
        made = {"n": f"$n {rng.choice('+-')} {rng.choice(numbers)}", "m": rng.choice(numbers), "f": rng.choice(of_item)}
        return {n: fn(made[n]) for n in rng.sample(sorted(made), rng.randint(0, 3))}

    names = ["s", "t", "u"][: rng.randint(1, 3)]
    states = {}
    for name in names:
        ways = [pipes.When(guard(), rng.choice(names), set=sets()) for _ in range(rng.randint(1, 3))]
        ways += [pipes.Otherwise(rng.choice(names))] if rng.random() < 0.5 else []
        output = fn(rng.choice(["$n", "$n + $m"])) if registers else rng.choice(["x", "y", name, pipes.SILENT])
        states[name] = pipes.State(output, [] if name == "u" and rng.random() < 0.3 else ways)
    start = {"registers": {"n": 0, "m": 1, "f": False}} if registers else {}
    return pipes.machine(x, start="s", states=states, **start)


def formulas(x, texts):
    a, b = (x == "a", x == "b") if texts else (x > 3, x < 2)
    soon = ltl.implies(a, ltl.F(b))
    return [
        soon,
        ltl.G(soon),
        ltl.G(soon).at_end("finite"),
        ltl.F(ltl.and_(a, ltl.X(b))).at_end("null"),
        ltl.U(ltl.not_(ltl.X(a)), b),
        ltl.or_(ltl.G(a), ltl.U(b, ltl.X(a))).at_end("finite"),
        ltl.always(ltl.implies(a, ltl.sometime(b))),
        ltl.sometime(ltl.and_(a, ltl.after(b))),
        x.filter(soon),
        (x.trim(2) if texts else x).filter(ltl.G(ltl.F(b)).at_end("finite")),
    ]


def slices(x, texts):
    key = fn("$0") if texts else fn("$0 MOD 3")
    inner = [lambda p: p.constant(1).cumulate(fn.add), lambda p: p] + ([] if texts else [total])
    made = [x.slice(key, i) for i in inner]
    each = [fn.size(m) for m in made] + [fn.size(x.slice(key, lambda p: p.trim(1)))]
    each += [x.slice_each(key, i) for i in inner] + [x.slice(key, inner[0], until=fn("$0 >= 3"))]
    if not texts:
        each += [f(fn.values(m)) for m in (made[0], made[2]) for f in (fn.sum, fn.mean)]
    return each


def all_of(rng, texts):
    x = pipes.source("X0").v
    some = [machine(rng, x, texts, r) for r in (False, True, True)]
    return some + rng.sample(formulas(x, texts), 3) + rng.sample(slices(x, texts), 3)


def items(pipe, column, ended, cuts):
    """(value, step, about) of all items; the run is saved and loaded at the cuts."""
    graph = fused([pipe.graph])
    run, out = engine.Run(graph, kind=KIND), []
    for first, last in pairwise([0, *sorted(cuts), len(column)]):
        part = engine.tuples(pa.table({"v": column.slice(first, last - first)}))
        (found,) = run.advance(engine.Batch(np.arange(first, last), {"X0": (np.arange(last - first), part)}))
        out += zip(found.value.pylist(), found.step.tolist(), found.about.tolist())
        kept = run.save()
        run = engine.Run(graph, kind=KIND)
        run.load(kept)
    if ended:
        (found,) = run.close(len(column) - 1)
        out += zip(found.value.pylist(), found.step.tolist(), found.about.tolist())
    return [(as_python(v), s, a) for v, s, a in out]


def shown(value):
    """As the comparison has it: maps as pairs."""
    if isinstance(value, dict):
        return list(value.items())
    return (
        sorted(value, key=repr) if isinstance(value, list) and not any(isinstance(v, tuple) for v in value) else value
    )


def check(seed, monkeypatch, texts):
    monkeypatch.setattr(distinct, "FEW", 0)
    rng = random.Random(f"columns {seed}")
    count, nulls = rng.randint(1, 40), rng.choice((0.0, 0.0, 0.2))
    values = [rng.choice(TEXTS) if texts else rng.randint(0, 6) for _ in range(count)]
    values = [None if rng.random() < nulls else v for v in values]
    column = pa.array(values, pa.string() if texts else pa.int64())
    ended, history = rng.random() < 0.5, [Occurrence("X0", i, {"v": v}) for i, v in enumerate(values)]
    for number, pipe in enumerate(all_of(rng, texts)):
        definition = Definition("Out", pipe.graph)
        run = Reference([definition], history, kind=KIND, ended=ended)
        expected = [(shown(plain(f.value)), f.step, f.about) for f in run.of(definition)]
        columns = [column, *([column.dictionary_encode()] if texts else [])]
        for some, cuts in [(c, k) for c in columns for k in ((), [rng.randint(0, count) for _ in range(3)])]:
            found = [(shown(v), s, a) for v, s, a in items(pipe, some, ended, cuts)]
            assert [f[1:] for f in found] == [e[1:] for e in expected], (seed, number, cuts)
            assert alike([f[0] for f in found], [e[0] for e in expected]), (seed, number, cuts, found, expected)


@pytest.mark.parametrize("texts", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_columns_give_what_the_semantics_says(seed, texts, monkeypatch):
    check(seed, monkeypatch, texts)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_columns_give_what_the_semantics_says(seed, monkeypatch):
    check(seed, monkeypatch, seed % 2 == 0)


def test_tuples_come_out_as_they_came_in():
    x = pipes.source("x", type=int)
    pipe = x.slice_each(fn("$0 MOD 2"), total)
    values = [3, 4, None, 5]
    found = pipe.run(pa.array(values))
    assert found.type == pa.struct({"key": pa.int64(), "value": pa.int64()})
    assert found.to_pylist() == pipe.run(values) == [{"key": k, "value": v} for k, v in ((1, 3), (0, 4), (1, 8))]
    verdicts = ltl.always(x > 3).run(pa.array([5, 4, 1]))
    assert verdicts.to_pylist() == list(ltl.always(x > 3).run(np.array([5, 4, 1]))) == ["?", "?", "F"]
