"""The text of EPL: the worked examples, every construct, mistakes and their words."""

from __future__ import annotations

from fractions import Fraction

import pytest

from occurs.expr.tree import Binary, Expr, Literal, Ref
from occurs.languages.epl import syntax as s
from occurs.languages.epl.parser import parse
from occurs.languages.epl.render import render
from occurs.model.time import Duration
from occurs.model.types import Type


def good(text: str) -> s.File:
    """The tree of a text without problems, which is also that of its canonical text."""
    file, problems = parse(text, "a.epl")
    assert not problems, "\n".join(p.render() for p in problems)
    canonical = render(file)
    again, problems = parse(canonical)
    assert not problems, "\n".join(p.render() for p in problems)
    assert again.statements == file.statements, canonical
    assert render(again) == canonical
    return file


def query(text: str) -> s.Query:
    (statement,) = good(text).statements
    assert isinstance(statement, s.Query)
    return statement


def pattern(text: str) -> s.Pattern:
    return query(f"select * from pattern [{text}]").pattern


def expr(text: str) -> Expr:
    found = query(f"select {text} as x from A").items[0].expr
    assert found is not None
    return found


def sec(n: int | str) -> Duration:
    return Duration(Fraction(n) * 1_000_000)


def number(n: int) -> Literal:
    return Literal(n, Type.INT)


def name(text: str) -> s.Name:
    return s.Name(text)


A, B, C = (s.Filter(name(x)) for x in "ABC")
X, Y, Z = (Ref(None, x) for x in "xyz")

TABLE_2 = """
create schema Patient(name string, contrDuration int, ts int);
@Name('Duration') insert into Duration select a1.name as patientId, a2.ts-a1.ts as last_delay
from pattern [(every a1=Patient(a1.contrDuration>35)) -> a2=Patient(a2.name=a1.name and a2.contrDuration>35 and a2.ts-a1.ts<=5)];
@Name('TimeOnLabor') insert into TimeOnLabor select a1.name as patientId, a3.ts-a1.ts as before_delay
from pattern [every a1=Patient(a1.contrDuration>5) -> (every a2=Patient(a2.contrDuration>35 and a2.name=a1.name) -> a3=Patient(a3.name=a1.name and a3.contrDuration>35 and a3.ts-a2.ts<=5))];
"""  # noqa: E501


def test_the_use_case_of_table_2():
    schema, duration, labor = good(TABLE_2).statements
    assert schema == s.CreateSchema(
        name("Patient"),
        (s.Attribute(name("name"), Type.STRING), s.Attribute(name("contrDuration"), Type.INT),
         s.Attribute(name("ts"), Type.INT)),
    )  # fmt: skip
    assert isinstance(duration, s.Query)
    assert isinstance(labor, s.Query)
    assert duration.annotations == (s.Annotation(name("Name"), "Duration"),)
    assert (duration.into, labor.into) == (name("Duration"), name("TimeOnLabor"))
    assert duration.items == (
        s.Item(Ref("a1", "name"), name("patientId")),
        s.Item(Binary("-", Ref("a2", "ts"), Ref("a1", "ts")), name("last_delay")),
    )
    first = s.Filter(name("Patient"), name("a1"), (Binary(">", Ref("a1", "contrDuration"), number(35)),))
    assert isinstance(duration.pattern, s.Followed)
    assert duration.pattern.operands[0] == s.Every(first)
    assert isinstance(labor.pattern, s.Followed)
    inner = labor.pattern.operands[1]
    assert isinstance(inner, s.Followed)
    assert isinstance(inner.operands[0], s.Every)
    assert inner.limits == (None,)


#: Listing 5 of the paper: cond are conditions, and a pattern has no tags
LISTING_5 = [
    ("A(ma % 5 = 0)", "A"),
    ("every A(ma % 5 = 0)", "(Every A)"),
    ("A -> B", "(Followed A B)"),
    ("A -> B(mb > 2 and mb < a.ma)", "(Followed A B)"),
    ("every A(ma > 10) -> B", "(Followed (Every A) B)"),
    ("A -> every B", "(Followed A (Every B))"),
    ("every (A -> B)", "(Every (Followed A B))"),
    ("every A -> every B", "(Followed (Every A) (Every B))"),
    ("(A -> B) -> C", "(Followed (Followed A B) C)"),
    ("A -> (B -> C)", "(Followed A (Followed B C))"),
    ("A(ma > 10) -> every (B(mb > 2) -> C)", "(Followed A (Every (Followed B C)))"),
    ("(every A -> every B) -> every C", "(Followed (Followed (Every A) (Every B)) (Every C))"),
    ("every ((A -> B) -> C)", "(Every (Followed (Followed A B) C))"),
    ("every (A -> B) -> C", "(Followed (Every (Followed A B)) C)"),
    ("A -> every B -> C", "(Followed A (Every B) C)"),
    ("every A -> every (B -> C)", "(Followed (Every A) (Every (Followed B C)))"),
]


def shape(node: s.Pattern) -> str:
    """A pattern with all its parentheses."""
    if isinstance(node, s.Filter):
        return node.type.text
    return f"({type(node).__name__} {' '.join(map(shape, node.children))})".replace(" )", ")")


@pytest.mark.parametrize(("text", "expected"), LISTING_5)
def test_the_patterns_of_listing_5(text, expected):
    assert shape(pattern(text)) == expected
