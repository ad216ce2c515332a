"""Open nets: their drawing, their steps forth and back with the rows and texts that they speak of, their files."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.amount import amount

import occurs.studio
from occurs.errors import DefinitionProblem, InputProblem, LimitProblem, OccursError, UsageProblem
from occurs.nets.editing import Change
from occurs.nets.net import Role
from occurs.nets.netjson import read
from occurs.nets.simulate import Simulator
from occurs.nets.stepping import Breaks
from occurs.services import nets
from occurs.services.answers import NetDrawing, NetPlace, NetState
from occurs.services.nets import OpenNet, of_net_file, of_rules

LABOR = Path(occurs.studio.__file__).parent / "examples" / "labor"
TEXTS = {"labor.epl": (LABOR / "labor.epl").read_text()}
UNIT = {"time_unit": "min"}
SCHEMAS = "create schema A(k int); create schema B(k int);\n"
CHAIN = {
    "chain.epl": f"{SCHEMAS}@Name('P') insert into P select a.k as k from pattern [every a=A];\n"
    "@Name('Q') insert into Q select p.k as k, b.k as l from pattern [every p=P -> b=B(k = p.k)];"
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes((LABOR / "rows.csv").read_bytes())
    return tmp_path


def labor(**more: Any) -> OpenNet:
    return of_rules(TEXTS, ["rows.csv"], UNIT, **more)


def places(net: NetDrawing) -> dict[str, NetPlace]:
    return {p.name: p for page in net.pages for p in page.places}


# --- drawings


def test_a_drawing_has_every_element_inside_its_page() -> None:
    net = labor()
    drawn = net.opened().net
    assert [p.name for p in drawn.pages] == [p.name for p in net.net.pages]
    for page in drawn.pages:
        assert 0 <= page.x <= page.x + page.width <= drawn.width + 0.1
        assert 0 <= page.y <= page.y + page.height <= drawn.height + 0.1
        for node in (*page.places, *page.transitions):
            assert node.width / 2 <= node.x <= page.width - node.width / 2
            assert 30 + node.height / 2 <= node.y <= page.height - node.height / 2
        ends = {n.name for n in (*page.places, *page.transitions)}
        for arc in page.arcs:
            assert {arc.place, arc.transition} <= ends
            assert len(arc.points) in (2, 3)
            assert arc.into or arc.out
    for a, b in combinations(drawn.pages, 2):
        assert a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
    assert 0.5 < drawn.width / drawn.height < 2


def test_places_and_transitions_are_told_with_their_marks() -> None:
    drawn = labor().opened().net
    known = places(drawn)
    f = known["Duration_a1_F"]
    assert (f.colour, f.role, f.fusion, f.holder, f.note.lines) == ("CF", "F", "F", "F", ("CF", "fused: F"))
    assert known["Input"].initial.count == 12
    assert known["Input"].initial.tokens[0].value == '(1, 1, 1, pPatient({name="B", contrDuration=10, ts=1}))'
    black = {t.name: (t.black, t.urgency, t.guard) for page in drawn.pages for t in page.transitions}
    assert black["enter"] == (True, "P_MIN", "")
    assert black["Duration_followed_t"] == (False, "P_HN", "[l1 = List.take(l2, length(l1))]")
    assert black["Duration_a1_t"] == (True, "P_NORMAL", "[a1_contrDuration > 35]")


@pytest.mark.parametrize("black", [True, False])
def test_elements_know_the_text_that_they_come_from(black: bool) -> None:
    drawn = labor(black=black).opened().net
    lines = TEXTS["labor.epl"].splitlines()
    name = "Duration_a1_t" if black else "Duration_a1_t_next"
    origin = next(t.origin for page in drawn.pages for t in page.transitions if t.name == name)
    assert origin is not None
    assert origin.span is not None
    assert (origin.definition, origin.file) == ("Duration", "labor.epl")
    said = lines[origin.span.line - 1][origin.span.column - 1 : origin.span.end_column - 1]
    assert said == "a1=Patient(a1.contrDuration > 35)"
    assert places(drawn)["Input"].origin is None


# --- firing


def test_the_run_of_the_paper_derives_its_detections_with_their_rows() -> None:
    net = labor()
    state = net.run()
    assert (state.steps, state.row, state.rows, state.stopped) == (67, 12, 12, "end")
    derived = [f.derived for f in state.fired if f.derived is not None]
    assert [d.type for d in derived].count("Duration") == 3
    assert [d.type for d in derived].count("TimeOnLabor") == 9
    first = next(d for d in derived if d.type == "Duration")
    assert (first.time, first.values) == (26, {"patientId": "B", "last_delay": 3})
    lines = (LABOR / "rows.csv").read_text().splitlines()
    taken = [(t.tag, t.row.time, lines[t.row.line - 1]) for t in first.taken if t.row is not None and t.row.line]
    assert [(tag, time) for tag, time, _ in taken] == [("a1", 23), ("a2", 26)]
    assert all(",B,38," in line or "B" in line for _, _, line in taken)


def test_firings_of_a_chain_know_which_events_are_rows(folder) -> None:
    (folder / "chain.jsonl").write_text(
        '{"type":"A","time":1,"k":7}\n{"type":"A","time":2,"k":8}\n{"type":"B","time":3,"k":8}\n'
    )
    net = of_rules(CHAIN, ["chain.jsonl"], {"time_unit": "s"})
    fired = net.run().fired
    q = next(f for f in fired if f.derived is not None and f.derived.type == "Q")
    assert q.row is not None
    assert q.derived is not None
    assert (q.row.number, q.row.type, q.row.line) == (3, "B", 3)
    assert [(t.tag, t.row and t.row.number) for t in q.derived.taken] == [("p", None), ("b", 3)]
    assert q.derived.values == {"k": 8, "l": 8}
    p = next(f for f in fired if f.derived is not None and f.derived.type == "P")
    assert p.row is not None
    assert p.row.number == 1


def marking(net: OpenNet) -> Any:
    return net.stepper.marking


ask = st.one_of(
    st.tuples(st.just("steps"), st.integers(1, 9)),
    st.tuples(st.just("row"), st.integers(1, 12)),
    st.tuples(st.just("back"), st.integers(0, 9)),
    st.tuples(st.just("fire"), st.integers(0, 30)),
    st.tuples(st.just("reset"), st.none() | st.integers(0, 3)),
)


@settings(
    max_examples=amount(20, 100), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(st.booleans(), st.lists(ask, max_size=10))
def test_the_changes_that_are_told_give_the_marking(black: bool, asks: list[tuple[str, Any]]) -> None:
    net = labor(black=black)
    first = net.opened().state
    assert first is not None
    shown = {place: tokens.count for place, tokens in first.changed.items()}
    log: list[int] = []
    state: NetState = first
    for name, value in asks:
        if name == "steps":
            state = net.run(value, patience=60)
        elif name == "row":
            state = net.run(row=value, patience=60)
            assert state.row == value
        elif name == "back":
            state = net.back(min(value, state.steps))
        elif name == "reset":
            state = net.reset(value)
        elif state.enabled:
            choice = state.enabled[value % len(state.enabled)]
            state = net.fire(choice.transition, choice.bindings[value % len(choice.bindings)])
            assert state.fired[0].binding == choice.bindings[value % len(choice.bindings)]
        log = [s for s in log if s <= state.steps - len(state.fired)] + [f.step for f in state.fired]
        assert log == list(range(1, state.steps + 1))
        shown |= {place: tokens.count for place, tokens in state.changed.items()}
        assert {p: n for p, n in shown.items() if n} == {p: c.total() for p, c in marking(net).tokens.items() if c}
        entered = marking(net).tokens[next(p.name for p in net.net.places.values() if p.role is Role.SEQ)]
        assert entered
        (clock,) = marking(net).tokens[net.net.holder("Clock")]
        assert clock == (net.rows[state.row - 1].time if state.row else 0)


def test_going_back_to_a_row_is_going_there() -> None:
    net = labor()
    there = net.run(row=5)
    before = marking(net)
    net.run()
    again = net.run(row=5)
    assert marking(net) == before
    assert (again.steps, again.row, again.stopped) == (there.steps, 5, "row")


def test_a_run_is_answered_in_time_and_goes_on() -> None:
    net = labor()
    asked = 0
    counted: set[str] = set()
    while (state := net.run(patience=0.0)).stopped == "time":
        asked += 1
        assert 0 < len(state.fired) + state.more <= 16
        assert all(t.more == t.count and not t.tokens for t in state.changed.values())
        counted |= state.changed.keys()
    assert counted <= state.changed.keys()
    assert all(t.count == 0 or t.tokens for t in state.changed.values())
    assert net.back(0).changed == {}
    assert (state.stopped, state.steps, asked) == ("end", 67, 4)
    whole = labor()
    whole.run()
    assert marking(net) == marking(whole)


def test_the_last_firings_are_listed_and_the_others_counted() -> None:
    net = labor(black=False)
    state = net.run(patience=60)
    assert (len(state.fired), state.more) == (200, state.steps - 200)
    assert state.fired[-1].step == state.steps


def test_breaks_stop_a_run() -> None:
    net = labor()
    state = net.run(breaks=Breaks(frozenset({"Duration_a2_t"})))
    assert (state.stopped, state.at, state.fired[-1].transition) == ("break", "Duration_a2_t", "Duration_a2_t")
    assert net.run(breaks=Breaks(places={"Duration_Fp": 3})).at == "Duration_Fp"
    assert net.stepper.simulator.count("Duration_Fp") == 3


def test_what_cannot_be_fired_is_refused_and_nothing_happens() -> None:
    net = labor()
    net.run(5)
    before = marking(net)
    for wrong in (
        lambda: net.fire("nix"),
        lambda: net.fire(net.run(1) and "TimeOnLabor_a3_t"),
        lambda: net.fire(net.stepper.choices(1)[0].transition, {"i": "99"}),
        lambda: net.back(77),
        lambda: net.run(row=13),
        lambda: net.run(row=0),
        lambda: net.run(breaks=Breaks(frozenset({"nix"}))),
    ):
        with pytest.raises(UsageProblem):
            wrong()
    net.back(1)
    assert marking(net) == before


def test_many_tokens_are_counted_and_the_newest_of_a_flow_shown(folder) -> None:
    rows = "\n".join(json.dumps({"type": "A", "time": t, "k": t % 3}) for t in range(500))
    (folder / "many.jsonl").write_text(rows)
    net = of_rules(CHAIN, ["many.jsonl"], {"time_unit": "s"})
    tokens = net.run(patience=60).changed["F"]
    assert (tokens.count, len(tokens.tokens), tokens.more) == (1000, 200, 800)
    assert tokens.tokens[-1].value.startswith("(1000, ")
    ends = places(net.opened().net)["Input"].initial
    assert (ends.count, ends.more, ends.tokens[-1].value[:5]) == (500, 300, "(500,")


def test_only_some_bindings_are_listed() -> None:
    net = labor(black=False)
    (choice,) = net.reset(1).enabled
    assert (choice.transition, choice.count, choice.more) == ("enter_t1", 12, False)
    found = list(replace_limits(net, 5))
    assert (found[0].count, len(found[0].bindings), found[0].more) == (12, 5, True)


def replace_limits(net: OpenNet, most: int) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nets, "MOST_BINDINGS", most)
        return list(net._choices())


def test_a_long_token_is_cut(folder) -> None:
    (folder / "long.jsonl").write_text(json.dumps({"type": "A", "time": 1, "t": "x" * 5000}))
    text = {"long.epl": "create schema A(t string); insert into P select a.t as t from pattern [every a=A];"}
    value = of_rules(text, ["long.jsonl"], {"time_unit": "s"}).opened().state.changed["Input"].tokens[0].value
    assert len(value) == nets.LONGEST
    assert value.endswith("..")


# --- opening


def test_a_net_without_events_waits_for_ever() -> None:
    net = of_rules(TEXTS, [], UNIT)
    opened = net.opened()
    assert opened.state is not None
    assert (opened.state.rows, opened.state.enabled, opened.rows) == (0, (), ())


def test_the_first_rows_are_taken_and_the_others_told() -> None:
    net = labor(most_rows=5)
    opened = net.opened()
    assert [r.time for r in opened.rows] == [1, 1, 15, 17, 21]
    assert [(p.kind, p.severity, p.message) for p in opened.problems] == [
        ("rows-left-out", "notice", "the net has the first 5 of 12 rows")
    ]
    assert [r.line for r in labor().opened().rows][:5] == [r.line for r in opened.rows]


def test_statements_without_a_net_are_told_and_the_others_drawn() -> None:
    text = f"{TEXTS['labor.epl']}\ninsert into U select b.ts as ts from pattern [every (a=Patient until b=Patient)];"
    opened = of_rules({"labor.epl": text}, ["rows.csv"], UNIT).opened()
    (problem,) = opened.problems
    assert (problem.kind, problem.severity, problem.file) == ("unsupported", "warning", "labor.epl")
    assert problem.span is not None
    assert problem.span.line == text.count("\n") + 1
    assert "Duration_a1" in [p.name for p in opened.net.pages]


def test_other_languages_are_told_of() -> None:
    texts = {**TEXTS, "hot.tesla": "define Hot(v) from Temp(Value > 45) where v = Temp.Value"}
    (problem,) = of_rules(texts, [], UNIT).opened().problems
    assert problem.message == "definitions in TESLA are not part of the net"


@pytest.mark.parametrize(
    ("texts", "events", "error", "text"),
    [
        ({"a.epl": "select * frm A;"}, [], OccursError, "frm"),
        ({"hot.tesla": "define Hot(v) from Temp(Value > 45) where v = Temp.Value"}, [], UsageProblem, "no definition"),
        ({"a.epl": f"{SCHEMAS}select * from pattern [every (a=A until b=B)];"}, [], DefinitionProblem, "until"),
        (TEXTS, ["nix.csv"], InputProblem, "nix.csv"),
        (TEXTS, ["nulls.csv"], InputProblem, "row 2"),
        (TEXTS, ["../rows.csv"], InputProblem, "not a file of the project"),
    ],
)
def test_what_has_no_net_is_refused(folder, texts, events, error, text) -> None:
    (folder / "nulls.csv").write_text("type,time,name,contrDuration,ts\nPatient,1,A,4,1\nPatient,2,,4,2\n")
    with pytest.raises(error, match=text):
        of_rules(texts, events, UNIT)


def test_too_large_nets_and_events_are_refused() -> None:
    with pytest.raises(LimitProblem, match="at most 20 are supported"):
        labor(limits=nets.Limits(nodes=20))
    with pytest.raises(LimitProblem, match="a net reads at most 100"):
        labor(limits=nets.Limits(bytes=100))


# --- files and editing


@pytest.mark.parametrize("black", [True, False])
def test_an_exported_net_opens_and_runs_the_same(black: bool) -> None:
    net = labor(black=black)
    text = net.export("net.json")
    assert read(text, "x").places == net.net.places
    again = of_net_file("x.net.json", text.encode())
    assert again.run(patience=60).steps == net.run(patience=60).steps
    cpn = of_net_file("x.cpn", labor(black=black).export("cpn").encode("iso-8859-1"))
    assert cpn.run(patience=60).steps == 262
    assert cpn.opened().state is not None
    assert net.export("svg").startswith("<svg")
    assert net.export("svg", "dark") != net.export("svg")


def test_a_drawing_has_the_tokens_of_now() -> None:
    net = labor()
    before = net.export("svg")
    net.run(3)
    assert net.export("svg") != before


def test_a_wrong_file_names_its_elements() -> None:
    data = json.loads(labor().export("net.json"))
    control = next(p for p in data["pages"][0]["places"] if p["name"] == "Control")
    control["initial"] = []
    with pytest.raises(DefinitionProblem) as error:
        of_net_file("x.net.json", json.dumps(data).encode())
    assert {p.file for p in error.value.problems} == {"x.net.json"}
    assert "Control" in {p.node for p in error.value.problems}
    with pytest.raises(OccursError, match="UTF-8"):
        of_net_file("x.net.json", b"\xff")


def test_a_file_with_unsupported_parts_is_shown_but_does_not_run() -> None:
    xml = labor().export("cpn")
    begin = xml.index("<text ", xml.index("<time "))
    end = xml.index("/>", begin) + 2
    marked = f"{xml[:begin]}<text>@+5 handle _ =&gt; 0</text>{xml[end:]}"
    net = of_net_file("x.cpn", marked.encode("iso-8859-1"))
    opened = net.opened()
    assert opened.state is None
    assert any(p.severity == "warning" for p in opened.problems)
    assert net.export("svg").startswith("<svg")


def test_edits_change_the_net_and_restart_it() -> None:
    net = labor()
    net.run(9)
    edited = net.edit([Change("Duration_a1_t", "guard", "[a1_contrDuration > 1000]")])
    assert edited.state is not None
    assert (edited.state.steps, edited.state.row) == (0, 0)
    derived = [f.derived.type for f in net.run().fired if f.derived is not None]
    assert set(derived) == {"TimeOnLabor"}
    before = net.net
    with pytest.raises(DefinitionProblem) as error:
        net.edit([Change("Duration_a1_t", "guard", "[nix > 1000]")])
    assert [p.node for p in error.value.problems] == ["Duration_a1_t"]
    assert net.net is before


def test_edited_nets_stay_where_they_are_drawn() -> None:
    net = labor()
    first = net.opened().net
    again = net.edit([Change("Duration_a1_t", "guard", "[a1_contrDuration > 1000, a1_contrDuration < 2000]")]).net
    for one, other in zip(first.pages, again.pages, strict=True):
        left = one.places[0].x - other.places[0].x
        assert all(abs(p.x - q.x - left) < 0.2 for p, q in zip(one.places, other.places, strict=True))


def test_a_random_run_is_that_of_the_simulator() -> None:
    net = labor(black=False)
    seed = random.Random(4).randrange(99)
    net.reset(seed)
    assert net.run(patience=60).seed == seed
    assert marking(net) == Simulator(net.net, seed).run().marking
    assert replace(net.reset(), enabled=()).seed is None


@pytest.mark.long
def test_a_net_of_two_thousand_nodes_opens_and_steps_at_once(folder) -> None:
    dice = random.Random(1)
    lines = [f"{dice.choice('ABC')},{t},{dice.randint(0, 60)}" for t in range(1000)]
    (folder / "abc.csv").write_text("type,time,m\n" + "\n".join(lines))
    text = "".join(f"create schema {t}(m int);\n" for t in "ABC")
    for k in range(44):
        text += f"@Name('P{k}') insert into P{k} select a.m as m, c.m as n from pattern "
        text += f"[every a=A(m > {k}) -> every (b=B(m > a.m) -> c=C(m > 0))];\n"
    of_rules(CHAIN, [], {"time_unit": "s"}).opened()
    began = time.process_time()
    net = of_rules({"large.epl": text}, ["abc.csv"], {"time_unit": "s"})
    drawn = net.opened().net
    assert time.process_time() - began < 1.5
    assert sum(len(page.places) + len(page.transitions) for page in drawn.pages) > 1900
    took = []
    for _ in range(300):
        began = time.process_time()
        net.run(1)
        took.append(time.process_time() - began)
    assert sorted(took)[-15] < 0.05
