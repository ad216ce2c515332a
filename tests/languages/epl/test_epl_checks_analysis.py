"""What the checks make of right EPL: resolved names, columns, types, and how long events wait."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from occurs.expr.tree import Binary, Call, Literal, Ref
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import Analysis, ResolvedQuery, Wait, analyse, retention
from occurs.languages.epl.parser import parse
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Schema, Type

SCHEMAS = """create schema A(k string, v int, f double, t timestamp);
create schema B(k string, v int, f double);
create schema Sub(w int) inherits A; create schema Low() inherits Sub;
"""


def good(text: str, **known: object) -> Analysis:
    file, problems = parse(SCHEMAS + text, "good.epl")
    analysis = analyse([file], **known)  # type: ignore[arg-type]
    errors = [p.render() for p in [*problems, *analysis.problems] if p.severity == "error"]
    assert not errors, "\n".join(errors)
    return analysis


def query(text: str, **known: object) -> ResolvedQuery:
    return good(text, **known).queries[-1]


def one(text: str) -> Literal:
    return Literal(int(text), Type.INT)


# --- types ----------------------------------------------------------------------------------------------------------


def test_heirs_have_the_attributes_of_their_parents_first() -> None:
    analysis = good("select * from A;")
    assert analysis.declared["Low"].names == ("k", "v", "f", "t", "w")
    assert analysis.subtypes["A"] == ("A", "Sub", "Low")
    (q,) = analysis.queries
    assert q.reads == ("A", "Sub", "Low")
    assert q.atoms["#1"].types == ("A", "Sub", "Low")


def test_the_name_of_a_derived_type() -> None:
    text = "select k from A; @Name('N') select k from A; @Name('M') insert into I select k from A; select k from B;"
    assert [q.name for q in good(text).queries] == ["stmt_1", "N", "I", "stmt_4"]
    assert [q.title for q in good(text).queries] == [None, "N", "M", None]
    assert [q.text for q in good(text).queries][1] == "select k from A"


def test_types_of_columns() -> None:
    items = """a.v as v, a.v / 2 as h, b.v + 1 as i, b.f * b.v as x, a.k || 'x' as s, a.v > 1 as c, null as n,
    case when a.v > 1 then 1 else 2.5 end as w, coalesce(b.v, 1.5) as y, b.time - a.time as d, b.time as at,
    max(a.v, b.v) as m, a.t as t"""
    q = query(f"select {items} from pattern [a=A -> b=B];", kind=TimeKind())
    wanted = "int, float, int, float, string, bool, null, float, float, duration, timestamp, int, timestamp"
    assert ", ".join(str(t) for _, t in q.schema) == wanted
    assert [str(o.type) for o in query(f"select {items} from pattern [a=A -> b=B];").outputs][9:11] == ["null", "null"]
    ticks = query("select b.time - a.time as d from pattern [a=A -> b=B];", kind=TimeKind(False, "s"))
    assert list(ticks.schema) == [("d", Type.INT)]


def test_several_queries_of_a_type_widen_what_its_readers_see() -> None:
    text = """insert into Last select v as z from Next;
    insert into Next select v from B; insert into Next select f as v from B;"""
    analysis = good(text)
    assert list(analysis.schemas["Next"]) == [("v", Type.FLOAT)]
    assert list(analysis.schemas["Last"]) == [("z", Type.FLOAT)]
    assert [q.name for q in analysis.queries] == ["Last", "Next", "Next"]


def test_without_data_types_are_taken_as_they_come() -> None:
    q = query("select x.foo as foo from pattern [x=Any(bar > 1) -> Other(k = x.k)];")
    assert list(q.schema) == [("foo", Type.NULL)]
    seen = {"Any": Schema((("foo", Type.INT), ("bar", Type.FLOAT), ("k", Type.STRING)))}
    q = query("select x.foo as foo from x=Any;".replace("x=Any", "Any as x"), inputs=seen)
    assert list(q.schema) == [("foo", Type.INT)]


# --- names ----------------------------------------------------------------------------------------------------------


def test_conditions_are_taken_apart() -> None:
    q = query("select b.k from pattern [a=A(a.v > 1) -> b=B(v = 1 and a.k = b.k, v = a.f, a.v > 2, v in [1:2])];")
    a, b = q.atoms.values()
    assert a.own == (Binary(">", Ref(None, "v"), one("1")),)
    assert b.own[0] == Binary("=", Ref(None, "v"), one("1"))
    # a range is two conditions
    assert b.own[1:] == (Binary(">=", Ref(None, "v"), one("1")), Binary("<=", Ref(None, "v"), one("2")))
    assert b.equal == (("k", "a", "k"),)
    # int against float is no equality of equal types
    assert b.others == (Binary("=", Ref(None, "v"), Ref("a", "f")), Binary(">", Ref("a", "v"), one("2")))
    assert isinstance(q.pattern, syntax.Followed)
    filters = [o for o in q.pattern.operands if isinstance(o, syntax.Filter)]
    assert [len(f.conditions) for f in filters] == [1, 6]


def test_filters_without_a_tag_get_one() -> None:
    q = query("select * from pattern [A -> [2] b=B -> B(v = b[1].v)];")
    assert q.tags == (("#1", False), ("b", True), ("#3", False))
    assert q.columns == {"#1": frozenset(), "b": frozenset("kvf"), "#3": frozenset("v")}
    assert [o.name for o in q.outputs] == ["b"]


def test_inside_a_repetition_its_events_are_single() -> None:
    q = query("select b[0].k as x from pattern [[2] (a=A -> b=B(k = a.k)) -> c=B(k = a[1].k)];")
    assert q.atoms["b"].equal == (("k", "a", "k"),)
    assert q.atoms["c"].others == (Binary("=", Ref(None, "k"), Ref("a", "k", 1)),)
    assert q.outputs[0].expr == Ref("b", "k", 0)


def test_what_keys_and_guards_may_use() -> None:
    q = query("select * from pattern [a=A -> every-distinct(b.k, a.v) ((b=B) while (b.v > a.v))];")
    assert isinstance(q.pattern, syntax.Followed)
    distinct = q.pattern.operands[1]
    assert isinstance(distinct, syntax.EveryDistinct)
    assert isinstance(distinct.operand, syntax.While)
    assert distinct.keys == (Ref("b", "k"), Ref("a", "v"))
    assert distinct.operand.condition == Binary(">", Ref("b", "v"), Ref("a", "v"))


def test_absent_events_can_be_selected() -> None:
    q = query("select b.k, c from pattern [every a=A -> (timer:interval(1 sec) and not b=B and not c=B)];")
    assert [(o.name, o.type) for o in q.outputs] == [("k", Type.STRING), ("c", Type.RECORD)]


def test_bare_names_of_a_simple_query() -> None:
    q = query("select k, a.v, a, time as at from A(time > '2024-01-01T00:00:00Z') as a where v > 1;", kind=TimeKind())
    assert [o.expr for o in q.outputs if o.struct is None] == [Ref("a", "k"), Ref("a", "v"), Ref("a", "time")]
    assert q.where == Binary(">", Ref("a", "v"), one("1"))
    assert q.atoms["a"].own == (Binary(">", Ref(None, "time"), Literal(1_704_067_200_000_000, Type.TIMESTAMP)),)


# --- columns --------------------------------------------------------------------------------------------------------


def test_events_as_columns() -> None:
    analysis = good("insert into X select * from pattern [every (a=B until b=A)]; select x.*, x as y from B as x;")
    every, flat = analysis.queries
    record = pa.struct([("k", pa.string()), ("v", pa.int64()), ("f", pa.float64())])
    assert analysis.schemas["X"].arrow().field("a").type == pa.list_(record)
    assert every.outputs[1].struct is not None
    assert not every.outputs[1].struct.many
    assert analysis.schemas["X"].arrow().field("b").type == every.outputs[1].struct.arrow
    assert flat.schema.names == ("k", "v", "f", "y")
    assert flat.schema.arrow().field("y").type == record


def test_a_simple_query_of_everything_has_the_attributes() -> None:
    assert query("select * from B;").schema.names == ("k", "v", "f")


def test_columns_are_named_by_their_last_attribute() -> None:
    q = query("select a.k, b[0].v, abs(a.v) + b[1].f, a.v + 1 as s from pattern [a=A -> [2] b=B];")
    assert q.schema.names == ("k", "v", "f", "s")


def test_expressions_of_this_language_in_plain_form() -> None:
    items = """v between 3 and 1 as a, v not in (1:3] as b, case when v = 1 then k end as c, k || 'x' as d,
    min(v, 2) as e, v between v and 3 as g"""
    plain = {o.name: o.expr for o in query(f"select {items} from B as b;").outputs}
    v, k = Ref("b", "v"), Ref("b", "k")
    assert plain["a"] == Binary("and", Binary(">=", v, one("1")), Binary("<=", v, one("3")))
    assert plain["c"] == Call("if", (Binary("=", v, one("1")), k, Literal(None, Type.NULL)))
    assert plain["d"] == Call("concat", (k, Literal("x", Type.STRING)))
    assert plain["e"] == Call("least", (v, one("2")))
    assert plain["g"] == Binary(
        "and", Binary(">=", v, Call("least", (v, one("3")))), Binary("<=", v, Call("greatest", (v, one("3"))))
    )


# --- waiting --------------------------------------------------------------------------------------------------------

WAITS = [
    ("every a=A -> b=B", "a ever*, b 0"),
    ("every (a=A -> b=B)", "a ever, b 0"),
    ("a=A -> every b=B", "a ever, b 0"),
    ("every a=A -> every b=B", "a ever*, b 0"),
    ("every a=A -> b=B where timer:within(100 msec)", "a 0.1, b 0"),
    ("every a=A -> (b=B -> c=B) where timer:within(2 sec)", "a 2, b 2, c 0"),
    ("(every a=A -> b=B) where timer:within(5 sec)", "a 5, b 0"),
    ("every a=A -> (timer:interval(3 sec) and not b=B)", "a 3, b 0"),
    ("every a=A -> (timer:interval(3 sec) or b=B)", "a 3, b 0"),
    ("every a=A -> ((timer:interval(3 sec) where timer:within(2 sec)) or b=B)", "a ever*, b 0"),
    ("every a=A -> (timer:interval(3 sec) and b=B)", "a ever*, b 3"),
    ("every a=A -> (b=B where timer:within(1 sec)) -> (c=B where timer:within(2 sec))", "a 3, b 2, c 0"),
    ("every a=A -> every timer:interval(3 sec)", "a ever*"),
    ("every a=A -[2]> b=B", "a ever, b 0"),
    ("every a=A -[2]> b=B -> c=B", "a ever*, b ever*, c 0"),
    ("x=A -> every a=A -> b=B", "x ever, a ever*, b 0"),
    ("every a=A and every b=B", "a ever*, b ever*"),
    ("a=A and b=B", "a ever, b ever"),
    ("every (a=A until b=B)", "a ever*, b 0"),
    ("every ([:3] a=A until b=B)", "a ever, b 0"),
    ("every (a=A until timer:interval(4 sec))", "a 4"),
    ("every [3] (a=A where timer:within(2 sec))", "a 6"),
    ("every a=A -> timer:at(*, *, *, *, *)", "a 60"),
    ("every a=A -> timer:at(0, 8, *, *, *)", "a 86400"),
    ("every a=A -> timer:schedule(period: 30 sec)", "a 30"),
    ("every a=A -> timer:schedule(repetitions: 1, period: 30 sec)", "a ever*"),
    ("every a=A -> timer:schedule(date: '2024-05-01')", "a ever*"),
    ("every-distinct(a.k) a=A -> (b=B while (b.v > 1))", "a ever*, b 0"),
]


def said(wait: Wait) -> str:
    if wait.bound is None:
        return f"{wait.tag} ever{'*' if wait.grows else ''}"
    assert not wait.bound.ticks
    return f"{wait.tag} {float(wait.bound.amount / 1_000_000):g}"


@pytest.mark.parametrize(("pattern", "waits"), WAITS)
def test_how_long_events_wait(pattern: str, waits: str) -> None:
    q = query(f"insert into Z select 1 as one from pattern [{pattern}];")
    assert ", ".join(said(w) for w in retention(q)) == waits
    warned = good(f"insert into Z select 1 as one from pattern [{pattern}];").problems
    assert ("*" in waits) == any(p.kind == "unbounded-state" for p in warned)


def test_lengths_are_exact() -> None:
    (a, _) = retention(query("select * from pattern [every a=A -> (b=B where timer:within(0.1))];"))
    assert a == Wait("a", Duration(Fraction(100_000)), False)
