"""Triggers as text again: the text of a tree gives the tree, and is the same however it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from occurs.expr.tree import Binary, Expr, Literal, Ref, Unary
from occurs.languages.logic import syntax as s
from occurs.languages.logic.parser import parse
from occurs.languages.logic.render import render
from occurs.model.time import Duration
from occurs.model.types import Type


def again(text: str, file: str = "a.ftl") -> str:
    """The canonical text of a text; it gives the same tree, whatever the name of its file."""
    found, problems = parse(text, file)
    assert not problems, "\n".join(p.render() for p in problems)
    canonical = render(found)
    other, problems = parse(canonical, "b.ptl")
    assert not problems, canonical
    assert other.definitions == found.definitions, canonical
    assert render(other) == canonical
    return canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("((p))", "p"),
        ("p => (q -> r)", "p implies q implies r"),
        ("(p => q) => r", "(p implies q) implies r"),
        ("(p or q) and !(r & p)", "(p or q) and not (r and p)"),
        ("p or (q or r)", "p or (q or r)"),
        ("(p until q) until (q until r)", "(p until q) until q until r"),
        ("(p until q) since (p until r)", "(p until q) since (p until r)"),
        ("p since (q since r)", "p since q since r"),
        ("p unless q", "p weak until q"),
        ("[x<-a](p until q)", "[x <- a] (p until q)"),
        ("([x<-a]p) until q", "[x <- a] p until q"),
        ("not (not a > 1)", "not not a > 1"),
        ("Eventually - within-90 s (2x>=b)", "eventually[<=90 s] 2 * x >= b"),
        ("once p and historically[=3]q", "previously p and throughout[=3] q"),
        ("p until_{>=7200 s} q", "p until[>=2 h] q"),
        ("p until[0.5 s, 1.5 us] q", None),
        ("p until[500ms,1.5 s] q", "p until[500 ms, 1500 ms] q"),
        ("a-(b-c) = -(a+b)*2 mod 3", "a - (b - c) = -(a + b) * 2 mod 3"),
        ("x - -1 = - -y", "x - -1 = - -y"),
        ("a + 5min > time + 5ticks", "a + 5 min > time + 5 ticks"),
        ("a == 'it''s' or a <> '\"'", "a = \"it's\" or a != '\"'"),
        ("a = timestamp '2024-01-05 09:00:00+01:00'", 'a = timestamp "2024-01-05T08:00:00Z"'),
        ("sum of (a) from (r) > max of a from (not r)", "sum of a from r > max of a from (not r)"),
        ("count of a from E(b=1) = 0", "count of a from E(b = 1) = 0"),
        ("avg of a within 60 s is not null", "avg of a within 1 min is not null"),
        ("exists( select  1 )", "exists (select  1)"),
        ("T('a').load = E.attr", 'T("a").load = E.attr'),
        ("1e3 > .5", "1000.0 > 0.5"),
    ],
)
def test_formulas(text: str, canonical: str | None) -> None:
    if canonical is None:
        assert parse(f"trigger a: {text}")[1]
        return
    assert again(f"trigger a: {text}") == f"future trigger a:\n    {canonical};"


def test_definitions() -> None:
    text = """TABLE T(a int KEY, b boolean) event E; event F(a text) state S(a double) view v as select ';' from T ;
    view w ( x,y ) as select a from T where b=:x; constant c=-1 constant d = 'x'
    trigger a for each y in ( select a from T ) observing every 60 s: p continue at most every 1 h notify 'a"b'
      on never execute 'x' with a = 2 y
    """.replace("2 y", "2y")
    assert again(text, "a.ptl").splitlines() == [
        "table T(a int key, b boolean);",
        "event E;",
        "event F(a string);",
        "state S(a float);",
        "view v as select ';' from T;",
        "view w(x, y) as select a from T where b=:x;",
        "constant c = -1;",
        'constant d = "x";',
        "past trigger a for each y in (select a from T) observing every 1 min:",
        "    p",
        "    continue at most every 1 h",
        "    notify 'a\"b'",
        '    on never execute "x" with a = 2 * y;',
    ]
    assert again("trigger a for each (b, c) observing all: p reactivate emit X() emit Y(a=b)").splitlines() == [
        "future trigger a for each (b, c) observing all:",
        "    p",
        "    emit X()",
        "    emit Y(a = b);",
    ]


# --- any tree -------------------------------------------------------------------------------------------------------

_NAMES = st.sampled_from(["p", "state", "min", "x1", "time", "E"])
_DURATIONS = st.builds(Duration, st.fractions(min_value=0, max_denominator=1).map(lambda f: f + 1), st.booleans())
_REFS = st.builds(Ref, st.just(None), _NAMES)
_LITERALS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda v: Literal(v, Type.INT)),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda v: Literal(v, Type.FLOAT)),
    st.text("a'\" #-;()[", max_size=4).map(lambda v: Literal(v, Type.STRING)),
    st.just(Literal(None, Type.NULL)),
)


def _terms(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(Binary, st.sampled_from(["+", "-", "*", "/", "mod"]), inner, inner),
        st.builds(lambda e: Unary("neg", e), inner.filter(lambda e: not isinstance(e, Literal))),
        st.builds(lambda n, a, b: s.Apply(n, (a, b), (None, "k"), "c"), _NAMES, inner, inner),
        st.builds(s.Aggregate, st.sampled_from(["sum", "count"]), inner, st.none(), _DURATIONS),
    )


TERMS = st.recursive(_REFS | _LITERALS, _terms, max_leaves=5)
_BOUNDS = st.one_of(
    st.none(),
    st.builds(s.Bound, st.sampled_from(["<=", ">=", "=", "<", ">"]), _DURATIONS),
    st.builds(lambda d: s.Bound("in", d, d), _DURATIONS),
)


def _formulas(inner: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
    some = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        *(st.builds(c, inner) for c in (s.Not, s.Nexttime, s.Lasttime)),
        *(st.builds(c, inner, _BOUNDS) for c in (s.Eventually, s.Always, s.Previously, s.Throughout)),
        *(st.builds(c, inner, inner, _BOUNDS) for c in (s.Until, s.Since, s.Release)),
        *(st.builds(c, inner, inner) for c in (s.WeakUntil, s.Implies)),
        *(st.builds(c, some) for c in (s.And, s.Or)),
        st.builds(s.Assign, _NAMES.map(s.Name), TERMS, inner),
        st.builds(lambda t, f: s.Compare("=", s.Aggregate("max", t, f), t), TERMS, inner),
    )


_LEAVES: st.SearchStrategy[s.Formula] = st.one_of(
    st.builds(s.Truth, st.booleans()),
    st.builds(s.Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), TERMS, TERMS),
    st.builds(s.IsNull, TERMS, st.booleans()),
    st.builds(s.Atom, TERMS),
    st.just(s.Exists(s.Sql("select ')' from (select 1)"))),
)


@given(st.recursive(_LEAVES, _formulas, max_leaves=8))
def test_any_formula(formula: s.Formula) -> None:
    text = render(s.Trigger(s.Name("a"), formula))
    file, problems = parse(text)
    assert not problems, text
    (found,) = file.definitions
    assert isinstance(found, s.Trigger)
    assert found.formula == formula, text
