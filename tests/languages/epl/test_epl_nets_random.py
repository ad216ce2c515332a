"""Random programs: the nets, with black transitions and without, derive what engine and reference derive."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from tests.generators.random_nets import random_core_rows, random_extended
from tests.laws.contract import whole
from tests.laws.epl import Subject
from tests.textcases.epl import EplCase, reference

from occurs.errors import DefinitionProblem, Problem
from occurs.languages.epl.nets import Translation, translate
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import difference
from occurs.verify.nets import at_random, black_run, depends_on_order, encoded_run, fast, rows_in_order

#: of programs that derive more only the net with black transitions is run
MOST = 2000

Make = Callable[[random.Random], EplCase]


def engine(case: EplCase) -> list[Occurrence]:
    subject = Subject(case)
    answer = subject.answer(whole(subject))
    assert not isinstance(answer, str), answer
    return [replace(e, attributes={k: v for k, v in e.attributes.items() if k != "label"}) for e in answer]


def translated(case: EplCase, first: int, extended: bool) -> Translation | None:
    """The net; None if the program is refused, as one without translation, at a place."""
    rows = rows_in_order(case.events)
    problems: list[Problem] = []
    try:
        return translate(case.file_tree, first, False, rows, extended, inputs=case.inputs, kind=case.kind)
    except DefinitionProblem as refused:
        problems = refused.problems
    assert {(p.kind, p.span is None) for p in problems} == {("unsupported", False)}, problems
    return None


def compared(make: Make, seed: int, sides: Iterable[str]) -> int | None:
    """How many events all sides derive; None if the program has no translation."""
    case = make(random.Random(seed))
    t = translated(case, seed % 2, make is random_extended)
    if t is None:
        return None
    wanted = reference(case)
    if len(wanted) > MOST:
        sides = ("black",)
    answers = {}
    if "engine" in sides:
        answers["engine"] = engine(case)
    if "black" in sides:
        answers["BPCPN"] = list(black_run(t, fast).derived)
    if "encoded" in sides:
        answers["PCPN"] = list(encoded_run(t, fast).derived)
    if "random" in sides and not depends_on_order(t):
        answers["BPCPN at random"] = list(black_run(t, at_random(seed)).derived)
    for side, found in answers.items():
        text = difference(wanted, found)
        assert text is None, f"seed {seed}, {side}:\n{case.rules}\n{list(case.events)}\n{text}"
    return len(wanted)


@pytest.mark.parametrize(("make", "most"), [(random_core_rows, 0.05), (random_extended, 0.2)])
def test_nets_derive_what_the_reference_derives(make: Make, most: float) -> None:
    found = [compared(make, seed, ("black",)) for seed in range(40)]
    found += [compared(make, seed, ("encoded", "random", "engine")) for seed in range(40, 44)]
    done = [n for n in found if n is not None]
    assert len(done) >= (1 - most) * len(found)
    assert sum(done) > 100


#: so many programs are one test
CHUNK = 250


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(5000 // CHUNK))
def test_5000_patterns_of_the_core(chunk: int) -> None:
    seeds = range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK)
    found = [compared(random_core_rows, seed, ("engine", "black", "encoded", "random")) for seed in seeds]
    assert sum(n is None for n in found) < 0.05 * CHUNK


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(2500 // CHUNK))
def test_2000_programs_beyond_the_core(chunk: int) -> None:
    seeds = range(20_000 + chunk * CHUNK, 20_000 + (chunk + 1) * CHUNK)
    found = [compared(random_extended, seed, ("engine", "black", "encoded", "random")) for seed in seeds]
    assert sum(n is None for n in found) < 0.2 * CHUNK
