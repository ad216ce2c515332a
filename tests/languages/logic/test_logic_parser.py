"""The text of FTL and PTL: every construct and spelling, mistakes and their words."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Ref, Unary
from occurs.languages.logic import syntax as s
from occurs.languages.logic.parser import parse
from occurs.model.time import Duration
from occurs.model.types import Type


def good(text: str, file: str = "a.ftl") -> s.File:
    found, problems = parse(text, file)
    assert not problems, "\n".join(p.render() for p in problems)
    return found


def trigger(text: str, file: str = "a.ftl") -> s.Trigger:
    (found,) = good(text, file).definitions
    assert isinstance(found, s.Trigger)
    return found


def formula(text: str) -> s.Formula:
    return trigger(f"trigger a: {text}").formula


def term(text: str) -> Expr:
    found = formula(f"{text} is null")
    assert isinstance(found, s.IsNull)
    return found.term


def ref(name: str) -> Ref:
    return Ref(None, name)


def atom(name: str) -> s.Atom:
    return s.Atom(ref(name))


def number(n: int) -> Literal:
    return Literal(n, Type.INT)


def ticks(n: int) -> Duration:
    return Duration(Fraction(n), True)


def minutes(n: int) -> Duration:
    return Duration(Fraction(n) * 60_000_000)


P, Q, R = atom("p"), atom("q"), atom("r")
OVERLOAD = """
table Traffic (link string key, load int)
trigger overload for each y in (select link from Traffic):
    eventually [t <- time][x <- Traffic(y)] eventually (Traffic(y) >= 2*x and time <= t + 10)
    continue at most every 30
    emit Overload(link = y, load = Traffic(y))
    execute "insert into alarms(link, at) values (:y, :time)"
"""


def test_overload() -> None:
    table, found = good(OVERLOAD).definitions
    assert table == s.Table(
        s.Name("Traffic"),
        (s.Column(s.Name("link"), Type.STRING, True), s.Column(s.Name("load"), Type.INT)),
    )
    load = s.Apply("Traffic", (ref("y"),), (None,))
    inner = s.And((
        s.Compare(">=", load, Binary("*", number(2), ref("x"))),
        s.Compare("<=", ref("time"), Binary("+", ref("t"), number(10))),
    ))  # fmt: skip
    scopes = s.Assign(s.Name("t"), ref("time"), s.Assign(s.Name("x"), load, s.Eventually(inner)))
    assert found == s.Trigger(
        s.Name("overload"),
        s.Eventually(scopes),
        each=s.ForEach((s.Name("y"),), s.Sql("select link from Traffic")),
        continues=True,
        gap=ticks(30),
        actions=(
            s.Emit(s.Name("Overload"), ((s.Name("link"), ref("y")), (s.Name("load"), load))),
            s.Execute("insert into alarms(link, at) values (:y, :time)"),
        ),
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("p", P),
        ("true", s.Truth(True)),
        ("FALSE", s.Truth(False)),
        ("a > 4", s.Compare(">", ref("a"), number(4))),
        ("p and q", s.And((P, Q))),
        ("p ∧ q & r", s.And((P, Q, R))),
        ("p or q ∨ r", s.Or((P, Q, R))),
        ("p | q and r", s.Or((P, s.And((Q, R))))),
        ("(p or q) or r", s.Or((s.Or((P, Q)), R))),
        ("p implies q => r", s.Implies(P, s.Implies(Q, R))),
        ("p -> q", s.Implies(P, Q)),
        ("p → q ⇒ r", s.Implies(P, s.Implies(Q, R))),
        ("not p and ¬q & !r | ~p", s.Or((s.And((s.Not(P), s.Not(Q), s.Not(R))), s.Not(P)))),
        ("not a > 4", s.Not(s.Compare(">", ref("a"), number(4)))),
        ("nexttime p and next q", s.And((s.Nexttime(P), s.Nexttime(Q)))),
        ("lasttime p and last q", s.And((s.Lasttime(P), s.Lasttime(Q)))),
        ("p until q until r", s.Until(P, s.Until(Q, R))),
        ("p since q since r", s.Since(P, s.Since(Q, R))),
        ("p until q and r", s.And((s.Until(P, Q), R))),
        ("not p until q", s.Until(s.Not(P), Q)),
        ("[x <- a] p until q", s.Until(s.Assign(s.Name("x"), ref("a"), P), Q)),
        ("[x ← a] (p until q)", s.Assign(s.Name("x"), ref("a"), s.Until(P, Q))),
        ("[x := a] [y<-x] p", s.Assign(s.Name("x"), ref("a"), s.Assign(s.Name("y"), ref("x"), P))),
        ("p weak until q release r", s.WeakUntil(P, s.Release(Q, R))),
        ("p unless q", s.WeakUntil(P, Q)),
        ("(p until q) since r", s.Since(s.Until(P, Q), R)),
        ("eventually always p", s.Eventually(s.Always(P))),
        ("Previously (once p)", s.Previously(s.Previously(P))),
        ("throughout historically p", s.Throughout(s.Throughout(P))),
        ("a is null or a is not null", s.Or((s.IsNull(ref("a")), s.IsNull(ref("a"), True)))),
        ("a == 1 or a <> 2", s.Or((s.Compare("=", ref("a"), number(1)), s.Compare("!=", ref("a"), number(2))))),
        ("a ≤ b and a ≥ c and a ≠ d and a = e", s.And((
            s.Compare("<=", ref("a"), ref("b")), s.Compare(">=", ref("a"), ref("c")),
            s.Compare("!=", ref("a"), ref("d")), s.Compare("=", ref("a"), ref("e"))))),
        ("a<-5", s.Compare("<", ref("a"), number(-5))),
        ("exists (select ')' from t where (a = 1))", s.Exists(s.Sql("select ')' from t where (a = 1)"))),
        ("coalesce(p, false)", s.Atom(s.Apply("coalesce", (ref("p"), Literal(False, Type.BOOL)), (None, None)))),
    ],
)  # fmt: skip
def test_formulas(text: str, tree: s.Formula) -> None:
    assert formula(text) == tree
    # words of the language may be written in any case
    assert formula(text.replace("until", "Until").replace("and", "AND").replace("or ", "Or ")) == tree


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("p until q", None),
        ("p until[<=10] q", s.Bound("<=", ticks(10))),
        ("p Until [ ≤ 10 min ] q", s.Bound("<=", minutes(10))),
        ("p until[>=60 s] q", s.Bound(">=", minutes(1))),
        ("p until[=1 h] q", s.Bound("=", minutes(60))),
        ("p until[<3] q", s.Bound("<", ticks(3))),
        ("p until[>3 ticks] q", s.Bound(">", ticks(3))),
        ("p until[5,9] q", s.Bound("in", ticks(5), ticks(9))),
        ("p until[0, 1.5 min] q", s.Bound("in", ticks(0), Duration(Fraction(90_000_000)))),
        ("p until [5 min, 9 min] q", s.Bound("in", minutes(5), minutes(9))),
        ("p Until_{<=10} q", s.Bound("<=", ticks(10))),
        (r"p Until_{\leq 10} q", s.Bound("<=", ticks(10))),
        (r"p Until_{ \geq 10 } q", s.Bound(">=", ticks(10))),
        ("p Until_≤10 q", s.Bound("<=", ticks(10))),
        ("p until_>=10(q)", s.Bound(">=", ticks(10))),
        ("p Until_{=50 min} q", s.Bound("=", minutes(50))),
    ],
)
def test_bounds(text: str, bound: s.Bound | None) -> None:
    assert formula(text) == s.Until(P, Q, bound)
    assert formula(re.sub("(?i)until", "SINCE", text)) == s.Since(P, Q, bound)


@pytest.mark.parametrize(
    "text",
    [
        "eventually[<=10] p", "Eventually within 10 p", "eventually within 10(p)", "Eventually-within-10 (p)",
        "Eventually – within-10 (p)", "eventually — within 10 p", "Eventually_{<=10} p", "eventually_≤10 p",
        "EVENTUALLY-WITHIN-10(p)", "eventually within 10 ticks p",
    ],
)  # fmt: skip
def test_eventually_within(text: str) -> None:
    assert formula(text) == s.Eventually(P, s.Bound("<=", ticks(10)))


def test_other_operators_with_bounds() -> None:
    ten = s.Bound("<=", ticks(10))
    assert formula("Throughout-the-Past p") == s.Throughout(P)
    assert formula("throughout – the – past-within-10 (p)") == s.Throughout(P, ten)
    assert formula("always within 10 p") == s.Always(P, ten)
    assert formula("once[>=10] p") == s.Previously(P, s.Bound(">=", ticks(10)))
    assert formula("p release[<=10] q") == s.Release(P, Q, ten)
    # behind a bound there may be an assignment
    assert formula("p until[<=10] [x <- a] q") == s.Until(P, s.Assign(s.Name("x"), ref("a"), Q), ten)
    assert formula("p until [x <- a] q") == s.Until(P, s.Assign(s.Name("x"), ref("a"), Q))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("2x", Binary("*", number(2), ref("x"))),
        (".5x", Binary("*", Literal(0.5, Type.FLOAT), ref("x"))),
        ("2(t.load)", Binary("*", number(2), Ref("t", "load"))),
        ("2t.load", Binary("*", number(2), Ref("t", "load"))),
        ("2T('l').load", Binary("*", number(2), s.Apply("T", (Literal("l", Type.STRING),), (None,), "load"))),
        ("1e3x", Binary("*", Literal(1000.0, Type.FLOAT), ref("x"))),
        ("2e3", Literal(2000.0, Type.FLOAT)),
        ("2w", Binary("*", number(2), ref("w"))),
        ("2minute_count", Binary("*", number(2), ref("minute_count"))),
        ("2min", DurationLiteral(minutes(2))),
        ("2 min", DurationLiteral(minutes(2))),
        ("3 d", DurationLiteral(minutes(3 * 1440))),
        ("4ticks", DurationLiteral(ticks(4))),
        ("a / 2x", Binary("/", ref("a"), Binary("*", number(2), ref("x")))),
        ("-2x", Unary("neg", Binary("*", number(2), ref("x")))),
        ("x - -1", Binary("-", ref("x"), number(-1))),
        ("a - b - c", Binary("-", Binary("-", ref("a"), ref("b")), ref("c"))),
        ("a + b * c mod 3", Binary("+", ref("a"), Binary("mod", Binary("*", ref("b"), ref("c")), number(3)))),
        ("(a + b) * c", Binary("*", Binary("+", ref("a"), ref("b")), ref("c"))),
        ("'it''s'", Literal("it's", Type.STRING)),
        ('"a""b"', Literal('a"b', Type.STRING)),
        ('"# -- no comment"', Literal("# -- no comment", Type.STRING)),
        ("null", Literal(None, Type.NULL)),
        ("-9223372036854775808", Literal(-(2**63), Type.INT)),
        ("timestamp '1970-01-01T00:00:01Z'", Literal(1_000_000, Type.TIMESTAMP)),
        ("timestamp", ref("timestamp")),
        ("currenttime + 10 min", Binary("+", ref("time"), DurationLiteral(minutes(10)))),
        ("E.attr", Ref("E", "attr")),
        ("E(a = x + 1, b)", s.Apply("E", (Binary("+", ref("x"), number(1)), ref("b")), ("a", None))),
        ("f()", s.Apply("f", (), ())),
        ("sum of x from r", s.Aggregate("sum", ref("x"), R)),
        ("AVG OF x + 1 FROM r", s.Aggregate("avg", Binary("+", ref("x"), number(1)), R)),
        ("count of x from E(a = 1)", s.Aggregate("count", ref("x"), s.Atom(s.Apply("E", (number(1),), ("a",))))),
        ("min of x from (p and q)", s.Aggregate("min", ref("x"), s.And((P, Q)))),
        ("max of x within 10 min", s.Aggregate("max", ref("x"), None, minutes(10))),
        ("max", ref("max")),
        ("count + sum", Binary("+", ref("count"), ref("sum"))),
    ],
)
def test_terms(text: str, tree: Expr) -> None:
    assert term(text) == tree


def test_an_aggregate_ends_before_the_comparison() -> None:
    found = formula("sum of x from r >= 13 and avg of x within 10 > 6")
    assert found == s.And((
        s.Compare(">=", s.Aggregate("sum", ref("x"), R), number(13)),
        s.Compare(">", s.Aggregate("avg", ref("x"), None, ticks(10)), number(6)),
    ))  # fmt: skip


def test_declarations() -> None:
    text = """table T(k string key, n INT, f float, b boolean, at timestamp) event E event F(a int);
    state s(a int, b float) view v(lo, hi) as select "a;" from T where n > :lo -- ; no end
      and n < :hi; view w as select count(*) from T;
    constant c = -5; constant d = 'x' constant e = timestamp "1970-01-01" constant f = -2.5"""
    table, e, f, state, v, w, *constants = good(text).definitions
    assert isinstance(table, s.Table)
    types = [Type.STRING, Type.INT, Type.FLOAT, Type.BOOL, Type.TIMESTAMP]
    assert [c.type for c in table.columns] == types
    assert [c.name.text for c in table.keys] == ["k"]
    assert (e, f) == (s.Event(s.Name("E")), s.Event(s.Name("F"), (s.Column(s.Name("a"), Type.INT),)))
    assert state == s.State(s.Name("s"), (s.Column(s.Name("a"), Type.INT), s.Column(s.Name("b"), Type.FLOAT)))
    assert isinstance(v, s.View)
    assert v.parameters == (s.Name("lo"), s.Name("hi"))
    assert " ".join(v.sql.text.split()) == 'select "a;" from T where n > :lo and n < :hi'
    assert w == s.View(s.Name("w"), (), s.Sql("select count(*) from T"))
    values = [(c.name.text, c.value.value) for c in constants if isinstance(c, s.Constant)]
    assert values == [("c", -5), ("d", "x"), ("e", 0), ("f", -2.5)]


def test_clauses_of_a_trigger() -> None:
    found = trigger("""past trigger a for each (k, l) in (select k, l from T) observing every 5 min: p
        reactivate at most every 3 h
        notify "{k}" on never notify 'gone' execute "x" with a = k, b = T(k).load on never execute "y" emit E()""")
    assert found.past
    assert found.each == s.ForEach((s.Name("k"), s.Name("l")), s.Sql("select k, l from T"))
    assert found.observing == s.Observing(minutes(5))
    assert (found.continues, found.gap) == (False, minutes(180))
    assert found.actions == (
        s.Notify("{k}"),
        s.Notify("gone", True),
        s.Execute("x", ((s.Name("a"), ref("k")), (s.Name("b"), s.Apply("T", (ref("k"),), (None,), "load")))),
        s.Execute("y", (), True),
        s.Emit(s.Name("E")),
    )
    assert found.emit == s.Emit(s.Name("E"))
    plain = trigger("trigger a for each link observing all: p continue")
    assert plain.each == s.ForEach((s.Name("link"),))
    assert plain.observing == s.Observing()
    assert (plain.continues, plain.gap, plain.actions, plain.emit) == (True, None, (), None)


def test_which_logic() -> None:
    assert not trigger("trigger a: p").past
    assert trigger("trigger a: p", "A.PTL").past
    assert not trigger("Future trigger a: p", "a.ptl").past
    assert trigger("PAST trigger a: p").past
    (found,) = parse("trigger a: p", past=True)[0].definitions
    assert isinstance(found, s.Trigger)
    assert found.past


def test_definitions_need_no_semicolon() -> None:
    text = """# first
    trigger a: event until state or table and count > min continue
    event event2 trigger b: p notify "trigger c: p" past trigger c: [view <- a] p;;
    table T(a int key) ; trigger d: p -- trigger e: p
    trigger f observing all: p"""
    names = [d.name.text for d in good(text).definitions]
    assert names == ["a", "event2", "b", "c", "T", "d", "f"]


def test_definitions_may_be_called_as_definitions_are() -> None:
    text = """event table
    state state(a int) event event(n int) table trigger(k int)
    trigger for each state in (select 1): state
    trigger view: sum of state from (event) > 3 and state(2) trigger event: constant"""
    names = [d.name.text for d in good(text.replace("trigger for", "trigger past for")).definitions]
    assert names == ["table", "state", "event", "trigger", "past", "view", "event"]


def test_places() -> None:
    found = trigger("trigger a:\n  p until\n [x <- b] exists (\n  select 1 )")
    assert isinstance(found.formula, s.Until)
    right = found.formula.right
    assert isinstance(right, s.Assign)
    assert right.variable.span is not None
    assert (right.variable.span.line, right.variable.span.column) == (3, 3)
    assert isinstance(right.operand, s.Exists)
    sql = right.operand.sql
    assert sql.text == "select 1"
    assert sql.span is not None
    assert (sql.span.line, sql.span.column, sql.span.end_column) == (4, 3, 11)


#: text, kind, place, a part of the message, a part of the hint
WRONG = [
    ("trigger a: p && q", "syntax", "1:15", "expected a formula", "write `and`, `or`"),
    ("trigger a: p until q since r", "syntax", "1:12", "`until` and `since` cannot be chained", "`(p until q) since"),
    ("trigger a: p since q unless r", "syntax", "1:12", "`since` and `unless`", "parentheses"),
    ("trigger a: eventually within (p)", "bad-bound", "1:30", "missing", "`eventually within 10 min (..)`"),
    ("trigger a: lasttime[<=3] p", "bad-bound", "1:20", "does not take a bound", "[t <- time] lasttime (time >="),
    ("trigger a: next[<=3] p", "bad-bound", "1:16", "does not take a bound", "[t <- time] next (time <= t + 3"),
    ("trigger a: p until[9, 5] q", "bad-bound", "1:19", "ends before it begins", "smaller"),
    ("trigger a: p until[<=0] q", "bad-bound", "1:22", "must be positive", "write"),
    ("trigger a: p until[<=-5 min] q", "bad-bound", "1:22", "cannot be negative", "[5 min, 10 min]"),
    ("trigger a: p until[-1, 5] q", "bad-bound", "1:20", "cannot be negative", ""),
    ("trigger a: p weak until[<=3] q", "bad-bound", "1:24", "`weak until` does not take a bound", "release"),
    ("trigger a: p until[c] q", "syntax", "1:21", "expected `<-`", "until[<=10 min]"),
    ("trigger a: p until[<=c] q", "bad-bound", "1:22", "a duration is expected", "names and sums"),
    ("trigger a: p until_{<=c} q", "bad-bound", "1:23", "a duration is expected", "names and sums"),
    ("trigger a: p until within 10 q", "bad-bound", "1:20", "the bound of `until` in brackets", "until[<=10 min]"),
    ("trigger a: p until[!=3] q", "bad-bound", "1:19", "cannot use `!=`", "[>=10 min]"),
    ("trigger a: p until[<=1e400] q", "syntax", "1:22", "too long", ""),
    ("trigger a: p continue at most every 0", "bad-bound", "1:37", "must be positive", ""),
    ("trigger a observing every -1 s: p", "bad-bound", "1:27", "negative", ""),
    ("trigger a: eventually[<=2 weeks] p", "unknown-unit", "1:27", "`weeks` is not a unit", "`7 days`"),
    ("trigger a: eventually within 2 weeks (p)", "unknown-unit", "1:32", "`weeks` is not a unit", "`7 days`"),
    ("trigger a: eventually within 2 months p", "unknown-unit", "1:32", "`months` is not a unit", "`30 days`"),
    ("trigger a: eventually within 2 MIN (p)", "unknown-unit", "1:32", "`MIN` is not a unit", "write `min`"),
    ("trigger a: eventualy p", "syntax", "1:22", "unexpected `p`", "did you mean `eventually`?"),
    ("trigger a: p untill q", "syntax", "1:14", "unexpected `untill`", "did you mean `until`?"),
    ("trigger a: x > 'abc", "syntax", "1:16", "not closed on its line", "write it twice"),
    ("trigger a: [x <- a p", "syntax", "1:20", "expected `]`", "`[` is not closed"),
    ("trigger a: [x <- a] (p until (q and r)", "syntax", "1:39", "ends too early: expected `)`", "not closed"),
    ("trigger a: (p and q))", "syntax", "1:21", "unexpected `)`", "no parenthesis is open"),
    ("trigger a: a < b < c", "syntax", "1:18", "unexpected `<`", "a < b and b < c"),
    ("trigger a: a in (1, 2)", "syntax", "1:14", "unexpected `in`", "there is no `in`"),
    ("trigger a: a between 1 and 2", "syntax", "1:14", "unexpected `between`", "a >= 1 and a <= 2"),
    ("trigger a: a is 3", "syntax", "1:17", "expected `null` or `not null`", "test for null"),
    ("trigger a: a =< 3", "syntax", "1:15", "expected a value", ""),
    ("trigger a: p % 2 = 1", "syntax", "1:14", "unexpected `%`", "`mod`"),
    ("trigger a: ∃x p", "syntax", "1:12", "unexpected `∃`", "only quantifier"),
    ("trigger a: 2 x > 3", "syntax", "1:14", "unexpected `x`", "`2 * x`"),
    ("trigger a: (p and q) > 3", "syntax", "1:13", "a value is needed here", "join formulas"),
    ("trigger a: coalesce((p until q)) = 1", "syntax", "1:22", "a value is needed here", ""),
    ("trigger a: p and", "syntax", "1:17", "ends too early: expected a formula", ""),
    ("trigger a: p and @", "syntax", "1:18", "unexpected `@`", ""),
    ("trigger a:", "syntax", "1:11", "ends too early: expected a formula", ""),
    ("trigger a p", "syntax", "1:11", "expected `observing` or `:`", ""),
    ("trigger until: p", "syntax", "1:9", "expected a name", "a keyword and cannot be a name"),
    ("trigger a: [until <- b] p", "syntax", "1:13", "`until` is a keyword and cannot be a name", "another name"),
    ("trigger a: eventually [5 min] p", "bad-bound", "1:29", "the bound needs a", "write `[<=10 min]`"),
    ("trigger a: [] p", "syntax", "1:13", "unexpected `]`", "[x <- term] formula"),
    ("trigger a: p notify 'x' continue", "syntax", "1:25", "unexpected `continue`", "before the actions"),
    ("trigger a: p at most every 3", "syntax", "1:14", "unexpected `at`", "`reactivate at most every ..`"),
    ("trigger a: p observing all", "syntax", "1:14", "unexpected `observing`", "before the colon"),
    ("trigger a: p emit X", "syntax", "1:20", "expected `(`", ""),
    ("trigger a: sum of x > 3", "syntax", "1:21", "expected `from` or `within`", ""),
    ("trigger a: exists ()", "bad-sql", "1:12", "a SELECT is missing", "select"),
    ("trigger a: exists (select 1 from (x)", "syntax", "1:19", "this parenthesis is not closed", "SELECT"),
    ("view v as ;", "bad-sql", "1:1", "a SELECT is missing", ""),
    ("view v as select 1", "syntax", "1:19", "the view ends without `;`", "semicolon"),
    ("trigger a: 99999999999999999999 > b", "syntax", "1:12", "64 bits", "point"),
    ("trigger a: 1e999 > b", "syntax", "1:12", "too large", ""),
    ("trigger a: timestamp 'x' > time", "syntax", "1:12", "not a valid time", ""),
    ("table T(a nit)", "syntax", "1:11", "`nit` is not a type", "did you mean `int`?"),
    ("table T()", "syntax", "1:8", "at least one column", ""),
    ("event E(a int key)", "syntax", "1:15", "an event cannot have a key", ""),
    ("state S(a int key)", "syntax", "1:15", "a state cannot have a key", ""),
    ("constant c = a", "syntax", "1:14", "expected a constant", ""),
    ("tabel T(a int)", "syntax", "1:1", "unexpected `tabel`", "did you mean `table`?"),
    ("trigger a: p tabel T(a int)", "syntax", "1:14", "unexpected `tabel`", "did you mean `table`?"),
    ("\ntrigger a: " + "(not " * 200 + "p" + ")" * 200, "syntax", "2:413", "nested more than 80", ""),
    ("trigger a: " + "-x" * 200 + " > 0", "syntax", "1:12", "more than 80 operands", ""),
]


@pytest.mark.parametrize(("text", "kind", "place", "message", "hint"), WRONG, ids=[w[0][:40].strip() for w in WRONG])
def test_mistakes(text: str, kind: str, place: str, message: str, hint: str) -> None:
    file, problems = parse(text, "a.ftl")
    (p,) = problems
    assert (p.kind, f"{p.line}:{p.column}") == (kind, place), p.render()
    assert message in p.message, p.render()
    assert hint in (p.hint or ""), p.render()
    assert "^" in p.render()
    if "as select" not in text:
        assert not file.definitions


def test_all_wrong_definitions_are_reported() -> None:
    text = "trigger a: p until\ntable T(a int);\ntrigger b: )\nview v as select 1\ntrigger c: exists (select 1\nevent E"
    file, problems = parse(text, "a.ftl")
    assert [p.line for p in problems] == [1, 3, 4, 5]
    assert [d.name.text for d in file.definitions] == ["T", "v", "E"]
    assert file.unread == {"a", "b", "c"}


def test_an_unclosed_parenthesis_is_shown_where_it_began() -> None:
    _, (p,) = parse("trigger a: p and\n (q until (r)\n continue", "a.ftl")
    assert [(r.span.line, r.span.column) for r in p.related if r.span] == [(2, 2)]


def test_long_chains_are_flat() -> None:
    found = formula(" or ".join(f"p{i} and q" for i in range(5000)))
    assert isinstance(found, s.Or)
    assert len(found.operands) == 5000


def test_a_definition_whose_name_is_a_word_of_the_language() -> None:
    tree, (problem,) = parse("state s(p boolean)\ntrigger until: p\ntrigger t: p", "a.ftl")
    assert [d.name.text for d in tree.definitions] == ["s", "t"]
    assert problem.render().startswith("a.ftl:2:9: error[syntax]: unexpected `until`: expected a name")
    assert problem.hint == "`until` is a keyword and cannot be a name"
