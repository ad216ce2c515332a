"""The text of TESLA: every construct of the language, the rules of the paper, and back to text."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, IsNull, Literal, Param, Ref, Unary
from occurs.languages.tesla import syntax
from occurs.languages.tesla.parser import parse
from occurs.languages.tesla.render import render
from occurs.model.time import Duration
from occurs.model.types import Type

CASES = Path(__file__).parents[2] / "cases" / "tesla"
MINUTE = 60_000_000


def good(text: str) -> syntax.File:
    """The tree of a text without problems, which is also that of its canonical text."""
    file, problems = parse(text, "a.tesla")
    assert not problems, "\n".join(p.render() for p in problems)
    canonical = render(file)
    again, problems = parse(canonical)
    assert not problems, canonical
    assert again.statements == file.statements, canonical
    assert render(again) == canonical
    return file


def rule(text: str) -> syntax.Rule:
    (statement,) = good(text).statements
    assert isinstance(statement, syntax.Rule)
    return statement


def condition(text: str) -> Expr:
    """An expression in the parentheses of the terminator."""
    (constraint,) = rule(f"define X() from A({text})").terminator.constraints
    return constraint


def num(value: float) -> Literal:
    return Literal(value, Type.INT if isinstance(value, int) else Type.FLOAT)


# --- the paper, with the errata of the specification applied -------------------------------------------------------

PAPER = """
define Overflow(Name) from WaterLevel(Level > 20) as WL where Name = WL.Name

define Fire(Val)
from Smoke() and
each Temp(Val > 45) within 5min from Smoke
where Val = Temp.Val

define Fire(Val)
from Smoke() and
last Temp(Val > 45) within 5min from Smoke
where Val = Temp.Val

define CE from A and each B within 5 min from A
define CE from A and last B within 5 min from A
define CE from A and first B within 5 min from A

define D()
from A() and each B() within 5min from A and
last C() within 3min from A and
last D() within 6min from B and
first E() within 2min from D and
E within 8min from A

define      Fire(Val)
from        Smoke(Area = $x) and
            each Temp(Val > 45 and Area = $x)
            within 5min from Smoke
where       Val = Temp.Val

define      Weekly() from Timer(H = 9, M = 00, D = Friday)

define      Fire(Val)
from        Smoke(Area = $x) and
            each Temp(Val > 45 and Area = $x)
            within 5min from Smoke and
            not Rain(Area = $x) between Temp and Smoke
where       Val = Temp.Val

define      Fire(Val)
from        Smoke(Area = $x) and
            each Temp(Val > 45 and Area = $x)
            within 5min from Smoke and
            not Rain(Area = $x) within 5min from Smoke
where       Val = Temp.Val

define D from A and each B within 5 min from A and not C between B and A

define C() from A and not B within 5 min from A

define      Fire(Val)
from        Smoke() and each Temp(Val > 45)
            within 5min from Smoke
where       Val = Temp.Value
consuming   Temp

define AvgTemp(Val)
from Timer(M%5 == 0)
where Val = Avg(Temp().Value)
      within 5min from Timer

define HighVal(Name, Val)
from Stock(Name = $y, Val = $x) as S and
     last Opening() within 1day from S and
     $x > Avg(Stock(Name = $y).Val)
     between Opening and S
where Val = S.Val, Name = S.Name

define RepA(Times, Val)
from A()
where Times = 1 and Val = A.Val

define      RepA(Times, Val)
from        A($x) and last RepA(Val ≤ $x) within 3min
            from A
where       Times = RepA.Times + 1 and Val = $x
consuming   RepA

define      B(Times)
from        RepA()
where       Times = RepA.Times

define      CE()
from        A(Va > 1)
            and each B(Vb > 2) within 2 min from A
            and each C(Vc < 3) within 4 min from A
            and each D(Vd = 5) within 4 min from B
            and D within 5 min from C
            and each E() within 3 min from B

define      CE()
from        A(Va > 1)
            and each B(Vb > 2) within 2 min from A
            and each E() within 3 min from B

define  CE()
from  A()  and each  B()  within 10 min from  A

Subscribe(Temp, Room = "Room1" and Value > 20)
"""


def test_every_rule_of_the_paper() -> None:
    file = good(PAPER)
    rules = [s for s in file.statements if isinstance(s, syntax.Rule)]
    assert len(rules) == 22
    assert isinstance(file.statements[-1], syntax.Subscription)
    chain = rules[6]
    assert [(s.policy, s.event.role, s.within.role.text) for s in chain.selections] == [
        ("each", "B", "A"),
        ("last", "C", "A"),
        ("last", "D", "B"),
        ("first", "E", "D"),
    ]
    assert isinstance(chain.items[-1], syntax.ExtraWithin)
    assert chain.items[-1].within.duration == Duration(Fraction(8 * MINUTE))


def texts_of_cases() -> list[tuple[str, str]]:
    found = []
    for path in sorted(CASES.glob("*.md")):
        blocks = re.findall(r"^```tesla\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
        found += [(f"{path.stem}-{i}", block) for i, block in enumerate(blocks)]
    return found


@pytest.mark.parametrize("text", [pytest.param(t, id=n) for n, t in texts_of_cases()])
def test_cases_render_back(text: str) -> None:
    good(text)


# --- lexical rules ---------------------------------------------------------------------------------------------------


def test_keywords_in_any_case_and_comments() -> None:
    a = rule("DEFINE X(V) From A(b > 1) AND Each B() WITHIN 5 min FROM A WHERE V = B.v CONSUMING B")
    b = rule(
        "# one\ndefine X(V) -- two\nfrom A(b > 1) and each B() within 5 min from A where V = B.v consuming B # end"
    )
    assert a == b


def test_keywords_are_names_where_the_grammar_takes_no_keyword() -> None:
    r = rule(
        "define define(from, each) from first(within > event.consuming) as event and each where() as last "
        "within 5 min from event where from = last.between, each = event.as consuming last"
    )
    assert r.type.text == "define"
    assert [e.role for e in r.roles] == ["event", "last"]
    assert r.where[1].expr == Ref("event", "as")
    assert good("define rule(x) from event(timestamp > 1) where x = event.rule").statements


def test_names() -> None:
    assert condition("`my name` > `größe`") == Binary(">", Ref(None, "my name"), Ref(None, "größe"))
    assert condition("Länge_2 > _x") == Binary(">", Ref(None, "Länge_2"), Ref(None, "_x"))
    assert rule("define `A b`() from `not` as `2x` and `2x`.`a.b` = 1").roles[0].role == "2x"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", num(12)),
        ("00", num(0)),
        ("2.5", num(2.5)),
        (".5", num(0.5)),
        ("1e-3", num(0.001)),
        ("2e3", num(2000.0)),
        ("-7", num(-7)),
        ("9223372036854775807", num(2**63 - 1)),
        ("-9223372036854775808", num(-(2**63))),
        (r"'it\'s \"\\\n\t\u00e9\ud83d\ude00'", Literal("it's \"\\\n\té😀", Type.STRING)),
        ('"a # no -- comment; define x"', Literal("a # no -- comment; define x", Type.STRING)),
        ("true", Literal(True, Type.BOOL)),
        ("NULL", Literal(None, Type.NULL)),
        ('timestamp "2024-01-05T09:00:00Z"', Literal(1_704_445_200_000_000, Type.TIMESTAMP)),
        ('timestamp "2024-01-05T09:00:00.5"', Literal(1_704_445_200_500_000, Type.TIMESTAMP)),
        ('timestamp "2024-01-05T10:00:00+01:00"', Literal(1_704_445_200_000_000, Type.TIMESTAMP)),
    ],
)
def test_literals(text: str, value: Expr) -> None:
    assert condition(f"a = {text}") == Binary("=", Ref(None, "a"), value)


@pytest.mark.parametrize(
    ("text", "amount", "ticks"),
    [
        ("5min", 5 * MINUTE, False),
        ("1h30min", 90 * MINUTE, False),
        ("1 h 30 min 2 seconds", 90 * MINUTE + 2_000_000, False),
        ("1.5 hours", 90 * MINUTE, False),
        (".1 us", Fraction(1, 10), False),
        ("3 µs", 3, False),
        ("2w", 14 * 24 * 60 * MINUTE, False),
        ("1day", 24 * 60 * MINUTE, False),
        ("100", 100, True),
        ("0.5", Fraction(1, 2), True),
        ("7 ticks", 7, True),
    ],
)
def test_durations(text: str, amount: Fraction, ticks: bool) -> None:
    r = rule(f"define X() from A and each B within {text} from A")
    assert r.selections[0].within.duration == Duration(Fraction(amount), ticks)


def test_duration_values_keep_their_unit() -> None:
    assert condition("a > 15 s") == Binary(">", Ref(None, "a"), DurationLiteral(Duration(Fraction(15_000_000))))
    assert condition("a > 7 ticks") == Binary(">", Ref(None, "a"), DurationLiteral(Duration(Fraction(7), True)))


# --- expressions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", ["=", "==", "=>"])
def test_spellings_of_equality(sign: str) -> None:
    assert condition(f"a {sign} 1") == Binary("=", Ref(None, "a"), num(1))


@pytest.mark.parametrize(
    ("sign", "op"), [("!=", "!="), ("<>", "!="), ("≠", "!="), ("≤", "<="), ("≥", ">="), ("<", "<")]
)
def test_spellings_of_comparisons(sign: str, op: str) -> None:
    assert condition(f"a{sign}1") == Binary(op, Ref(None, "a"), num(1))


def test_precedence() -> None:
    a, b, c = (Ref(None, n) for n in "abc")
    assert condition("a or b and not c") == Binary("or", a, Binary("and", b, Unary("not", c)))
    assert condition("a ∨ b ∧ ¬ c") == Binary("or", a, Binary("and", b, Unary("not", c)))
    assert condition("a - b - c * 2 > -b") == Binary(
        ">", Binary("-", Binary("-", a, b), Binary("*", c, num(2))), Unary("neg", b)
    )
    assert condition("a - (b - c) % 2 = 0") == Binary(
        "=", Binary("-", a, Binary("%", Binary("-", b, c), num(2))), num(0)
    )
    assert condition("a is null or b is not null") == Binary("or", IsNull(a), IsNull(b, True))
    assert condition("a - -1 > 0") == Binary(">", Binary("-", a, num(-1)), num(0))
    assert condition("UPPER(a) = concat(b, 'x')").left == Call("upper", (a,))  # type: ignore[attr-defined]


def test_long_and_deep() -> None:
    many = " or ".join(f"a = {i}" for i in range(3000))
    condition(many)
    _, problems = parse(f"define X() from A({'(' * 500}a{')' * 500} > 1)")
    assert [p.kind for p in problems] == ["syntax"]
    _, problems = parse(f"define X() from A({' + '.join(['a'] * 500)} > 1)")
    assert [p.kind for p in problems] == ["syntax"]
    rule("define X() from A0 " + " ".join(f"and each A{i} within 5 min from A{i - 1}" for i in range(1, 120)))


def test_positional_constraints() -> None:
    constraints = rule("define X() from A($x, 'a', _, -5, null, b, (true), [string]$y)").terminator.constraints
    values = [c.value if isinstance(c, syntax.Positional) else c for c in constraints]
    assert values[:4] == [Param("x"), Literal("a", Type.STRING), None, num(-5)]
    assert isinstance(constraints[4], syntax.Positional)
    assert constraints[5] == Ref(None, "b")
    assert constraints[6] == Literal(True, Type.BOOL)
    assert isinstance(constraints[7], syntax.Positional)


# --- patterns --------------------------------------------------------------------------------------------------------


def test_policies_and_arithmetic_with_functions_of_the_same_name() -> None:
    r = rule(
        "define X() from A and 2-first B within 5 from A and 3-LAST C() within 5 from A "
        "and 2 - last(B().v) within 5 from A > 1 and 2-first(B().v) within 5 from A > 1 "
        "and first(B().v) between A and C > 2"
    )
    assert [(s.policy, s.k) for s in r.selections] == [("first", 2), ("last", 3)]
    conditions = [i.expr for i in r.items if isinstance(i, syntax.Condition)]
    assert isinstance(conditions[0].left, Binary)  # type: ignore[attr-defined]
    assert conditions[1].left.right.function == "first"  # type: ignore[attr-defined]
    assert isinstance(conditions[2].left.interval, syntax.Between)  # type: ignore[attr-defined]


def test_negation_against_not_of_a_condition() -> None:
    r = rule("define X() from A and not B(v > 1) within 5 from A and not B between A and A and not (A.v > 1 or A.w)")
    assert [type(i).__name__ for i in r.items] == ["Negation", "Negation", "Condition"]
    assert r.items[2].expr == Unary("not", Binary("or", Binary(">", Ref("A", "v"), num(1)), Ref("A", "w")))  # type: ignore[union-attr]


def test_aggregates() -> None:
    r = rule(
        "define X(N, S) from A where N = COUNT(B()) within 5 from A, S = 1 + Sum(B(v > 1, $k).`v w`) between A and A"
    )
    count, total = r.where[0].expr, r.where[1].expr
    assert isinstance(count, syntax.Aggregate)
    assert count.attribute is None
    assert total.right.attribute == "v w"  # type: ignore[attr-defined]
    assert total.right.function == "sum"  # type: ignore[attr-defined]


def test_conditions_at_the_top() -> None:
    r = rule("define X() from WaterLevel() as WL and WL.Level > 20 and (WL.a or WL.b) and WL.Ok")
    assert [i.expr for i in r.items] == [  # type: ignore[union-attr]
        Binary(">", Ref("WL", "Level"), num(20)),
        Binary("or", Ref("WL", "a"), Ref("WL", "b")),
        Ref("WL", "Ok"),
    ]


def test_booleans_in_where() -> None:
    r = rule("define X(A, B) from T where A = (T.v > 1 and T.w is null) and B := (not T.c)")
    assert isinstance(r.where[1].expr, Unary)


def test_spellings_of_t_rex() -> None:
    text = """Assign 2000 => Smoke, 2001 => Temp, 2100 => Fire
    Define Fire(area: string, measuredTemp: int)
    From Smoke([string]area => $a) and each Temp([string]area => $a, value > 45) within 5 min from Smoke
    Where area := Smoke.area, measuredTemp := Temp.value;"""
    assign, fire = good(text).statements
    assert isinstance(assign, syntax.Assign)
    assert [(n, str(t)) for n, t in assign.names] == [(2000, "Smoke"), (2001, "Temp"), (2100, "Fire")]
    assert isinstance(fire, syntax.Rule)
    assert [a.type for a in fire.attributes] == [Type.STRING, Type.INT]


def test_statements_need_no_separators() -> None:
    text = "event A(v: int) define X() from A consuming A rule R: define Y() from A and A.v > 1 "
    text += "Subscribe(X) define Z from Y;;"
    kinds = [type(s).__name__ for s in good(text).statements]
    assert kinds == ["EventSchema", "Rule", "Rule", "Subscription", "Rule"]


def test_spans() -> None:
    file = good("define X(V)\n  from A(v > 1)\nwhere V = A.v")
    (r,) = file.statements
    assert isinstance(r, syntax.Rule)
    constraint = r.terminator.constraints[0]
    assert (constraint.span.line, constraint.span.column, constraint.span.end_column) == (2, 10, 15)  # type: ignore[attr-defined]
    assert r.span is not None
    assert (r.span.line, r.span.end_line, r.span.end_column) == (1, 3, 14)


def test_an_empty_text() -> None:
    assert good("").statements == ()
    assert good(" # nothing\n;;").statements == ()


def test_windows_line_ends_and_byte_order_mark() -> None:
    assert len(good("\ufeffdefine X() from A\r\ndefine Y() from B\r\n").statements) == 2
