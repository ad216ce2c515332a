"""Temporal triggers on Structured Streaming: the answer of the batch, over micro-batches in disorder and restarts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder, Followed, collected, cut, disordered, follow
from hostcases import here, labelled

import occurs

pytestmark = pytest.mark.spark

TABLE = "table Traffic (link string key, load int)"
KEYED = """
trigger overload for each y in (select link from Traffic):
    eventually ([x <- Traffic(y)] eventually within 10 (Traffic(y) >= 2*x))
    emit Overload(link = y, load = Traffic(y))
trigger at_once for each y in (select link from Traffic): Traffic(y) = 10 and nexttime Traffic(y) > 15
"""
#: future and past, over all rows of the links
WHOLE = """
trigger passed: eventually ([x <- Traffic(a)] eventually within 6 (Traffic(b) > 2*x)) reactivate
    emit Passed(load = Traffic(b))
trigger much: eventually ((sum of Traffic(c) within 5) > 30 and previously[<=8] Traffic(a) = 21) reactivate
"""
OPTIONS: dict[str, Any] = {"time_unit": "s", "because": True, "partitions": 2}


def traffic(count: int) -> pa.Table:
    """Loads of three links, a row a second."""
    draw = random.Random(0)
    loads = (5, 8, 10, 12, 20, 21)
    columns = {
        "type": ["Traffic"] * count,
        "time": list(range(count)),
        "link": [draw.choice("abc") for _ in range(count)],
        "load": [draw.choice(loads) for _ in range(count)],
    }
    return pa.table(columns)


def alike(got: Followed, table: pa.Table, types: set[str]) -> None:
    wanted = here(got.program, table, time_unit="s", because=True)
    assert labelled(got.found) == labelled(wanted)
    assert {e.type for e in wanted} == types
    assert (got.total("rows"), got.total("late")) == (len(table), 0)


def notices(found: Any) -> list[str]:
    return sorted(map(repr, found.never.to_pylist()))


def test_triggers_with_and_without_a_key_and_their_notices(live: Any, tmp_path: Path) -> None:
    """The end is a start of its own: what waits goes through the checkpoint."""
    table = traffic(40)
    program = occurs.Program(occurs.parse(TABLE + KEYED + WHOLE, language="ftl").checked.noticing())
    got = follow(live, program, cut(disordered(table, 5, 1), 2), tmp_path, watermark=5, **OPTIONS)
    alike(got, table, {"Overload", "at_once", "Passed", "much"})
    assert (got.runs, len(got.batches)) == (2, 3)
    told = [repr(row) for b in got.batches.values() for t in b.never.values() for row in t.to_pylist()]
    assert sorted(told) == notices(program.detect(table, time_unit="s"))
    assert told


@pytest.mark.slow
def test_rows_of_types_that_nobody_knows_are_observed(live: Any, tmp_path: Path) -> None:
    rules = "event Traffic(link string)\ntrigger every observing all: nexttime true reactivate"
    table = traffic(20)
    types = [["Traffic", "other", "third"][n % 3] for n in range(20)]
    table = table.set_column(0, "type", pa.array(types))
    got = follow(live, occurs.parse(rules, language="ftl"), cut(table, 2), tmp_path, watermark=1, **OPTIONS)
    alike(got, table, {"every"})
    assert len(got.found) == 10


@pytest.mark.long
def test_triggers_without_a_key_over_restarts(live: Any, tmp_path: Path) -> None:
    table = traffic(40)
    program = occurs.parse(TABLE + WHOLE, language="ftl")
    folder = Folder(tmp_path / "in")
    got = Followed(live, program, folder, table.schema, tmp_path / "cp", OPTIONS | {"watermark": 5})
    for part in cut(disordered(table, 5, 2), 2):
        folder.put(part)
        got.run()
    got.close()
    alike(got, table, {"Passed", "much"})
    assert (got.runs, len(got.batches)) == (3, 3)


@pytest.mark.long
def test_notices_are_a_query_of_their_own(live: Any, tmp_path: Path) -> None:
    table = traffic(40)
    folder = Folder(tmp_path / "in")
    for part in cut(disordered(table, 5, 3), 2):
        folder.put(part)
    program = occurs.parse(TABLE + KEYED, language="ftl")
    wanted = notices(program.detect(table, time_unit="s"))
    for asked in (program, occurs.Program(program.checked.noticing())):
        frame = folder.stream(live, table.schema)
        found = asked.detect(frame, watermark=5, time_unit="s", partitions=2, because=True)
        told = collected(live, found.never, tmp_path)
        assert sorted(map(repr, told.to_pylist())) == wanted
    assert wanted
