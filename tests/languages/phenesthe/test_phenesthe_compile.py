"""What definitions are compiled to: nodes, delays, ways to split them, what they keep."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pyarrow as pa
import pytest
from phenesthe_running import Input, Running

from occurs.errors import DefinitionProblem, LimitProblem
from occurs.expr.tree import Binary
from occurs.languages.phenesthe.checks import analyse
from occurs.languages.phenesthe.compile import Compiled, compile_all
from occurs.languages.phenesthe.parser import parse
from occurs.model.time import TimeKind
from occurs.operators.interval.atoms import Picked, Scan
from occurs.operators.interval.conditions import Exists, Member, Where
from occurs.operators.interval.delayed_release import HoldPoints, HoldSpans
from occurs.operators.interval.network import Node
from occurs.operators.interval.points import Both, PooledPoints
from occurs.operators.interval.relations import Related
from occurs.operators.rows import Rows

KIND = TimeKind(False, "s")


def compiled(text: str, facts: Mapping[str, pa.Table] | None = None, window: int | None = None) -> dict[str, Compiled]:
    file, problems = parse(text)
    analysis = analyse([file], kind=KIND, windows=window is not None)
    errors = [p for p in [*problems, *analysis.problems] if p.severity == "error"]
    assert not errors, "\n".join(p.render() for p in errors)
    return {c.name: c for c in compile_all(analysis, KIND, facts, window)}


def nodes(definition: Compiled, of: type) -> list[Node]:
    return [n for n in definition.net.nodes if isinstance(n, of)]


# --- atoms and conditions -------------------------------------------------------------------------------------------


def test_what_only_conditions_look_at_is_never_encoded() -> None:
    found = compiled("input event ais(vessel, speed: float, x). event e(V) : ais(V, S, ...) ∧ S <= 0.5 where S > 0.")
    (scan,) = found["e"].net.nodes
    assert isinstance(scan, Scan)
    assert (scan.variables, scan.arguments, len(scan.conditions)) == (("V",), ("vessel",), 3)
    assert found["e"].columns == {"ais": {"vessel", "speed"}}


def test_a_condition_with_facts_lets_through_what_it_can() -> None:
    text = "input event a(k, n: int). fact f(1). event e(K) : a(K, N) where N < 3 ∧ f(K) ∧ N * N > 0."
    scan, *rest = compiled(text)["e"].net.nodes
    # the product might overflow on rows that the fact leaves out
    assert isinstance(scan, Scan)
    assert (scan.variables, len(scan.conditions)) == (("K", "N"), 1)
    assert [type(n).__name__ for n in rest] == ["Known", "Where", "PooledPoints"]


def test_facts_are_judged_with_comparisons_only_where_they_must_be() -> None:
    text = (
        "input event a(k, n: int). fact f(1, 2). fact g(3).\n"
        "event e(K) : a(K, N) ∧ (f(K, M) ∧ M > N).\n"
        "event o(K) : a(K, N) ∧ (g(K) ∨ N > 3).\n"
        "event n(K) : a(K, _) ∧ ¬g(K).\n"
    )
    conditions = [[list(n.condition.walk()) for n in nodes(d, Where)] for d in compiled(text).values()]
    mixed = [[any(isinstance(e, Exists | Binary) for e in c) for c in found] for found in conditions]
    assert mixed == [[True], [True], [False]]
    assert isinstance(conditions[2][0][1], Member)


def test_equal_formulas_are_computed_once() -> None:
    text = "event e(K) : start(p(K) ⊓ q(K)) ∧ ¬end(p(K) ⊓ q(K)). dynamic d(K) : p(K) before p(K)."
    found = compiled(f"input state p(k), q(k). {text}")
    assert [type(n).__name__ for n in found["e"].net.nodes] == ["Scan", "Scan", "Common", "Starts", "Ends", "Without"]
    assert found["d"].net.inputs[1] == (0, 0)


def test_reading_a_definition() -> None:
    text = (
        "input event a(k: int, l: string, m: float). event e(K, kind = slow, again = K, L) : a(K, L, _).\n"
        "event same(X) : e(X, _, X, ...). event two(Y, X) : e(X, Y, _, _). event no : e(_, fast, ...).\n"
        "event one(L) : e(1, slow, X, L) ∧ X < 3."
    )
    found = compiled(text)
    (picked,) = nodes(found["same"], Picked)
    assert picked == Picked("event", ("K", "L"), ("L of e", "X"), ("L", "K"))
    assert found["same"].net.nodes[1] == PooledPoints(("L of e", "X"), ("X",))
    assert nodes(found["no"], Picked)[0].never  # type: ignore[attr-defined]
    run = Running(list(found.values()))
    table = pa.table({"time": [1, 2], "k": [1, 2], "l": ["x", "y"], "m": [None, 1.5]})
    assert found["one"].read == ("e",)
    rows = Input(phenomena(text), {"a": [table]}).rows
    out = run.advance(rows, 2, closing=True)
    assert values(out["e"]) == [(1, 1, "slow", 1, "x"), (2, 2, "slow", 2, "y")]
    assert (values(out["same"]), values(out["two"])) == ([(1, 1), (2, 2)], [(1, "slow", 1), (2, "slow", 2)])
    assert (values(out["no"]), values(out["one"])) == ([], [(1, "x")])


def phenomena(text: str) -> dict[str, object]:
    return analyse([parse(text)[0]], kind=KIND).phenomena  # type: ignore[return-value]


def values(rows: Rows) -> list[tuple[object, ...]]:
    return list(zip(rows.time.tolist(), *(c.arrow.to_pylist() for c in rows.columns.values()), strict=True))


# --- delays ----------------------------------------------------------------------------------------------------------

PROGRAM = r"""
input event a(k), b(k). input state p(k), q(k). input dynamic x(k).
state cut(K) : p(K) \ q(K).
state twice(K) : cut(K) \ (q(K) \ p(K)).
state runs(K) : a(K) <@ 1 min.
state most(K) : a(K) <=@ 5.
state long(K) : filter(p(K), less(9)).
state least(K) : a(K) ~>> b(K).
state apart(K) : a(K) >@ 4.
event behind(K) : a(K) ∧ start(cut(K)).
event later(K) : end(long(K)) in least(K).
dynamic d(K) : cut(K) before x(K).
"""


def test_delays() -> None:
    found = {name: c.delay for name, c in compiled(PROGRAM).items()}
    assert found == {
        "cut": 1, "twice": 2, "runs": 59, "most": 5, "long": 9, "least": None, "apart": None, "behind": 1,
        "later": None, "d": 1,
    }  # fmt: skip


def test_operands_are_held_until_the_other_is_known() -> None:
    found = compiled(PROGRAM)
    assert nodes(found["behind"], HoldPoints) == [HoldPoints(("K",), 1)]
    assert nodes(found["twice"], HoldSpans) == []
    assert nodes(found["later"], HoldPoints) == [HoldPoints(("K",), None)]
    assert nodes(found["later"], HoldSpans) == [HoldSpans(("K",), None)]
    assert nodes(found["d"], HoldSpans) == []


def test_converses_are_the_others_exchanged() -> None:
    text = "input event c. input state p(k). dynamic d(K) : c after p(K). dynamic e(K) : p(K) before c."
    found = compiled(text)
    assert nodes(found["d"], Related) == nodes(found["e"], Related) == [Related("before", "state", "event", ("K",), ())]
    assert (found["d"].net.inputs[-1], found["e"].net.inputs[-1]) == ((1, 0), (0, 1))


def test_durations_need_a_common_unit() -> None:
    file, _ = parse("input event a. state s : a <@ 5 s.")
    with pytest.raises(DefinitionProblem) as caught:
        compile_all(analyse([file]), TimeKind(False, None))
    assert (caught.value.kind, caught.value.first.line) == ("missing-unit", 1)


# --- keys, state, warnings -------------------------------------------------------------------------------------------

SHIPS = """
input state moored(vessel, port), underway(vessel). input event ais(v, other, speed: float, ...).
dynamic trip(Vessel, A, B) : end(moored(Vessel, A)) before (underway(Vessel) before start(moored(Vessel, B))).
event crossed(X) : ais(X, Y, ...) ∧ ais(Y, X, ...).
event anywhere(P) : start(moored(V, P)) ∧ start(underway(V)).
dynamic seen(V, S) : ais(V, _, S, ...) before end(moored(V, _)).
dynamic near(V) : ais(V, _, S, ...) before ais(V, _, S, ...).
"""


def test_ways_to_split() -> None:
    found = compiled(SHIPS)
    (trip,) = found["trip"].choices
    assert trip.attributes == (("moored", ("vessel",)), ("underway", ("vessel",)))
    assert trip.passes == {"Vessel"}
    # X is read from v in one atom and from other in the other
    assert found["crossed"].choices == ()
    # the vessel ends below the head
    (anywhere,) = found["anywhere"].choices
    assert (anywhere.attributes[0], anywhere.passes) == (("moored", ("vessel",)), frozenset())


def test_what_is_kept() -> None:
    trip, *_ = compiled(SHIPS).values()
    assert [str(k) for k in trip.kept if k.formula.startswith("end(moored")] == [
        "one row per (Vessel, A)", "one row per (Vessel, B)",
    ]  # fmt: skip
    assert {k.until for k in trip.kept} == {"it ends", "a later one ends"}


def test_warnings() -> None:
    found = compiled(SHIPS + "state least : ais(...) ~>> start(underway(_)). event e : start(least).")
    kinds = {name: [(w.kind, w.severity, w.line) for w in c.warnings] for name, c in found.items() if c.warnings}
    assert kinds == {
        "seen": [("unbounded-state", "warning", 6)],
        "near": [("unbounded-state", "warning", 7)],
        "least": [("unbounded-delay", "warning", 8)],
        "e": [("unbounded-delay", "warning", 8)],
    }
    assert "`S` can have any number of values" in found["seen"].warnings[0].message
    assert "`filter(ais(V, _, S, ...) before end(moored(V, _)), less(D))`" in (found["seen"].warnings[0].hint or "")


@pytest.mark.parametrize(("op", "rows"), [("less", 9), ("at_most", 10), ("equal", 10)])
def test_what_is_too_old_for_a_short_result_is_forgotten(op: str, rows: int) -> None:
    text = f"input event a(k: float), b(k: float). dynamic d(K) : filter(b(K) after a(K) ∧ K >= 0, {op}(10))."
    found = compiled(text)
    assert not found["d"].warnings
    run = Running(list(found.values()))
    for at in range(40):
        run.advance(Input(phenomena(text), {"a": [pa.table({"time": [at], "k": [float(at)]})]}).rows, at)
    assert sum(d.net.rows(run.states[d.name]) for d in run.definitions) == rows
    last = {"b": [pa.table({"time": [40, 40], "k": [32.0, 30.0]})]}
    times = run.advance(Input(phenomena(text), last).rows, 40)["d"].time.tolist()
    assert times == ([32] if op == "less" else [30] if op == "equal" else [30, 32])


# --- true almost always ----------------------------------------------------------------------------------------------


def test_what_is_true_almost_always_in_a_window() -> None:
    text = "input event a, b. event n : ¬a ∧ (¬b ∨ a). event m : ¬(a ∧ b) ∧ 1 < 2."
    found = compiled(text, window=6)
    assert len(nodes(found["n"], Both)) == 1
    table = pa.table({"time": [3, 5]})
    rows = Input(phenomena(text), {"a": [table], "b": [pa.table({"time": [5, 6]})]}, until=7).rows
    out = Running(list(found.values())).advance(rows, 7, closing=True)
    assert (out["n"].time.tolist(), out["m"].time.tolist()) == ([2, 4, 7], [2, 3, 4, 6, 7])


def test_a_window_of_too_many_instants() -> None:
    found = compiled("input event a. event n : ¬a.", window=10**7)
    with pytest.raises(LimitProblem, match="`n` is true almost always"):
        Running(list(found.values())).advance({}, 10**8)


def test_definitions_at_work_can_be_sent_to_other_processes() -> None:
    text = "input event a(k: int, n: int). fact f(1). event e(K) : a(K, N) ∧ f(K) ∧ (f(N) ∨ N > 2)."
    found = list(compiled(text).values())
    rows = Input(phenomena(text), {"a": [pa.table({"time": [1, 2], "k": [1, 2], "n": [3, 3]})]}).rows
    first = Running(found).advance(rows, 2)
    sent = pickle.loads(pickle.dumps(found))
    assert values(Running(sent).advance(rows, 2)["e"]) == values(first["e"]) == [(1, 1)]
