"""The reference semantics of TESLA against the text cases, hand-built trees, and its own laws on random programs."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from tests.generators.random_tesla import random_program

from occurs.errors import InputProblem
from occurs.expr import tree
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference import (
    OVERFLOW,
    Undecided,
    both,
    divide,
    kleene,
    remainder,
    strict,
)
from occurs.languages.tesla import functions, syntax
from occurs.languages.tesla.checks import Analysis, analyse
from occurs.languages.tesla.parser import parse
from occurs.languages.tesla.semantics import evaluate
from occurs.languages.tesla.semantics.rules import evaluation_order, strict_types
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration
from occurs.model.types import Schema, Type
from occurs.testing.cases import KINDS, Case, load_cases
from occurs.verify.compare import difference

CASES = load_cases(Path(__file__).parents[2] / "cases" / "tesla")


def resolve(case: Case) -> Analysis:
    """The rules of a case in plain form; fails if the checks find an error."""
    file, problems = parse(case.rules)
    analysis = analyse([file], case.inputs, kind=case.kind)
    errors = [p.render() for p in [*problems, *analysis.problems] if p.severity == "error"]
    assert not errors, "\n".join([case.rules, *errors])
    return analysis


def run(case: Case) -> list[Occurrence]:
    """What the reference semantics reports for a case."""
    analysis = resolve(case)
    return evaluate(
        [r.rule for r in analysis.rules],
        analysis.schemas,
        case.occurrences(),
        kind=case.kind,
        subscriptions=analysis.subscriptions,
        start=case.start,
        until=case.until,
    )


@pytest.mark.parametrize("case", CASES, ids=[f"{Path(c.file or '').stem}: {c.name}" for c in CASES])
def test_cases(case: Case) -> None:
    if case.error is not None:
        with pytest.raises(InputProblem) as caught:
            run(case)
        assert caught.value.kind == case.error
    else:
        assert case.expected is not None
        found = difference(case.expected, run(case))
        assert found is None, f"{case.file}:{case.line}\n{found}"


def test_there_are_all_worked_examples() -> None:
    names = {c.name.split()[0] for c in CASES}
    assert {f"W{n}" for n in range(1, 25)} <= names
    assert len({(c.file, c.name) for c in CASES}) == len(CASES)


def test_the_reference_knows_every_function_of_the_language() -> None:
    plain = {name for name, known in CATALOGUE.items() if known.reference is not None}
    assert plain | {"coalesce", "nullif", "if"} == functions.FUNCTIONS


# --- without a parser -------------------------------------------------------------------------------------------------


def name(text: str) -> syntax.Name:
    return syntax.Name(text)


def each(type_: str, ticks: int, reference: str) -> syntax.Selection:
    within = syntax.Within(Duration(Fraction(ticks), ticks=True), name(reference))
    return syntax.Selection("each", 1, syntax.Event(name(type_)), within)


def rule(type_: str, terminator: str, *items: syntax.Item, **where: tree.Expr) -> syntax.Rule:
    assignments = tuple(syntax.Assignment(name(a), e) for a, e in where.items())
    attributes = tuple(syntax.Attribute(name(a)) for a in where)
    return syntax.Rule(None, name(type_), attributes, syntax.Event(name(terminator)), items, assignments)


def test_a_tree_built_by_hand() -> None:
    rules = [rule("CE", "A", each("B", 5, "A"), V=tree.Ref("B", "V"))]
    history = [Occurrence("B", 1, {"V": 1}), Occurrence("B", 2, {"V": 2}), Occurrence("A", 6), Occurrence("A", 7)]
    found = evaluate(rules, {}, history, kind=KINDS["none"])
    assert [(e.time, e.attributes) for e in found] == [(6, {"V": 1}), (6, {"V": 2}), (7, {"V": 2})]
    assert found[0].label == (0, (("row", 2), ("row", 0)))
    assert [c.type for c in found[0].constituents] == ["A", "B"]


def test_evaluation_order_is_topological_then_by_place() -> None:
    rules = [rule("C", "A", each("X", 1, "A")), rule("X", "Y"), rule("X", "A"), rule("Y", "A")]
    assert evaluation_order(rules) == [2, 3, 1, 0]


def test_strict_types_are_those_of_the_component() -> None:
    rules = [
        rule("P", "A"),
        rule("P", "A", each("Q", 1, "A")),
        rule("Q", "B", each("P", 1, "B")),
        rule("R", "P"),
    ]
    assert strict_types(rules) == [frozenset(), {"P", "Q"}, {"P", "Q"}, frozenset()]
    assert evaluation_order(rules) == [0, 1, 2, 3]


def test_input_is_cast_only_if_nothing_is_lost() -> None:
    rules = [rule("CE", "A", V=tree.Ref("A", "V"))]
    schemas = {"A": Schema((("V", Type.FLOAT),)), "CE": Schema((("V", Type.FLOAT),))}
    (found,) = evaluate(rules, schemas, [Occurrence("A", 1, {"V": 3})], kind=KINDS["ms"])
    assert isinstance(found.attributes["V"], float)
    for value, type_ in ((2**53 + 1, Type.FLOAT), (1.5, Type.INT), (float("inf"), Type.INT)):
        with pytest.raises(InputProblem) as caught:
            evaluate(rules, {"A": Schema((("V", type_),))}, [Occurrence("A", 1, {"V": value})], kind=KINDS["ms"])
        assert caught.value.kind == "bad-value"


def test_shares_nothing_with_the_engine() -> None:
    """Imports of the reference: trees, types, time, errors, itself."""
    allowed = ("occurs.errors", "occurs.expr", "occurs.languages.tesla", "occurs.model.occurrence",
               "occurs.model.time", "occurs.model.types", "occurs.languages.kit.reference")  # fmt: skip
    standard = {"__future__", "math", "collections.abc", "dataclasses", "fractions", "itertools", "typing", "datetime"}
    standard |= {"abc"}
    folder = Path(syntax.__file__).parent
    shared = [*(folder.parent / "kit").glob("reference_*.py"), *Path(tree.__file__).parent.glob("reference*.py")]
    assert len(shared) == 3
    for file in (*(folder / "semantics").glob("*.py"), *shared):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                what = node.module or ""
                if what.startswith("occurs"):
                    names = {a.name for a in node.names}
                    assert what.startswith(allowed), what
                    assert what != "occurs.expr" or names == {"tree"}
                    assert what != "occurs.languages.tesla" or names == {"syntax"}
                    assert not what.startswith("occurs.languages.tesla.") or "semantics" in what
                else:
                    assert what in standard | {"zoneinfo"}, what


# --- expressions --------------------------------------------------------------------------------------------------


def test_overflow_is_undecided_only_where_it_matters() -> None:
    assert both(False, OVERFLOW) is False
    assert both(True, OVERFLOW) == OVERFLOW
    assert both(None, OVERFLOW) == Undecided(frozenset((None, False)))
    assert kleene(lambda a: None if a is None else not a, OVERFLOW) == OVERFLOW
    assert strict(lambda a, b: a + b, 2**63 - 1, 1) == OVERFLOW
    assert strict(lambda a, b: a + b, None, OVERFLOW) is None


def test_division_and_remainder() -> None:
    assert divide(7, 2) == 3.5
    assert divide(7, 0) is None
    assert [remainder(7, 3), remainder(-7, 3), remainder(7, -3), remainder(7, 0)] == [1, -1, 1, None]
    assert remainder(-(2**63), -1) == 0
    assert remainder(7.5, -2) == 1.5
    assert remainder(float("inf"), 2) is None


# --- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed: int) -> None:
    """Valid by construction, the same for the same seed, whatever the order of the rows and the end of the history."""
    case = random_program(random.Random(seed))
    assert replace(random_program(random.Random(seed)), name="") == replace(case, name="") or "nan" in repr(case.events)
    found = run(case)
    rows = list(case.events)
    random.Random(seed).shuffle(rows)
    assert difference(found, run(replace(case, events=tuple(rows)))) is None
    # a detection depends on nothing later: cutting the history off cuts off the output
    analysis = resolve(case)
    rules = [r.rule for r in analysis.rules]
    times = [e.time for e in case.events if case.until is None or e.time <= case.until]
    end = random.Random(seed).choice(times) if times else 0
    whole = evaluate(rules, analysis.schemas, rows, kind=case.kind, start=case.start, until=case.until)
    part = evaluate(rules, analysis.schemas, rows, kind=case.kind, start=case.start, until=end)
    assert difference([e for e in whole if e.time <= end], part) is None


def test_most_random_programs_detect_something() -> None:
    found = [run(random_program(random.Random(seed))) for seed in range(1000, 1060)]
    assert sum(map(bool, found)) > 30
