"""Temporal triggers without a key in slices of time that overlap (temporal-logic.md 5.3)."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hostcases import here, on_spark
from tests.generators.random_logic import random_core
from tests.laws.logic import Subject, slicing

import occurs
from occurs.expr.tree import rewrite
from occurs.languages.logic import syntax
from occurs.languages.logic.render import render
from occurs.model.time import Duration
from occurs.verify.compare import difference

EVENTS = "event A(n int)\nevent B(n int)\n"
STATES = "state s(p boolean, a int)\n"
TABLES = "table T (k string key, v int)\n"
ONE = "It cannot be split by time:"
UNBOUNDED = f"{ONE} an operator has no time bound"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (EVENTS + "trigger t: eventually (A and eventually within 10 s B) continue", "overlap by 10 s"),
        (STATES + "past trigger t: p since[<=5 s] a > 3 continue", "overlap by 5 s"),
        (
            STATES + "trigger t: eventually [x <- a] ((p until[2 s, 5 s] a > x) and previously within 7 s p) continue",
            "overlap by 12 s",
        ),
        (STATES + "trigger t: eventually [c <- time] eventually (p and time <= c + 3 s) continue", "overlap by 3 s"),
        (TABLES + "past trigger t: (avg of T(x) within 4 s) > 2 continue", "overlap by 4 s"),
        (EVENTS + "trigger t: eventually (A and eventually within 10 s B)", f"{ONE} under `reactivate`"),
        (EVENTS + "past trigger t: A continue at most every 5 s", f"{ONE} with `at most every`"),
        (
            STATES + "trigger t: eventually within 5 s p continue",
            f"{ONE} its formula looks ahead from the state of activation",
        ),
        (STATES + "trigger t: eventually (p and always within 5 s p) continue", UNBOUNDED),
        (STATES + "past trigger t: p and lasttime p continue", UNBOUNDED),
        (STATES + "past trigger t: p since[>=5 s] p continue", UNBOUNDED),
        (STATES + "past trigger t: (sum of a from p) > 5 continue", UNBOUNDED),
        (STATES + "event A\npast trigger t: A and p continue", f"{ONE} values are kept until"),
        (TABLES + "past trigger t: T(x) > T(y) continue", f"{ONE} values are kept until"),
        (TABLES + "past trigger t: exists (select 1 from T where v > 3) continue", f"{ONE} values are kept until"),
        (STATES + "past trigger t observing every 2 s: p continue", f"{ONE} values are kept until"),
    ],
)
def test_what_can_be_cut_into_slices_of_time(text: str, said: str) -> None:
    assert said in occurs.parse(text, language="ftl").explain().split("On Spark:")[1]


def bounded(seed: int) -> Subject:
    """A random trigger under `continue`; most of its operators have a bound."""
    rng = random.Random(seed)

    def rule(node: Any) -> Any:
        if isinstance(node, syntax.Nexttime | syntax.Lasttime) and rng.random() < 0.95:
            return node.operand
        bound = getattr(node, "bound", 0)
        if bound is None or (isinstance(bound, syntax.Bound) and bound.op in (">", ">=")):
            return replace(node, bound=syntax.Bound("<=", Duration(Fraction(rng.randint(1, 5)), True)))
        return node

    case = random_core(rng, most_states=20)
    made: list[syntax.Definition] = []
    for d in case.definitions:
        if isinstance(d, syntax.Trigger):
            f = rewrite(d.formula, rule)
            assert isinstance(f, syntax.Formula)
            f = f if d.past else syntax.Eventually(f)
            d = replace(d, formula=f, continues=True, gap=None, observing=None)
        made.append(d)
    return Subject(replace(case, rules=render(syntax.File(tuple(made), "bounded")), strategy=None))


def sliced(seeds: range) -> int:
    """For how many random triggers were slices compared with the whole?"""
    count = 0
    for seed in seeds:
        try:
            subject = bounded(seed)
        except occurs.DefinitionProblem:  # a value without a bound
            continue
        count += slicing(subject, random.Random(seed))
    return count


def test_slices_find_what_the_whole_finds() -> None:
    assert sliced(range(60)) > 10


@pytest.mark.long
@pytest.mark.parametrize("block", range(10))
def test_slices_find_what_the_whole_finds_of_many(block: int) -> None:
    assert sliced(range(1000 * (block + 1), 1000 * (block + 1) + 500)) > 100


@pytest.mark.spark
@pytest.mark.long
def test_slices_on_spark(spark: Any) -> None:
    draw = random.Random(4)
    times = [draw.randint(0, 2000) for _ in range(300)]
    numbers = [draw.randint(0, 2) for _ in times]
    rows = {t: pa.table({"time": times[i::2], "n": numbers[i::2]}) for i, t in enumerate("AB")}
    text = EVENTS + "trigger t: eventually ([x <- A.n] (A and eventually within 20 s B.n > x)) continue emit C(n = B.n)"
    program = occurs.parse(text, language="ftl")
    wanted = here(program, rows, time_unit="s", because=True)
    assert wanted
    assert difference(wanted, on_spark(spark, program, rows, time_unit="s", because=True)) is None
    wanted = here(program, rows, time_unit="s")
    assert difference(wanted, on_spark(spark, program, rows, time_unit="s")) is None
