"""Programs of several languages: one name space, one order, one plan; what lasts beside events."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import occurs
from cutting import answer
from occurs.engine.engine import Engine
from occurs.engine.saved_pieces import Ledger
from occurs.errors import CheckpointProblem, DefinitionProblem, InputProblem, OccursError, UsageProblem
from occurs.hosts.local import history_rows
from occurs.languages.kit.language import names, suffixes
from occurs.languages.phenesthe.define import Phenesthe
from occurs.model.history import InputOptions
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import groups
from occurs.plan.segments import segments
from occurs.program import Program

TESLA = """
event Report(V: int, Speed: float)
define Slow(V) from Report(Speed < 1) where V = Report.V
define Fast(V, S) from Report(Speed >= 1) where V = Report.V, S = Report.Speed
define Stay(V, S) from stopped_end(V = $v) and last stopped_start(V = $v) within 10 min from stopped_end
   and last Report(V = $v) within 10 min from stopped_end where V = $v, S = Report.Speed
"""
PHENESTHE = """
event stop_end(V) : Fast(V, S) and S > 3.
state stopped(V) : Slow(V) ~> stop_end(V).
event stopped_start(V) : start(stopped(V)).
event stopped_end(V) : end(stopped(V)).
"""
REPORTS = pa.table({
    "V": [1, 2, 1, 1, 2, 1, 1],
    "Speed": [0.2, 5, 0.5, 4.0, 0, 0.1, 0.7],
    "time": [1, 2, 3, 7, 9, 9, 19],
})  # fmt: skip


def program(**texts: str) -> Program:
    """Of texts by language, in their order."""
    return Program([(text, f"{name}.txt", name) for name, text in texts.items()])


def mixed() -> Program:
    return program(tesla=TESLA, phenesthe=PHENESTHE)


def kinds(*texts: tuple[str, str]) -> list[str]:
    """The kinds of the errors that a program raises."""
    with pytest.raises(DefinitionProblem) as raised:
        Program([(text, None, name) for name, text in texts])
    return [p.kind for p in raised.value.problems if p.severity == "error"]


# -- files and languages -----------------------------------------------------------------------------------------------
def test_languages_are_found_by_their_folders() -> None:
    assert {"tesla", "phenesthe"} <= set(names())
    assert suffixes()[".phen"] == "phenesthe"
    assert suffixes()[".tesla"] == "tesla"


def test_files_of_several_languages(tmp_path: Path) -> None:
    (tmp_path / "a.tesla").write_text(TESLA)
    (tmp_path / "b.phen").write_text(PHENESTHE)
    found = occurs.load(tmp_path / "a.tesla", tmp_path / "b.phen").detect({"Report": REPORTS}, time_unit="min")
    assert found.count("stopped") == 3


def test_the_language_may_be_said(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("input event a(X). event e(X) : a(X).")
    assert occurs.load(tmp_path / "rules.txt", language="phenesthe").checked.reads == {"a"}
    with pytest.raises(UsageProblem, match=r"the language of .*rules.txt is unknown"):
        occurs.load(tmp_path / "rules.txt")
    with pytest.raises(UsageProblem, match="unknown language `prolog`"):
        occurs.parse("a.", "prolog")


# -- the mixed program -------------------------------------------------------------------------------------------------
def test_a_rule_reads_the_start_of_a_state_made_of_events_of_rules() -> None:
    found = mixed().detect({"Report": REPORTS}, time_unit="min")
    assert found["stopped"].to_pylist() == [
        {"type": "stopped", "time": 1, "end": 7, "V": 1},
        {"type": "stopped", "time": 9, "end": None, "V": 1},
        {"type": "stopped", "time": 9, "end": None, "V": 2},
    ]
    assert found["Stay"].to_pylist() == [{"type": "Stay", "time": 7, "V": 1, "S": 4.0}]


def test_types_are_in_evaluation_order_whatever_their_language() -> None:
    found = mixed().detect({"Report": REPORTS}, time_unit="min")
    assert list(found) == ["Slow", "Fast", "stop_end", "stopped", "stopped_start", "stopped_end", "Stay"]
    other = program(phenesthe=PHENESTHE, tesla=TESLA).detect({"Report": REPORTS}, time_unit="min")
    assert {t: other[t] for t in other} == {t: found[t] for t in found}


def test_types_of_attributes_go_from_language_to_language() -> None:
    stage = mixed().checked.plan({"Report": Schema((("V", Type.INT), ("Speed", Type.FLOAT)))}, TimeKind(False, "min"))
    assert stage.schemas["stopped"] == Schema((("V", Type.INT),), lasting=True)
    assert stage.schemas["Stay"].attributes == (("V", Type.INT), ("S", Type.FLOAT))


def test_one_key_for_both_languages() -> None:
    stage = mixed().checked.plan(None, TimeKind(False, "min"))
    (group,) = groups(stage.definitions, stage)
    assert group.mode == "keyed"
    assert {t: group.stage.key[t] for t in ("Report", "Slow", "stopped")} == {
        "Report": ("V",), "Slow": ("V",), "stopped": ("V",),
    }  # fmt: skip


def test_without_a_common_key_one_partition_and_a_warning() -> None:
    rules = "input event a(X), b(Y). state s : a(_) ~> b(_)."
    (problem,) = [p for p in occurs.parse(rules, "phenesthe").check() if p.kind == "global-stage"]
    assert "an interval may have started at any earlier time" in problem.message


def test_engine_and_references_agree() -> None:
    done = mixed().verify({"Report": REPORTS}, time_unit="min")
    assert done.equal
    assert done.report == "engine and reference agree: 7 events, 17 detections"


def test_a_subscription_narrows_the_types_of_its_language_only() -> None:
    rules = program(tesla=TESLA + "\nSubscribe(Slow, V = 2)", phenesthe=PHENESTHE)
    found = rules.detect({"Report": REPORTS}, time_unit="min")
    assert list(found) == ["Slow", "stop_end", "stopped", "stopped_start", "stopped_end"]
    assert found["Slow"].to_pylist() == [{"type": "Slow", "time": 9, "V": 2}]
    assert rules.verify({"Report": REPORTS}, time_unit="min").equal


# -- what is wrong -----------------------------------------------------------------------------------------------------
def test_a_cycle_through_two_languages() -> None:
    with pytest.raises(DefinitionProblem, match="`Stop` -> `Bad` -> `Stop`") as raised:
        program(tesla="define Bad(V) from Stop(V = $v) where V = $v", phenesthe="event Stop(V) : Bad(V).")
    assert raised.value.kind == "cycle"


def test_what_lasts_is_no_event() -> None:
    declared = ("phenesthe", "input state stopped(V). event e(V) : start(stopped(V)).")
    changes = ("phenesthe", "input state stopped(V) as changes. event e(V) : start(stopped(V)).")
    defined = ("phenesthe", "input event a(V), b(V). state stopped(V) : a(V) ~> b(V).")
    for other in (declared, changes, defined):
        assert kinds(("tesla", "define Bad(V) from stopped(V = $v) where V = $v"), other) == ["not-an-event"]


def test_one_type_is_defined_in_one_language() -> None:
    tesla = ("tesla", "define s(V) from A(V = $v) where V = $v")
    assert kinds(tesla, ("phenesthe", "input event b(V). event s(V) : b(V).")) == ["duplicate-definition"]


def test_declarations_of_one_type_agree() -> None:
    one = ("tesla", "event b(W: int)  define C(V) from b(W = $v) where V = $v")
    assert set(kinds(one, ("phenesthe", "input event b(V). event s(V) : b(V)."))) == {"schema-conflict"}
    lasting = ("phenesthe", "input state b(W). event s(V) : start(b(V)).")
    assert set(kinds(one, lasting)) == {"schema-conflict", "sort"}
    both = program(tesla=one[1], phenesthe="input event b(W : float). event s(V) : b(V).")
    found = both.detect({"b": pa.table({"time": [1], "W": [2]})})
    assert found["s"].column("V").to_pylist() == [2.0]


def test_a_rule_may_declare_what_the_other_language_defines() -> None:
    both = program(
        tesla="event e(V: int)  define C(W) from e(V = $v) where W = $v",
        phenesthe="input event a(V). event e(V) : a(V).",
    )
    assert both.detect({"a": pa.table({"time": [1], "V": [2]})})["C"].to_pylist() == [{"type": "C", "time": 1, "W": 2}]
    conflict = ("tesla", "event e(V: string)  define C(W) from e(V = $v) where W = $v")
    with pytest.raises(DefinitionProblem) as raised:
        Program([(conflict[1], None, "tesla"), ("input event a(V : int). event e(V) : a(V).", None, "phenesthe")])
    assert raised.value.kind == "schema-conflict"


def test_a_defined_type_has_no_rows_in_the_input() -> None:
    with pytest.raises(InputProblem, match="the rules define `stopped`"):
        mixed().detect({"Report": REPORTS, "stopped": REPORTS}, time_unit="min")


def test_a_host_that_a_language_does_not_run_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Phenesthe, "hosts", property(lambda self: frozenset({"local"})))
    with pytest.raises(UsageProblem, match="definitions in Phenesthe cannot run on Spark"):
        mixed().checked.require("spark")
    program(tesla=TESLA).checked.require("spark")
    mixed().checked.require("local")


# -- facts -------------------------------------------------------------------------------------------------------------
FACTS = "input fact kind(Id, Name). input event a(V). event fishing(V) : a(V) and kind(V, 'fishing')."


def test_facts_come_as_tables() -> None:
    rows = pa.table({"time": [1, 2], "V": [7, 8]})
    kinds = pa.table({"id": [7, 8], "name": ["fishing", "cargo"]})
    found = occurs.parse(FACTS, "phenesthe").detect({"a": rows}, facts={"kind": kinds})
    assert found["fishing"].column("V").to_pylist() == [7]
    assert occurs.parse(FACTS, "phenesthe").verify({"a": rows}, facts={"kind": kinds}).equal


def test_facts_from_outside_widen_and_may_have_more_columns() -> None:
    text = """input event a(k). input fact f(k, n). fact f(1, 3). input fact g(k, ...).
              event e(K, N) : a(K) and f(K, N). event h(K, N) : a(K) and g(K, name = N)."""
    program, rows = occurs.parse(text, "phenesthe"), {"a": pa.table({"time": [1, 1], "k": [1, 2]})}
    facts = {"f": pa.table({"k": [2], "n": [1.5]}), "g": pa.table({"K": [2], "name": ["x"], "all": [[1]]})}
    found = program.detect(rows, facts=facts)
    assert (found["e"]["N"].to_pylist(), found["h"]["N"].to_pylist()) == ([3.0, 1.5], ["x"])
    assert program.verify(rows, facts=facts).equal
    with pytest.raises(DefinitionProblem, match="`n` of `f` is string elsewhere, but int here"):
        program.detect(rows, facts={"f": pa.table({"k": [2], "n": ["x"]}), "g": facts["g"]})


def test_facts_that_nobody_reads_are_refused() -> None:
    with pytest.raises(UsageProblem, match="no definition of this program reads facts: `kinds`") as raised:
        occurs.parse(FACTS, "phenesthe").checked.adjusted(facts={"kinds": pa.table({"Id": [1]})})
    assert "`kind`" in str(raised.value.hint)


# -- delays ------------------------------------------------------------------------------------------------------------
DELAYED = """
input event a(V), b(V), c(V), d(V).
state p(V) : a(V) ~> b(V).
state q(V) : c(V) ~> d(V).
state only(V) : p(V) minus q(V).
event gone(V) : end(only(V)).
event quick(V) : end(a(V) ~>> b(V)).
event twice(V) : Pair(V) and not b(V).
event both(V) : gone(V) and twice(V).
"""
BEHIND = """
define Pair(V) from gone(V = $v) and last a(V = $v) within 6 s from gone where V = $v
define Alone(V) from twice(V = $v) and not c(V = $v) within 2 s from twice where V = $v
define Other(V) from a(V = $v) and last c(V = $v) within 4 s from a where V = $v
define Sudden(V) from quick(V = $v) and last gone(V = $v) within 5 s from quick where V = $v
define Tick(N) from Timer(S = 10) where N = COUNT(gone()) within 12 s from Timer
define Tock(N) from Timer(S = 20) where N = COUNT(a()) within 12 s from Timer
"""


def delayed() -> Program:
    return program(tesla=BEHIND, phenesthe=DELAYED)


def test_what_reads_a_delayed_type_runs_behind() -> None:
    found = segments(delayed().checked.plan(None, TimeKind(False, "s")))
    assert [sorted(s.reports) for s in found] == [
        ["Other", "Tock", "gone", "only", "p", "q", "quick"], ["Alone", "Pair", "Sudden", "Tick", "both", "twice"],
    ]  # fmt: skip
    assert found[1].takes == {"gone", "quick"}
    # the second reads `gone` as it is derived, too
    assert {"gone", "only", "p", "q"} == {d.output for d in found[1].stage.hidden}


def test_without_delay_there_is_one_segment() -> None:
    assert len(segments(mixed().checked.plan(None, TimeKind(False, "min")))) == 1


def test_readers_of_what_may_be_arbitrarily_late_are_told() -> None:
    told = [p.message for p in delayed().check() if p.kind == "unbounded-delay"]
    assert any("`Sudden` reads `quick`" in text for text in told)


def random_tables(rng: random.Random) -> dict[str, pa.Table]:
    def one() -> pa.Table:
        return pa.table({"time": [rng.randint(0, 25) for _ in range(12)], "V": [rng.randint(0, 2) for _ in range(12)]})

    return {t: one() for t in "abcd"}


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(8))
def test_cuts_and_restarts_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    tables = random_tables(rng)
    rules = delayed()
    done = rules.verify(tables, time_unit="s")
    assert done.equal, done.report
    whole = answer(rules, tables, [], False)
    for share in (0.3, 1):
        cuts = [t for t in range(25) if rng.random() < share]
        assert answer(rules, tables, cuts, restart=True) == whole


def test_a_state_of_other_segments_is_refused() -> None:
    rules = delayed()
    tables = random_tables(random.Random(0))
    history = rules.checked.history(tables, InputOptions(time_unit="s"))
    stage = rules.checked.plan(history.schemas, history.kind)
    engine = Engine(stage)
    engine.advance({}, 3, 0)
    other = program(tesla=TESLA).checked.plan(None, TimeKind(False, "min"))
    with pytest.raises(CheckpointProblem, match="with other dependencies"):
        Engine.restore(other, engine.save())


def test_the_random_histories_reach_every_definition() -> None:
    rules = delayed()
    found = [answer(rules, random_tables(random.Random(seed)), [], False) for seed in range(8)]
    assert [t for t in found[0] if not any(f[t] for f in found)] == []


# -- on the way --------------------------------------------------------------------------------------------------------
def test_open_rows_come_when_the_history_ends() -> None:
    rules = "input event a, b. state s : a ~> b."
    tables = {"a": pa.table({"time": [1, 10]}), "b": pa.table({"time": [5, 12]})}
    found = occurs.parse(rules, "phenesthe")
    assert found.detect(tables, ended=False, until=11)["s"].column("end").to_pylist() == [5]
    assert found.detect(tables, until=11)["s"].column("end").to_pylist() == [5, None]


def test_events_one_by_one() -> None:
    live = occurs.parse("input event a(V), b(V). state s(V) : a(V) ~> b(V).", "phenesthe").live(
        {"a": {"V": "int"}, "b": {"V": "int"}}, time_unit="s"
    )
    assert live.on_event("a", 1, {"V": 1}) == []
    assert live.on_event("a", 2, {"V": 2}) == []
    assert live.on_event("b", 5, {"V": 1}) == []
    assert live.advance(6) == [{"type": "s", "time": 1, "end": 5, "V": 1}]
    assert live.close() == [{"type": "s", "time": 2, "end": None, "V": 2}]
    with pytest.raises(UsageProblem, match="closed"):
        live.on_event("a", 9, {"V": 1})


def test_intervals_one_by_one() -> None:
    live = occurs.parse("input state p(V). state s(V) : p(V).", "phenesthe").live({"p": {"V": "int"}}, time_unit="s")
    assert live.on_event("p", 1, {"V": 1, "end": 5}) == []
    assert live.on_event("p", 3, {"V": 2, "end": 3}) == []
    with pytest.raises(InputProblem, match="ends before it starts"):
        live.on_event("p", 4, {"V": 2, "end": 3})
    with pytest.raises(InputProblem, match="the rules define `s`"):
        live.on_event("s", 4, {"V": 2})
    assert live.advance(9) == [{"type": "s", "time": 1, "end": 5, "V": 1}]
    assert live.on_event("p", 10, {"V": 3}) == []
    assert live.close() == [{"type": "s", "time": 10, "end": None, "V": 3}]


def test_what_has_not_changed_is_not_written_again() -> None:
    rules = occurs.parse("input event a(V), b(V). state s(V) : a(V) ~> b(V). event e(V) : start(s(V)).", "phenesthe")
    history = rules.checked.history({t: pa.table({"time": [3], "V": [1]}) for t in "ab"}, InputOptions())
    stage = rules.checked.plan(history.schemas, history.kind)
    rows = history_rows(stage, history, False)
    engine, ledger = Engine(stage), Ledger()
    put: list[str] = []
    dropped: list[str] = []

    def save() -> list[str]:
        put.clear()
        ledger.write(engine.state, engine.definitions, lambda name, table: put.append(name), dropped.append)
        return put

    engine.advance({"a": rows["a"]}, 3, 3)
    (name,) = save()
    assert ledger.names == [name]
    engine.advance({}, 4, 3)
    assert save() == []
    assert dropped == []
    engine.advance({"b": replace(rows["b"], time=rows["b"].time + 3)}, 6, 3)
    assert save() == []
    assert (dropped, ledger.names) == ([name], [])
    assert engine.state.rows() == 0


def test_rows_without_a_value_are_counted() -> None:
    rules = occurs.parse("input event a(V, W). event e(V) : a(V, _). event f(W) : a(_, W).", "phenesthe")
    table = pa.table({"time": [1, 2, 3], "V": [1, None, 2], "W": [0.5, 1.5, float("nan")]})
    found = rules.detect({"a": table})
    assert found.count("e") == found.count("f") == 2
    assert {k: n for k, n in found.counts.items() if k.startswith("null")} == {"null: a.V": 1, "null: a.W": 1}


def test_rows_of_a_state_that_are_put_together_are_counted() -> None:
    rules = occurs.parse("input state p(V, W), q(V). input dynamic x(V). state s(V) : p(V, _). dynamic d(V) : x(V).",
                         "phenesthe")  # fmt: skip
    lasting = {
        "time": [1, 3, 5, 20, 1, 9, 30, 2, 2],
        "end": [9, 4, 6, 25, 2, 10, None, 3, 3],
        "V": [1, 1, 1, 1, 2, 1, 1, None, None],
        "W": ["a", "a", "b", "a", "a", "a", "a", "a", "a"],
    }
    found = rules.detect({"p": pa.table(lasting), "x": pa.table(lasting)})
    # [3,4] and [9,10] are in, or touch, [1,9]; the one without a value comes twice
    assert {k: n for k, n in found.counts.items() if k.startswith("coalesced")} == {"coalesced: p": 3}
    assert [(r["time"], r["end"]) for r in found["s"].to_pylist() if r["V"] == 1] == [(1, 10), (20, 25), (30, None)]


def test_labels_of_a_state_are_the_same_while_it_holds() -> None:
    rules = occurs.parse("input state p(V). input dynamic x(V). state s(V) : p(V). dynamic d(V) : x(V).", "phenesthe")

    def found(end: int | None) -> Any:
        rows = pa.table({"time": [1], "end": pa.array([end], pa.int64()), "V": [1]})
        return rules.detect({"p": rows, "x": rows}, with_label=True)

    ended, holds = found(5), found(None)
    assert ended["s"].column("label") == holds["s"].column("label")
    assert ended["d"].column("label") != holds["d"].column("label")
    assert ended["s"].column_names == ["type", "time", "end", "V", "label"]


def test_constituents_of_a_rule_over_states_have_their_labels() -> None:
    found = mixed().detect({"Report": REPORTS}, time_unit="min", because=True)
    (stay,) = found["Stay"].to_pylist()
    parts = {part["role"]: part["label"] for part in stay["because"]}
    assert parts["stopped_end"] == found["stopped_end"].column("label")[0].as_py()
    assert parts["stopped_start"] == found["stopped_start"].column("label")[0].as_py()


def test_explain_says_what_is_kept() -> None:
    text = mixed().explain({"Report": REPORTS}, time_unit="min")
    assert "stopped: disjoint intervals, from " in text
    assert "one row per (V)" in text
    assert "partitioned by key (" in text


def test_problems_of_all_files_are_told_together() -> None:
    with pytest.raises(OccursError) as raised:
        program(tesla="define A(V from", phenesthe="event e( : a.")
    assert {p.file for p in raised.value.problems} == {"tesla.txt", "phenesthe.txt"}
