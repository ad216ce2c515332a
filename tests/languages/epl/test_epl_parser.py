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


def problems(text: str) -> list[str]:
    """Line, column, kind and message of each problem."""
    return [f"{p.line}:{p.column} {p.kind}: {p.message}" for p in parse(text, "a.epl")[1]]


P = "select * from pattern ["
#: text, the beginning of the one problem, and words of its hint
WRONG = [
    (P + "every every a=A]", "1:30 syntax: unexpected `every`", "`every (every ..)`"),
    (P + "every not a=A]", "1:30 syntax: unexpected `not`", "`every (not ..)`"),
    (P + "a=A(x == 3)]", "1:31 syntax: unexpected `=`", "one `=`"),
    (P + "a=A(x < y < z)]", "1:34 syntax: unexpected `<`", "do not chain"),
    ("select * from pattern every a=A", "1:23 syntax: unexpected `every`", "square brackets"),
    (P + "every a=A", "1:33 syntax: the statement ends too early", "is not closed"),
    (P + "[:] a=A until B]", "1:24 bad-bound: this range has neither a lower nor an upper bound", "[2:3]"),
    (P + "[2:3] a=A -> B]", "1:24 bad-bound: a range of repetitions needs an `until`", "[2] a=A"),
    (P + "timer:interval(3 mins)]", "1:41 unknown-unit: `mins`", "did you mean `min`?"),
    (P + "a=A(time > 3 months)]", "1:37 unsupported: the unit `months`", "30 days"),
    (P + "timer:interval(1.5 months)]", "1:39 syntax: `1.5` is not a whole number", "a number of months"),
    (P + "timer:interval(-1 month)]", "1:39 bad-duration: a duration must be greater", "`1 month`"),
    (P + "timer:at(0, 8, 'UTC', *, *)]", "1:39 syntax: a field of `timer:at` is a number", "seventh field"),
    (P + "timer:at(0, 8, *, *, *, 0, 5)]", "1:51 syntax: the seventh field of `timer:at`", "Europe/Madrid"),
    (P + "timer:schedule(iso: 'R')]", "1:24 syntax: this is not a schedule of ISO 8601", "PT1H"),
    (P + "timer:within(3)]", "1:24 syntax: `timer:within` is not allowed here", "where timer:within"),
    (P + "timer:at(*, *, *)]", "1:24 syntax: `timer:at` takes 5 to 9 fields, not 3", "day of week"),
    ("select * from A#length(3)", "1:16 unsupported: a data window", "timer:within"),
    ("select * from A.win:length(3)", "1:16 unsupported: a data window", "timer:within"),
    ("select * from A, B", "1:16 unsupported: a join", "relate events"),
    ("select a.x from A as a group by a.x", "1:24 unsupported: `group by`", "detects a pattern"),
    ("select sum(x) from A", "1:8 unsupported: the aggregate `sum`", "single events"),
    ("select x from A output every 3 events", "1:17 unsupported: `output`", "emits every detection"),
    ("select * from ?", "1:15 unsupported: a parameter in this place", "the value itself"),
    (P + "a=A(k > ${k})]", "1:33 unsupported: a placeholder", "`?:name`"),
    (P + "a=A(k > ?:k:lnog)]", "1:32 syntax: `lnog` is not a type", "`long`"),
    (P + "timer:at(weekday, 8, *, *, *)]", "1:33 syntax: unexpected `weekday`", "15 weekday"),
    ("select a.l[a.n] as x from A as a", "1:12 unsupported: the index of an element", "the number itself"),
    ("select lower('K').x as x from A as a", "1:8 unsupported: a function has no elements", "`map('k')`"),
    ("create schema A(l int[])", "1:22 unsupported: a list as the type", "leave the schema out"),
    ("create variable itn n = 5", "1:17 syntax: `itn` is not a type", "did you mean `int`"),
    ("set n = 5", "1:1 unsupported: `set`", "keeps its value"),
    ("select x from A match_recognize (x)", "1:17 unsupported: `match_recognize`", "pattern"),
    ("select a.x form pattern [a=A]", "1:17 syntax: unexpected `pattern`", "did you mean `from`?"),
    ("selct x from A", "1:1 syntax: unexpected `selct`", "did you mean `select`?"),
    (P + "a=A(x = 99999999999999999999)]", "1:32 syntax: this integer does not fit", "float"),
    (P + "a=A(x = 'b)]", "1:32 syntax: this string is not closed", "close it"),
    ("create schema A(x intt)", "1:19 syntax: `intt` is not a type", "did you mean `int`"),
    ("select * from pattern @Discard [a=A]", "1:23 syntax: `@Discard` is not an annotation", "DiscardPartialsOnMatch"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "hint"), WRONG)
def test_mistakes_are_named_at_their_place(text, message, hint):
    file, found = parse(text, "a.epl")
    assert not file.statements
    assert [f"{p.line}:{p.column} {p.kind}: {p.message}".startswith(message) for p in found] == [True], problems(text)
    assert found[0].hint is not None
    assert hint in found[0].hint


def test_the_problems_of_all_statements_are_reported():
    text = "create context X;\n\nselect * from A;\nselect * from B,\nC; create schema D(x int"
    assert [p.partition(" ")[0] for p in problems(text)] == ["1:8", "4:16", "5:25"]
    file = parse("create schema D(x; insert into E select * fro A; @Name('F') select 1 1;")[0]
    assert file.unread == {"D", "E", "F"}


def test_a_missing_semicolon_does_not_hide_the_next_statement():
    text = "insert into X select *\nfrom A\ninsert into Y select * from B"
    assert problems(text) == ["2:7 syntax: the statement ends without `;`"]
    assert len(parse(text)[0].statements) == 2


def test_comments_blanks_and_spellings():
    text = ("# first\n  -- second\n/* a ; b\n */ SELECT a.`select` AS n FROM PATTERN [Every a=A(x ≤ 1 // ; \n) → "
            "every - distinct(k, 1 MIN 30 sec) `every`];;")  # fmt: skip
    found = query(text)
    assert found.items == (s.Item(Ref("a", "select"), name("n")),)
    least = s.Filter(name("A"), name("a"), (Binary("<=", X, number(1)),))
    distinct = s.EveryDistinct(s.Filter(name("every")), (Ref(None, "k"),), sec(90))
    assert found.pattern == s.Followed((s.Every(least), distinct), (None,))
    assert problems("select * from A; /* open") == ["1:18 syntax: this comment is not closed"]


PATTERNS = [
    ("A -[2]> B", s.Followed((A, B), (2,))),
    ("every A and B or C", s.Or((s.And((s.Every(A), B)), C))),
    ("A -> B where timer:within(5)", s.Followed((A, s.Within(B, sec(5))), (None,))),
    ("every A where timer:withinmax(2 sec, 2)", s.Every(s.Within(A, sec(2), 2))),
    ("[:3] A until B", s.Until(None, 3, A, B)),
    ("[2:] A until B", s.Until(2, None, A, B)),
    ("[2] A until B", s.Until(2, 2, A, B)),
    ("every [2] A", s.Every(s.Repeat(A, 2))),
    ("[0] A", s.Repeat(A, 0)),
    ("A while (x = 1)", s.While(A, Binary("=", X, number(1)))),
    ("A@consume -> B@consume(3)",
     s.Followed((s.Filter(name("A"), consume=1), s.Filter(name("B"), consume=3)), (None,))),
    ("timer:interval(0.5 sec)", s.Interval(sec("0.5"))),
    ("every-distinct(x, y, 3) A", s.EveryDistinct(A, (X, Y), sec(3))),
    ("timer:at(*/15, 8:17, [1, 2:3], *, 0, 30)", s.At((
        s.Cron("step", 15), s.Cron("range", 8, 17), s.Cron("list", items=(s.Cron("at", 1), s.Cron("range", 2, 3))),
        s.Cron("any"), s.Cron("at", 0), s.Cron("at", 30)))),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PATTERNS)
def test_patterns(text, expected):
    assert pattern(text) == expected


@pytest.mark.parametrize("inside", ["every (", "(x) -> (", "not ("])
def test_deep_patterns_are_a_problem_not_a_crash(inside):
    depth = 2000
    found = problems(P + inside.replace("x", "A") * depth + "A" + ")" * depth + "]")
    assert [p.partition(": ")[2] for p in found] == ["nested more than 150 levels deep"]


def test_long_chains_are_not_deep():
    for sign in (" -> ", " and ", " or "):
        assert len(pattern(sign.join(["A"] * 1000)).children) == 1000
    long = " and ".join(f"x{i} = {i}" for i in range(1000))
    assert len(list(expr(long).walk())) == 999 + 3000
