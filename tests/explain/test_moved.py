"""Thresholds outside TESLA move to the values that the other side takes (why.md, sections 4 and 6)."""

from __future__ import annotations

import pytest
from tests.explain.test_worked import reasons, table

import occurs

FIRST = "insert into Out select a.v as v from pattern [{}]"
FOLLOWED = FIRST.format("every a=A -> b=B{}")
PHENESTHE = "input event a(K: string, V: int, U: int).\nevent o(K) : a(K, V, U) and {}."
DERIVED = "insert into M select v + 1000 as w from A;\ninsert into Out select m.w as w from pattern [m=M(w > 5000)]"
PTL = "state s(v int)\npast trigger p: {}"


@pytest.mark.parametrize(
    ("language", "rules", "events", "type", "between", "repair"),
    [
        ("epl", FOLLOWED.format("(v - a.v > 10)"), "A@1(v=100) B@2(v=101) B@3(v=106)", "Out", 3, "v - a.v >= 6"),
        ("epl", DERIVED, "A@1(v=1) A@2(v=7)", "Out", 2, "w >= 1007"),
        ("epl", FIRST.format("every a=A(v * 2 > 50)"), "A@1(v=3)", "Out", 1, "v * 2 >= 6"),
        ("epl", FIRST.format("(every a=A) while (a.v + 1 < 3)"), "A@1(v=7)", "Out", 1, "a.v + 1 <= 8"),
        ("epl", FOLLOWED.format("") + " where b.v - a.v > 50", "A@1(v=3) B@2(v=9)", "Out", 2, "b.v - a.v >= 6"),
        ("epl", FOLLOWED.format("(b.time - a.time > 9 msec)"), "A@1(v=3) B@4(v=9)", "Out", 4,
         "b.time - a.time >= 3 msec"),
        ("phenesthe", PHENESTHE.format("V * 2 > 50"), "a@1(K='x',V=3,U=0)", "o", 1, "V * 2 >= 6"),
        ("phenesthe", PHENESTHE.format("V - U > 60"), "a@1(K='x',V=103,U=100) a@2(K='y',V=3,U=9)", "o", 1,
         "V - U >= 3"),
        ("ptl", PTL.format("v * 2 > 50"), "s@1(v=5)", "p", 1, "v * 2 >= 10"),
        ("ptl", "constant c = 5\n" + PTL.format("v - c > 50"), "s@1(v=9)", "p", 1, "v - c >= 4"),
        ("ptl", PTL.format("[x <- v] previously[<= 1] (v - x >= 50) continue at most every 9"),
         "s@1(v=105) s@2(v=101) s@3(v=95)", "p", 3, "v - x >= 6"),
        ("esql", "DEFINE Out AS THE FIRST 1 OF (SELECT v AS v FROM Pay WHERE v - u > 60).",
         "Pay@1(v=103,u=100) Pay@2(v=107,u=100)", "Out", 2, "v - u >= 7"),
        ("esql", "DEFINE Out AS SELECT v AS v FROM Pay WHERE v + 1 > 60.", "Pay@1(v=3) Pay@2(v=4)", "Out", 2,
         "v + 1 >= 5"),
        ("esql", "DEFINE Out AS SELECT s AS v FROM (GET (THE SUM OF *) FROM Pay.v ON A WINDOW OF 2) AS s WHERE s > 60.",
         "Pay@1(v=3) Pay@2(v=4)", "Out", 2, "s >= 7"),
        ("esql", "LET y BE SELECT v + 1 AS w FROM Pay. DEFINE Out AS SELECT w AS w FROM y WHERE w > 60.",
         "Pay@1(v=3) Pay@2(v=4)", "Out", 2, "w >= 5"),
        ("esql", "DEFINE Mid AS SELECT v + 1 AS w FROM Pay. DEFINE Out AS SELECT w AS w FROM Mid WHERE w > 60.",
         "Pay@1(v=3) Pay@2(v=4)", "Out", 2, "w >= 5"),
        ("esql", "DEFINE Out AS (GET (THE SUM OF *) FROM Pay.v ON A WINDOW OF 5 ms) WHERE * > 6.",
         "Pay@1(v=3) Pay@9(v=4)", "Out", 9, "* >= 4"),
    ],
)  # fmt: skip
def test_an_expression_moves_to_the_values_that_it_takes(language, rules, events, type, between, repair):
    found = reasons(rules, language, events, type, between=between, edits=1)
    moved = [c for r in found for c in r if c[0] == "threshold"]
    assert [c[2] for c in moved] == [repair]


@pytest.mark.parametrize(
    ("language", "rules", "events", "repairs"),
    [
        ("epl", DERIVED.replace("from A", "from A where v > 3"), "A@1(v=1)", ["v >= 1", "w >= 1001"]),
        ("esql", "LET y BE SELECT v + 1 AS w FROM Pay WHERE v > 3. DEFINE Out AS SELECT w AS w FROM y WHERE w + 0 > 9.",
         "Pay@1(v=1)", ["v >= 1", "w + 0 >= 2"]),
        ("esql", "LET y BE (SELECT v + 1 AS w FROM Pay) WHERE w > 3. DEFINE Out AS SELECT w AS w FROM y WHERE w > 60.",
         "Pay@1(v=1)", ["w >= 2", "w >= 2"]),
    ],
)  # fmt: skip
def test_two_comparisons_move_together(language, rules, events, repairs):
    found = reasons(rules, language, events, "Out", edits=2)
    assert [[c[2] for c in r] for r in found if len(r) == 2] == [repairs]


def test_a_comparison_moves_to_what_an_added_row_has():
    rules = FOLLOWED.format("(v - a.v > 10)").replace("a=A", "a=A(v > 5)")
    found = reasons(rules, "epl", "A@1(v=3) B@2(v=9)", "Out", edits=2)
    assert [[c[2] for c in r] for r in found] == [
        ["v >= 3", "v - a.v >= 6"], ['{"type": "A", "time": 1, "v": 6}', "v - a.v >= 3"],
    ]  # fmt: skip


def test_a_comparison_that_is_dropped_keeps_the_positions_of_its_formula():
    rules = "DEFINE Out AS FILTER Pay.v WITH (G (Pay.v > 5))."
    answer = occurs.parse(rules, "esql").why_not("Out", table("Pay@1(v=3) Pay@2(v=7)"), edits=1, time_unit="ms")
    assert answer.complete
    assert [(r.clauses[0].kind, r.clauses[0].repair) for r in answer.reasons] == [("choice", "Pay.v")]
    with pytest.raises(occurs.DefinitionProblem, match="a constant has no events of its own"):
        occurs.parse("DEFINE Out AS FILTER Pay.v WITH (G (0 = 0)).", "esql")


def test_values_that_are_not_known_are_noted():
    rules = PTL.format("[x <- count of v within 5 ms] x > 2")
    answer = occurs.parse(rules, "ptl").why_not("p", table("s@1(v=1)"), between=1, edits=1, time_unit="ms")
    assert not answer.complete
    assert answer.notes == ("not all constants were tried in `x > 2`: the values that it compares are not known",)


def test_a_rule_of_another_language_moves_to_what_a_copy_shows(tmp_path):
    tesla = "define C(w) from A(v * 3 > 90) where w = A.v"
    epl = "insert into Out select c.w as w from pattern [every c=C]"
    (tmp_path / "a.tesla").write_text(tesla)
    (tmp_path / "b.epl").write_text(epl)
    program = occurs.load(tmp_path / "a.tesla", tmp_path / "b.epl")
    answer = program.why_not("Out", table("A@1(v=5)"), edits=1, time_unit="ms")
    assert [r.clauses[0].repair for r in answer.reasons] == ["v * 3 >= 15", '{"type": "A", "time": 1, "v": 89}']
    assert answer.complete


LOGIC = "event login(u string)\nevent pay(u string)\nstate s(v int)\n{}"
GUARDED = "insert into Out select 1 as x from pattern [{}]"


@pytest.mark.parametrize(
    ("language", "rules", "events", "type", "between", "message"),
    [
        ("ftl", LOGIC.format("trigger p: login and eventually[<= 5] pay"), "login@1(u='x') pay@9(u='x')", "p", None,
         "login at 1 is 8 ms before pay at 9, needed [<= 5]; "
         "`eventually[<= 5] pay` is false from the state at 9 on"),
        ("ftl", LOGIC.format("trigger p: login and eventually within 5 ms pay"), "login@1(u='x') pay@9(u='x')", "p",
         None, "login at 1 is 8 ms before pay at 9, needed within 5 ms; "
         "`eventually within 5 ms pay` is false from the state at 9 on"),
        ("ftl", LOGIC.format("trigger p: login until[< 5] pay"), "login@1(u='x') pay@9(u='x')", "p", None,
         "login at 1 is 8 ms before pay at 9, needed [< 5]; `login until[< 5] pay` is false from the state at 9 on"),
        ("ptl", LOGIC.format("past trigger p: pay and previously[<= 5] login"), "login@1(u='x') pay@9(u='x')", "p", 9,
         "login at 1 is 8 ms before pay at 9, needed [<= 5]; `previously[<= 5] login` is false at 9"),
        ("ptl", LOGIC.format("past trigger p: pay and once[< 5] login"), "login@1(u='x') pay@9(u='x')", "p", 9,
         "login at 1 is 8 ms before pay at 9, needed [< 5]; `once[< 5] login` is false at 9"),
        ("epl", GUARDED.format("every A -> (B -> C) where timer:within(2 sec)"),
         "A@1000(v=1) B@2500(v=2) C@9000(v=1)", "Out", None, "A at 1000 is 8 s before C at 9000, needed within 2 sec"),
        ("epl", GUARDED.format("(every a=A) where timer:withinmax(10 sec, 9)"), "A@1(v=1) A@20000(v=1)", "Out", 20_000,
         "A at 20000 is 19999 ms after 1, needed within 10 sec"),
    ],
)  # fmt: skip
def test_what_a_window_met(language, rules, events, type, between, message):
    answer = occurs.parse(rules, language).why_not(type, table(events), between=between, edits=1, time_unit="ms")
    assert [c.message for r in answer.reasons for c in r.clauses if c.kind == "window"] == [message]
    assert next(c.found for r in answer.reasons for c in r.clauses if c.kind == "window") in message


@pytest.mark.parametrize(
    ("language", "rules", "events", "type", "found"),
    [
        ("ftl", LOGIC.format("trigger p: login and eventually[<= 9] pay"), "login@1(u='x') pay@9(u='x')", "p", "8 ms"),
        ("ftl", LOGIC.format("trigger p: login and eventually[<= 9] (pay and eventually v > 3)"),
         "login@1(u='x') pay@9(u='x') s@12(v=5)", "p", "8 ms"),
        ("epl", GUARDED.format("every A -> (B -> C) where timer:within(9 sec)"),
         "A@1000(v=1) B@2500(v=2) C@9000(v=1)", "Out", "8 s"),
    ],
)  # fmt: skip
def test_the_length_of_a_window_that_holds(language, rules, events, type, found):
    program = occurs.parse(rules, language)
    row = program.detect(table(events), time_unit="ms")[type].to_pylist()[0]
    nodes = program.why(row, table(events), time_unit="ms").nodes
    needed = [str(n.needed) for n in nodes if n.kind == "clause"]
    lengths = [n.found for n in nodes if n.kind == "clause"]
    assert [f for f, n in zip(lengths, needed, strict=True) if "within" in n or "[<=" in n] == [found]


def test_a_recursive_rule_is_relaxed_in_all_its_steps():
    rules = """event S(V: int)
define C(V) from S(V = 0) where V = 0
define C(V) from S(V > 0) and last C() within 5 ms from S where V = C.V + 1"""
    events = "S@1(V=0) S@10(V=1) S@12(V=1)"
    found = reasons(rules, "tesla", events, "C", where={"V": 2}, edits=1)
    assert ("window", "3:47", "9 ms") in [r[0] for r in found]


INTERVALS = "input state s(K: string), r(K: string).\nstate o(K) : s(K) minus r(K)."


@pytest.mark.parametrize(
    ("language", "rules", "events", "type", "clause"),
    [
        ("phenesthe", INTERVALS, "s@1(K='x',end=5) r@0(K='x',end=9)", "o",
         ("absence", "r", 0, "r at 0", "none", "r at 0 was there; none is allowed")),
        ("ptl", LOGIC.format("past trigger p: login and (v > 2 implies pay)"), "s@0(v=5) login@1(u='x')", "p",
         ("absence", None, None, "true", "false",
          "v > 2 holds at 1, needed false; `v > 2 implies pay` is false at 1")),
        ("ptl", LOGIC.format("past trigger p: login and (pay implies v > 2)"), "login@1(u='x') pay@1(u='y')", "p",
         ("absence", "pay", 1, "pay at 1", "none",
          "pay at 1 was there; none is allowed; `pay implies v > 2` is false at 1")),
        ("epl", "insert into Out select v from A where v > 5", "A@1(v=3)", "Out",
         ("threshold", "A", 1, "3", "> 5", "v = 3 at 1, needed > 5")),
    ],
)  # fmt: skip
def test_what_a_clause_met(language, rules, events, type, clause):
    answer = occurs.parse(rules, language).why_not(type, table(events), edits=1, time_unit="ms")
    found = [c for r in answer.reasons for c in r.clauses if c.kind == clause[0]]
    assert clause in [(c.kind, c.type, c.time, c.found, c.needed, c.message) for c in found]
    if language == "phenesthe":
        assert [(w.type, w.ok) for w in answer.reasons[0].witness] == [("s", True), ("r", False)]


def test_two_negations_of_one_conjunction_can_both_be_dropped():
    rules = "input event a(K: int), b(K: int), c(K: int). event e(K) : a(K) and (not b(K) and not c(K))."
    found = reasons(rules, "phenesthe", "a@5(K=1) b@5(K=1) c@5(K=1)", "e", between=5)
    assert [[kind for kind, _, _ in reason] for reason in found] == [["absence", "absence"]]
