"""The parts of the reference semantics of temporal triggers that no text case shows."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.laws.logic_monitors import unbounded

from occurs.errors import DefinitionProblem, InputProblem
from occurs.languages.logic import semantics, syntax
from occurs.languages.logic.parser import parse
from occurs.languages.logic.semantics import evaluate
from occurs.languages.logic.semantics.formula import joined, passed
from occurs.languages.logic.semantics.states import Tables
from occurs.languages.logic.semantics.values import Relation, aggregate
from occurs.languages.logic.sql import parameters, restrictions, sources
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

TICKS = TimeKind(False, None)
COLUMNS = {"T": ["link", "load"], "U": ["link", "z"]}


def definitions(text: str) -> Sequence[syntax.Definition]:
    tree, problems = parse(text)
    assert not problems
    return tree.definitions


def formula(text: str) -> syntax.Formula:
    (trigger,) = definitions(f"trigger a: {text}")
    assert isinstance(trigger, syntax.Trigger)
    return trigger.formula


@pytest.mark.parametrize(
    ("sql", "tables", "expected"),
    [
        ("select load from T where link = :y", "T", {"T": {"link": "y"}}),
        ("select load from T -- where\nwhere :y == t.LINK and 1", "T", {"T": {"link": "y"}}),
        ('select 1 from t a join "U" on U.link = a.link where a.link = :y and z between 1 and 2', "t U",
         {"T": {"link": "y"}}),
        ("select 1 from T, U as q where :y = q.link and load = :l order by 1", "T U",
         {"U": {"link": "y"}, "T": {"load": "l"}}),
        ("select load from T where link = :y or load > 1", "T", {}),
        ("select load from T where (link = :y)", "T", {}),
        ("select load from T where not link = :y", "T", {}),
        ("select load from T where link = :y + 1", "T", {}),
        ("select sum(load) from (select * from T where link = :y) where load = :q", "T", {}),
        ("select load from T where link = :y union select 1", "T", {}),
        ("with q as (select 1) select load from T where link = :y", "T", {}),
        ("select case when link = :y then 3 end from T where case when 1 and link = :y and 2 then 3 end", "T", {}),
        ("select 1 from T where link = :y and load in (select load from T)", "T T", {}),
        ("select 1 from T where link = :y and load in T", "T T", {}),
        ("select 1 from T join U on 1 where link = :y", "T U", {}),
        ("select 1 from x o left join (T) where x.a is distinct from 3 and load in U and 'from V'", "x T U", {}),
        ("select 1 from (T, U) where 'x' || ':n' = :n group by link", "T U", {}),
    ],
)  # fmt: skip
def test_what_a_select_reads(sql: str, tables: str, expected: dict[str, dict[str, str]]) -> None:
    assert [s.name for s in sources(sql)] == tables.split()
    assert restrictions(sql, COLUMNS) == expected


def test_parameters_are_found_outside_of_texts_and_comments() -> None:
    assert parameters("select ':a', \":b\", :c /* :d */ -- :e\n, :c, [x:f], :g") == ["c", "g"]


def tables(views: str = "") -> Tables:
    given = definitions(f"table T(k string key, ok boolean, v float)\n{views}")
    rows = {"T": [{"k": "a", "ok": True, "v": 1.0}, {"k": "b", "ok": None, "v": 2.0}]}
    return Tables(
        [d for d in given if isinstance(d, syntax.Table)], rows, [d for d in given if isinstance(d, syntax.View)]
    )


def test_views_and_relations_are_tables_of_a_select() -> None:
    base = tables("view w as select v from T where v < :time;")
    found = base.select("select w.v, r.n, :y as y from w, r", {"time": 2, "y": True, "r": Relation(("n",), ((7,),))})
    assert found == Relation(("v", "n", "y"), ((1.0, 7, 1),))
    # a relation is there for one SELECT only
    with pytest.raises(DefinitionProblem):
        base.select("select * from r", {"time": 2})


@pytest.mark.parametrize(
    "sql",
    ["delete from T", "select 1; select 2", "pragma table_info(T)", "select * from pragma_table_info('T')",
     "select load_extension('x')", "select * from V", "select :missing", "attach 'x' as y"],
)  # fmt: skip
def test_nothing_but_one_select_runs(sql: str) -> None:
    with pytest.raises(DefinitionProblem) as caught:
        tables().select(sql, {})
    assert caught.value.kind == "bad-sql"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("time <= x", False), ("time < x", False), ("time = x", False), ("time >= x", True), ("time > x", True),
        ("time != x", True), ("x >= time", False), ("time <= x + 1", None), ("time - x <= 0", False),
        ("x - time >= 0", False), ("2 * time <= x + x", False), ("time * x <= x * x", False), ("-time >= -x", False),
        ("time / 1 <= x", None), ("time <= a", None), ("time <= z", None), ("3 < 2", None), ("time * time <= x", None),
        ("not time <= x", True), ("a > 1 and time <= x", False), ("a > 1 or time <= x", None), ("false", None),
        ("[t <- time] time <= x", None), ("time <= n", None), ("time <= 10.5", None), ("time <= 9.5", False),
    ],
)  # fmt: skip
def test_what_comparisons_of_time_tell_of_all_later_times(text: str, expected: bool | None) -> None:
    rho = {"x": 10, "z": None, "n": float("inf")}
    assert passed(formula(text), rho, 10, {"c": 3}.get, TICKS) is expected


def test_bounds_are_comparisons_of_time() -> None:
    found = unbounded(formula("p until[2, 3] q"))
    assert isinstance(found, syntax.Assign)
    assert found.variable.text == "#1"  # no name that anybody can write
    written = formula("[n <- time](p until (q and time >= n + 2 ticks and time <= n + 3 ticks))")
    assert isinstance(written, syntax.Assign)
    assert str(found.operand).replace("#1", "n") == str(written.operand)


def test_joined_sets() -> None:
    assert joined(frozenset({1, 4}), frozenset({2, 3})) == {2, 3, 4}
    assert joined(frozenset({1}), frozenset(), frozenset({2})) == frozenset()


@pytest.mark.parametrize(
    ("op", "values", "expected"),
    [
        ("sum", [1, None, 2], 3), ("sum", [0.1] * 10, 1.0), ("avg", [1, 2], 1.5), ("avg", [None], None),
        ("count", [None, 5], 1), ("min", [2, 1.5], 1.5), ("max", ["a", "b"], "b"), ("sum", [], None), ("count", [], 0),
    ],
)  # fmt: skip
def test_aggregates(op: str, values: list[Any], expected: Any) -> None:
    found = aggregate(op, values)
    assert found == expected
    assert type(found) is type(expected)


PROGRAM = """
    state s(a int)
    trigger t for each y in (select k from T): eventually (From.n = 2 and a > 1) continue
        on never emit Gone(k = y) notify "{y}" emit Out(k = y, a = a)
    table T(k string key)
"""


def rows(*given: tuple[str, int, Mapping[str, Any]]) -> list[Occurrence]:
    return [Occurrence(type_, time, values) for type_, time, values in given]


def test_events_of_other_languages_and_types_of_what_is_made() -> None:
    history = rows(("T", 1, {"k": "u"}), ("s", 1, {"a": 2}), ("s", 3, {"a": 3}))
    made = rows(("From", 2, {"n": 2}), ("From", 3, {"n": 1}), ("From", 3, {"n": 2}))
    schemas = {"Out": Schema((("k", Type.STRING), ("a", Type.FLOAT)))}
    inputs = {"From": Schema((("n", Type.INT),))}
    found = evaluate(definitions(PROGRAM), history, kind=TICKS, inputs=inputs, schemas=schemas, made=made)
    assert [(e.type, e.time, e.attributes, e.label) for e in found] == [
        ("Out", 2, {"k": "u", "a": 2.0}, ("t", ("u",), 2)),
        ("Out", 3, {"k": "u", "a": 3.0}, ("t", ("u",), 3)),
    ]
    assert all(type(e.attributes["a"]) is float for e in found)


def test_a_problem_names_its_trigger() -> None:
    history = rows(("s", 1, {"a": 2**63 - 1}))
    for text in ("trigger big: eventually a * 2 > 1", "trigger big: eventually a > 1 emit Out(b = a * 2)"):
        with pytest.raises(InputProblem) as caught:
            evaluate(definitions(f"state s(a int)\n{text}"), history, kind=TICKS)
        assert (caught.value.kind, caught.value.definition) == ("overflow", "big")


def test_observing_every_needs_whole_ticks() -> None:
    given = definitions("state s(a int)\ntrigger t observing every 1500 us: eventually a > 1")
    with pytest.raises(DefinitionProblem) as caught:
        evaluate(given, rows(("s", 1, {"a": 1})), kind=TimeKind(False, "ms"))
    assert caught.value.kind == "bad-duration"


def test_a_duration_that_is_given_out_is_whole_ticks() -> None:
    given = definitions("state s(a int)\ntrigger t: eventually a > 0 emit Out(d = 1500 us * a)")
    found = evaluate(given, rows(("s", 1, {"a": 1})), kind=TimeKind(False, "ms"))
    assert found[0].attributes == {"d": round(Fraction(3, 2))}


#: what references and engine may have in common: trees and declarations; and the evaluator of all references
DECLARED = ("occurs.expr.tree", "occurs.expr.dialect", "occurs.expr.functions", "occurs.expr.aggregates")
EVALUATED = "occurs.expr.reference"


def test_the_reference_knows_nothing_of_the_engine() -> None:
    """Neither operators nor plans nor columns: what is compared shares nothing."""
    files = sorted(Path(semantics.__file__).parent.rglob("*.py"))
    assert len(files) > 4
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert not name.startswith(("occurs.operators", "occurs.plan", "occurs.engine", "numpy", "pyarrow"))
                assert not name.startswith("occurs.expr.") or name in DECLARED or name.startswith(EVALUATED)
