"""What the checks say of wrong Phenesthe, and what they make of right one."""

from __future__ import annotations

import re

import pytest

from occurs.errors import Problem
from occurs.languages.phenesthe.checks import Analysis, analyse
from occurs.languages.phenesthe.checks.scope import Project
from occurs.languages.phenesthe.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

SECONDS = TimeKind(timestamp=False, unit="s")
#: the table of phenesthe.md, section 3, and the kinds it names beside
KINDS = {
    "syntax", "unknown-name", "duplicate-definition", "arity", "unknown-attribute", "sort", "cycle",
    "unbound-variable", "unguarded-negation", "type-mismatch", "bad-duration", "unknown-unit", "missing-unit",
    "singleton-variable", "chained-relation", "unsupported", "ambiguous-chain", "reserved-name", "duplicate-name",
    "schema-conflict",
}  # fmt: skip

INPUTS = """input event a(x), b(x, y: int), c, g(K). input state p(v), q(v), r. input dynamic d(v: string), i.
fact type(v1, fishing). fact type(v2, 'tug boat').
"""
LINE = re.compile(r"(?:(warning|notice) )?([a-z-]+) (\d+):(\d+) «(.*?)»(?: hint: (.*))?")


def analysed(text: str, **known: object) -> tuple[Analysis, list[Problem]]:
    file, problems = parse(text, "case.phen")
    analysis = analyse([file], **known)  # type: ignore[arg-type]
    return analysis, sorted([*problems, *analysis.problems], key=Problem.sort_key)


def good(text: str, **known: object) -> Analysis:
    analysis, problems = analysed(text, **known)
    assert not [p for p in problems if p.severity == "error"], "\n".join(p.render() for p in problems)
    return analysis


#: (text behind INPUTS, problems: `kind line:column «underlined text» hint: part of the hint`, what is known)
CASES: list[tuple[str, list[str], dict[str, object]]] = [
    # names
    ("event e : a ~ b.", ["syntax 3:13 «~»"], {}),
    ("event e : al(X).", ["unknown-name 3:11 «al» hint: did you mean `a`?", "notice singleton-variable 3:14 «X»"], {}),
    ("event e : c where typ(_, fishing).", ["unknown-name 3:19 «typ» hint: did you mean `type`?"], {}),
    ("event e : ais(_).", ["unknown-name 3:11 «ais» hint: declare it, as in `input event ais(mmsi, speed).`"],
     {"inputs": {"ais": Schema((("mmsi", Type.INT), ("speed", Type.FLOAT)))}}),
    ("event e(X) : a(X).\nevent e(X) : b(X, _).",
     ["duplicate-definition 4:7 «e» hint: combine the formulas with ∨"], {}),
    ("state p(X) : a(X) ~> c.", ["duplicate-definition 3:7 «p» hint: ⊔"], {}),
    ("dynamic d : p(_) meets r.", ["duplicate-definition 3:9 «d» hint: rename"], {}),
    ("fact p(3).", ["duplicate-definition 3:6 «p» hint: rename"], {}),
    ("event e(X, X) : a(X).", ["duplicate-definition 3:12 «X» hint: `name = Variable`"], {}),
    ("input event k(x, y, x).", ["duplicate-definition 3:21 «x»"], {}),
    ("event e(X) : a(X).", ["duplicate-definition 3:7 «e» hint: rename"], {"foreign": {"e": Schema()}}),
    ("event e(time = X) : a(X).", ["reserved-name 3:9 «time» hint: every result has a column"], {}),
    ("input event k(end).", ["reserved-name 3:15 «end» hint: read from every row"], {}),
    # arguments
    ("event e : b(_).", ["arity 3:11 «b(_)» hint: `b(X, ...)`; attributes: `x`, `y`"], {}),
    ("event e : b.", ["arity 3:11 «b» hint: `b(...)`"], {}),
    ("event e : a(1, 2, 3).", ["arity 3:16 «2» hint: attributes: `x`"], {}),
    ("event e : c(_).", ["arity 3:13 «_» hint: no attributes"], {}),
    ("fact type(v3).", ["arity 3:1 «fact type(v3)» hint: attributes: `a1`, `a2`"], {}),
    ("event e : k(3, ...).", ["arity 3:13 «3» hint: name them"],
     {"foreign": {"k": Schema((("x", Type.INT),), ordered=False)}}),
    ("event e : b(1, z = 3).", ["unknown-attribute 3:16 «z» hint: attributes: `x`, `y`"], {}),
    ("event e(Speed) : a(Speed). event f : e(speed = _).", ["unknown-attribute 3:40 «speed» hint: `Speed`"], {}),
    ("event e : b(1, x = 3).", ["duplicate-name 3:16 «x» hint: compare two"], {}),
    # sorts
    ("event e : c ∧ r.", ["sort 3:15 «r» hint: `⊓`"], {}),
    ("event e : i and c.", ["sort 3:11 «i» hint: `overlaps`"], {}),
    ("event e : c ∨ r.", ["sort 3:15 «r» hint: `⊔`"], {}),
    ("event e(X) : a(X) ∨ X > 3.", ["sort 3:21 «X > 3» hint: (a ∨ b) ∧ X > 3"], {}),
    ("event e : not r.", ["sort 3:15 «r»"], {}),
    ("state s : r ~> c.", ["sort 3:11 «r» hint: `start(p)` or `end(p)`"], {}),
    ("state s : c ~>> i.", ["sort 3:17 «i»"], {}),
    ("state s : r <@ 4.", ["sort 3:11 «r» hint: start(p)"], {}),
    ("state s : r ⊔ c.", ["sort 3:15 «c» hint: `a ~> b`"], {}),
    ("state s : i ⊓ r.", ["sort 3:11 «i»"], {}),
    ("state s : r \\ i.", ["sort 3:15 «i»"], {}),
    ("event e : start(c).", ["sort 3:17 «c»"], {}),
    ("event e : end(i).", ["sort 3:15 «i»"], {}),
    ("event e : c in i.", ["sort 3:16 «i»"], {}),
    ("event e : r in r.", ["sort 3:11 «r»"], {}),
    *((f"dynamic e : {left} {rel} {right}.", [f"sort 3:{13 if left == 'c' else 16 + len(rel)} «c»"], {})
      for rel, left, right in [("meets", "c", "r"), ("overlaps", "r", "c"), ("equals", "c", "i"), ("met_by", "r", "c"),
                               ("overlapped_by", "c", "i"), ("finishes", "r", "c"), ("starts", "r", "c"),
                               ("finished_by", "c", "i"), ("started_by", "c", "i"), ("contains", "c", "r"),
                               ("during", "r", "c")]),
    ("dynamic e : c before type(_, _).", ["sort 3:22 «type(_, _)» hint: combine the condition"], {}),
    ("dynamic e : filter(c, less(3)).", ["sort 3:20 «c»"], {}),
    ("state e : i.", ["sort 3:11 «i» hint: write `dynamic e : ...`"], {}),
    ("event e : 3 > 2.", ["sort 3:11 «3 > 2» hint: combine the condition"], {}),
    ("event e : c where c.", ["sort 3:19 «c» hint: comparisons and facts"], {}),
    # cycles
    ("state s : e ~> c.\nevent e : start(t).\nstate t : s ⊔ r.", ["cycle 3:7 «s»"], {}),
    ("dynamic s : s before c.", ["cycle 3:9 «s» hint: define each step"], {}),
    ("event e : c and Fire().\nevent g2 : e.", ["cycle 3:7 «e»"],
     {"foreign": {"Fire": Schema()}, "foreign_reads": {"Fire": {"g2"}}}),
    # variables
    ("event e(X, Y) : a(X).", ["unbound-variable 3:12 «Y» hint: name it in an atom"], {}),
    ("event e(X, Y) : al(X).", ["unbound-variable 3:12 «Y»", "unknown-name 3:17 «al»"], {}),
    ("event e(X) : a(X) ∧ X > Y.", ["unbound-variable 3:25 «Y» hint: `where`"], {}),
    ("event e(X) : a(X) ∧ X > Y ∧ b(Y, _).", ["unbound-variable 3:25 «Y»"], {}),
    ("event e(X) : a(X) where Y > 3.", ["unbound-variable 3:25 «Y»"], {}),
    ("event e(X) : a(X) ∧ (X = x ∨ type(X, F) ∨ F = x).", ["unbound-variable 3:38 «F»"], {}),
    ("event e(X, F) : a(X) ∧ ¬type(X, F).", ["unbound-variable 3:33 «F»"], {}),
    ("event e(X) : a(X) ∨ c.", ["unbound-variable 3:21 «c» hint: `_`"], {}),
    ("state e(V) : p(V) ⊔ r.", ["unbound-variable 3:21 «r» hint: `_`"], {}),
    ("state e(X, Y) : a(X) ~> b(X, Y).", ["unbound-variable 3:30 «Y» hint: `_`"], {}),
    ("state e(X) : c ~>> a(X).", ["unbound-variable 3:22 «X»"], {}),
    ("state e(V) : r \\ p(V).", ["unbound-variable 3:20 «V»"], {}),
    ("event e(X) : c ∧ ¬a(X).", ["unbound-variable 3:21 «X»"], {}),
    # co-finite formulas
    ("event e : ¬c.", ["unguarded-negation 3:11 «¬c» hint: `a ∧ ¬b`"], {}),
    ("event e : c ∨ ¬a(_).", ["unguarded-negation 3:15 «¬a(_)»"], {}),
    ("event e : ¬c ∧ ¬a(_).", ["unguarded-negation 3:11 «¬c ∧ ¬a(_)»"], {}),
    ("state s : c ~> ¬a(_).", ["unguarded-negation 3:16 «¬a(_)»"], {}),
    ("state s : ¬c =@ 3.", ["unguarded-negation 3:11 «¬c»"], {}),
    ("event e : ¬c in r.", ["unguarded-negation 3:11 «¬c»"], {}),
    ("dynamic e : r before (¬c).", ["unguarded-negation 3:23 «¬c»"], {}),
    ("event e : ¬c.\nevent f : e.", ["unguarded-negation 3:11 «¬c»"], {"kind": SECONDS, "windows": True}),
    ("event e : ¬c.", ["unguarded-negation 3:11 «¬c»"], {"kind": TimeKind(), "windows": True}),
    # types
    ("event e(Y) : b(_, Y) ∧ Y > 'x'.", ["type-mismatch 3:24 «Y > 'x'» hint: quotes"], {}),
    ("event e(Y) : b(_, Y) ∧ Y + x > 3.", ["type-mismatch 3:24 «Y + x» hint: quotes"], {}),
    ("dynamic e(Y) : d(Y) before b(_, Y).", ["type-mismatch 3:33 «Y» hint: two variables"], {}),
    ("dynamic e : d(3) before c.", ["type-mismatch 3:15 «3» hint: quotes"], {}),
    ("event e(Y) : b(_, Y). event f : e(x).", ["type-mismatch 3:35 «x» hint: without quotes"], {}),
    ("event e(X) : a(X) ∧ X > 'x'.", ["type-mismatch 3:21 «X > 'x'»"], {"inputs": {"a": Schema((("X", Type.INT),))}}),
    ("fact type(3, x).", ["type-mismatch 3:11 «3» hint: one type"], {}),
    ("input event Fire(area: int).", ["schema-conflict 3:13 «Fire» hint: `Fire(area: string)`"],
     {"foreign": {"Fire": Schema((("area", Type.STRING),))}}),
    ("input state Fire(area).", ["schema-conflict 3:13 «Fire» hint: `input event Fire(...)`"],
     {"foreign": {"Fire": Schema((("area", Type.STRING),))}}),
    # durations
    ("state s : c <@ 0.5.", ["bad-duration 3:16 «0.5» hint: unit"], {}),
    ("state s : c <@ 0.", ["bad-duration 3:16 «0»"], {}),
    ("state s : filter(r, less(1500 ms)).", ["bad-duration 3:26 «1500 ms» hint: one tick is 1 s"], {"kind": SECONDS}),
    ("state s : c <@ 5 min.", ["missing-unit 3:16 «5 min» hint: --time-unit"], {"kind": TimeKind(False, None)}),
    ("state s : c <@ 5.", ["missing-unit 3:16 «5» hint: `5 min`"], {"kind": TimeKind()}),
    ("state s : c <@ 5 parsec.", ["unknown-unit 3:18 «parsec»"], {}),
    # Phenesthe's own files
    ("event e := c aand writeln(X).", ["unsupported 3:19 «writeln»", "notice singleton-variable 3:27 «X»"], {}),
    ("event e := collector(c).", ["unsupported 3:12 «collector»"], {}),
    ("dynamic e := c before r before c.", ["ambiguous-chain 3:14 «c before r before c»"], {}),
    # notices
    ("event e(V) : a(V) ∧ type(V, Fishing).",
     ["notice singleton-variable 3:29 «Fishing» hint: did you mean the constant 'Fishing'?"], {}),
    ("event e(V) : a(V) ∧ type(V, _Any).", [], {}),
    ("dynamic e : c before r before c.",
     ["notice chained-relation 3:13 «c before r before c» hint: parentheses"], {}),
    ("dynamic e : (c before r) before c. dynamic f : c before (r before c).", [], {}),
    ("event e(X) : a(X) ∧ starts_with(X, 'v').",
     ["unknown-name 3:21 «starts_with» hint: `starts_with(..) = true`"], {}),
    # attributes that are computed of intervals
    ("state s(X, n = count(a(X))) : a(X) ~> c.\nevent e(X) : end(s(X, N)) ∧ N > 3.",
     ["unsupported 4:23 «N» hint: `_`"], {}),
    ("state s(X, n = count(a(X))) : a(X) ~> c.\nevent e(X) : end(s(X, ...)).", [], {}),
    ("state s(X, n = count(a(X))) : a(X) ~> c.\nevent e(X) : end(s(X)).", ["arity 4:18 «s(X)»"], {}),
    ("event e(X, n = count(a(X))) : a(X).", ["sort 3:16 «count(a(X))» hint: the state"], {}),
    ("state s(X, n = count(p(X))) : a(X) ~> c.", ["sort 3:22 «p(X)» hint: start(p(...))"], {}),
    ("state s(X, n = count(ab(X))) : a(X) ~> c.", ["unknown-name 3:22 «ab» hint: `a`"], {}),
    ("state s(X, n = sum(Y, b(X, _))) : a(X) ~> c.", ["unbound-variable 3:20 «Y» hint: name it"], {}),
    ("state s(X, n = sum(Y, b(Y, _))) : b(X, _) ~> c.", ["type-mismatch 3:20 «Y»"],
     {"inputs": {"b": Schema((("x", Type.STRING), ("y", Type.INT)))}}),
    ("state s(X, n = sum(y, b(X, y))) : a(X) ~> c.", ["syntax 3:20 «y» hint: sum(Amount, Pay(User, Amount))"], {}),
    ("state s(X, n = count(a(X) ∧ c)) : a(X) ~> c.", ["syntax 3:22 «a(X) ∧ c» hint: define the events first"], {}),
    ("state s(X, n = length(1 min)) : a(X) ~> c.", ["missing-unit 3:16 «length(1 min)»"],
     {"kind": TimeKind(False, None)}),
    ("state s(X, n = length(0)) : a(X) ~> c.", ["bad-duration 3:23 «0»"], {}),
    ("state s(X, n = length()) : a(X) ~> c.", ["unsupported 3:16 «length()» hint: --window"],
     {"kind": TimeKind(False, "s"), "windows": True}),
    ("state s(X, n = count) : a(X) ~> c.", [], {}),
    # a statement that cannot be read has been complained of; what uses it is not
    ("event e : c and .\nstate s : e ~> c.", ["syntax 3:16 « »"], {}),
]  # fmt: skip


def shown(problem: Problem, text: str) -> str:
    assert problem.span is not None
    line = text.splitlines()[problem.span.line - 1]
    underlined = line[problem.span.column - 1 : problem.span.end_column - 1]
    severity = "" if problem.severity == "error" else f"{problem.severity} "
    return f"{severity}{problem.kind} {problem.line}:{problem.column} «{underlined}»"


@pytest.mark.parametrize(("text", "expected", "known"), CASES)
def test_wrong_definitions(text: str, expected: list[str], known: dict[str, object]) -> None:
    _, problems = analysed(INPUTS + text, **known)
    assert [shown(p, INPUTS + text) for p in problems] == [line.split(" hint: ")[0] for line in expected]
    for line, problem in zip(expected, problems, strict=True):
        match = LINE.fullmatch(line)
        assert match is not None
        assert (match[6] or "") in (problem.hint or "")
        at = f"case.phen:{problem.line}:{problem.column}: {problem.severity}[{problem.kind}]: "
        assert problem.render().startswith(at)
        assert "^" in problem.render()


def test_every_kind_has_a_case() -> None:
    found = {m[2] for _, lines, _ in CASES for line in lines if (m := LINE.fullmatch(line))}
    assert found == KINDS


def test_messages_say_what_is_where() -> None:
    def message(text: str) -> str:
        return analysed(INPUTS + text)[1][0].message

    cycle = "state s : e ~> c.\nevent e : start(t).\nstate t : s ⊔ r."
    assert message(cycle) == "the definitions form a cycle: `s` -> `e` -> `t` -> `s`"
    (problem,) = analysed(INPUTS + cycle)[1]
    assert [p.span.line for p in problem.related if p.span] == [4, 5]
    assert message("event e : b(_).") == "`b` has 2 attributes, but this has 1 argument"
    assert message("state s : r ⊔ c.") == "`⊔` takes a state, but its right operand is an event formula"
    assert message("dynamic e : p(_) meets c.") == (
        "`meets` takes a state or a dynamic phenomenon, but its right operand is an event formula"
    )
    chain = "`before` and `before` in a row are read as `(c before r) before c`"
    assert message("dynamic e : c before r before c.") == chain


def test_two_cycles_are_two_problems() -> None:
    text = "state s : t ⊔ r. state t : s ⊔ r. state u : w ⊔ s. state w : u ⊔ r."
    _, problems = analysed(INPUTS + text)
    assert [(p.kind, p.column) for p in problems] == [("cycle", 7), ("cycle", 41)]


BREST = """
input event stop_start(vessel: string), stop_end(vessel), entersPort(vessel, area), leavesPort(vessel, area),
            fast(vessel), slow(vessel).
dynamic trip(Vessel, PortA, PortB)  : end(moored(Vessel, PortA)) before (underway(Vessel) before start(moored(Vessel, PortB))).
state moored(Vessel, Port)          : stopped(Vessel) ⊓ in_port(Vessel, Port).
state stopped(Vessel)               : stop_start(Vessel) ~> stop_end(Vessel).
state underway(Vessel)              : fast(Vessel) ~> slow(Vessel).
state in_port(Vessel, Port)         : entersPort(Vessel, Port) ~> leavesPort(Vessel, Port).
event long(Vessel, kind = 'long', n = 3) : stop_start(Vessel).
"""  # noqa: E501


def test_a_right_program_is_resolved() -> None:
    analysis = good(BREST)
    assert not analysis.problems
    assert [d.name for d in analysis.definitions] == ["stopped", "underway", "in_port", "moored", "trip", "long"]
    by_name = {d.name: d for d in analysis.definitions}
    assert by_name["trip"].reads == ("moored", "underway")
    assert by_name["trip"].schema == Schema(
        (("Vessel", Type.STRING), ("PortA", Type.NULL), ("PortB", Type.NULL)), lasting=True
    )
    assert by_name["long"].schema == Schema((("Vessel", Type.STRING), ("kind", Type.STRING), ("n", Type.INT)))
    assert by_name["stopped"].text == "state stopped(Vessel) : stop_start(Vessel) ↣ stop_end(Vessel)."
    assert analysis.sorts["moored"] == "state"
    assert analysis.sorts["fast"] == "event"


def test_columns_of_the_data_complete_declarations() -> None:
    ais = Schema((("MMSI", Type.INT), ("Speed", Type.FLOAT), ("port", Type.STRING)))
    text = "input event ais(mmsi, ...). event e(V, P) : ais(V, Speed = S, port = P) ∧ S > 3."
    (made,) = good(text, inputs={"ais": ais}).definitions
    assert list(made.schema) == [("V", Type.INT), ("P", Type.STRING)]
    # without data, what else there is remains open
    assert good(text).phenomena["ais"].rest


def test_arguments_are_resolved_by_position_and_by_name() -> None:
    analysis = good("input event b(x, y, z). event e(X) : b(X, z = 3).")
    (made,) = analysis.definitions
    atom = made.definition.body
    found = analysis.phenomena["b"].arguments(atom)  # type: ignore[arg-type]
    assert [name for name, _ in found] == ["x", "z"]


def test_variables_end_where_all_their_places_are() -> None:
    analysis = good("input event a(x, y), b(x, y). state s(X) : a(X, _) ~> b(X, Y) ∧ a(_, Y). event f : a(X, Y).")
    state, event = analysis.definitions
    (project,) = [n for n in state.body.walk() if isinstance(n, Project)]
    assert project.gone == {"Y"}
    assert isinstance(event.body, Project)
    assert event.body.gone == {"X", "Y"}


def test_what_the_language_takes() -> None:
    good(INPUTS + "event e(X) : a(X) ∧ type(X, F) ∧ (F = fishing ∨ F = tug) ∧ ¬type(X, sail).")
    good(INPUTS + "event e(X, F) : a(X) where type(X, F) and (X > F or ¬type(F, _)).")
    good(INPUTS + "event e(X) : a(X) ∧ (¬a(X) ∨ b(X, _) ∧ ¬g(X)) where type(X, _).")
    good(INPUTS + "event e(X) : (¬c ∧ a(X)) ∧ ¬(a(X) ∨ ¬b(X, 3)).")
    good(INPUTS + "state e(V) : (p(V) ∧ V > 3) \\ (q(V) ⊔ p(V)).")
    good(INPUTS + "dynamic e(V) : a(V) finishes (a(V) before p(V)). dynamic f : r during filter(i, at_most(3 h)).")
    good(INPUTS + "event_phenomenon e(X) := a(X) and tnot c aand type(X, fishing).")
    good("input event Fire(area). event e(A) : Fire(A).", foreign={"Fire": Schema((("area", Type.STRING),))})
    good("dynamic e(A) : Fire(A) before p(A, ...).", foreign={
        "Fire": Schema((("area", Type.STRING),)), "p": Schema((("a", Type.STRING), ("b", Type.INT)), lasting=True),
    })  # fmt: skip


def test_negation_over_windows_of_an_integer_clock() -> None:
    analysis = good("input event a. event n : ¬a. event m : a.", kind=SECONDS, windows=True)
    assert {d.name: d.clocked for d in analysis.definitions} == {"n": True, "m": False}


def test_files_are_one_program() -> None:
    one, _ = parse("input event a(x). state s(X) : t(X) ⊔ t(X).", "one.phen")
    two, _ = parse("state t(X) : a(X) ~> a(3).\nstate s(X) : t(X) ⊔ t(X).", "two.phen")
    analysis = analyse([one, two])
    (problem,) = analysis.problems
    assert (problem.kind, problem.file, problem.line, problem.related[0].file) == (
        "duplicate-definition", "two.phen", 2, "one.phen",
    )  # fmt: skip
    assert analysis.definitions[0].name == "t"


def test_negations_that_nothing_guards_though_an_event_stands_beside_them() -> None:
    # for L there are no values to be tried
    _, found = analysed("input event a(x), b(x), c. event e : c ∧ (a(L) ∨ ¬b(L)).")
    assert [p.kind for p in found if p.severity == "error"] == ["unguarded-negation"]
    # it is a(X) ∨ b(Y), and for that both sides need the same variables
    text = "input event a(x), b(y). event e(X, Y) : a(X) ∧ b(Y) ∧ ¬(¬a(X) ∧ ¬b(Y))."
    _, found = analysed(text)
    assert {p.kind for p in found if p.severity == "error"} == {"unbound-variable"}
