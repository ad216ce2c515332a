"""Pipes on all hosts: every text case one by one, on streams and on Spark, and what a host refuses."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hostcases import keywords, on_spark
from instream import How, InStream
from tests.laws.contract import intake_of
from tests.textcases.pipes import PipesCase, Row, alike, load_cases, rows

import occurs
from occurs.model.history import InputOptions
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import occurrences_of

FOLDER = Path(__file__).parents[1] / "cases" / "pipes"
ALL = [c for c in load_cases(FOLDER) if c.rules and c.events]
CASES = [c for c in ALL if c.error is None]
#: what the data show while they come
FAULTS = [c for c in ALL if c.error in ("bad-value", "overflow")]
WAYS = [
    How(buckets=1, size=1, memory="forgetful", because=False),
    How(buckets=3, size=3, shuffled=True, because=False),
    How(buckets=2, size=4, memory="crash", because=False),
]


def options(case: PipesCase) -> InputOptions:
    return InputOptions(time_unit=case.kind.unit, start=case.start, until=case.until)


def program_of(case: PipesCase) -> occurs.Program:
    return occurs.parse(case.rules, "esql")


def missing(found: Iterable[Occurrence], case: PipesCase) -> list[Row]:
    """What was expected and not found, then what was found and not expected: hosts give rows of a time in any order,
    and values of which it is not known what they are as text."""
    left = [Row(e.type, e.time, value(e.attributes), e.attributes.get("about")) for e in found]
    lost = []
    for want in rows(case.expected or ()):
        at = next((i for i, have in enumerate(left) if same(have, want)), None)
        if at is None:
            lost.append(want)
        else:
            del left[at]
    return lost + left


def value(attributes: Mapping[str, Any]) -> Any:
    own = {n: v for n, v in attributes.items() if n != "about"}
    return own["value"] if list(own) == ["value"] else own


def same(have: Row, want: Row) -> bool:
    if (have.name, have.time, have.about) != (want.name, want.time, want.about):
        return False
    if isinstance(want.value, dict) and isinstance(have.value, dict):
        both = [(have.value[n], v) for n, v in want.value.items() if n in have.value]
        return len(both) == len(have.value) == len(want.value) and all(same_value(a, b) for a, b in both)
    return same_value(have.value, want.value)


def same_value(have: Any, want: Any) -> bool:
    if isinstance(have, str) and not isinstance(want, str) and want is not None:
        have = json.loads(have)
    if isinstance(have, list) and isinstance(want, list) and not any(isinstance(v, tuple) for v in want):
        return alike(have, want) or alike(sorted(have, key=str), sorted(want, key=str))  # a bag is in any order
    return alike(have, want)


# -- one by one --------------------------------------------------------------------------------------------------------
def pushed(case: PipesCase, most: int = 1) -> list[Occurrence]:
    """The detections of events that are pushed one by one, or at most so many at once."""
    program = program_of(case)
    history = program.checked.history(case.tables(), options(case))
    live = occurs.Live(
        program.checked.plan(history.schemas, history.kind), intake_of(program.checked, history), start=case.start
    )
    inside = [e for e in case.events if case.until is None or e.time <= case.until]
    found: list[dict[str, Any]] = []
    draw, inside = random.Random(case.name), sorted(inside, key=lambda e: e.time)
    while inside:
        size = draw.randint(1, most)
        part, inside = inside[:size], inside[size:]
        if size > 1:
            # with the columns of all events of a type
            whole = replace(case, events=[*part, *case.events]).tables()
            number = Counter(e.type for e in part)
            found += live.push_many({t: whole[t].slice(0, n) for t, n in number.items()})
            continue
        for e in part:
            found += live.on_event(e.type, e.time, e.attributes, e.sequence)
    last = max(e.time for e in case.events) if case.until is None else case.until
    found += live.advance(last)
    found += live.close() if case.ended else []
    return [Occurrence(r.pop("type"), r.pop("time"), r) for r in found]


@pytest.mark.share(4)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_by_one(case: PipesCase) -> None:
    assert not missing(pushed(case), case)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_some_at_once(case: PipesCase) -> None:
    assert not missing(pushed(case, 5), case)


# -- streams -----------------------------------------------------------------------------------------------------------
def streamed(case: PipesCase, how: How) -> list[Occurrence]:
    """The rows of a stream that ends, or goes on with rows that nobody reads."""
    times = [e.time for e in case.events]
    rng = random.Random(f"{case.name} {how.size}")
    delay = rng.choice((1, 2, max(times) - min(times))) if how.shuffled else 0
    how = How(how.buckets, how.size, delay, how.shuffled, how.memory, how.because, seed=rng.random())
    if case.ended:
        return InStream(program_of(case), case.tables(), options(case), how).run().found
    later = max(*times, case.until or 0) + delay + 1
    tables = {**case.tables(), "Later": pa.table({"time": [later]})}
    stream = InStream(program_of(case), tables, options(case), how)
    return [e for part in stream.cut() for e in occurrences_of(stream.query.read(stream.micro_batch(part)).found)]


@pytest.mark.share(8)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_on_a_stream(case: PipesCase) -> None:
    assert not missing(streamed(case, WAYS[len(case.name) % len(WAYS)]), case)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_on_streams_in_all_ways(case: PipesCase) -> None:
    for way in WAYS:
        assert not missing(streamed(case, way), case)


def test_after_the_end_rows_are_late() -> None:
    program = occurs.parse("DEFINE Last AS THE LAST OF X0.v. DEFINE N AS THE COUNT OF X0.", "esql")
    tables = {"X0": pa.table({"time": [0, 1], "v": [7, 8]})}
    stream = InStream(program, tables, InputOptions(time_unit="s"), How(because=False))
    assert len(stream.run().found) == 3
    later = stream.rows.set_column(stream.rows.column_names.index("__time"), "__time", pa.array([5, 6]))
    more = stream.query.read(stream.micro_batch(later))
    assert (occurrences_of(more.found), more.figures["late"]) == ([], 2)


def test_the_end_comes_when_time_has_gone_on() -> None:
    program = occurs.parse("DEFINE Last AS THE LAST OF X0.v.", "esql")
    live = program.live({"X0": {"v": "int"}}, time_unit="s")
    live.on_event("X0", 1, {"v": 7})
    assert live.advance(5) == []
    assert live.close() == [{"type": "Last", "time": 5, "value": 7}]
    assert live.close() == []
    with pytest.raises(occurs.UsageProblem, match="the history was closed"):
        live.on_event("X0", 9, {"v": 8})


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_faults_are_told_by_every_host(case: PipesCase) -> None:
    for run in (pushed, lambda c: streamed(c, WAYS[1])):
        with pytest.raises(occurs.InputProblem) as problem:
            run(case)
        assert problem.value.kind == case.error
        assert problem.value.definition


# -- Spark -------------------------------------------------------------------------------------------------------------
@pytest.mark.spark
@pytest.mark.parametrize(
    "case", [pytest.param(c, id=str(c), marks=() if c.name.startswith("W14") else pytest.mark.long) for c in CASES]
)
def test_on_spark(spark: Any, case: PipesCase) -> None:
    found = on_spark(spark, program_of(case), case.tables(), partitions=3, ended=case.ended, **keywords(case))
    assert not missing(found, case)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_faults_on_spark(spark: Any, case: PipesCase) -> None:
    with pytest.raises(occurs.InputProblem) as problem:
        on_spark(spark, program_of(case), case.tables(), ended=case.ended, **keywords(case))
    assert problem.value.kind == case.error
