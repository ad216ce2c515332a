"""The sentences of why and why-not name rows, values and changes as the reader of a rule knows them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.explain.test_worked import CHAIN, FIRE, UP, Y9, table

import occurs


def why_not(rules: str, language: str, events: str, type: str, **question) -> list[str]:
    """The lines of the answer to a question."""
    answer = occurs.parse(rules, language).why_not(type, table(events), time_unit="ms", **question)
    return [line.strip() for line in str(answer).split("\n")]


def why(rules: str, language: str, events: str, type: str) -> list[str]:
    """The lines of the derivation of the first detection."""
    program, given = occurs.parse(rules, language), table(events)
    row = program.detect(given, time_unit="ms")[type].to_pylist()[0]
    return [line.strip() for line in str(program.why({"type": type, **row}, given, time_unit="ms")).split("\n")]


def test_a_change_names_what_it_replaces():
    lines = why_not(CHAIN, "tesla", "Temp@1m(Area='hall',Value=40) Smoke@2m(Area='hall')", "Fire", between=120_000)
    assert "it is found with `Value >= 40` in place of `Value > 45` in line 1" in lines


def test_a_threshold_of_zero_has_no_sign():
    lines = why_not("define F(X) from A(X * 0.0 <= -1.0) where X = A.X", "tesla", "A@1s(X=-1)", "F", between=1000)
    assert "it is found with `X * 0.0 <= 0.0` in place of `X * 0.0 <= -1.0` in line 1" in lines


def test_a_row_that_only_makes_room_is_shown():
    events = "Login@1s(user='ann',ok=0) Login@5s(user='bob',ok=0) Pay@9s(user='bob',v=7) Pay@12s(user='ann',v=3)"
    lines = why_not(Y9, "epl", events, "Out", where={"user": "bob"}, between=9_000)
    assert "the search of 1000 was still open at 5000" in lines
    assert 'no Pay with user = "bob" from 4999 to 9000; 1 other was looked at' in lines
    assert '· Pay       4999  user = "ann", v = 3' in lines
    assert 'it is found with one more row: Pay at 4999 (user = "ann", v = 3)' in lines


def test_a_count_of_a_pipe_names_its_operator_and_the_item_once():
    rules = "DEFINE Out AS EVERY 3 TH OF (SELECT v AS v FROM Pay)."
    lines = why_not(rules, "esql", "Pay@5(v=1) Pay@9(v=2)", "Out", between=9)
    assert any(line.startswith("EVERY 3 drops the item; EVERY 1 does not; ") for line in lines)
    assert lines.count("✓ Pay  9  v = 2") == 1
    lines = why(rules.replace("3", "2"), "esql", "Pay@5(v=1) Pay@9(v=2)", "Out")
    assert lines[1:] == ["Pay  5  v = 1", "✓ EVERY 2"]


def test_a_length_names_the_filter_in_words():
    lines = why_not(UP, "phenesthe", "opens@2(K='x') closes@7(K='x')", "brief", between=(2, 7))
    assert "brief at 2 is 5 ms long, needed less than 4" in lines
    assert "✓ brief is 3 ms long, less than 4" in why(UP, "phenesthe", "opens@2(K='x') closes@5(K='x')", "brief")


def test_the_checks_of_a_derivation():
    lines = why(FIRE, "tesla", "Temp@1m(Area='hall',Value=50) Rain@2m(Area='attic') Smoke@3m(Area='hall')", "Fire")
    assert lines[3:] == [
        '✓ Temp.Area = "hall" = Smoke.Area',
        "✓ Temp.Value = 50 > 45",
        "✓ 2 min, within 5 min",
        "✓ no Rain(Area = $a) between Temp and Smoke from 60001 to 180000 (1 other)",
    ]


STATES = "state s(b int);\n"


@pytest.mark.parametrize(
    ("rules", "language", "rows", "at", "message", "time"),
    [
        # the state at which b is too small is not one of the derivation
        ("past trigger m: throughout [t1 <- time] previously[<4] b > 1;", "ptl", [(0, 4), (2, 0), (7, 2), (9, 3)], 7,
         "b = 0, needed > 1; `throughout [t1 <- time] previously[<4] b > 1` is false at 7", None),
        ("future trigger m: eventually always 3 <= b;", "ftl", [(3, 2), (8, 4), (9, 1)], 9,
         "eventually always: b = 1 at 9, needed >= 3", 9),
        ("past trigger m: b >= 1 and previously[0, 5] b >= 3;", "ptl", [(1, 1), (2, 0), (4, 2), (9, 0)], 4,
         "previously: b = 2 at 4, needed >= 3; `previously[0, 5] b >= 3` is false at 4", 4),
        ("past trigger m: lasttime b >= 3;", "ptl", [(1, 2), (4, 7)], 4,
         "lasttime: b = 2 at 1, needed >= 3; `lasttime b >= 3` is false at 4", 1),
    ],
)  # fmt: skip
def test_a_comparison_is_reported_at_a_state_at_which_it_does_not_hold(rules, language, rows, at, message, time):
    events = {"s": pa.table({"time": [t for t, _ in rows], "b": [b for _, b in rows]})}
    answer = occurs.parse(STATES + rules, language).why_not("m", events, between=at, edits=1)
    told = next(c for r in answer.reasons for c in r.clauses if c.kind == "threshold")
    assert (told.message, told.time) == (message, time)


@pytest.mark.parametrize(
    ("rules", "language", "values", "at", "sentences"),
    [
        ("trigger p: v >= 3 and eventually[0,5] v = 9", "ftl", [(1, 3), (3, 8), (9, 9)], (1, 9),
         ["state at 1 is 8 ms before state at 9, needed [0,5]; `eventually[0,5] v = 9` is false from the state at 9 on",
          "v = 3 at 1, needed = 9; `eventually[0,5] v = 9` is false from the state at 9 on"]),
        # the conjunct that is false first, although the second clause comes first in the text
        ("trigger p: (v > 1 until[0,9] v = 5) and v >= 4", "ftl", [(1, 3), (2, 1), (3, 5)], (3, 3),
         ["until: v = 1 at 2, needed > 1", "v = 3 at 1, needed >= 4; `v >= 4` is false from the state at 1 on"]),
        ("past trigger p: v > 1 and lasttime v >= 3", "ptl", [(1, 2), (4, 7)], 4,
         ["lasttime: v = 2 at 1, needed >= 3; `lasttime v >= 3` is false at 4"]),
    ],
)  # fmt: skip
def test_a_reason_of_a_trigger_gives_the_state_at_which_its_formula_is_false(rules, language, values, at, sentences):
    events = pa.table({"time": [t for t, _ in values], "v": [v for _, v in values]})
    answer = occurs.parse(rules, language).why_not("p", events, between=at, time_unit="ms")
    assert [c.message for r in answer.reasons for c in r.clauses][: len(sentences)] == sentences


def test_the_instance_of_the_asked_row_is_the_one_whose_formula_is_false():
    rules = "trigger p for each c: v = 1 and eventually[0,5] v = 9 emit Out(who = c);"
    events = pa.table({"time": [1, 3, 7, 10], "c": ["a", "b", "a", "b"], "v": [1, 1, 2, 2]})
    answer = occurs.parse(rules, "ftl").why_not("Out", events, where={"who": "b"}, time_unit="ms")
    told = [c.message for r in answer.reasons for c in r.clauses]
    assert any("is false from the state at 10 on" in message for message in told)
    assert not any("at 7 on" in message for message in told)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ("DEFINE Out AS EVERY 3 TH OF (SELECT v AS v FROM Pay).",
         "the item passed `SELECT v AS v FROM Pay` and was dropped by `EVERY 3 TH OF (..)`"),
        ("DEFINE Out AS TRIM 1 OF (SELECT v AS w FROM Pay WHERE v > 2 AND v < 8).",
         "the item passed `Pay` and was dropped by `SELECT v AS w FROM Pay WHERE v > 2 AND v < 8`"),
        ("LET Big BE (SELECT v AS v FROM Pay) WHERE v > 3. DEFINE Out AS SELECT v + 1 AS w FROM Big.",
         "the item passed `SELECT v AS v FROM Pay` and was dropped by `WHERE v > 3`"),
    ],
)  # fmt: skip
def test_a_reason_of_a_pipe_gives_the_operators_between_which_the_item_was_lost(rules, sentence):
    answer = occurs.parse(rules, "esql").why_not("Out", table("Pay@5(v=5) Pay@9(v=2)"), between=9, time_unit="ms")
    told = answer.reasons[0].clauses[0].message
    assert told.split("; ")[-1] == sentence
