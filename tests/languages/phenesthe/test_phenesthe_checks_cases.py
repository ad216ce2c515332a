"""The parser on all cases, and the checks against the reference semantics: what passes them can be evaluated."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amount import amount
from tests.textcases.phenesthe import LastingCase, load_lasting_cases

from occurs.expr import tree as core
from occurs.languages.phenesthe import syntax as s
from occurs.languages.phenesthe.checks import analyse
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.semantics import Row, evaluate
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

CASES = load_lasting_cases(Path(__file__).parents[2] / "cases" / "phenesthe")


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{Path(c.file).stem}: {c.name}") for c in CASES])
def test_the_cases_are_read_as_they_are_written(case: LastingCase) -> None:
    file, problems = parse(case.rules, case.file)
    again, more = parse(render(file))
    assert again.statements == file.statements
    assert [p.kind for p in problems + more] == [case.error] * (case.error == "syntax")


# --- random definitions ----------------------------------------------------------------------------------------------

PROGRAM, _ = parse(
    "input event a(x, y), c(x), z. input state p(x), q(x), r. input dynamic d(x). fact f(1, 2). fact f(2, 2)."
)
ARITIES = {"a": 2, "c": 1, "z": 0, "p": 1, "q": 1, "r": 0, "d": 1, "f": 2}
HISTORY = [
    *(Row("a", t, {"x": x, "y": 2}) for t, x in ((1, 1), (3, 2))),
    *(Row("c", t, {"x": x}) for t, x in ((1, 1), (4, 2))),
    *(Row("p", t, {"x": x}, end) for t, x, end in ((1, 1, 5), (2, 2, None))),
    Row("q", 2, {"x": 1}, 4),
    Row("r", 0, {}, 3),
    Row("d", 2, {"x": 2}, 6),
    Row("z", 3),
]
values = st.one_of(st.sampled_from("XXY").map(s.Variable), st.just(s.Anything()), st.just(s.Constant(2, Type.INT))).map(
    s.Argument
)


def _atoms(names: str) -> st.SearchStrategy[s.Relation]:
    return st.sampled_from(list(names)).flatmap(
        lambda n: st.builds(s.Atom, st.just(s.Name(n)), st.tuples(*[values] * ARITIES[n]))
    )


def _conditions(depth: int) -> st.SearchStrategy[s.Relation]:
    variables = st.sampled_from("XY").map(lambda v: core.Ref(None, v))
    compared = st.builds(core.Binary, st.sampled_from(["=", "<"]), variables, st.just(core.Literal(2, Type.INT)))
    leaves = st.one_of(compared.map(s.Comparison), _atoms("f"))
    if not depth:
        return leaves
    below = _conditions(depth - 1)
    return st.one_of(leaves, st.builds(s.And, below, below), st.builds(s.Or, below, below), st.builds(s.Not, below))


def _events(depth: int) -> st.SearchStrategy[s.Relation]:
    if not depth:
        return _atoms("acz")
    below, states = _events(depth - 1), _states(depth - 1)
    return st.one_of(
        _atoms("acz"), st.builds(s.And, below, below), st.builds(s.And, below, below.map(s.Not)),
        st.builds(s.And, below, _conditions(1)), st.builds(s.Or, below, below), st.builds(s.Not, below),
        st.builds(s.Start, states), st.builds(s.End, states), st.builds(s.In, below, states),
    )  # fmt: skip


def _states(depth: int) -> st.SearchStrategy[s.Relation]:
    if not depth:
        return _atoms("pqr")
    below, events = _states(depth - 1), _events(depth - 1)
    length = st.just(Duration(Fraction(2), ticks=True))
    return st.one_of(
        *(st.builds(kind, below, below) for kind in (s.Union, s.Intersection, s.Complement)),
        *(st.builds(kind, events, events) for kind in (s.MaximalRange, s.MinimalRange)),
        st.builds(s.And, below, _conditions(1)),
        st.builds(s.Iteration, events, st.sampled_from(["<", "<=", "=", ">=", ">"]), length),
        st.builds(s.Filter, below, st.sampled_from(s.LENGTHS), length),
    )


def _dynamics(depth: int) -> st.SearchStrategy[s.Relation]:
    below = st.one_of(_events(depth - 1), _states(depth - 1), _atoms("d"))
    return st.builds(s.Related, st.sampled_from([*s.RELATIONS, *s.INVERSES]), below, below)


bodies = st.one_of(
    st.tuples(st.just("event"), _events(2)),
    st.tuples(st.just("state"), _states(2)),
    st.tuples(st.just("dynamic"), _dynamics(2)),
)
heads = st.sampled_from(["", "", "X", "XY"]).map(
    lambda names: tuple(s.HeadArgument(s.Name(v), s.Variable(v)) for v in names)
)


@settings(max_examples=amount(150, 300), deadline=None, derandomize=True)
@given(bodies, heads, st.one_of(st.none(), _conditions(1)))
def test_what_passes_the_checks_can_be_evaluated(
    body: tuple[str, s.Relation], head: tuple[s.HeadArgument, ...], where: s.Relation | None
) -> None:
    made = s.Definition(body[0], s.Name("e"), head, body[1], where)
    # from the text, so that every problem has a place
    file, problems = parse(render(s.File((*PROGRAM.statements, made))), "e.phen")
    assert not problems
    kind = TimeKind(timestamp=False, unit=None)
    analysis = analyse([file], kind=kind)
    errors = [p for p in analysis.problems if p.severity == "error"]
    assert all(p.span is not None and p.hint for p in errors)
    if not errors:
        evaluate(file, HISTORY, kind=kind)
