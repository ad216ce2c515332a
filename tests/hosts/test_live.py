"""Events one by one: the same answer as the whole history at once, and clear words for what does not fit."""

from __future__ import annotations

import datetime as dt
import random
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.laws.contract import intake_of

import occurs
from occurs.errors import InputProblem
from occurs.model.source import InputOptions
from occurs.model.types import Schema, Type
from occurs.operators.select.templates import Template
from occurs.program import Program
from occurs.testing.cases import Case, load_cases
from occurs.verify.compare import difference, occurrences_of

FOLDER = Path(__file__).parents[1] / "cases" / "tesla"
CASES = [c for p in sorted(FOLDER.glob("*.md")) for c in load_cases(p) if c.error is None]

FIRE = """event Smoke(Area: string)
event Temp(Area: string, Value: float)
define Fire(Area, Value)
from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
where  Area = $a, Value = Temp.Value
"""


def pushed(case: Case, seed: int):
    """Every event of a case pushed alone; those of one instant in random order."""
    program = occurs.parse(case.rules)
    unit = None if case.kind.timestamp else case.kind.unit
    options = InputOptions(time_unit=unit, start=case.start, until=case.until)
    history = program.checked.history(case.tables(), options)
    stage = program.checked.plan(history.schemas, history.kind)
    live = occurs.Live(stage, intake_of(program.checked, history), start=case.start)
    until = history.clock[1] if history.clock else None
    rows = []
    for name, table in case.tables().items():
        schema = history.schemas[name]
        for row in table.to_pylist():
            time, sequence = row.pop("time"), row.pop("sequence", None)
            rows.append((name, time, {n: row.get(n) for n in schema.names if n in row}, sequence))
    random.Random(seed).shuffle(rows)
    rows.sort(key=lambda r: r[1])
    found = []
    for name, time, attributes, sequence in rows:
        ticks = live._ticks(time)
        if until is not None and ticks > until:
            break
        found += live.on_event(name, time, attributes, sequence)
    found += live.close() if until is None else live.advance(until)
    assert live.late == 0
    tables = {t: [r for r in found if r["type"] == t] for t in stage.reported}
    empty = Program.detect(program, case.tables(), time_unit=unit, start=case.start, until=case.until)
    return occurrences_of({t: pa.Table.from_pylist(rows, schema=empty.arrow(t).schema) for t, rows in tables.items()})


@pytest.mark.share(4)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_one_by_one_is_the_same_as_at_once(case):
    assert difference(case.expected, pushed(case, 1)) is None


def test_an_instant_is_judged_when_a_later_event_comes():
    live = occurs.parse(FIRE).live(time_unit="s", because=True)
    assert live.on_event("Smoke", 60, {"Area": "hall"}) == []
    assert live.on_event("Temp", 60, {"Area": "hall", "Value": 50.0}) == []  # the same instant, in any order
    [fire] = live.on_event("Door", 61)  # a type nobody reads moves the clock
    assert (fire["type"], fire["time"], fire["Area"], fire["Value"]) == ("Fire", 60, "hall", 50.0)
    assert len(fire["label"]) == 32
    assert [p["role"] for p in fire["because"]] == ["Smoke", "Temp"]
    live.on_event("Smoke", 100, {"Area": "hall"})
    assert [f["time"] for f in live.advance(100)] == [100]
    assert live.advance(100) == live.advance(90) == []
    assert live.close() == []


def test_late_events_are_counted_and_left_out():
    live = occurs.parse(FIRE).live(time_unit="s")
    live.on_event("Temp", 10, {"Area": "hall", "Value": 50})
    live.advance(20)
    assert live.on_event("Smoke", 20, {"Area": "hall"}) == []
    assert live.late == 1
    assert live.close() == []
    live.on_event("Smoke", 21, {"Area": "hall"})
    assert len(live.close()) == 1


def test_timestamps_in_and_out():
    live = occurs.parse(FIRE).live()
    live.on_event("Temp", "2024-01-05T09:00:00Z", {"Area": "hall", "Value": 50})
    live.on_event("Smoke", dt.datetime(2024, 1, 5, 9, 5, tzinfo=dt.UTC), {"Area": "hall"})
    [fire] = live.close()
    assert fire["time"] == dt.datetime(2024, 1, 5, 9, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"Area": 7}, r"`Area` of `Temp` must be string, not 7 \(int\)"),
        ({"Value": "warm"}, r"`Value` of `Temp` must be float, not 'warm' \(str\)"),
        ({"Value": True}, "must be float, not True"),
        ({"Value": 2**60 + 1}, "must be float"),
    ],
)
def test_values_that_do_not_fit(attributes, message):
    live = occurs.parse(FIRE).live(time_unit="s")
    with pytest.raises(occurs.InputProblem, match=message) as caught:
        live.on_event("Temp", 1, attributes)
    assert caught.value.kind == "bad-value"
    assert live.now is None  # nothing has happened


@pytest.mark.parametrize("time", [None, 1.5, True, "noon", 2**70])
def test_times_that_are_none(time):
    live = occurs.parse(FIRE).live(time_unit="s")
    with pytest.raises(occurs.InputProblem) as caught:
        live.on_event("Temp", time, {})
    assert caught.value.kind == "bad-time"


def test_nan_and_absent_are_null():
    live = occurs.parse("event A(V: float)\ndefine N(V) from A(V is null) where V = A.V").live(time_unit="ms")
    found = live.on_event("A", 1, {"V": float("nan")})
    found += live.on_event("A", 2)
    found += live.on_event("A", 3, {"V": 1, "other": object()})
    found += live.close()
    assert [r["time"] for r in found] == [1, 2]


def test_schemas_must_be_known():
    program = occurs.parse("define X(V) from A() where V = A.V")
    with pytest.raises(occurs.UsageProblem, match=r"the attributes of `A` are not fully known"):
        program.live()
    live = program.live({"A": Schema((("V", Type.INT),))}, time_unit="ms")
    live.on_event("A", 1, {"V": 2**62})
    assert live.close() == [{"type": "X", "time": 1, "V": 2**62}]
    live = program.live({"A": {"V": "string"}}, time_unit="ms")
    live.on_event("A", 1, {"V": "x"})
    assert live.close()[0]["V"] == "x"
    with pytest.raises(occurs.UsageProblem, match="`strnig` is not a type"):
        program.live({"A": {"V": "strnig"}})


def test_a_declaration_that_leaves_types_open_needs_a_schema():
    program = occurs.parse("event A(V) define X(V) from A(V > 1) where V = A.V")
    with pytest.raises(occurs.UsageProblem, match=r"the attributes of `A` are not fully known"):
        program.live(time_unit="s")
    live = program.live({"A": {"V": "int"}}, time_unit="s")
    assert list(live.stream([{"type": "A", "time": 1, "V": 2}])) == [{"type": "X", "time": 1, "V": 2}]


def test_the_stream_takes_no_more_than_it_needs():
    taken = []

    def source():
        for i in range(5):
            taken.append(i)
            yield {"type": "Temp", "time": 10 * i, "Area": "hall", "Value": 50}
            yield {"type": "Smoke", "time": 10 * i + 1, "Area": "hall"}

    found = occurs.parse(FIRE).stream(source(), time_unit="s")
    assert next(found)["time"] == 1
    assert taken == [0, 1]
    assert [f["time"] for f in found] == [11, 21, 31, 41]
    assert [f["time"] for f in occurs.parse(FIRE).stream(source(), time_unit="s", ended=False)] == [1, 11, 21, 31]


def test_a_stream_names_the_event_that_is_wrong():
    program = occurs.parse(FIRE)
    with pytest.raises(occurs.InputProblem, match="event 2 has no `time`") as caught:
        list(program.stream([{"type": "Temp", "time": 1}, {"type": "Temp", "tmie": 2}], time_unit="s"))
    assert caught.value.row == 2
    assert "did you mean `tmie`" in caught.value.hint


def test_a_timer_in_a_zone_fires_live():
    rule = "event A(V: int)\ndefine Nine(H) from Timer(H = 9) where H = 9"
    events = [{"type": "A", "time": f"2024-07-0{d}T00:00:00Z", "V": 1} for d in (1, 3)]
    [one, two] = occurs.parse(rule).stream(events, zone="Europe/Rome")
    assert (one["time"].hour, two["time"].day) == (7, 2)


def test_what_becomes_final_together_comes_by_type():
    text = "input event a, b. state z : a ~> b. dynamic d : a before b. event e : b. event c : start(z)."
    live = occurs.parse(text, "phenesthe").live(time_unit="s")
    assert [(r["type"], r["time"]) for r in live.on_event("a", 1) + live.on_event("a", 5)] == [("c", 1)]
    assert live.on_event("b", 8) == []
    assert [(r["type"], r["time"], r.get("end")) for r in live.advance(8)] == [("d", 5, 8), ("e", 8, None), ("z", 1, 8)]


def test_attributes_that_are_no_mapping():
    live = occurs.parse("input event a(k: int). event e(K) : a(K).", "phenesthe").live(time_unit="s")
    with pytest.raises(InputProblem, match="a mapping from names to values"):
        live.on_event("a", 1, [7])


LASTING = """input event a(N). input event b(N). input state p(N).
state s(N): filter(a(N) ~> b(N), at_least(3 min)).
event e(N): start(p(N)).
"""


def at_once_and_one_by_one(program, rows):
    """What a batch finds, and what events one by one and their end give, in one order."""
    tables = {}
    for row in rows:
        tables.setdefault(row["type"], []).append({"end": None, **row} if row["type"] in "pq" else row)
    tables = {
        t: pa.Table.from_pylist([{n: v for n, v in r.items() if n != "type"} for r in of]) for t, of in tables.items()
    }
    found = program.detect(tables, time_unit="s")
    schemas = {t: {"N": "int"} for t in "abp"}
    given = list(program.stream(rows, time_unit="s", schemas=schemas))
    live = program.live(schemas, time_unit="s")
    together = [r for part in pieces(tables, len(rows)) for r in live.push_many(part)] + live.close()

    def ordered(rows):
        return sorted(rows, key=lambda r: (r["type"], r["time"], r["N"]))

    assert ordered(together) == ordered(given)
    return ordered(r for t in found for r in found[t].to_pylist()), ordered(given)


def pieces(tables, seed):
    """Rows of all types at random times, those of one time in one piece or in several, in their order."""
    draw = random.Random(seed)
    times = sorted(t for table in tables.values() for t in table["time"].to_pylist())
    cuts = [-1, *sorted(draw.choices(times, k=2)), times[-1]]
    for low, high in pairwise(cuts):
        part = {t: table.filter((pc.field("time") > low) & (pc.field("time") <= high)) for t, table in tables.items()}
        order = {t: pa.array(draw.sample(range(len(table)), len(table)), pa.int64()) for t, table in part.items()}
        yield {t: table.take(order[t]) for t, table in part.items()}


def test_the_end_of_a_row_moves_the_clock_of_a_history_that_is_closed():
    program = occurs.parse(LASTING, language="phenesthe")
    for type in "pq":  # of a type that is read, and of one that nobody reads
        rows = [{"type": type, "time": 0, "end": 600, "N": 1}, {"type": "a", "time": 10, "N": 1}]
        found, given = at_once_and_one_by_one(program, rows)
        assert found == given
        assert {"type": "s", "time": 10, "end": None, "N": 1} in given
    live = program.live({t: {"N": "int"} for t in "abp"}, time_unit="s")
    live.on_event("p", 0, {"N": 1, "end": 600})
    live.on_event("a", 10, {"N": 1})
    live.advance(300)  # nothing is judged twice, and a late row moves no clock
    live.on_event("p", 5, {"N": 2, "end": 10_000})
    assert (live.late, live.last) == (1, 600)
    assert [r["type"] for r in live.close()] == ["s"]
    assert live.close() == []


@pytest.mark.parametrize("seed", range(12))
def test_ends_move_the_clock_alike_at_once_and_one_by_one(seed):
    draw = random.Random(seed)
    rows, time = [], 0
    for _ in range(draw.randrange(1, 9)):
        time += draw.choice([0, 1, 60, 200])
        row = {"type": draw.choice("abpq"), "time": time, "N": draw.randrange(2)}
        if row["type"] in "pq" and draw.random() < 0.8:
            row["end"] = time + draw.choice([0, 1, 100, 400])
        rows.append(row)
    found, given = at_once_and_one_by_one(occurs.parse(LASTING, language="phenesthe"), rows)
    assert found == given


def test_the_end_of_a_row_that_nobody_reads_is_a_time():
    live = occurs.parse(LASTING, language="phenesthe").live({t: {"N": "int"} for t in "abp"}, time_unit="s")
    for end in (1, "soon", 2**80):
        with pytest.raises(InputProblem):
            live.on_event("q", 2, {"end": end})
    assert live.last is None


# -- events of a table ------------------------------------------------------------------------------------------------
def fires(rows, **more):
    """A table with a type column: (type, time, value); all in the hall."""
    types, times, values = zip(*rows, strict=True)
    return pa.table({"type": types, "time": times, "Area": ["hall"] * len(rows), "Value": values, **more})


def test_a_table_leaves_its_last_instant_open():
    live = occurs.parse(FIRE).live(time_unit="s")
    assert live.push_many(fires([("Smoke", 60, None), ("Temp", 10, 50.0)])) == []
    assert (live.now, live.frontier, live.last, live.start) == (60, 59, 60, 10)
    # more of the same instant, alone and in a table, then a table whose rows nobody reads
    live.on_event("Temp", 60, {"Area": "hall", "Value": 70})
    assert live.push_many(fires([("Temp", 60, 80.0)])) == []
    [fire] = live.push_many(pa.table({"type": ["Door"], "time": [61]}))
    assert (fire["time"], fire["Value"]) == (60, 80.0)
    assert (live.now, live.frontier) == (61, 60)
    assert live.push_many(fires([("Smoke", 61, None), ("Smoke", 62, None)]))[0]["time"] == 61
    assert [f["time"] for f in live.close()] == [62]


def test_late_rows_of_a_table_are_counted_and_left_out():
    live = occurs.parse(FIRE).live(time_unit="s", start=5)
    assert live.push_many(fires([("Temp", 1, 90.0), ("Temp", 10, 50.0), ("Smoke", 4, None)])) == []
    assert (live.late, live.start, live.now) == (0, 5, 10)  # rows before the start are not late
    live.advance(20)
    assert live.push_many(fires([("Door", 3, None), ("Smoke", 20, None), ("Smoke", 30, None)])) == []
    assert live.late == 2
    assert live.push_many(fires([("Smoke", 29, None)])) == []
    assert live.late == 3
    assert [(f["time"], f["Value"]) for f in live.close()] == [(30, 50.0)]


def test_a_start_that_is_still_to_come():
    live = occurs.parse(FIRE).live(time_unit="s", start=50)
    live.advance(20)
    live.push_many(fires([("Temp", 10, 60.0), ("Temp", 40, 60.0), ("Temp", 55, 70.0), ("Smoke", 60, None)]))
    assert live.late == 1
    assert [(f["time"], f["Value"]) for f in live.close()] == [(60, 70.0)]


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (fires([("Temp", 1, 50.0)]).drop_columns("time"), "missing-column"),
        (fires([("Temp", 1, 50.0)]).drop_columns("Value"), "missing-column"),
        (fires([("Temp", 1, "hot"), ("Temp", 2, "1")]), "bad-value"),
        (fires([("Temp", None, 50.0), ("Temp", 2, 1.0)]), "bad-time"),
    ],
)
def test_a_table_with_an_error_has_no_effect(table, kind):
    live = occurs.parse(FIRE).live(time_unit="s")
    live.on_event("Temp", 0, {"Area": "hall", "Value": 50})
    with pytest.raises(InputProblem) as caught:
        live.push_many(table)
    assert caught.value.kind == kind
    assert (live.now, live.late) == (0, 0)
    assert [f["time"] for f in live.push_many(fires([("Smoke", 1, None)])) + live.close()] == [1]


def test_tables_of_other_kinds():
    live = occurs.parse(FIRE).live()
    time = pa.array([0, 60], pa.timestamp("s", tz="UTC"))
    table = fires([("Temp", 0, 50.0), ("Smoke", 1, None)]).set_column(1, "time", time)
    live.push_many({"Temp": table.slice(0, 1).to_pandas(), "Smoke": table.slice(1).to_pandas()})
    [fire] = live.close()
    assert fire["time"] == dt.datetime(1970, 1, 1, 0, 1, tzinfo=dt.UTC)
    live = occurs.parse(FIRE).live(time_unit="s")
    with pytest.raises(occurs.UsageProblem, match="timestamps"):
        live.push_many(table)


def test_labels_of_the_rows_of_a_table():
    given = fires([("Temp", 10, 50.0), ("Smoke", 60, None)], label=["t", "s"])
    live = occurs.parse(FIRE).live(time_unit="s", because=True)
    live.push_many(given)
    [fire] = live.close()
    alone = occurs.parse(FIRE).live(time_unit="s", because=True)
    for row in given.to_pylist():
        alone.on_event(row["type"], row["time"], {"Area": "hall", "Value": row["Value"]}, label=row["label"])
    assert alone.close() == [fire]
    with pytest.raises(InputProblem, match="a row of `Temp` has no label"):
        live.push_many(fires([("Temp", 70, 50.0), ("Temp", 71, 1.0)], label=["t", None]))


def test_tables_are_refused_like_events():
    live = occurs.parse("input event a, b. state z : a ~> b.", "phenesthe").live(time_unit="s")
    with pytest.raises(InputProblem, match="the rules define `z`"):
        live.push_many(pa.table({"type": ["a", "z"], "time": [1, 2]}))
    live.push_many(pa.table({"type": ["a", "b"], "time": [1, 2]}))
    assert len(live.close()) == 1
    with pytest.raises(occurs.UsageProblem, match="the history was closed"):
        live.push_many(pa.table({"type": ["a"], "time": [3]}))


def test_an_operator_is_called_for_its_rows_alone_if_nothing_else_moves_it(monkeypatch):
    calls, advance = [], Template.advance
    monkeypatch.setattr(Template, "advance", lambda self, state, call: calls.append(call) or advance(self, state, call))
    live = occurs.parse(FIRE).live(time_unit="s")
    for time in range(1, 10):
        live.on_event("Door", time)
    assert calls == []
    live.on_event("Temp", 10, {"Area": "hall", "Value": 50})
    live.on_event("Smoke", 20, {"Area": "hall"})
    assert [f["time"] for f in live.on_event("Door", 21)] == [20]
    assert [c.frontier for c in calls] == [20]


def test_rows_that_complete_nothing_wait_for_one_that_may(monkeypatch):
    calls, advance = [], Template.advance
    monkeypatch.setattr(Template, "advance", lambda self, state, call: calls.append(call) or advance(self, state, call))
    live = occurs.parse(FIRE).live(time_unit="s")
    for time in range(1, 200):
        live.on_event("Temp", time, {"Area": "hall", "Value": time})
    live.push_many({"Temp": pa.table({"time": [200, 201], "Area": ["attic", "hall"], "Value": [50, None]})})
    assert (calls, live.frontier) == ([], 200)
    live.on_event("Temp", 150, {"Area": "attic", "Value": 60})
    assert live.late == 1
    live.on_event("Smoke", 202, {"Area": "hall"})
    assert [(f["time"], f["Value"]) for f in live.advance(202)] == [(202, 199)]
    assert [c.frontier for c in calls] == [202]
    for time in range(203, 1000):
        live.on_event("Temp", time, {"Area": "hall", "Value": time})
    assert len(calls) == 4  # else what waits would grow and grow
    live.on_event("Smoke", 1000, {"Area": "hall"})
    assert [(f["time"], f["Value"]) for f in live.close()] == [(1000, 999)]


@pytest.mark.parametrize(
    ("pattern", "silent"),
    [
        ("every a=A -> b=B", {"A"}),
        ("every a=A -> b=B where timer:within(5 sec)", {"A"}),
        ("every a=A -> (b=B and c=C)", {"A"}),
        ("every a=A -> (b=B and not C)", {"A", "C"}),
        ("every a=A -> not C", {"C"}),
        ("every (a=A or b=B)", set()),
        ("every a=A -> (b=B until c=C)", {"A"}),
        ("every a=A -> timer:interval(5 sec)", None),
        ("every (timer:interval(5 sec) and not A)", None),
        ("not A", None),
    ],
)
def test_what_completes_a_pattern(pattern, silent):
    schemas = "".join(f"create schema {t}(k long);" for t in "ABC")
    program = occurs.parse(f"{schemas}@Name('X') select 1 as one from pattern [{pattern}];", "epl")
    found = program.live(time_unit="s").stage.silent
    assert found == (None if silent is None else silent)


@pytest.mark.parametrize(
    ("rules", "silent"),
    [
        (FIRE, {"Temp"}),
        ("define X() from Timer(S%5 == 0) and last A() within 5 s from Timer", None),
        ("event A() event B() define A2() from A() define X() from B() and each A2() within 5 s from B", set()),
        ("event A() event B() define X() from B() and not A() within 5 s from B", {"A"}),
    ],
)
def test_what_completes_a_rule(rules, silent):
    assert occurs.parse(rules).live({"A": {}}, time_unit="s").stage.silent == silent
