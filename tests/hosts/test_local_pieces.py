"""The processes of an executor share the saved state of buckets as local files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import shared_state
from filestream import Folder, Followed

import occurs
from occurs.hosts.stream.local_pieces import LARGE, LocalPieces
from occurs.verify.compare import occurrences_of


def opened(folder: Path, version: str) -> LocalPieces:
    """As a process opens them that knows nothing of them."""
    pieces = LocalPieces(folder, "0-3")
    pieces.open(version)
    return pieces


def read(pieces: LocalPieces, name: str) -> bytes | None:
    found = pieces.get(name)
    return None if found is None else found.to_pybytes()


def test_another_process_finds_what_one_has_written(tmp_path: Path) -> None:
    one = LocalPieces(tmp_path / "q", "0-3")
    one.put("past/A/0", b"small")
    one.put("state/x", b"l" * LARGE)
    one.close("v1")
    two = opened(tmp_path / "q", "v1")
    assert (read(two, "past/A/0"), read(two, "state/x")) == (b"small", b"l" * LARGE)
    assert read(two, "past/B/0") is None
    # a piece that is written anew, and one that is dropped
    two.put("state/x", b"m" * LARGE)
    two.drop("past/A/0")
    two.put("past/A/1", b"more")
    two.close("v2")
    three = opened(tmp_path / "q", "v2")
    assert [read(three, n) for n in ("past/A/0", "past/A/1", "state/x")] == [None, b"more", b"m" * LARGE]


def test_a_step_that_is_repeated_finds_the_version_before(tmp_path: Path) -> None:
    one = LocalPieces(tmp_path / "q", "0-3")
    one.put("state/x", b"1" * LARGE)
    one.close("v1")
    for attempt in ("lost", "kept"):
        again = opened(tmp_path / "q", "v1")
        assert read(again, "state/x") == b"1" * LARGE
        again.put("state/x", attempt.encode() * LARGE)
        again.close(attempt)
    assert read(opened(tmp_path / "q", "kept"), "state/x") == b"kept" * LARGE
    assert opened(tmp_path / "q", "unknown").places == {}


def test_files_that_nobody_needs_are_deleted(tmp_path: Path) -> None:
    """Over 50 steps: a large table that is always written anew, and small pieces that live for ten steps."""
    pieces = LocalPieces(tmp_path / "q", "0-3")
    for step in range(50):
        pieces.put("state/x", bytes([step]) * LARGE)
        pieces.put(f"past/A/{step}", f"{step}".encode())
        if step >= 10:
            pieces.drop(f"past/A/{step - 10}")
        pieces.close(f"v{step}")
        pieces = opened(tmp_path / "q", f"v{step}") if step % 3 else pieces
        there = {p.name for p in (tmp_path / "q").iterdir()}
        assert there == pieces.files
        assert len(there) <= 14
    assert [read(pieces, f"past/A/{n}") for n in range(40, 50)] == [f"{n}".encode() for n in range(40, 50)]


def test_a_full_disk_leaves_the_state_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    pieces = LocalPieces(tmp_path / "q", "0-3")
    monkeypatch.setattr(Path, "write_bytes", full)
    pieces.put("past/A/0", b"small")
    pieces.close("v1")
    assert (pieces.folder, pieces.waiting, read(pieces, "past/A/0")) == (None, {}, None)
    monkeypatch.undo()
    assert opened(tmp_path / "q", "v1").places == {}


@pytest.mark.spark
@pytest.mark.slow
def test_no_process_reads_state_through_spark(live: Any, tmp_path: Path) -> None:
    """Two processes, four buckets, five micro-batches; after a restart the state is read once."""
    parts = [shared_state.events(n) for n in range(7)]
    folder = Folder(tmp_path / "in")
    options = {"time_unit": "ms", "watermark": 1, "partitions": 4}
    got = Followed(live, occurs.parse(shared_state.RULES), folder, parts[0].schema, tmp_path / "checkpoint", options)
    for part in parts[:5]:
        folder.put(part)
    got.run()
    assert [got.batches[n].figures["read"] for n in range(5)] == [0] * 5
    for part in parts[5:]:
        folder.put(part)
    got.run()
    assert [(got.batches[n].figures["read"] or 0) > 0 for n in (5, 6)] == [True, False]
    got.close()
    local = got.program.detect(pa.concat_tables(parts), time_unit="ms")
    assert sorted(map(str, got.found)) == sorted(map(str, occurrences_of({"Pair": local.arrow("Pair")})))


@pytest.mark.spark
@pytest.mark.long
def test_executors_of_a_cluster_share_state(tmp_path: Path) -> None:
    """Two executors with two processes each: a Spark of its own in processes of its own."""
    path = os.pathsep.join([str(Path(occurs.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, shared_state.__file__, "local-cluster[2,2,1024]", "200", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3_000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["read"] == [0] * 200
    tables = pa.concat_tables(shared_state.events(n) for n in range(200))
    local = occurs.parse(shared_state.RULES).detect(tables, time_unit="ms")["Pair"].to_pylist()
    wanted = sorted([r["time"], r["K"], r["V"], r["W"]] for r in local)
    # without an end of the stream, what the last instants find is not final
    assert told["found"] == [row for row in wanted if row[0] <= told["found"][-1][0]]
    assert len(told["found"]) > 0.99 * len(wanted)
