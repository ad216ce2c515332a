"""The laws on random programs of which some definitions have attributes that are computed of their intervals."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from engine_runs import Engine, checked, key
from tests.amount import first, some
from tests.generators.random_phenesthe import random_program
from tests.laws.phenesthe import all_laws
from tests.textcases.phenesthe import LastingCase, Loaded

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import Analysis
from occurs.languages.phenesthe.render import render
from occurs.model.types import Type, widen


def measured(case: LastingCase, rng: random.Random) -> LastingCase | None:
    """The case with computed attributes in the definitions that no other reads; None if there is no such."""
    loaded = Loaded(case)
    try:
        analysis = checked(loaded)
    except OccursError:
        return None
    read = {n for d in analysis.definitions for n in d.reads}
    changed = []
    for s in loaded.file.statements:
        if isinstance(s, syntax.Definition) and s.sort != "event" and s.name.text not in read:
            changed.append(replace(s, head=(*s.head, *_measures(s, analysis, rng))))
        else:
            changed.append(s)
    if changed == list(loaded.file.statements):
        return None
    return replace(case, rules="".join(f"{render(s)}\n" for s in changed))


def _measures(d: syntax.Definition, analysis: Analysis, rng: random.Random) -> list[syntax.HeadArgument]:
    schema = analysis.phenomena[d.name.text].schema
    known = {a.value.name: schema[a.name.text] for a in d.head if isinstance(a.value, syntax.Variable)}
    events = [p for p in analysis.phenomena.values() if p.sort == "event" and p.origin == "input"]
    out = [syntax.HeadArgument(syntax.Name("m0"), syntax.Measure("length"))]
    for number in range(1, rng.randint(2, 4)):
        event = rng.choice(events)
        arguments, numbers = [], []
        for at, (_, of) in enumerate(event.attributes):
            joins = [v for v, t in known.items() if widen(t, of) is not None]
            fresh = syntax.Variable(f"Zz{at}")
            value = rng.choice([*(syntax.Variable(v) for v in joins), *[syntax.Anything()] * (not joins), fresh])
            arguments.append(syntax.Argument(value))
            if value == fresh and of in (Type.INT, Type.FLOAT):
                numbers.append(fresh)
        atom = syntax.Atom(syntax.Name(event.name), tuple(arguments))
        function = rng.choice(("count", "sum", "avg", "min", "max")) if numbers else "count"
        measure = syntax.Measure(function, atom, rng.choice(numbers) if function != "count" else None)
        out.append(syntax.HeadArgument(syntax.Name(f"m{number}"), measure))
    return out


def check(seed: int) -> bool:
    case = measured(random_program(random.Random(seed)), random.Random(seed))
    if case is None:
        return False
    by = key(Engine(Loaded(case)).definitions)
    try:
        all_laws(case, Engine, random.Random(seed), by)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}\n{case.rules}\n{case.rows}\n{error}") from error
    return True


@pytest.mark.share(4)
@pytest.mark.parametrize("tens", first(range(4), 2, 3))
def test_random_programs(tens: int) -> None:
    assert sum([check(seed) for seed in range(1000 + 10 * tens, 1010 + 10 * tens)]) > 2


@pytest.mark.slow
@pytest.mark.parametrize("part", some(range(10), 2))
def test_many_random_programs(part: int) -> None:
    for seed in range(2000 + 25 * part, 2025 + 25 * part):
        check(seed)
