"""All stages of a stream share one scan of its source."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from filestream import Folder, cut, disordered, follow
from hostcases import here, labelled
from instream import How, InStream, Store
from streamprograms import events

import occurs
from occurs.hosts.stream import detect
from occurs.hosts.stream.bucket import Bucket
from occurs.hosts.stream.records import ROWS
from occurs.model.source import InputOptions

#: three stages, each with a key of its own, of which every one reads rows of the input
STAGES = """
define One(K, G) from A(K = $k) and last B(K = $k) within 9 ms from A where K = $k, G = B.G
define Two(G, S) from C(G = $g) and each One(G = $g) within 20 ms from C where G = $g, S = One.K
define Three(S, V) from B(V = $s) and each Two(S = $s) within 30 ms from B where S = $s, V = Two.G
"""


def scans(query: Any) -> int:
    """How often the plan of a query reads a source."""
    return str(query.frame._jdf.queryExecution().logical()).count("StreamingRelation")


@pytest.mark.slow
@pytest.mark.spark
def test_the_plan_reads_the_source_once(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = Folder(tmp_path).stream(spark, events(1).schema)
    program = occurs.parse(STAGES)
    for one_scan, expected in ((True, 1), (False, 3)):
        monkeypatch.setattr(detect, "found_in", functools.partial(_FOUND_IN, one_scan=one_scan))
        query = program.detect(frame, time_unit="ms", watermark=10, partitions=2).query()
        assert query.layout.depth == 3
        assert scans(query) == expected


_FOUND_IN = detect.found_in


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("memory", ["forgetful", "crash"])
def test_rows_for_later_stages_travel_through_the_first(seed: int, memory: str) -> None:
    """With the detections of a scan for each stage, and no row of the input is packed behind the first."""
    table = events(60, seed)
    tables = {t: table.filter([x == t for x in table["type"].to_pylist()]).drop_columns("type") for t in "ABC"}
    how = How(size=7, delay=10, shuffled=True, memory=memory, seed=seed, one_scan=True)
    query = InStream(occurs.parse(STAGES), tables, InputOptions(time_unit="ms"), how)
    assert [len(query.layout.fed(depth)) for depth in range(3)] == [3, 1, 1]
    assert labelled(query.run().found) == labelled(here(occurs.parse(STAGES), tables, because=True, time_unit="ms"))


def test_rows_of_another_stage_pass_through_a_bucket() -> None:
    table = events(60, 1)
    tables = {t: table.filter([x == t for x in table["type"].to_pylist()]).drop_columns("type") for t in "ABC"}
    query = InStream(occurs.parse(STAGES), tables, InputOptions(time_unit="ms"), How(size=None, one_scan=True))
    packed = list(query._packed(0, query.rows, None, True))
    lanes = {r.lane for r in packed if r.kind == ROWS}
    assert len(lanes) == 3
    number = query.layout.ids[0]
    mine = [r for r in packed if r.bucket == number]
    passed = [r for r in Bucket(query.layout, 0, number, Store()).step(mine) if r.kind == ROWS]
    own = {p.lane.number for p in query.layout.at(0)}
    assert passed == [r for r in mine if r.kind == ROWS and r.lane not in own] != []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_stages_share_a_scan_over_restarts(live: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "found_in", functools.partial(_FOUND_IN, one_scan=True))
    table = disordered(events(60, 2), 10, 1)
    program = occurs.parse(STAGES)
    options: dict[str, Any] = {"time_unit": "ms", "because": True, "partitions": 2}
    got = follow(live, program, cut(table, 2), tmp_path, watermark=10, **options)
    assert labelled(got.found) == labelled(here(program, table, because=True, time_unit="ms"))
    assert (got.total("rows"), got.total("late"), got.runs) == (60, 0, 2)
