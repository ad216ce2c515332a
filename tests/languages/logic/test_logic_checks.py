"""What the checks say of wrong triggers: kinds, places, words and hints."""

from __future__ import annotations

from typing import Any

import pytest

from occurs.errors import Problem
from occurs.languages.logic.checks import analyse
from occurs.languages.logic.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

DECLARED = """table Traffic (link string key, load int)
table Pair(a int key, b int key, c float, d string)
table Single(v int)
event login(person string, n int)
event ping
state net(x float, y int, up boolean, city string, at timestamp)
view busy as select link from Traffic where load > 100;
view two as select link, load from Traffic;
view total(c) as select sum(load) from Traffic where link = :c;
constant limit = 10
"""
SECONDS, TICKS, STAMPS = TimeKind(False, "s"), TimeKind(False, None), TimeKind()


def found(text: str, declared: str = DECLARED, **known: Any) -> list[Problem]:
    """The problems of a text behind the declarations, those of its syntax among them."""
    before, wrong = parse(declared, "declared.ftl")
    file, problems = parse(text, "a.ftl")
    assert not wrong
    return sorted([*problems, *analyse([before, file], **known).problems], key=Problem.sort_key)


def shown(p: Problem, text: str) -> str:
    """``[severity] kind line:column «text»``."""
    assert p.span is not None
    line = text.splitlines()[p.span.line - 1]
    stop = p.span.end_column - 1 if p.span.end_line == p.span.line else len(line)
    severity = "" if p.severity == "error" else f"{p.severity} "
    return f"{severity}{p.kind} {p.line}:{p.column} «{line[p.span.column - 1 : stop]}»"


#: a trigger behind `trigger a: eventually `, what is said of it, parts of the message and of the hint
FORMULAS = [
    # names
    ("x > foo", "unknown-name 1:27 «foo»", "no `foo`", "known: `Pair`"),
    ("yy > 1", "unknown-name 1:23 «yy»", "no `yy`", "did you mean `y`?"),
    ("(up and q)", "unknown-name 1:31 «q»", "no `q`", "declare it: `event q` or `state s(q boolean)`"),
    ('Trafic("l") > 3', 'unknown-name 1:23 «Trafic("l")»', "or function `Trafic`", "did you mean `Traffic`?"),
    ('Traffic("l").lod > 3', 'unknown-attribute 1:23 «Traffic("l").lod»', "no column `lod`", "`load`"),
    ('login(persn = "a")', 'unknown-attribute 1:23 «login(persn = "a")»', "no attribute `persn`", "`person`"),
    ("login.persn = city", "unknown-attribute 1:23 «login.persn»", "no attribute `persn`", "`person`"),
    ("logn.n > 3", "unknown-name 1:23 «logn.n»", "no event or table `logn`", "did you mean `login`? Otherwise declare"),
    ("net.x > 3", "unknown-name 1:23 «net.x»", "`net` is a state", "write only `x`"),
    ("y.foo > 3", "unknown-name 1:23 «y.foo»", "`y` is neither an event nor a table", ""),
    ("abss(x) > 3", "unknown-function 1:23 «abss(x)»", "function `abss`", "did you mean `abs`?"),
    ("y(3) > 3", "unknown-name 1:23 «y(3)»", "it does not take arguments", ""),
    ("ping > 3", "type-mismatch 1:23 «ping»", "an event, but a value", "`ping.attribute`"),
    ("login(n = 1).n > 3", "type-mismatch 1:23 «login(n = 1).n»", "an event, but a value", ""),
    # numbers of keys and arguments
    ('Traffic("a", "b") > 3', 'arity 1:23 «Traffic("a", "b")»', "1 key, but got 2", "(link)"),
    ("Pair(1) > 3", "arity 1:23 «Pair(1)»", "2 keys, but got 1", "(a, b)"),
    ("Pair(1, 2) > 3", "arity 1:23 «Pair(1, 2)»", "several columns besides its keys", "`Pair(a, b).c`"),
    ("Pair(1, z = 2).c > 3", "unknown-attribute 1:23 «Pair(1, z = 2).c»", "no key `z`", "keys: `a`, `b`"),
    ("Pair(1, a = 2).c > 3", "duplicate-name 1:23 «Pair(1, a = 2).c»", "assigned twice", ""),
    ("Traffic.load > 3", "arity 1:23 «Traffic.load»", "1 key, but got 0", "(link)"),
    ("total > 3", "arity 1:23 «total»", "1 argument, but got 0", "(c)"),
    ("busy(1) = 2", "arity 1:23 «busy(1)»", "no argument, but got 1", ""),
    ("abs() > 3", "arity 1:23 «abs()»", "`abs` takes 1 argument", ""),
    ("abs(v = 3) > 3", "arity 1:23 «abs(v = 3)»", "arguments by name", ""),
    ("ping(3)", "arity 1:28 «3»", "0 attributes", "name the attributes"),
    ("login(n = 1, n = 2)", "duplicate-name 1:40 «2»", "assigned twice", ""),
    # types
    ('y > "a"', 'type-mismatch 1:23 «y > "a"»', "`>` cannot compare int with string", "never converted to a number;"),
    ("city + 1 > 2", "type-mismatch 1:23 «city + 1»", "to string and int", "never converted to a number;"),
    ("up < true", "type-mismatch 1:23 «up < true»", "boolean with boolean", "bools have no order:"),
    ("up = 1", "type-mismatch 1:23 «up = 1»", "boolean with int", ""),
    ("-city = city", "type-mismatch 1:23 «-city»", "needs a number", ""),
    ("Traffic > 3", "type-mismatch 1:23 «Traffic > 3»", "a relation (link, load) with int", "read in SQL"),
    ("two < two", "type-mismatch 1:23 «two < two»", "a relation (link, load)", "by `=` and `!=`"),
    ("two = Single", "type-mismatch 1:23 «two = Single»", "a relation (v)", "as many columns"),
    ("two + 1 > 3", "type-mismatch 1:23 «two»", "a value is needed", "remember it"),
    ("two is null", "type-mismatch 1:23 «two»", "a value is needed", ""),
    ("Traffic(3) > 3", "type-mismatch 1:31 «3»", "the key `link` of the table `Traffic` is string", "quotes"),
    ("login(n = city)", "type-mismatch 1:33 «city»", "`n` of `login` is int, but `city` is string", ""),
    ("x", "type-mismatch 1:23 «x»", "a condition must be true or false, but `x` is float", "compare it"),
    ("5", "type-mismatch 1:23 «5»", "a condition must be true or false", ""),
    ("sqrt(city) > 3", "type-mismatch 1:28 «city»", "`city` is string, expected float", ""),
    ("sum of city from up > 3", "type-mismatch 1:30 «city»", "`sum` needs numbers", ""),
    ("max of up from up = up", "type-mismatch 1:30 «up»", "`max` needs numbers", ""),
    # scopes
    ("[q <- y] up until q > x", "unbound-variable 1:41 «q»", "`q` is bound only in `[q <- y] up` (line 1)",
     "parentheses around the formula that uses it: `[q <- y] (..)`"),
    ("[q <- y] sum of q from up > 3", "unbound-variable 1:39 «q»", "an aggregate cannot read", "only generic"),
    ("[q <- y] sum of y from (y > q) > 3", "unbound-variable 1:51 «q»", "an aggregate cannot read", ""),
    ("[q <- y] count of y from (exists (select :q)) > 3", "unbound-variable 1:57 «select :q»", "an aggregate", ""),
    ("([q <- y] up and exists (select 1 from Traffic where load > :q))",
     "unbound-variable 1:48 «select 1 from Traffic where load > :q»", "bound only in", ""),
    ("[q <- two] q.load > 3", "type-mismatch 1:34 «q.load»", "a global variable and has no attributes", "from q"),
    ("[x <- y] up", "duplicate-definition 1:24 «x»", "`x` is a global variable here, but also a database variable", ""),
    ("[Traffic <- y] up", "duplicate-definition 1:24 «Traffic»", "also a table", ""),
    ("[login <- y] up", "duplicate-definition 1:24 «login»", "an event", ""),
    ("[limit <- y] up", "duplicate-definition 1:24 «limit»", "also a constant", ""),
    ("[a <- y] up", "duplicate-definition 1:24 «a»", "also a trigger", ""),
    ("[time <- y] up", "reserved-name 1:24 «time»", "time of the state", ""),
    ("[currenttime <- y] up", "reserved-name 1:24 «currenttime»", "time of the state", ""),
    ("[traffic <- Traffic] up", "duplicate-definition 1:24 «traffic»", "`Traffic` in SQL,", ""),
    # operators
    ("lasttime (up and nexttime up)", "sort 1:40 «nexttime up»", "forward inside `lasttime`", "past operators may"),
    ("sum of y from (previously up) > 3", "sort 1:38 «previously up»", "`previously` reads other states,", ""),
    ("count of y from (eventually up) > 3", "sort 1:40 «eventually up»", "`eventually` reads", "another trigger"),
    ("sum of avg of y within 3 from up > 3", "sort 1:30 «avg of y within 3»", "`avg` reads", ""),
    # SQL
    ("exists (drop table Traffic)", "bad-sql 1:31 «drop table Traffic»", "not a SELECT", "write `select"),
    ("exists (select lod from Traffic)", "bad-sql 1:38 «lod»", "no column `lod`", "did you mean `load`?"),
    ("exists (select 1 from Trafic)", "bad-sql 1:45 «Trafic»", "no table `Trafic`", "did you mean `Traffic`?"),
    ("exists (select 1 from login)", "bad-sql 1:45 «login»", "no table `login`", "`login` is an event"),
    ("exists (select 1 from total)", "bad-sql 1:45 «total»", "no table `total`", "has parameters"),
    ("exists (select 1 from net)", "bad-sql 1:45 «net»", "no table `net`", "has database variables,"),
    ("exists (select 1; select 2)", "bad-sql 1:39 «;»", "more than one statement", ""),
    ("exists (select 1 where 1 = ?)", "bad-sql 1:50 «?»", "not a valid parameter", "`:name`"),
    ("exists (select :lim)", "bad-sql 1:38 «:lim»", "there is no parameter `:lim` here", "did you mean `limit`?"),
    ("exists (select from Traffic)", "bad-sql 1:38 «from»", "syntax error", ""),
    ("exists (select foo(1))", "bad-sql 1:38 «foo»", "no such function", ""),
    ("exists (select * from sqlite_master)", "bad-sql 1:31 «select * from sqlite_master»", "only a SELECT", ""),
    ("exists (select load_extension('x'))", "bad-sql 1:31 «select load_extension('x')»", "only a SELECT", ""),
    ("exists (with a as (select 1) delete from Traffic)",
     "bad-sql 1:31 «with a as (select 1) delete from Traffic»", "only a SELECT", ""),
    # actions
    ("[q <- y] up emit E(b = q)", "unbound-variable 1:46 «q»", "which an action cannot read", "only generic variables"),
    ("[q <- y] up notify '{q} {z}'", "unbound-variable 1:35 «notify '{q} {z}'»", "an action cannot read", ""),
    ("[q <- y] up execute 'delete from t where a = :q'",
     "unbound-variable 1:35 «execute 'delete from t where a = :q'»", "an action cannot read", ""),
    ("up execute 'delete from t where :z'", "bad-sql 1:26 «execute 'delete from t where :z'»", "`:z`", "with z ="),
    ("up execute 'select 1; select 2'", "bad-sql 1:26 «execute 'select 1; select 2'»", "more than one", ""),
    ("up execute ' '", "bad-sql 1:26 «execute ' '»", "the statement is empty", ""),
    ("up emit E(b = sum of y within 3)", "sort 1:37 «sum of y within 3»", "an action cannot", ""),
    ("up emit E(b = two)", "type-mismatch 1:37 «two»", "a value is needed", ""),
    ("up emit E(time = 1)", "reserved-name 1:33 «time»", "cannot be the name of an output attribute", ""),
    ("up emit E(b = 1, b = 2)", "duplicate-name 1:40 «b»", "assigned twice", ""),
    ("up emit E(b = 1) emit F(b = 2)", "duplicate-name 1:40 «emit F(b = 2)»", "emits twice", "two triggers"),
    ("up on never emit E(b = 1)", "unsupported 1:26 «on never emit E(b = 1)»", "never` cannot emit", "notify"),
    ("up emit Traffic(link = 'a')", "duplicate-definition 1:31 «Traffic»", "is a table, but `emit` derives events", ""),
    ("up emit login(person = 3, n = 2)", "schema-conflict 1:31 «login»", "(person int, n int) here", "int widens"),
    ("a", "cycle 1:9 «a»", "triggers form a cycle: `a` -> `a`", "emit another type"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message", "hint"), FORMULAS, ids=[f[0] for f in FORMULAS])
def test_formulas(text: str, line: str, message: str, hint: str) -> None:
    whole = f"trigger a: eventually {text}"
    problems = found(whole)
    errors = [p for p in problems if p.severity == "error"]
    assert [shown(p, whole) for p in errors] == [line]
    assert message in errors[0].message
    assert hint in (errors[0].hint or "")
    assert "^" in errors[0].render()


#: whole texts, what is known of the data, all that is said of them
TEXTS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("past trigger a: up since (nexttime up)", {}, ["sort 1:27 «nexttime up»"]),
    ("past trigger a: eventually previously up", {}, ["sort 1:17 «eventually previously up»"]),
    ("trigger a: time >= 5", {}, ["never-completes 1:12 «time >= 5»"]),
    ("trigger a observing every 3: eventually time >= 5", {}, ["never-completes 1:30 «eventually time >= 5»"]),
    ("trigger a observing all: eventually time >= 5", {}, []),
    ("trigger a for each k in (select link from Traffic): eventually time >= 5", {}, []),
    ("trigger a for each k in (select link, load from Traffic): eventually up", {},
     ["arity 1:26 «select link, load from Traffic»"]),
    ("trigger a for each k in (select lnk from Traffic): eventually up", {}, ["bad-sql 1:33 «lnk»"]),
    ("trigger a for each k in (select link from Traffic where load > :x): eventually up", {}, ["bad-sql 1:64 «:x»"]),
    ("trigger a for each k in (select :q): eventually [q <- y] up", {},
     ["unbound-variable 1:11 «for each k in (select :q)»"]),
    ("trigger a for each k: eventually up", {}, ["unknown-name 1:20 «k»"]),
    ("trigger a for each x in (select 1): eventually up", {}, ["duplicate-definition 1:20 «x»"]),
    ("trigger a for each (k, k) in (select 1, 2): eventually up", {}, ["duplicate-name 1:24 «k»"]),
    ("trigger a for each label in (select 1): eventually up", {}, ["reserved-name 1:20 «label»"]),
    ("trigger a for each k in (select 1): eventually [k <- y] up", {}, ["duplicate-definition 1:49 «k»"]),
    ("trigger a for each city: eventually x > 3 emit E(c = city, l = :x)", {}, ["syntax 1:64 «:»"]),
    # cycles, two of one name
    ("trigger f: eventually g emit F(b = 2)\ntrigger g0: eventually F emit g(b = 2)", {}, ["cycle 1:30 «F»"]),
    ("trigger f: eventually G emit F(b = 2)", {"foreign": {"G": Schema()}, "foreign_reads": {"G": {"F"}}},
     ["cycle 1:30 «F»"]),
    ("view a as select * from b;\nview b as select * from a;", {}, ["cycle 2:6 «b»"]),
    ("trigger a: eventually up trigger a: eventually x > 3", {}, ["duplicate-definition 1:34 «a»"]),
    ("table traffic(v int)", {}, ["duplicate-definition 1:7 «traffic»"]),
    ("event Traffic", {}, ["duplicate-definition 1:7 «Traffic»"]),
    ("event traffic(v int) trigger a: eventually traffic(v = 1)", {}, []),
    ("state s(Traffic int)", {}, ["duplicate-definition 1:9 «Traffic»"]),
    ("state s(x int) trigger a: eventually x > 3", {}, ["duplicate-name 1:38 «x»"]),
    ("table T(v int, V int, time int, op string)", {},
     ["duplicate-name 1:16 «V»", "reserved-name 1:23 «time»", "reserved-name 1:33 «op»"]),
    ("event E(v int, v int)", {}, ["duplicate-name 1:16 «v»"]),
    ("view v(c, c, time) as select 1;", {}, ["duplicate-name 1:11 «c»", "reserved-name 1:14 «time»"]),
    ("view v as select 1 from Trafic; trigger a: eventually v = 3", {}, ["bad-sql 1:25 «Trafic»"]),
    ("view v(c) as select :d;", {}, ["bad-sql 1:21 «:d»"]),
    # schemas
    ("trigger a: eventually up emit K(b = 3)\ntrigger b: eventually up emit K(c = 3)", {},
     ["schema-conflict 2:31 «K»"]),
    ("trigger a: eventually up emit K(b = 3)\ntrigger b: eventually up emit K(b = 2.5)", {}, []),
    ("trigger a: eventually up emit K(b = 3)\ntrigger b: eventually up emit K(b = city)", {},
     ["schema-conflict 2:31 «K»"]),
    ("trigger a: eventually up emit b(b = 3)\ntrigger b: eventually up", {}, ["duplicate-definition 1:31 «b»"]),
    ("trigger a: eventually up emit a(b = 3)", {}, []),
    ("event K(b int)", {"foreign": {"K": Schema((("c", Type.INT),))}}, ["schema-conflict 1:7 «K»"]),
    ("event K(b int)", {"foreign": {"K": Schema((("b", Type.INT),))}}, []),
    ("trigger a: eventually up emit K(b = 3)", {"foreign": {"K": Schema((("c", Type.INT),))}},
     ["schema-conflict 1:31 «K»"]),
    ("trigger a: eventually K", {"foreign": {"K": Schema(lasting=True)}}, ["not-an-event 1:23 «K»"]),
    ("event K", {"foreign": {"K": Schema(lasting=True)}}, ["not-an-event 1:7 «K»"]),
    ("trigger a: eventually up emit K(b = 3)", {"foreign": {"K": Schema(lasting=True)}}, ["not-an-event 1:31 «K»"]),
    ("trigger a: eventually up", {"inputs": {"a": Schema(), "net": Schema()}}, ["warning external-input 1:9 «a»"]),
    # durations
    ("trigger a: eventually[<=3] up", {"kind": STAMPS}, ["missing-unit 1:22 «[<=3]»"]),
    ("trigger a: eventually[<=3 s] up", {"kind": TICKS}, ["missing-unit 1:22 «[<=3 s]»"]),
    ("trigger a: eventually[<=2.5] up", {}, ["warning inexact-duration 1:22 «[<=2.5]»"]),
    ("trigger a: eventually[<=500 ms] up", {"kind": SECONDS}, ["warning inexact-duration 1:22 «[<=500 ms]»"]),
    ("trigger a observing every 500 ms: eventually up", {"kind": SECONDS},
     ["bad-duration 1:11 «observing every 500 ms»"]),
    ("trigger a: eventually up continue at most every 3", {"kind": STAMPS},
     ["missing-unit 1:1 «trigger a: eventually up continue at most every 3»"]),
    ("trigger a: eventually avg of y within 3 > 2", {"kind": STAMPS}, ["missing-unit 1:23 «avg of y within 3»"]),
    ("trigger a: eventually time > at + 3 ticks", {"kind": STAMPS}, ["missing-unit 1:35 «3 ticks»"]),
    ("trigger a: eventually time > at + 3", {"kind": STAMPS}, ["type-mismatch 1:30 «at + 3»"]),
    ("trigger a: eventually (up and time > 3 + limit)", {"kind": SECONDS}, []),
    ("trigger a: eventually[10, 5 s] up", {"kind": SECONDS}, ["bad-bound 1:22 «[10, 5 s]»"]),
    # what could not be read is not complained of
    ("table New(v int\ntrigger a: eventually New.v > 3 and eventually exists (select 1 from New)", {},
     ["syntax 1:16 «»"]),
    ("trigger b: eventually )\ntrigger a: eventually b", {}, ["syntax 1:23 «)»"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "known", "lines"), TEXTS, ids=[t[0][:60].replace("\n", " ") for t in TEXTS])
def test_texts(text: str, known: dict[str, Any], lines: list[str]) -> None:
    problems = [p for p in found(text, **known) if p.kind not in ("anchored", "text-constant")]
    assert [shown(p, text) for p in problems if p.file == "a.ftl"] == lines


def test_both_places_are_shown() -> None:
    def places(text: str) -> list[tuple[str | None, int, int]]:
        (p,) = found(text)
        return [(r.file, r.span.line, r.span.column) for r in p.related if r.span]

    assert places("event Traffic") == [("declared.ftl", 1, 7)]
    assert places("trigger a: eventually [x <- y] up") == [("declared.ftl", 6, 11)]
    assert places('trigger a: eventually y > "a"') == [("a.ftl", 1, 23), ("a.ftl", 1, 27)]
    assert places("trigger a: eventually up emit login(n = 1)") == [("declared.ftl", 4, 7)]
    text = "trigger f: eventually g emit F(b = 2)\ntrigger g0: eventually F emit g(b = 2)"
    assert places(text) == [("a.ftl", 2, 31)]


def test_the_cycle_names_triggers_and_types() -> None:
    (p,) = found("trigger f: eventually g emit F(b = 2)\ntrigger g0: eventually F emit g(b = 2)")
    assert p.message == "the triggers form a cycle: `F` -> `g` by `g0` -> `F` by `f`"


def test_names_that_are_read_as_text() -> None:
    text = "trigger a: eventually (Traffic(link1) > 3 and login(person = bob) and Traffic(city) > 3)"
    problems = found(text)
    lines = ["notice text-constant 1:32 «link1»", "notice text-constant 1:62 «bob»"]
    assert [shown(p, text) for p in problems] == lines
    assert problems[0].hint == 'write it in quotes: `"link1"`'
    # what is a text is not a number
    text = "trigger a: eventually Pair(one, 2).c > 3"
    assert [p.kind for p in found(text)] == ["text-constant", "type-mismatch"]


def test_large_formulas_are_refused() -> None:
    text = "trigger a: eventually [q <- y] eventually[<=3] (" + " and ".join(["y > q"] * 70) + ")"
    (p,) = found(text)
    assert (p.kind, p.hint) == ("unsupported", "raise the limit with `--max-formula 72`")
    assert not found(text, max_formula=72)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("up", "anchored"),
        ("up until x > 3", "anchored"),
        ("up and [t <- time] eventually (ping and time <= t + 60)", "anchored"),
        ("nexttime up", "anchored"),
        ("true until up", ""),
        ("eventually up", ""),
        ("eventually up and eventually ping", ""),
        ("nexttime eventually up", ""),
        ("always up", "always-fires"),
        ("always[<=3] up", "always-fires"),
        ("up weak until ping", "always-fires"),
        ("up release ping", "always-fires"),
        ("not eventually up", "always-fires"),
        ("not nexttime up", "always-fires"),
        ("eventually up or always up", "always-fires"),
        ("eventually always up", ""),
        ("eventually[=3] up", "exact-bound"),
        ("eventually[3,3] up", "exact-bound"),
        ("eventually[0,3] up", ""),
    ],
)
def test_warnings(text: str, line: str) -> None:
    problems = found(f"trigger a: {text}")
    assert [(p.severity, p.kind) for p in problems] == ([("warning", line)] if line else [])


def test_past_triggers_look_at_the_present_state() -> None:
    for text in ("up", "throughout up", "up since ping", "not previously up"):
        assert not found(f"past trigger a: {text}")


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("eventually [q <- y] eventually y > q", "eventually"),
        ("eventually [q <- y] eventually[>=3] y > q", "eventually"),
        ("eventually [q <- y] eventually[<=3] y > q", ""),
        ("eventually [q <- y] eventually[<3] y > q", ""),
        ("eventually [q <- y] eventually[2, 3] y > q", ""),
        ("eventually [q <- y] nexttime y > q", ""),
        ("eventually [q <- y] (y > q and eventually ping)", ""),
        ("eventually [q <- y] (y > q until ping)", "until"),
        ("eventually [q <- y] (ping until y > q)", "until"),
        ("eventually [q <- y] (y > q weak until ping)", "weak until"),
        ("eventually [q <- y] (y > q release[<=3] ping)", ""),
        ("eventually [q <- y] always y > q", "always"),
        ("eventually [t <- time] [q <- y] eventually (y > q and time <= t + 3)", ""),
        ("eventually [t <- time] [q <- y] eventually (y > q and t + 3 s >= time)", ""),
        ("eventually [t <- time] [q <- y] eventually (y > q and time - t < limit)", ""),
        ("eventually [t <- time] [q <- y] eventually (y > q and 2 * (time - t) <= 6 ticks)", ""),
        ("eventually [t <- time] [q <- y] eventually (y > q and not time > t + 3)", ""),
        ("eventually [t <- time] [q <- y] eventually (y > q or time <= t + 3)", "eventually"),
        ("eventually [t <- time] [q <- y] eventually (y > q and time >= t + 3)", "eventually"),
        ("eventually [t <- time] [q <- y] eventually (y > q and time <= 3)", "eventually"),
        ("eventually [t <- y] [q <- y] eventually (y > q and y <= t + 3)", "eventually"),
        ("eventually [t <- time] [q <- y] always (time <= t + 3 implies y > q)", ""),
        ("eventually [t <- time] [q <- y] always (time > t + 3 or y > q)", ""),
        ("eventually [t <- time] [q <- y] always (time <= t + 3 and y > q)", "always"),
        ("eventually [q <- Traffic] eventually exists (select 1 from q)", "eventually"),
        ("eventually [q <- y] eventually exists (select 1 from Traffic where load > :q)", "eventually"),
        ("eventually [q <- y] eventually[<=3] [q <- y] nexttime y > q", ""),
        ("eventually [q <- y] eventually[<=3] [r <- q] eventually y > r", "eventually"),
        ("eventually [q <- y] previously y > q", "previously"),
        ("eventually [t <- time] previously (up and time >= t - 3)", ""),
        ("eventually [t <- time] previously (up and time <= t - 3)", "previously"),
        ("eventually [q <- y] (y > q since[<=3] ping)", ""),
    ],
)
def test_unbounded_state(text: str, operator: str) -> None:
    whole = f"trigger a: {text}"
    problems = found(whole, kind=SECONDS)
    assert [p.kind for p in problems] == (["unbounded-state"] if operator else [])
    required = found(whole, kind=SECONDS, require_bounds=True)
    assert [p.severity for p in required] == (["error"] if operator else [])
    for p in problems:
        assert f"`{operator}` has no bound" in p.message
        assert operator == "weak until" or f"`{operator}[<=10 min] ..`" in (p.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "abs(" * 75 + "x" + ")" * 75 + " > 0",
        "Pair(1, b = " * 38 + "1" + ").c" * 38 + " = 1",
        "[q <- x] " * 75 + "nexttime q > 0",
        "eventually " * 75 + "up",
        "up until " * 75 + "up",
        "(up and (ping or " * 36 + "up" + "))" * 36,
        "x" + " + x" * 70 + " > 1",
    ],
)
def test_deep_formulas(text: str) -> None:
    assert not [p for p in found(f"trigger a: {text}") if p.severity == "error" and p.kind != "unsupported"]
