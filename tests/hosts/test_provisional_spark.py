"""Rows that still hold, told before they have ended, on Structured Streaming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from filestream import Folder, collected, follow

import occurs

pytestmark = pytest.mark.spark
PROGRAM = "input event a(K), b(K). state s(K) : a(K) ~> b(K). event e(K) : end(s(K))."
ROWS = {"type": ["a", "a", "b", "a"], "time": [1, 2, 5, 9], "K": [1, 2, 1, 1]}
#: the instant of the newest row may not be over
TOLD = [(1, None, 1, False), (2, None, 2, False), (1, 5, 1, True)]


def parts() -> list[pa.Table]:
    whole = pa.table(ROWS)
    return [whole.slice(0, 2), whole.slice(2, 2)]


@pytest.mark.long
def test_in_one_query_and_as_frames(live: Any, tmp_path: Path) -> None:
    program = occurs.parse(PROGRAM, "phenesthe")
    got = follow(live, program, parts(), tmp_path, time_unit="s", provisional=True, partitions=2, with_label=True)
    rows = [r for _, b in sorted(got.batches.items()) for r in b.found["s"].to_pylist()]
    assert list(rows[0]) == ["type", "time", "end", "K", "final", "label"]
    told = sorted(((r["time"], r["end"], r["K"], r["final"]) for r in rows), key=repr)
    assert told == sorted([*TOLD, (2, None, 2, True), (9, None, 1, True)], key=repr)
    assert len({r["label"] for r in rows}) == 3

    folder = Folder(tmp_path / "again")
    for part in parts():
        folder.put(part)
    found = program.detect(folder.stream(live, pa.table(ROWS).schema), time_unit="s", provisional=True, partitions=2)
    both = collected(live, found.together(), tmp_path)
    assert both.column_names == ["type", "time", "end", "K", "final"]
    rows = [tuple(r.values()) for r in both.to_pylist()]
    assert sorted(rows, key=repr) == sorted([*(("s", *r) for r in TOLD), ("e", 5, None, 1, True)], key=repr)


@pytest.mark.long
def test_windows(live: Any, tmp_path: Path) -> None:
    program = occurs.parse(PROGRAM, "phenesthe")
    given = {"time_unit": "s", "window": 6, "step": 4}
    got = follow(live, program, parts(), tmp_path, partitions=2, with_label=True, **given)
    local = program.detect(pa.concat_tables(parts()), with_label=True, **given)
    for type in ("s", "e"):
        rows = [r for _, b in sorted(got.batches.items()) for r in b.found[type].to_pylist()]
        wanted = local[type].to_pylist()
        assert rows
        assert list(rows[0]) == list(wanted[0])
        assert sorted(rows, key=repr) == sorted(wanted, key=repr)

    folder = Folder(tmp_path / "again")
    for part in parts():
        folder.put(part)
    found = program.detect(folder.stream(live, pa.table(ROWS).schema), partitions=2, **given)
    both = collected(live, found.together(), tmp_path)
    assert both.column_names == ["type", "time", "end", "K", "query"]
    newest = max(r["query"] for r in both.to_pylist())
    wanted = [r for t in ("s", "e") for r in local[t].to_pylist() if r["query"] <= newest]
    columns = both.column_names
    assert sorted(repr([r[n] for n in columns]) for r in both.to_pylist()) == sorted(
        repr([r.get(n) for n in columns]) for r in wanted
    )


def test_what_a_stream_or_a_history_has_not(live: Any, tmp_path: Path) -> None:
    folder = Folder(tmp_path / "in")
    folder.put(pa.table(ROWS))
    program, stream = occurs.parse(PROGRAM, "phenesthe"), folder.stream(live, pa.table(ROWS).schema)
    with pytest.raises(occurs.UsageProblem, match="not available with --window") as raised:
        program.detect(stream, time_unit="s", window=10, step=10, provisional=True)
    assert raised.value.kind == "unsupported"
    with pytest.raises(occurs.UsageProblem, match="only available on a stream"):
        program.detect(live.createDataFrame(pa.table(ROWS)), time_unit="s", provisional=True)
