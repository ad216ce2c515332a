"""Phenesthe, alone and with TESLA, on Spark in batch: what this process finds, labels included."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from lastingcases import CASES, Together, found_on_spark, in_programs, labels_of, lines_of, options_of
from tests.textcases.phenesthe import LastingCase, Loaded

import occurs
from occurs.errors import InputProblem
from occurs.model.source import InputOptions
from occurs.plan.partitioning import groups
from occurs.program import Program

pytestmark = pytest.mark.spark
#: of those that say something else among others, the ones that are in the fast run
FAST = {
    "null and NaN bind no variable",
    "until: an end after it",
    "timestamps",
}
#: it has several tables of one type, which Spark is not given
TABLES = "columns ignoring case, if only one fits"
ALONE = [
    "constants, and one variable twice",
    "int and float join by value",
    "null and NaN bind no variable",
    TABLES,
    "facts do not move the clock",
    "until: what comes later is not there, what ends later is open",
    "until: an end after it",
    "start: what came before is not there",
    "timestamps",
    "sessions with their duration and the number of clicks",
    "iteration with a unit",
    "filters of open ones",
    "17 Filters",
    "17 Filters: not yet long enough",
    "17 Filters: long enough from now on",
]


def frames(spark: Any, tables: Any) -> Any:
    if isinstance(tables, dict):
        return {t: spark.createDataFrame(table) for t, table in tables.items()}
    return spark.createDataFrame(tables)


def same(spark: Any, program: Program, tables: Any, partitions: int = 4, **options: Any) -> dict[str, pa.Table]:
    """What both hosts find, labels included, with the same columns of the same types."""
    local = program.detect(tables, with_label=True, **options)
    here = {t: local.arrow(t) for t in local}
    found = program.detect(frames(spark, tables), with_label=True, partitions=partitions, **options)
    assert list(found) == list(here)
    assert found.counts == local.counts
    assert [(p.kind, p.message) for p in found.notices] == [(p.kind, p.message) for p in local.notices]
    there = found_on_spark(found, here)
    for t, table in here.items():
        assert there[t].schema.types == table.schema.types
    assert labels_of(there) == labels_of(here)
    return here


def modes(program: Program, tables: Any, **options: Any) -> list[str]:
    history = program.checked.history(tables, InputOptions(**options))
    stage = program.checked.plan(history.schemas, history.kind)
    return [g.mode for g in groups(stage.definitions, stage)]


# -- the text cases ----------------------------------------------------------------------------------------------------
def test_all_cases_are_here() -> None:
    programs, alone = in_programs()
    assert [c.name for c in alone] == ALONE
    wanted = [c.name for c in CASES if c.mode == "batch" and c.error is None]
    assert sorted(wanted) == sorted(ALONE + [c.name for p in programs for c in p.cases])


def check(spark: Any, one: Together, partitions: int) -> None:
    here = one.here(with_label=True)
    options = {**one.options, "facts": one.facts, "with_label": True, "partitions": partitions}
    there = found_on_spark(one.program.detect(spark.createDataFrame(one.table), **options), here)
    assert labels_of(there) == labels_of(here)
    assert lines_of({t: table.drop_columns("label") for t, table in there.items()}) == one.expected


@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 8])
def test_worked_examples(spark: Any, partitions: int) -> None:
    for one in in_programs()[0]:
        if one.worked:
            check(spark, one, partitions)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("partitions", [pytest.param(1, marks=pytest.mark.long), 8])
def test_other_cases(spark: Any, partitions: int) -> None:
    for one in in_programs()[0]:
        if not one.worked:
            check(spark, one, partitions)


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in FAST else pytest.mark.long) for n in ALONE if n != TABLES]
)
def test_a_case_alone(spark: Any, name: str) -> None:
    (case,) = [c for c in in_programs()[1] if c.name == name]
    loaded = Loaded(case)
    program = occurs.parse(case.rules, "phenesthe")
    here = same(spark, program, loaded.tables(), facts=loaded.fact_tables(), **options_of(case))
    assert case.expected is not None
    found = lines_of({t: table.drop_columns("label") for t, table in here.items()})
    assert found == sorted(loaded.lines(case.expected[None]), key=repr)


@pytest.mark.parametrize("case", [c for c in CASES if c.error == "overflow"], ids=str)
def test_what_is_wrong_in_the_data_is_told(spark: Any, case: LastingCase) -> None:
    loaded = Loaded(case)
    program = occurs.parse(case.rules, "phenesthe")
    raised = []

    def everything(tables: Any) -> None:
        found = program.detect(tables, facts=loaded.fact_tables(), **options_of(case))
        lines_of({t: found.arrow(t) for t in found})

    for tables in (loaded.tables(), frames(spark, loaded.tables())):
        with pytest.raises(InputProblem) as caught:
            everything(tables)
        raised.append([(p.kind, p.message) for p in caught.value.problems])
    assert raised[0] == raised[1]


# -- keys --------------------------------------------------------------------------------------------------------------
SEA = """
input event stops(ship), goes(ship), enters(ship, port), leaves(ship, port).
input state tide(ship).
state stopped(Ship)        : stops(Ship) ~> goes(Ship).
state in_port(Ship, Port)  : enters(Ship, Port) ~> leaves(Ship, Port).
state moored(Ship, Port)   : stopped(Ship) ⊓ in_port(Ship, Port).
state free(Ship)           : stopped(Ship) \\ tide(Ship).
event first(Ship)          : start(stopped(Ship)) and not start(tide(Ship)).
dynamic trip(Ship, A, B)   : end(moored(Ship, A)) before start(moored(Ship, B)).
"""


def voyages(ships: int, rows: int, seed: int = 1) -> dict[str, pa.Table]:
    draw = random.Random(seed)
    out: dict[str, list[tuple[Any, ...]]] = {n: [] for n in ("stops", "goes", "enters", "leaves", "tide")}
    for _ in range(rows):
        kind, time, ship = draw.choice(list(out)), draw.randrange(1000), draw.randrange(ships)
        more = {"tide": draw.choice([None, time, time + 1, time + 30])}.get(kind, draw.choice("abc"))
        out[kind].append((time, ship if draw.random() < 0.98 else None, more))
    tables = {}
    for name, found in out.items():
        time, ship, more = ([r[i] for r in found] for i in range(3))
        tables[name] = pa.table({"time": pa.array(time, pa.int64()), "ship": pa.array(ship, pa.int64())})
        if name in ("enters", "leaves"):
            tables[name] = tables[name].append_column("port", pa.array(more, pa.string()))
        elif name == "tide":
            tables[name] = tables[name].append_column("end", pa.array(more, pa.int64()))
    return tables


@pytest.mark.slow
def test_many_ships_are_split_by_ship(spark: Any) -> None:
    program, tables = occurs.parse(SEA, "phenesthe"), voyages(60, 4000)
    assert modes(program, tables, time_unit="s") == ["keyed"]
    here = same(spark, program, tables, 6, time_unit="s")
    assert all(len(t) > 20 for t in here.values())
    assert all(here[t].column("end").null_count for t in ("stopped", "moored"))


@pytest.mark.slow
def test_what_has_no_common_key_runs_in_one_partition(spark: Any) -> None:
    """And what is connected with it, as a state is read only where it is made."""
    text = SEA + "event busy(Port) : start(moored(_, Port)). state any(Port) : enters(_, Port) ~> leaves(_, Port)."
    program, tables = occurs.parse(text, "phenesthe"), voyages(9, 600)
    assert sorted(modes(program, tables, time_unit="s")) == ["keyed", "single"]
    same(spark, program, tables, 3, time_unit="s")


# -- with TESLA --------------------------------------------------------------------------------------------------------
MIXED = [
    (SEA + "event gone(Ship, Port) : end(moored(Ship, Port)).", None, "phenesthe"),
    (
        """
        event gone(Ship: int, Port: string)  event stops(ship: int)  event goes(ship: int)
        event enters(ship: int, port: string)
        define Left(Port, Ship) from gone(Port = $p) and each gone(Port = $p) as G within 9 s from gone
          where Port = gone.Port, Ship = G.Ship
        define Back(Ship) from gone(Ship = $s) and last goes(ship = $s) within 200 s from gone where Ship = gone.Ship
        define Calm(Ship, Port) from enters(ship = $s) and last stops(ship = $s) within 200 s from enters
          where Ship = enters.ship, Port = enters.port
        """,
        None,
        "tesla",
    ),
    (
        "event calm(Port) : Calm(_, Port). state lull(Port) : calm(Port) ~> shut(Port). "
        "event shut(Port) : leaves(_, Port). state still(Ship) : Calm(Ship, _) ~> goes(Ship).",
        None,
        "phenesthe",
    ),
]  # fmt: skip


@pytest.mark.slow
def test_rows_go_from_one_language_to_the_other(spark: Any) -> None:
    """Groups by ship and by port hand rows on, both ways."""
    program, tables = Program(MIXED), voyages(20, 900)
    history = program.checked.history(tables, InputOptions(time_unit="s"))
    stage = program.checked.plan(history.schemas, history.kind)
    found = groups(stage.definitions, stage)
    assert [g.mode for g in found] == ["keyed"] * len(found)
    assert {t for g in found for t in g.takes} == {"gone", "Calm"}
    here = same(spark, program, tables, 3, time_unit="s")
    assert all(len(t) > 20 for t in here.values())


LATE = """
input event stops(ship).
state pause(Ship) : stops(Ship) <@ 30 s.
event began(Ship) : start(pause(Ship)).
"""
AFTER = """
event began(Ship: int)  event goes(ship: int)
define Off(Ship) from goes(ship = $s) and last began(Ship = $s) within 60 s from goes where Ship = goes.ship
"""


@pytest.mark.slow
def test_rules_that_read_what_is_known_later_run_behind_it(spark: Any) -> None:
    program = Program([(LATE, None, "phenesthe"), (AFTER, None, "tesla")])
    here = same(spark, program, voyages(10, 2000), 3, time_unit="s")
    assert all(len(t) > 20 for t in here.values())


# -- what comes in -----------------------------------------------------------------------------------------------------
LASTING = """
input state moored(ship, port).
input dynamic storm(area).
input state engine(ship) as changes.
input event a(k).
input fact kind(Ship, Name).
state fishing(S) : moored(S, _) ∧ kind(S, 'fishing').
state on(S) : engine(S).
dynamic wild(A) : a(_) before storm(A).
state long(S) : filter(moored(S, _), greater(30)).
"""


def lasting(end: list[Any], holds: list[Any]) -> dict[str, pa.Table]:
    return {
        "moored": pa.table({
            "time": [1, 5, 8, 9], "end": pa.array(end, pa.int64()), "SHIP": [1, 1, 2, None], "port": list("abcd"),
        }),
        "storm": pa.table({"time": [4, 4, 6], "end": pa.array([9, 30, None], pa.int64()), "area": [1.5, 1.5, 2.0]}),
        "engine": pa.table({"time": [1, 2, 3, 3], "ship": [1, 1, None, 2], "holds": pa.array(holds, pa.bool_())}),
        "a": pa.table({"time": [2], "end": pa.array([2], pa.int64()), "k": ["x"]}),
    }  # fmt: skip


KINDS = pa.table({"NAME": ["fishing", "cargo", "fishing"], "ship": [1, 2, 7]})


@pytest.mark.slow
def test_input_that_lasts_and_facts(spark: Any) -> None:
    """What has no length is counted and left out, an end behind the clock is not known, facts are a DataFrame."""
    program, tables = occurs.parse(LASTING, "phenesthe"), lasting([4, 5, 60, None], [True, False, True, True])
    for options in ({"until": 40}, {"start": 2, "until": 25, "ended": False}):
        local = program.detect(tables, facts={"kind": KINDS}, **options)
        here = {t: local.arrow(t) for t in local}
        facts = {"kind": spark.createDataFrame(KINDS)}
        found = program.detect(frames(spark, tables), facts=facts, **options)
        assert found.counts == local.counts
        assert found.counts["empty"] == 2
        assert labels_of(found_on_spark(found, here)) == labels_of(here)
    one = pa.concat_tables(
        [t.add_column(0, "type", pa.array([n] * len(t))) for n, t in tables.items()], promote_options="default"
    )
    same(spark, program, one, facts={"kind": KINDS})


@pytest.mark.slow
def test_bad_rows_of_what_lasts(spark: Any) -> None:
    program, tables = occurs.parse(LASTING, "phenesthe"), lasting([4, 3, 60, None], [True, None, True, True])
    facts = {"kind": KINDS}
    raised = []
    for given in (tables, frames(spark, tables)):
        with pytest.raises(InputProblem) as caught:
            program.detect(given, facts=facts)
        raised.append(sorted(p.kind for p in caught.value.problems))
        assert "end before time in column `end`" in str(caught.value)
        assert "null holds in column `holds`" in str(caught.value)
    assert raised[0] == raised[1]
    local = program.detect(tables, facts=facts, bad_rows="skip")
    found = program.detect(frames(spark, tables), facts=facts, bad_rows="skip")
    assert found.counts == local.counts
    assert found.counts["bad: null holds"] == found.counts["bad: end before time"] == 1
    here = {t: local.arrow(t) for t in local}
    assert labels_of(found_on_spark(found, here)) == labels_of(here)
    assert sorted(r["reason"] for r in found.bad.toArrow().to_pylist()) == ["end before time", "null holds"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"moored": KINDS.append_column("time", pa.array([1, 2, 3]))},
         "`moored` has intervals, but there is no column `end`"),
        ({"fishing": KINDS.append_column("time", pa.array([1, 2, 3]))}, "the rules define `fishing`"),
        ({"a": pa.table({"time": [1], "l": ["x"]})}, "column `k` of `a` is declared but missing"),
        ({"a": pa.table({"time": [1], "k": ["x"], "end": ["x"]})}, "unreadable end"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_input_that_is_refused(spark: Any, change: dict[str, pa.Table], told: str) -> None:
    program, tables = occurs.parse(LASTING, "phenesthe"), lasting([4, 5, 60, None], [True, False, True, True])
    raised = []
    for given in ({**tables, **change}, frames(spark, {**tables, **change})):
        with pytest.raises(InputProblem, match=told) as caught:
            program.detect(given, facts={"kind": KINDS}, time_unit="ms")
        raised.append(sorted(p.kind for p in caught.value.problems))
    assert raised[0] == raised[1]


def test_a_defined_type_in_a_table_of_all_types(spark: Any) -> None:
    program = occurs.parse("input event a. event e : a. event f : e.", "phenesthe")
    table = pa.table({"type": ["a", "e"], "time": [1, 2]})
    with pytest.raises(InputProblem, match="the rules define `e`"):
        program.detect(spark.createDataFrame(table))


def test_a_table_without_types_is_of_the_only_input(spark: Any) -> None:
    program = occurs.parse("input event a(V). event e(V) : a(V) and V > 1. event f(V) : e(V).", "phenesthe")
    here = same(spark, program, pa.table({"time": [1, 2], "V": [1, 2]}), 2)
    assert [len(t) for t in here.values()] == [1, 1]


def test_conditions_of_scans_go_to_spark(spark: Any) -> None:
    program = occurs.parse("input event a(V, W). event e(V) : a(V, 'x') and V > 1.", "phenesthe")
    tables = {"a": pa.table({"time": [1, 2, 3, 4], "V": [1, 2, 3, None], "W": ["x", "x", "y", "x"]})}
    history = program.checked.history(tables, InputOptions())
    (definition,) = program.checked.plan(history.schemas, history.kind).definitions
    (source,) = definition.sources
    assert len(source.filters) == 2
    assert len(same(spark, program, tables)["e"]) == 1
