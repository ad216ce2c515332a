"""Partial matches that guards end, on every host: those of this process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder, Followed, collected, cut, disordered
from hostcases import keywords
from instream import How, InStream
from test_stream_change import Changing
from test_stream_epl import NOTHING, WAYS, options_of
from tests.generators.random_epl import random_epl

import occurs
from occurs.connect.tables import to_arrow
from occurs.model.history import InputOptions
from occurs.verify.compare import difference, occurrences_of

RULES = """
create schema A(k int, v int); create schema B(k int, v int); create schema C(k int, v int);
insert into P select a.v as v from pattern [every a=A -> b=B(k = a.k) where timer:within(4 msec)];
@Name('both') insert into P select b.v as v
from pattern [every (a=A -> (b=B(k = a.k) and c=C) where timer:within(9 msec))];
insert into Q select p.v as v from pattern [every p=P -> ([2] c=C(v > p.v)) where timer:within(6 msec)];
"""
PAIRS = "insert into P select a.k as k from pattern [every a=A -> b=B(k = a.k) where timer:within(5 msec)];"
ABSENT = "insert into Gone select a.k as k from pattern [every a=A -> (timer:interval(5 msec) and not B(k = a.k))];"


def table_of(seed: int, n: int = 60) -> pa.Table:
    rng = random.Random(seed)
    columns = {c: pa.array([rng.randint(0, high) for _ in range(n)]) for c, high in (("time", 50), ("k", 2), ("v", 5))}
    return pa.table({"type": pa.array(rng.choices("ABC", k=n)), **columns})


def rows(found: Mapping[str, Any]) -> Counter[str]:
    """Whatever the order of rows and of columns."""
    out: Counter[str] = Counter()
    for name, table in found.items():
        for row in to_arrow(table).to_pylist():
            assert row["type"] == name
            out[repr(sorted(row.items()))] += 1
    return out


def here(program: occurs.Program, table: Any, **options: Any) -> Counter[str]:
    found = program.detect(table, timeouts=True, time_unit="ms", **options)
    assert set(found) == {"P", "Q"}
    assert list(found.timeouts) == ["P", "both", "Q"]
    out = rows(found.timeouts)
    assert len(out) > 10
    return out


def test_they_are_no_detections() -> None:
    program, table = occurs.parse(RULES, language="epl"), table_of(1)
    with_them = program.detect(table, timeouts=True, time_unit="ms")
    without = program.detect(table, time_unit="ms")
    assert without.timeouts is None
    assert {t: with_them.arrow(t) for t in with_them} == {t: without.arrow(t) for t in without}
    only = program.detect(table, timeouts=True, time_unit="ms", only=["Q"])
    assert list(only) == ["Q"]
    assert len(only.timeouts["both"]) > 0


@pytest.mark.share(4)
@pytest.mark.parametrize("number", range(4))
def test_streams_in_this_process(number: int) -> None:
    way = WAYS[number]
    program, table = occurs.parse(RULES, language="epl"), table_of(number)
    how = How(way.buckets, way.size, 7 if way.shuffled else 0, way.shuffled, way.memory, apart=way.apart)
    answer = InStream(program.checked.adjusted(timeouts=True), {None: table}, InputOptions(time_unit="ms"), how).run()
    got: Counter[str] = Counter()
    for batch in answer.batches:
        got += rows(batch.timeouts)
    assert got == here(program, table, because=True)


def test_they_may_be_asked_for_later() -> None:
    """A stream goes on from its checkpoint: detections as if nothing had happened, guards that begin from then on."""
    plain = occurs.parse("create schema A(k int); create schema B(k int);" + PAIRS, language="epl")
    tables = {
        "A": pa.table({"time": [1, 2, 12, 13], "k": [1, 2, 3, 4]}),
        "B": pa.table({"time": [4, 6, 14, 30], "k": [1, 9, 4, 0]}),
    }
    how = How(buckets=2, size=1, because=False)
    programs = plain, plain.checked.adjusted(timeouts=True)
    first, second = (Changing(p, tables, InputOptions(time_unit="ms"), how) for p in programs)
    before = first.go(first.cut()[:3], closing=False)
    second.stores = first.stores
    after = second.go(second.cut()[3:], closing=True)
    assert sorted(e.time for a in (before, after) for e in a.found) == [4, 14]
    ended = [row for batch in after.batches for row in batch.timeouts["P"].to_pylist()]
    assert ended == [{"type": "P", "time": 17, "a": {"k": 3}, "b": None}]


@pytest.mark.slow
def test_random_programs_as_streams() -> None:
    found = 0
    for seed in range(300):
        case = random_epl(random.Random(seed))
        if "timer:within" not in case.rules:
            continue
        program = occurs.Program(
            occurs.parse(case.rules, language="epl", values=case.values).checked.adjusted(zone=case.zone, timeouts=True)
        )
        wanted = program.detect(case.tables() or NOTHING, because=True, zone=case.zone, timeouts=True, **keywords(case))
        way = WAYS[seed % len(WAYS)]
        answer = InStream(program, case.tables(), options_of(case), How(way.buckets, way.size, memory=way.memory)).run()
        got: Counter[str] = Counter()
        for batch in answer.batches:
            got += rows(batch.timeouts)
        assert got == rows(wanted.timeouts), case.rules
        found += got.total()
    assert found > 20


@pytest.mark.spark
def test_on_spark(spark: Any) -> None:
    program, table = occurs.parse(RULES, language="epl"), table_of(7)
    for options in ({}, {"because": True}):
        found = program.detect(spark.createDataFrame(table), timeouts=True, time_unit="ms", partitions=3, **options)
        assert set(found) == {"P", "Q"}
        assert rows(found.timeouts) == here(program, table, **options)
        found.unpersist()


@pytest.mark.spark
def test_the_limit_on_spark(spark: Any) -> None:
    text = "create schema A(k int); insert into P select a.k as k from pattern [every a=A -> a2=A(k = a.k + 1)];"
    table = pa.table({"type": ["A"] * 9, "time": range(9), "k": [2 * n for n in range(9)]})
    program = occurs.parse(text, language="epl")
    for events in (table, spark.createDataFrame(table)):
        assert program.detect(events, time_unit="ms", max_instances=20)["P"] is not None
        with pytest.raises(occurs.LimitProblem) as caught:
            to_arrow(program.detect(events, time_unit="ms", max_instances=5)["P"])
        assert caught.value.kind == "max-instances"
        assert "`P`: more than 5 partial matches" in caught.value.message


@pytest.mark.spark
@pytest.mark.slow
def test_on_structured_streaming(spark: Any, tmp_path: Path) -> None:
    """Detections, too: two guards, a chain of them, absence by a timer; started anew from the checkpoint."""
    program, table = occurs.parse(RULES + ABSENT, language="epl"), disordered(table_of(9), 5, 1)
    options: dict[str, Any] = {"time_unit": "ms", "timeouts": True, "partitions": 2, "watermark": 5}
    got = Followed(spark, program, Folder(tmp_path / "in"), table.schema, tmp_path / "checkpoint", options)
    for part in cut(table, 2):
        got.folder.put(part)
        got.run()
    got.close()
    wanted = program.detect(table, timeouts=True, time_unit="ms")
    assert difference(occurrences_of({t: wanted.arrow(t) for t in wanted}), got.found) is None
    assert {e.type for e in got.found} == {"P", "Q", "Gone"}
    found: Counter[str] = Counter()
    for batch in got.batches.values():
        found += rows(batch.timeouts)
    assert found == rows(wanted.timeouts)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_query_of_ones_own(spark: Any, tmp_path: Path) -> None:
    program, table = occurs.parse(RULES, language="epl"), table_of(9).sort_by("time")
    folder = Folder(tmp_path / "in")
    folder.put(table)
    options: dict[str, Any] = {"time_unit": "ms", "timeouts": True, "partitions": 2}
    found = program.detect(folder.stream(spark, table.schema), **options)
    mine = collected(spark, found.timeouts["both"], tmp_path)
    # the last instant is not known to be complete
    last = max(table.column("time").to_pylist()) - 1
    wanted = program.detect(table, timeouts=True, time_unit="ms", until=last)
    assert rows({"both": mine}) == rows({"both": wanted.timeouts["both"]})
