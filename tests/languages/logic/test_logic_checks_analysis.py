"""What the checks make of right triggers: resolved names, reads, schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from occurs.expr.tree import Binary, Call, Literal
from occurs.languages.logic import syntax as s
from occurs.languages.logic.checks import Analysis, ResolvedTrigger, analyse
from occurs.languages.logic.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.temporal.tree import (
    Found,
    Global,
    Happens,
    Last,
    RelationType,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
)

DECLARED = """table Traffic(link string key, load int) table Location(link string key, city string)
table Pair(a int key, b int key, c float, d string) table Single(v int)
event login(person string, n int) event ping
state net(x float, y int, up boolean)
view busy as select link from Traffic where load > 100;
view inner2 as select * from Location;
view two as select t.link, load as much from Traffic t join inner2 l on l.link = t.link;
view total(c) as select sum(load) from Traffic where link = :c;
constant limit = 10 constant start = timestamp "2024-01-05"
"""
SECONDS, STAMPS = TimeKind(False, "s"), TimeKind()
TRAFFIC = RelationType((("link", Type.STRING), ("load", Type.INT)))


def good(text: str, **known: Any) -> Analysis:
    file, problems = parse(DECLARED + text, "good.ftl")
    analysis = analyse([file], **known)
    errors = [p.render() for p in [*problems, *analysis.problems] if p.severity == "error"]
    assert not errors, "\n".join(errors)
    return analysis


def one(text: str, **known: Any) -> ResolvedTrigger:
    return good(f"trigger a: eventually {text}", **known).triggers[-1]


def formula(text: str) -> s.Formula:
    found = one(text).formula
    assert isinstance(found, s.Eventually)
    return found.operand


def number(n: int) -> Literal:
    return Literal(n, Type.INT)


def test_names_are_resolved() -> None:
    assert formula("x > y") == s.Compare(
        ">", Variable("net", "x", Type.FLOAT), Variable("net", "y", Type.INT)
    )  # fmt: skip
    assert formula("up") == s.Atom(Variable("net", "up", Type.BOOL))
    assert formula("ping") == Happens("ping")
    assert formula("login(n = y, person = bob)") == Happens(
        "login", ("n", "person"), (Variable("net", "y", Type.INT), Literal("bob", Type.STRING))
    )
    assert formula("login('ann')") == Happens("login", ("person",), (Literal("ann", Type.STRING),))
    assert formula("login.n > limit") == s.Compare(">", Last("login", "n", Type.INT), number(10))
    assert formula("(up and time > start)") == s.And((
        s.Atom(Variable("net", "up", Type.BOOL)),
        s.Compare(">", Time(), Literal(1_704_412_800_000_000, Type.TIMESTAMP)),
    ))  # fmt: skip
    assert formula("abs(y) > 2Traffic(link1)") == s.Compare(
        ">",
        Call("abs", (Variable("net", "y", Type.INT),)),
        Binary("*", number(2), Value("Traffic", "load", (Literal("link1", Type.STRING),), Type.INT)),
    )
    assert formula("Pair(b = 1, a = 2).d = 'x'") == s.Compare(
        "=", Value("Pair", "d", (number(2), number(1)), Type.STRING), Literal("x", Type.STRING)
    )
    assert formula("Single.v > 1") == s.Compare(">", Value("Single", "v", (), Type.INT), number(1))
    assert formula("busy = 'l'") == s.Compare("=", ViewOf("busy", (), Type.STRING), Literal("l", Type.STRING))
    assert formula("total(c = link1) > 3") == s.Compare(
        ">", ViewOf("total", (Literal("link1", Type.STRING),), Type.INT), number(3)
    )


def test_global_variables() -> None:
    found = formula("[t <- time] [q <- Traffic] nexttime [r <- two] (q != r and time > t)")
    t, q = Global("t", Type.TIMESTAMP, True), Global("q", TRAFFIC)
    assert isinstance(found, s.Assign)
    assert found.term == Time()
    inner = found.operand
    assert isinstance(inner, s.Assign)
    assert inner.term == TableOf("Traffic", TRAFFIC)
    last = inner.operand.parts[0]
    assert isinstance(last, s.Assign)
    two = RelationType((("link", Type.STRING), ("much", Type.INT)))
    assert last.term == ViewOf("two", (), two)
    assert last.operand == s.And((s.Compare("!=", q, Global("r", two)), s.Compare(">", Time(), t)))
    # an inner assignment hides the outer one
    found = formula("[q <- y] [q <- x] q > 1")
    assert isinstance(found, s.Assign)
    assert found.operand.parts[0] == s.Compare(">", Global("q", Type.FLOAT), number(1))


def test_relations_in_sql() -> None:
    text = "[q <- Traffic] [z <- y] exists (select 1 from q join two on q.link = two.link where q.load > :z + :limit)"
    found = [n for n in formula(text).walk() if isinstance(n, Found)]
    assert len(found) == 1
    assert dict(zip(found[0].names, found[0].args, strict=True)) == {"z": Global("z", Type.INT), "limit": number(10)}
    assert found[0].relations == (Global("q", TRAFFIC),)
    assert found[0].tables == ("Location", "Traffic")


def test_aggregates() -> None:
    found = one("sum of y from login(n = 1) > avg of x within 3")
    assert found.reads == ("login", "net")
    aggregates = [n for n in found.formula.walk() if isinstance(n, s.Aggregate)]
    assert aggregates[0].predicate == Happens("login", ("n",), (number(1),))
    assert aggregates[0].arg == Variable("net", "y", Type.INT)


@pytest.mark.parametrize(
    ("text", "reads", "inputs"),
    [
        ("trigger a: eventually up", "net", ""),
        ("trigger a: eventually Traffic(l) > total(l)", "Traffic", ""),
        ("trigger a: eventually exists (select 1 from two)", "Location Traffic", ""),
        ("trigger a: eventually exists (select count(*) from Traffic)", "Traffic", ""),
        ("trigger a: eventually [q <- two] ping", "Location Traffic ping", ""),
        ("trigger a for each k in (select link from Location): eventually Traffic(k) > 3", "Traffic", "Location"),
        ("trigger a for each y: eventually ping", "ping", "net"),
        ("trigger a: eventually ping emit E(z = login.n, y = Single.v)", "ping", "Single login"),
        ("trigger a: eventually b trigger b: eventually up emit b()", "b", ""),
        ("trigger a: eventually (up and time > 3 and y > limit)", "net", ""),
    ],
)
def test_reads(text: str, reads: str, inputs: str) -> None:
    found = next(t for t in good(text).triggers if t.trigger.name.text == "a")
    assert " ".join(found.reads) == reads
    assert " ".join(found.inputs) == inputs


def test_schemas() -> None:
    text = """trigger overload for each k in (select link from Location): eventually Traffic(k) > 3
        emit Overload(link = k, load = Traffic(k), at = time, took = time - time, z = 2.5)
    trigger late for each (k, up) in (select link, 1 from Location): eventually Traffic(k) > 3
    trigger more: eventually up emit Overload(link = "l", load = 2.5, at = time, took = 3 s, z = null)
    trigger reads: eventually Overload.load > 3 emit R(load = Overload.load)""".replace("(k, up)", "(k, v)")
    stamps = good(text, kind=STAMPS)
    wide = "link string, load float, at timestamp, took duration, z float"
    found = {t.trigger.name.text: ", ".join(f"{n} {k}" for n, k in t.schema) for t in stamps.triggers}
    assert found == {"overload": wide, "late": "k string, v int", "more": wide, "reads": "load float"}
    assert [t.name for t in stamps.triggers] == ["Overload", "late", "Overload", "R"]
    assert [t.number for t in stamps.triggers] == [1, 2, 3, 4]
    ticks = good(text, kind=SECONDS).schemas["Overload"]
    assert [str(k) for _, k in ticks] == ["string", "float", "int", "int", "float"]
    unknown = good(text.replace(", took = 3 s", ", took = time - time")).schemas["Overload"]
    assert [str(k) for _, k in unknown][2:4] == ["null", "null"]
    assert stamps.declared["login"] == Schema((("person", Type.STRING), ("n", Type.INT)))
    assert set(stamps.declared) == {"Traffic", "Location", "Pair", "Single", "login", "ping", "net"}


def test_a_type_is_known_before_it_is_read() -> None:
    analysis = good("trigger a: eventually B.n > 3 emit A(n = B.n) trigger b: eventually up emit B(n = y)")
    assert [(t.name, dict(t.schema.attributes)) for t in analysis.triggers] == [
        ("A", {"n": Type.INT}),
        ("B", {"n": Type.INT}),
    ]


def test_without_declarations() -> None:
    file, _ = parse("trigger a: eventually (p and x > 2y) trigger b for each link: eventually a")
    analysis = analyse([file])
    assert not analysis.problems
    assert analysis.triggers[0].reads == ("state",)
    assert analysis.triggers[1].inputs == ("state",)
    seen = {"state": Schema((("p", Type.BOOL), ("x", Type.INT), ("y", Type.INT), ("link", Type.STRING)))}
    analysis = analyse([file], inputs=seen)
    assert not analysis.problems
    assert analysis.triggers[1].generics == (("link", Type.STRING),)
    analysis = analyse([file], inputs={"state": Schema((("p", Type.INT),))})
    assert [(p.kind, p.column) for p in analysis.problems] == [
        ("type-mismatch", 24), ("unknown-name", 30), ("unknown-name", 35), ("unknown-name", 57)]  # fmt: skip
    # an argument that is no column is a text, then
    file, _ = parse("trigger a: eventually E(k = foo)")
    analysis = analyse([file], inputs={"E": Schema((("k", Type.STRING),))})
    assert [p.kind for p in analysis.problems] == ["text-constant"]
    assert analysis.triggers[0].reads == ("E",)


def test_events_of_other_languages() -> None:
    foreign = {"Fire": Schema((("area", Type.STRING), ("temp", Type.FLOAT)))}
    found = one("Fire(area = 'A1') and eventually Fire.temp > 45", foreign=foreign)
    assert found.reads == ("Fire",)


def test_files_are_one_program() -> None:
    one_file, _ = parse("trigger a: eventually B emit A()", "a.ftl")
    other, _ = parse("event E trigger b: previously E emit B()", "b.ptl")
    analysis = analyse([one_file, other])
    assert not analysis.problems
    assert [(t.name, t.file, t.trigger.past) for t in analysis.triggers] == [
        ("A", "a.ftl", False),
        ("B", "b.ptl", True),
    ]
    assert analysis.triggers[1].text == "past trigger b:\n    previously E\n    emit B();"


def test_the_logic_of_a_file_is_its_suffix() -> None:
    name = str(Path("some") / "x.PTL")
    file, _ = parse("trigger a: always p", name)
    assert [p.kind for p in analyse([file]).problems] == ["sort"]


@pytest.mark.parametrize(
    "rule",
    [
        "view w as select case when 1 then 2 end;\ntrigger t: eventually up emit S(n = w)",
        "trigger t for each k in (select max(link, 1) from Location): eventually Traffic(k) > 3",
    ],
)
def test_a_value_whose_type_is_not_known_cannot_be_emitted(rule: str) -> None:
    """Without the complaint it would be null in the output."""
    file, _ = parse(DECLARED + rule, "rule.ftl")
    (problem,) = (p for p in analyse([file], kind=STAMPS).problems if p.severity == "error")
    assert problem.kind == "type-mismatch"
    assert "is not known" in problem.message
    assert "cast(" in str(problem.hint)
