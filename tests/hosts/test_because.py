"""The constituents of detections with their attributes, in every language, the same on every host and in all calls."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from instream import How, InStream

import occurs
from occurs.model.history import InputOptions, Source

SMOKE = pa.table({"time": [180, 400], "Area": ["hall", "attic"], "Sensor": [7, 8]})
TEMP = pa.table(
    {"time": [60, 120, 390], "Area": ["hall", "hall", "attic"], "Value": [50.0, 60.5, 70.0], "Note": [None, "x", None]}
)
RAIN = pa.table({"time": [90], "Area": ["attic"]})
EVENTS = {"Smoke": SMOKE, "Temp": TEMP, "Rain": RAIN}


@dataclass(frozen=True)
class Case:
    """``wanted``: per detection in order its constituents as (role, type, time, end, attributes)."""

    language: str
    rules: str
    wanted: list[list[tuple[Any, ...]]]
    tables: dict[str, pa.Table] = field(default_factory=lambda: EVENTS)


CASES = {
    "tesla": Case(
        "tesla",
        """define Fire(Area) from Smoke(Area = $a) and last Temp(Area = $a) within 5 min from Smoke where Area = $a
        define Alarm(Area) from Fire(Area = $a) where Area = $a""",
        [
            [
                ("Smoke", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
                ("Temp", "Temp", 120, None, {"Area": "hall", "Note": "x", "Value": 60.5}),
            ],
            [
                ("Smoke", "Smoke", 400, None, {"Area": "attic", "Sensor": 8}),
                ("Temp", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
            ],
            [("Fire", "Fire", 180, None, {"Area": "hall"})],
            [("Fire", "Fire", 400, None, {"Area": "attic"})],
        ],
    ),
    "tesla intervals": Case(
        "tesla",
        """define Fire(Area, Mean) from Smoke(Area = $a) and last Temp(Area = $a) within 5 min from Smoke
           and not Rain(Area = $a) between Temp and Smoke and not Rain(Area = $a) within 2 min from Smoke
           and Count(Temp(Area = $a)) within 5 min from Smoke >= 1
           where Area = $a, Mean = Avg(Temp(Area = $a).Value) within 5 min from Smoke""",
        [
            [
                ("Smoke", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
                ("Temp", "Temp", 120, None, {"Area": "hall", "Note": "x", "Value": 60.5}),
                ("not Rain", "Rain", 121, 180, {"rows": 0}),
                ("not Rain", "Rain", 61, 180, {"rows": 0}),
                ("count(Temp)", "Temp", -120, 180, {"rows": 2, "value": 2}),
                ("avg(Temp.Value)", "Temp", -120, 180, {"rows": 2, "value": 55.25}),
            ],
            [
                ("Smoke", "Smoke", 400, None, {"Area": "attic", "Sensor": 8}),
                ("Temp", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
                ("not Rain", "Rain", 391, 400, {"rows": 0}),
                ("not Rain", "Rain", 281, 400, {"rows": 0}),
                ("count(Temp)", "Temp", 100, 400, {"rows": 1, "value": 1}),
                ("avg(Temp.Value)", "Temp", 100, 400, {"rows": 1, "value": 70.0}),
            ],
        ],
    ),
    "tesla consuming": Case(
        "tesla",
        """define Fire(Area) from Smoke() and each Temp(Value > 55) within 10 min from Smoke
           and not Rain() between Temp and Smoke where Area = Temp.Area consuming Temp""",
        [
            [
                ("Smoke", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
                ("Temp", "Temp", 120, None, {"Area": "hall", "Note": "x", "Value": 60.5}),
                ("not Rain", "Rain", 121, 180, {"rows": 0}),
            ],
            [
                ("Smoke", "Smoke", 400, None, {"Area": "attic", "Sensor": 8}),
                ("Temp", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
                ("not Rain", "Rain", 391, 400, {"rows": 0}),
            ],
        ],
    ),
    "epl chain": Case(
        "epl",
        "insert into Fire select s.Area as Area from pattern [every t=Temp -> s=Smoke(Area = t.Area)]",
        [
            [
                ("t", "Temp", 60, None, {"Area": "hall", "Value": 50.0}),
                ("s", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
            ],
            [
                ("t", "Temp", 120, None, {"Area": "hall", "Note": "x", "Value": 60.5}),
                ("s", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
            ],
            [
                ("t", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
                ("s", "Smoke", 400, None, {"Area": "attic", "Sensor": 8}),
            ],
        ],
    ),
    "epl machine": Case(
        "epl",
        "insert into Fire select s.Area as Area from pattern [[2] t=Temp -> s=Smoke -> timer:interval(10 sec)]",
        [
            [
                ("t[0]", "Temp", 60, None, {"Area": "hall", "Value": 50.0}),
                ("t[1]", "Temp", 120, None, {"Area": "hall", "Note": "x", "Value": 60.5}),
                ("s", "Smoke", 180, None, {"Area": "hall", "Sensor": 7}),
                ("timer", "timer", 190, None, {}),
            ]
        ],
    ),
    "phenesthe": Case(
        "phenesthe",
        """input event on(lamp, room), off(lamp).
        state lit(L) : on(L, _) ~> off(L).
        state seen(L) : lit(L).""",
        [
            [("on(L, _)", "on", 5, None, {"lamp": 1, "room": "x"}), ("off(L)", "off", 20, None, {"lamp": 1})],
            [("on(L, _)", "on", 30, None, {"lamp": 1, "room": "y"})],
            [("lit(L)", "lit", 5, 20, {"L": 1})],
            [("lit(L)", "lit", 30, None, {"L": 1})],
        ],
        {
            "on": pa.table({"time": [5, 30], "lamp": [1, 1], "room": ["x", "y"]}),
            "off": pa.table({"time": [20], "lamp": [1]}),
        },
    ),
    "ftl": Case(
        "ftl",
        """table traffic(link string key, load int)
        trigger jump: eventually [x <- traffic(link1)] eventually traffic(link1) >= 2 * x continue""",
        [
            [
                ("activation", "state", 1, None, {}),
                ("x", "3", 1, None, {"x": 3}),
                ("state", "state", 4, None, {"traffic": [{"link": "link1", "load": 6}]}),
            ]
        ],
        {"traffic": pa.table({"time": [1, 2, 4], "link": ["link1"] * 3, "load": [3, 4, 6]})},
    ),
    "ptl": Case(
        "ptl",
        """table traffic(link string key, load int)
        event closed(link string)
        trigger jam: closed and previously[<= 10] traffic(link1) > 5 continue""",
        [
            [
                ("activation", "state", 1, None, {}),
                ("state", "state", 4, None, {"traffic": [{"link": "link1", "load": 6}]}),
                ("state", "state", 14, None, {"closed": [{"link": "link2"}]}),
            ]
        ],
        {
            "traffic": pa.table({"time": [1, 2, 4, 5], "link": ["link1"] * 4, "load": [3, 8, 6, 4]}),
            "closed": pa.table({"time": [14, 40], "link": ["link2", "link1"]}),
        },
    ),
    "ptl of keys": Case(
        "ptl",
        """table users(name string key)
        event login(name string, from string)
        trigger again for each u in (select name from users): login(name = u) and lasttime previously login(name = u)
            continue""",
        [
            [
                ("activation", "state", 1, None, {}),
                ("state", "state", 3, None, {"login": [{"from": "x", "name": "ann"}]}),
                ("state", "state", 9, None, {"login": [{"from": "y", "name": "ann"}]}),
            ]
        ],
        {
            "users": pa.table({"time": [1, 1], "name": ["ann", "bob"]}),
            "login": pa.table({"time": [3, 3, 9], "name": ["ann", "bob", "ann"], "from": ["x", "x", "y"]}),
        },
    ),
    "esql": Case(
        "esql",
        "DEFINE Hot AS SELECT Value AS v FROM Temp WHERE Value > 65.",
        [
            [
                ("step", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
                ("about", "Temp", 390, None, {"Area": "attic", "Value": 70.0}),
            ]
        ],
    ),
}
LOADS = {"L": pa.table({"time": [1, 2, 3, 5, 8], "v": [3, 90, 5, 4, 9]})}


def load(time: int, role: str) -> tuple[Any, ...]:
    """A row of ``LOADS`` as a constituent."""
    rows = LOADS["L"].to_pylist()
    return (role, "L", time, None, {"v": next(r["v"] for r in rows if r["time"] == time)})


def made_of(time: int, *items: int) -> list[tuple[Any, ...]]:
    """What an item of a window is made of."""
    return [load(time, "step"), load(time, "about"), *(load(t, f"item[{k}]") for k, t in enumerate(items))]


def epl(pattern: str, *wanted: list[tuple[Any, ...]]) -> Case:
    """A pattern over ``LETTERS``; of what is wanted the events by letter and time."""
    return Case("epl", f"insert into M select 1 as n from pattern [{pattern}]", list(wanted), LETTERS)


def at(role: str, type: str, time: int) -> tuple[Any, ...]:
    """An event of ``LETTERS``."""
    return role, type, time, None, {"t": time}


def never(type: str, start: int | None, end: int) -> tuple[Any, ...]:
    """An interval without events."""
    return f"not {type}", type, start, end, {"rows": 0}


TIMES = {"A": [10, 30], "B": [20, 50], "C": [5, 60], "D": [55]}
LETTERS = {type: pa.table({"time": times, "t": times}) for type, times in TIMES.items()}
TIMER = ("timer", "timer", 14, None, {})
CASES |= {
    "epl not": epl(
        "every a=A -> (b=B and not C)",
        [at("a", "A", 10), at("b", "B", 20), never("C", 11, 19)],
        [at("a", "A", 30), at("b", "B", 50), never("C", 31, 49)],
    ),
    "epl not and timer": epl("a=A -> (timer:interval(4 sec) and not B)", [at("a", "A", 10), TIMER, never("B", 11, 13)]),
    "epl not from the start": epl("a=A and not D", [at("a", "A", 10), never("D", None, 9)]),
    "epl not in the middle": epl(
        "a=A -> (b=B and not C and not D) -> c=C",
        [at("a", "A", 10), at("b", "B", 20), at("c", "C", 60), never("C", 11, 19), never("D", 11, 19)],
    ),
    "epl not of a pattern": epl(
        "a=A -> (b=B and not (C -> D))", [at("a", "A", 10), at("b", "B", 20), never("C, D", 11, 19)]
    ),
    "epl not in a branch of a timer": epl(
        "a=A -> ((timer:interval(40 sec) and not D) or b=B)", [at("a", "A", 10), at("b", "B", 20)]
    ),
    "epl not in a branch": epl(
        "a=A -> ((d=D and not C) or (b=B and not C))", [at("a", "A", 10), at("b", "B", 20), never("C", 11, 19)]
    ),
    "esql window": Case(
        "esql",
        "DEFINE Peak AS GET (THE MAXIMUM OF *) FROM (L.v WHERE $0 < 50) ON A WINDOW OF 3.",
        [made_of(5, 1, 3, 5), made_of(8, 3, 5, 8)],
        LOADS,
    ),
    "esql window of time": Case(
        "esql",
        "DEFINE Sum AS (GET (THE SUM OF *) FROM L.v ON A WINDOW OF 3 s) WHERE $0 < 50.",
        [made_of(1, 1), made_of(5, 3, 5), made_of(8, 8)],
        LOADS,
    ),
    "esql running": Case(
        "esql",
        "DEFINE Mean AS THE AVERAGE OF (L.v WHERE $0 < 50).",
        [[load(t, "step"), load(t, "about"), ("items", "L", 1, t, {"rows": n})] for n, t in enumerate([1, 3, 5, 8], 1)],
        LOADS,
    ),
}


def _on_spark(name: str) -> Any:
    """A case on Spark; the first of each language is in the fast run."""
    first = next(n for n, case in CASES.items() if case.language == CASES[name].language)
    return pytest.param(CASES[name], id=name, marks=[pytest.mark.slow] * (name != first))


every_language = pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))


def parts(tables: dict[str, pa.Table]) -> list[list[tuple[Any, ...]]]:
    """Per detection its constituents, without labels."""
    return [
        [(p["role"], p["type"], p["time"], p["end"], json.loads(p["attributes"])) for p in row["because"]]
        for table in tables.values()
        for row in table.to_pylist()
    ]


def here(case: Case) -> dict[str, pa.Table]:
    found = occurs.parse(case.rules, language=case.language).detect(case.tables, time_unit="s", because=True)
    return {t: found.arrow(t) for t in found}


@every_language
def test_constituents_have_their_attributes(case: Case) -> None:
    assert parts(here(case)) == case.wanted


@pytest.mark.share(4)
@every_language
@pytest.mark.parametrize("size", [1, 3])
def test_a_stream_says_the_same(case: Case, size: int) -> None:
    program = occurs.parse(case.rules, language=case.language)
    sources = [Source(table, type) for type, table in case.tables.items()]
    how = How(size=size, memory="forgetful", because=True)
    stream = InStream(program.checked.reasoning(), sources, InputOptions(time_unit="s"), how)
    there: dict[str, list[pa.Table]] = {}
    for batch in stream.run().batches:
        for type, table in batch.found.items():
            there.setdefault(type, []).append(table)
    wanted = here(case)
    assert set(there) <= set(wanted)
    assert parts({t: pa.concat_tables(there[t]) for t in wanted if t in there}) == parts(wanted)


@pytest.mark.spark
@pytest.mark.parametrize("case", [_on_spark(name) for name in CASES])
def test_spark_says_the_same(case: Case, spark: Any) -> None:
    tables = {t: spark.createDataFrame(table) for t, table in case.tables.items()}
    program = occurs.parse(case.rules, language=case.language)
    found = program.detect(tables, time_unit="s", because=True, partitions=2)
    wanted = here(case)
    assert list(found) == list(wanted)
    for type in wanted:
        order = [("time", "ascending"), ("label", "ascending")]
        assert parts({type: found.arrow(type).sort_by(order)}) == parts({type: wanted[type].sort_by(order)})
