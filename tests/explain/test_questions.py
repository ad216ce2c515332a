"""Questions of why and why not: options, errors, kinds of tables, late rows, the clock, outputs (why.md)."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import occurs
from occurs.errors import LimitProblem, UsageProblem
from occurs.model.colours import FAILED

RULES = """define Fire(Area, Value)
from   Smoke(Area = $a)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
TIMES = [datetime(2024, 1, 5, 9, m, tzinfo=UTC) for m in (1, 2, 3)]
EVENTS = pa.table(
    {"type": ["Temp", "Rain", "Smoke"], "time": TIMES, "Area": ["hall"] * 3, "Value": [50, None, None]},
    schema=pa.schema(
        [("type", pa.string()), ("time", pa.timestamp("us", "UTC")), ("Area", pa.string()), ("Value", pa.int64())]
    ),
)
AT = "2024-01-05T09:03:00Z"
HOT = "define Hot(v) from Temp(Value > 45) where v = Temp.Value"
TEMPS = pa.table({"type": ["Temp", "Temp"], "time": [10, 60], "Value": [20, 50]})


def ask(events=EVENTS, **options):
    return occurs.parse(RULES, name="fire.tesla").why_not("Fire", events, between=AT, **options)


def test_the_text_of_an_answer():
    text = str(ask(where={"Area": "hall"}))
    assert text.startswith(
        f'why not Fire with Area = "hall" at {AT}?   2 reasons, the nearest first\n\n1  fire.tesla:4:8'
    )
    lines = text.split("\n")
    assert lines[3].strip() == (
        "Rain at 2024-01-05T09:02:00Z lies between Temp at 2024-01-05T09:01:00Z and Smoke at 2024-01-05T09:03:00Z"
    )
    assert [line.split()[:2] for line in lines[4:7]] == [["✓", "Smoke"], ["✓", "Temp"], ["✗", "Rain"]]
    assert lines[7] == "   it is found if line 4 is left out"
    assert "x Rain" in ask().text(ascii=True)


def test_the_columns_of_the_table():
    table = ask().table
    assert table.column_names == [
        "reason",
        "cost",
        "part",
        "kind",
        "type",
        "time",
        "end",
        "label",
        "clause",
        "place",
        "found",
        "needed",
        "repair",
        "message",
        "definition",
        "file",
        "line",
        "column",
        "verified",
    ]
    first = table.to_pylist()[0]
    assert (first["time"], first["found"], first["needed"]) == (TIMES[1], "Rain at 2024-01-05T09:02:00Z", "none")
    assert table.schema.field("reason").type == pa.int32()
    nothing = occurs.parse(HOT).why_not("Hot", TEMPS, where={"v": 50}, between=60, time_unit="s")
    assert nothing.found
    assert nothing.table.num_rows == 0
    assert nothing.table.column_names == table.column_names


def test_json_has_the_clauses_the_witness_and_the_texts():
    data = json.loads(ask().to_json())
    assert data["question"] == {"type": "Fire", "where": {}, "between": [AT, AT]}
    first, second = data["reasons"]
    assert [(w["type"], w["ok"], w["parent"]) for w in first["witness"]] == [
        ("Smoke", True, None), ("Temp", True, None), ("Rain", False, None),
    ]  # fmt: skip
    assert "Rain" not in first["texts"]["fire.tesla"]
    assert first["added"] is None
    assert second["added"]["type"] == "Temp"


def test_outside_the_clauses_the_text_stays_as_it_is():
    texts = ask().reasons[0].texts
    assert texts == {"fire.tesla": RULES.replace("\n   and not Rain(Area = $a) between Temp and Smoke", "\n   ")}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping", "shuffled"])
def test_the_answer_does_not_depend_on_the_kind_of_table(kind):
    events = {
        "pandas": lambda: EVENTS.to_pandas(),
        "polars": lambda: pl.DataFrame(EVENTS),
        "arrow": lambda: EVENTS,
        "mapping": lambda: {t: EVENTS.filter(pa.compute.equal(EVENTS["type"], t)).drop_columns("type")
                            for t in ("Smoke", "Temp", "Rain")},
        "shuffled": lambda: EVENTS.take([2, 0, 1]),
    }[kind]()  # fmt: skip
    program = occurs.parse(f"event Temp(Area: string, Value: int)\n{RULES}")
    answer, expected = (program.why_not("Fire", given, between=AT) for given in (events, EVENTS))
    assert [r.clauses for r in answer.reasons] == [r.clauses for r in expected.reasons]
    assert isinstance(answer.table, {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(kind, pa.Table))
    for reason in answer.reasons:
        assert len(reason.program.detect(reason.events)["Fire"]) == 1


def test_late_rows_are_let_in():
    events, late = EVENTS.take([2]), EVENTS.take([0])
    answer = ask(events, late=late)
    assert [c.kind for c in answer.reasons[0].clauses] == ["late"]
    assert answer.reasons[0].clauses[0].message == "Temp at 2024-01-05T09:01:00Z came late and was dropped"
    assert answer.reasons[0].clauses[0].line == 0
    assert len(answer.reasons[0].program.detect(answer.reasons[0].events)["Fire"]) == 1


def test_a_relaxed_copy_that_the_checks_refuse_leaves_the_others():
    """`A meets B` is refused of instants; the rules also have a notice, as `N` stands once."""
    rules = """input event a(k: int, n: int).
dynamic d(X) : a(X, 0) starts a(X, N) ↣ a(_, 9)."""
    events = pa.table({"time": [5, 14, 20], "k": [7, 2, 1], "n": [3, 1, 9]})
    answer = occurs.parse(rules, "phenesthe").why_not("d", {"a": events}, between=14, where={"X": 2}, edits=1)
    assert ("equality", "_") in [(c.kind, c.repair) for r in answer.reasons for c in r.clauses]


def test_the_length_of_an_open_interval_is_a_value_of_its_filter():
    rules = "input event a(k: string).\ninput event c.\nstate s(X) : filter(a(X) ↣ c, greater(10))."
    events = {"a": pa.table({"time": [6], "k": ["u"]}), "c": pa.table({"time": [2, 15]})}
    program = occurs.parse(rules, "phenesthe")
    assert program.why_not("s", events, between=6, edits=1).reasons[0].clauses[0].repair == "8"
    events["c"] = events["c"].slice(0, 1)
    answer = program.why_not("s", events, between=6, edits=1, until=15)
    assert answer.reasons[0].clauses[0].repair == "9"


def test_late_states_are_let_in():
    rules = "state s(p boolean);\npast trigger m: p;"
    events, late = pa.table({"time": [0, 3], "p": [False, False]}), pa.table({"time": [1], "p": [True]})
    answer = occurs.parse(rules, "ptl").why_not("m", {"s": events}, between=1, late={"s": late})
    assert [c.kind for c in answer.reasons[0].clauses] == ["late"]


def test_late_states_that_no_copy_can_have_leave_other_repairs():
    """A copy of the states has the names of its variables twice, which makes all rules wrong that read them."""
    rules = """state s(p boolean, a int, b int);
past trigger m: b > 4 and (p or a = 1);"""
    events = pa.table({"time": [0, 3], "p": [False, False], "a": [2, 2], "b": [9, 9]})
    late = pa.table({"time": [1], "p": [True], "a": [2], "b": [9]})
    answer = occurs.parse(rules, "ptl").why_not("m", {"s": events}, between=(1, 3), late={"s": late}, edits=1)
    found = [(c.kind, c.repair) for r in answer.reasons for c in r.clauses]
    assert ("late", "") in found
    assert ("equality", "true") in found


def test_rows_that_one_repair_adds_are_no_states_of_another():
    """`observing all` has a state at every row of the input, whatever its type."""
    rules = """event e(k string);
event f;
past trigger m observing all: once[<=9] e(k = 'a');"""
    events = {"e": pa.table({"time": [1], "k": ["a"]}), "f": pa.table({"time": [3, 9]})}
    program = occurs.parse(rules, "ptl")
    whole = program.why_not("m", events, between=6, edits=1).reasons
    first = program.why_not("m", events, between=6, edits=1, limit=1).reasons
    assert [c.kind for r in whole for c in r.clauses] == ["missing"]
    assert [r.clauses for r in first] == [r.clauses for r in whole]


def test_states_between_rows_have_times_of_their_own():
    """`observing every 4` reads what is valid at 4, where no row is."""
    rules = "state s(p boolean);\npast trigger m observing every 4: p and time >= 8;"
    events = pa.table({"time": [0, 5, 7], "p": [True, False, False]})
    answer = occurs.parse(rules, "ptl").why_not("m", {"s": events}, between=(1, 7), edits=1)
    assert [c.repair for r in answer.reasons for c in r.clauses if c.kind == "threshold"] == ["time >= 4"]


@pytest.mark.parametrize("rows", [[(0, 1)], []])
@pytest.mark.parametrize(("time", "given"), [(2, {}), (-2, {}), (2, {"until": 9})])
def test_late_rows_move_the_clock(rows, time, given):
    schema = pa.schema([("time", pa.int64()), ("v", pa.int64())])
    events, late = (pa.table([*map(list, zip(*r))] or [[], []], schema) for r in (rows, [(time, 7)]))
    program = occurs.parse("DEFINE Out AS (APPLY v WITH P).", "esql")
    question = {"between": time, "where": {"value": 7}, "time_unit": "s", **given}
    answer = program.why_not("Out", {"P": events}, late={"P": late}, **question)
    reason = answer.reasons[0]
    assert [c.kind for c in reason.clauses] == ["late"]
    del question["where"], question["between"]
    assert time in reason.program.detect(reason.events, **question)["Out"]["time"].to_pylist()


def test_late_rows_before_a_given_start_are_no_reason():
    events, late = (pa.table({"time": [t], "v": [v]}) for t, v in ((5, 1), (2, 7)))
    program = occurs.parse("DEFINE Out AS (APPLY v WITH P).", "esql")
    answer = program.why_not("Out", {"P": events}, late={"P": late}, between=2, time_unit="s", start=4)
    assert "late" not in {c.kind for r in answer.reasons if r.cost == 1 for c in r.clauses}


def test_rows_outside_the_clock_are_let_in():
    answer = ask(EVENTS.take([0, 2]), start=TIMES[1])
    assert [c.kind for c in answer.reasons[0].clauses] == ["outside"]
    assert answer.reasons[0].clauses[0].message == "Temp at 2024-01-05T09:01:00Z lies before --start"


def test_an_end_that_is_not_known_yet():
    rules = "input event opens(K: string), closes(K: string).\nstate up(K) : opens(K) ~> closes(K)."
    events = pa.table({"type": ["opens", "opens"], "time": [2, 9], "K": ["x", "y"]})
    program = occurs.parse(rules, "phenesthe")
    answer = program.why_not("up", events, where={"K": "x"}, ended=False, time_unit="s")
    assert answer.reasons[0].clauses[0].kind == "pending"
    assert answer.reasons[0].clauses[0].message == "up holds since 2, its end is not known yet"


def test_a_constant_that_contradicts_the_question_is_noted():
    rules = 'define Fire(Area)\nfrom Smoke()\nwhere Area = "x"'
    answer = occurs.parse(rules).why_not("Fire", EVENTS, where={"Area": "hall"})
    assert answer.reasons == ()
    assert answer.notes == ('Area is always "x": 3:7',)


def test_a_search_that_stops_says_so():
    events = pa.table({"type": ["Temp"] * 30, "time": list(range(30)), "Value": list(range(30))})
    rules = "define Two(v) from Temp(Value > 90) and first Temp(Value > 80) as B within 3 s from Temp where v = B.Value"
    answer = occurs.parse(rules).why_not("Two", events, between=29, time_unit="s", max_variants=3)
    assert not answer.complete
    assert "relaxed copies" in answer.notes[0]


@pytest.mark.parametrize(
    ("type", "options", "kind"),
    [
        ("Fir", {}, "unknown-name"),
        ("Temp", {}, "unknown-name"),
        ("Fire", {"where": {"Aera": 1}}, "unknown-attribute"),
        ("Fire", {"where": {"Area": 1}}, "type-mismatch"),
        ("Fire", {"between": ("2024-01-05T09:03Z", "2024-01-05T09:01Z")}, "bad-option"),
        ("Fire", {"between": 7}, "bad-option"),
        ("Fire", {"edits": 5}, "bad-option"),
        ("Fire", {"edits": 0}, "bad-option"),
        ("Fire", {"limit": 0}, "bad-option"),
        ("Fire", {"colour": 1}, "bad-option"),
    ],
)
def test_questions_that_cannot_be_asked(type, options, kind):
    with pytest.raises(UsageProblem) as caught:
        occurs.parse(RULES).why_not(type, EVENTS, **options)
    assert caught.value.kind == kind


def test_rows_that_cannot_be_explained():
    program = occurs.parse(HOT)
    with pytest.raises(UsageProblem, match="not a label") as caught:
        program.why("f00", TEMPS, time_unit="s")
    assert caught.value.kind == "bad-option"
    with pytest.raises(UsageProblem) as caught:
        program.why({"type": "Hot", "time": 60, "v": 49}, TEMPS, time_unit="s")
    assert caught.value.kind == "unknown-row"
    assert "why_not" in (caught.value.hint or "")


def test_a_question_that_needs_too_many_rows():
    rules = "select a.v as v from pattern [every a=A(v > 9) -> b=B];"
    events = pa.table({"type": ["A"] * 9, "time": list(range(9)), "v": [1] * 9})
    with pytest.raises(LimitProblem, match="max_rows") as caught:
        occurs.parse(rules, "epl").why_not("stmt_1", events, time_unit="s", max_rows=5)
    assert "start" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_row_of_any_kind_is_explained(kind):
    events = {"pandas": TEMPS.to_pandas(), "polars": pl.DataFrame(TEMPS), "arrow": TEMPS}[kind]
    program = occurs.parse(HOT)
    found = program.detect(events, time_unit="s", with_label=True)["Hot"]
    row = {"pandas": lambda: found.iloc[0], "polars": lambda: found.row(0, named=True), "arrow": lambda: found}[kind]()
    answer = program.why(row, events, time_unit="s")
    label = answer.nodes[0].label
    assert [n.kind for n in answer.nodes] == ["detection", "event", "clause"]
    assert answer.leaves == [{"type": "Temp", "time": 60, "Value": 50}]
    assert program.why(label, events, time_unit="s").arrow == answer.arrow


def test_timelines_are_drawn(tmp_path):
    timeline = ask().timeline()
    timeline.save(tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    assert "✗ Rain" in drawn
    assert f'fill="{FAILED}"' in drawn
    assert drawn.count('stroke-dasharray="3 2"') == 2  # the Temp that is added, and its mark in the legend
    assert drawn.count('class="warn-line"') == 2  # the asked time, and its mark in the legend
    assert "asked time" in drawn
    page = timeline._repr_html_()
    assert "&quot;asked&quot;:[" in page
    assert "&quot;added&quot;:true" in page
    row = {"type": "Hot", "time": 60, "v": 50}
    occurs.parse(HOT).why(row, TEMPS, time_unit="s").timeline().save(tmp_path / "b.svg")
    assert "<svg" in (tmp_path / "b.svg").read_text()
    assert "<pre>" in ask()._repr_html_()


def test_pipes_without_text_are_explained_by_rows():
    from occurs import pipes

    items = pipes.source("Pay").v
    program = pipes.program(items.window(2, lambda p: p.cumulate(pipes.fn.maximum)).named("Out"))
    events = pa.table({"type": ["Pay"] * 3, "time": [1, 2, 3], "v": [5, 1, 2]})
    row = {"type": "Out", "time": 3, "value": 2}
    assert [leaf["time"] for leaf in program.why(row, events, time_unit="s").leaves] == [2, 3]
    answer = program.why_not("Out", events, where={"value": 9}, between=3, time_unit="s")
    assert [(c.kind, c.place, c.line) for r in answer.reasons for c in r.clauses] == [("missing", "Out", 0)]
    assert answer.reasons[0].texts == {}


def test_a_row_of_a_type_that_has_no_table_gets_times_like_the_others():
    declared = "event S(K: string)\nevent T(K: string)\n"
    rules = f"{declared}define P(K) from S(K = $k) and each T(K = $k) within 5 min from S where K = $k"
    stamps = pa.array([60_000_000], pa.timestamp("us", tz="UTC"))
    answer = occurs.parse(rules).why_not("P", {"S": pa.table({"time": stamps, "K": ["a"]})}, edits=1)
    reason = answer.reasons[0]
    assert reason.clauses[0].kind == "missing"
    assert len(reason.program.detect(reason.events)["P"]) == 1


def test_a_missing_row_names_the_conditions_outside_its_parentheses():
    rules = """define P(V) from S(V > 0) and each T(V > 3) within 5 ms from S and T.V < S.V where V = T.V"""
    events = pa.table({"type": ["S", "T"], "time": [5, 1], "V": [9, 50]})
    answer = occurs.parse(rules).why_not("P", events, between=5, where={"V": 6}, edits=1, time_unit="ms")
    missing = next(c for r in answer.reasons for c in r.clauses if c.kind == "missing" and c.type == "T")
    assert missing.needed == "V > 3, T.V < 9"
    assert "no T with V > 3, T.V < 9 from" in missing.message


@pytest.mark.parametrize("of", [pa.timestamp("s", "UTC"), pa.timestamp("ms"), pa.timestamp("us"), pa.date32()])
def test_a_missing_row_may_lie_between_two_values_of_a_column_of_times(of):
    day = pa.array([1_704_412_800_000_000], pa.int64()).cast(pa.timestamp("us")).cast(of)
    events = pa.table({"type": ["A"], "time": day, "v": [1]})
    at = "2024-01-05T00:00:00.0005Z"
    program = occurs.parse("define Both(v) from B(v = $v) and last A(v = $v) within 1 s from B where v = $v")
    reason = program.why_not("Both", events, between=at, until="2024-01-05T01:00Z").reasons[0]
    assert [clause.kind for clause in reason.clauses] == ["missing"]
    found = reason.program.detect(reason.events, until="2024-01-05T01:00Z")["Both"]
    assert [str(time) for time in found["time"].to_pylist()] == ["2024-01-05 00:00:00.000500+00:00"]


@pytest.mark.parametrize(
    ("at", "note"), [(99, "after the end of the run, 60"), (0, "before the start of the run, 10")]
)
def test_a_time_beyond_the_clock_is_noted(at, note):
    answer = occurs.parse(HOT).why_not("Hot", TEMPS, between=at, time_unit="s")
    assert note in " ".join(answer.notes)


LONG = pa.table(
    {"type": ["Temp", "Temp", "Smoke"], "time": [0, 5000, 5100], "Area": ["x"] * 3, "Value": [40, 44, None]}
)
EACH = """define Fire(Area) from Smoke(Area = $a) and each Temp(Area = $a, Value > 45) within 5 min from Smoke
where Area = $a"""


@pytest.mark.parametrize("reach", ["200 s", 200])
def test_a_reach_leaves_out_rows_that_lie_farther_back(reach):
    program = occurs.parse(EACH)
    question = {"between": 5100, "time_unit": "s"}
    near = program.why_not("Fire", LONG, reach=reach, **question)
    whole = program.why_not("Fire", LONG, **question)
    assert [(c.kind, c.repair) for c in near.reasons[0].clauses] == [("threshold", "Value >= 44")]
    assert not near.complete
    assert "rows long before the asked time were not read (reach, max_rows)" in near.notes
    # the Temp of 0 needs a longer window and a lower threshold
    assert [[c.kind for c in r.clauses] for r in whole.reasons] == [["threshold"], ["missing"]]
    assert whole.complete


def test_facts_are_rows_of_both_answers():
    rules = "input fact fragile(A: int).\ninput event heat(A: int, T: int).\n"
    rules += "event alarm(A, T) : heat(A, T) and fragile(A).\n"
    program = occurs.parse(rules, "phenesthe")
    events = {"heat": pa.table({"time": [3], "A": [2], "T": [60]})}
    assert not program.why_not("alarm", events, between=3, time_unit="s", edits=1).found
    facts = {"fragile": pa.table({"A": [2]})}
    assert program.why_not("alarm", events, between=3, time_unit="s", facts=facts).found
    answer = program.why({"type": "alarm", "time": 3, "A": 2, "T": 60}, events, time_unit="s", facts=facts)
    assert [row["type"] for row in answer.leaves] == ["heat"]


def test_rows_that_are_set_aside_are_noted_with_their_reason():
    schema = pa.schema([("type", pa.string()), ("time", pa.int64()), ("Value", pa.string())])
    events = pa.table({"type": ["Temp", "Temp"], "time": [60, None], "Value": ["50", "7"]}, schema)
    rules = 'event Temp(Value: string)\ndefine Hot(v) from Temp(Value = "x") where v = Temp.Value'
    program = occurs.parse(rules)
    answer = program.why_not("Hot", events, time_unit="s", bad_rows="skip", edits=1)
    assert answer.notes == ("1 unreadable rows were skipped and not searched (bad: null time: 1)",)
    with pytest.raises(occurs.errors.InputProblem):
        program.why_not("Hot", events, time_unit="s", edits=1)


def test_the_json_of_why_has_the_row_and_the_columns_of_the_nodes():
    data = json.loads(occurs.parse(HOT).why({"type": "Hot", "time": 60, "v": 50}, TEMPS, time_unit="s").to_json())
    assert data["row"]["v"] == 50
    detection, event, clause = data["nodes"]
    assert (detection["node"], detection["parent"], detection["kind"], detection["place"]) == (
        1, None, "detection", "rules:1:1",
    )  # fmt: skip
    assert (event["parent"], event["depth"], event["role"]) == (1, 1, "Temp")
    assert json.loads(event["attributes"]) == {"Value": 50}
    assert (clause["kind"], clause["found"], clause["needed"], clause["time"]) == ("clause", "50", "> 45", 60)
    stamped = occurs.parse(f"{RULES}").why_not("Fire", EVENTS, between=AT)
    assert stamped.data()["reasons"][0]["clauses"][0]["time"] == "2024-01-05T09:02:00Z"


COUNTED = """define Many(n, low) from Tick() and 2-last Temp(Value > 45) within 9 s from Tick
where n = COUNT(Hum(v > 0)) within 9 s from Tick, low = Temp.Value"""


def test_aggregates_and_rows_that_only_count_are_nodes():
    events = pa.table({
        "type": ["Hum"] * 3 + ["Temp"] * 3 + ["Tick"], "time": range(1, 8), "v": [1, -1, 2] + [None] * 4,
        "Value": [None] * 3 + [50, 60, 20, None],
    })  # fmt: skip
    program = occurs.parse(COUNTED)
    answer = program.why(program.detect(events, time_unit="s")["Many"], events, time_unit="s")
    total = next(n for n in answer.nodes if n.kind == "aggregate")
    assert total.found == "2"
    assert [(n.kind, n.time) for n in answer.nodes if n.parent == total.node] == [("event", 1), ("event", 3)]
    passed = [n for n in answer.nodes if n.kind == "passed"]
    assert [(n.type, n.time, n.message) for n in passed] == [("Temp", 5, "the detection also depends on Temp at 5")]
    assert [(row["type"], row["time"]) for row in answer.leaves] == [
        ("Hum", 1), ("Hum", 3), ("Temp", 4), ("Temp", 5), ("Tick", 7),
    ]  # fmt: skip


def test_many_rows_that_only_count_are_one_node():
    rules = "DEFINE Out AS TRIM 30 OF (SELECT v AS v FROM Pay)."
    events = {"Pay": pa.table({"time": list(range(31)), "v": list(range(31))})}
    answer = occurs.parse(rules, "esql").why({"type": "Out", "time": 30, "v": 30}, events, time_unit="s")
    passed = [(n.found, n.time, n.end, n.message) for n in answer.nodes if n.kind == "passed"]
    assert passed == [("30", 0, 29, "the detection also depends on 30 more rows")]
    assert len(answer.leaves) == 31
