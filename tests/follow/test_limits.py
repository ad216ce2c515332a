"""The limit of a micro-batch, and what it leaves in the source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import occurs
from occurs.connect.store import Disk
from occurs.follow.folders import Folder
from occurs.follow.limits import MEGABYTES, Limit, Untaken, behind
from occurs.follow.wide import Expected, Pinned
from occurs.model.source import InputOptions
from occurs.model.time import TimeKind

RULES = "event A(k: int, v: float, s: string, unread: string)\ndefine R(s) from A(k > 1, v > 2) where s = A.s"


def expected() -> Expected:
    program = occurs.parse(RULES, "tesla").checked
    pinned = Pinned(dict(program.declared), TimeKind(), sequence=False, label=False)
    return Expected.of(program, pinned, InputOptions(), (None, None), labelled=False)


def test_rows_of_a_bucket_need_the_memory_that_is_asked_for() -> None:
    one = Limit.of(MEGABYTES, 1, expected())
    width = 40 + 8 + 8 + 32  # every row; k, v and s, which the rule reads
    assert one == Limit(256_000_000 // width, 64_000_000)
    assert Limit.of(MEGABYTES, 64, expected()).rows == 64 * 256_000_000 // width
    assert one.shared(4) == Limit(one.rows // 4, 16_000_000)
    assert Limit(3, 3).shared(100) == Limit(1, 1)


def log(path: Path, files: list[Path]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = [json.dumps({"path": f.as_uri(), "timestamp": 1, "batchId": 0}) for f in files]
    path.write_text("\n".join(["v1", *entries]))


def test_bytes_of_files_that_no_micro_batch_has_taken(tmp_path: Path) -> None:
    place, spark = tmp_path / "in here", tmp_path / "spark"
    (place / "more").mkdir(parents=True)
    files = [place / "a 1.csv", place / "b%.csv", place / "more" / "c.jsonl", place / "d.csv", place / "e.csv"]
    for n, path in enumerate(files):
        path.write_text("x" * 10**n)
    (place / "_SUCCESS").write_text("not of events")
    (place / "unfinished.tmp").write_text("nor this")
    untaken = Untaken([Folder(place, None)])
    assert untaken.bytes(Disk(tmp_path)) == 11_111
    log(spark / "sources" / "0" / "0", files[:1])
    log(spark / "sources" / "0" / "1", files[1:2])
    assert untaken.bytes(Disk(tmp_path)) == 11_100
    log(spark / "sources" / "0" / "2.compact", files[:3])
    assert untaken.bytes(Disk(tmp_path)) == 11_000
    log(spark / "sources" / "0" / "3", files[3:4])
    assert untaken.bytes(Disk(tmp_path)) == Untaken([Folder(place, None)]).bytes(Disk(tmp_path)) == 10_000
    files[4].unlink()
    assert untaken.bytes(Disk(tmp_path)) == 0


def test_rows_of_topics_that_were_not_read() -> None:
    def source(latest: Any, end: Any, description: str = "KafkaV2[Subscribe[t]]") -> dict[str, Any]:
        return {"description": description, "latestOffset": latest, "endOffset": end}

    ends = json.dumps({"t": {"0": 5, "1": 7}})
    one = source(json.dumps({"t": {"0": 9, "1": 7, "2": 2}}), ends)
    files = source(None, '{"logOffset":3}', "FileStreamSource[file:/in]")
    assert behind({"sources": [one, files, source(ends, ends)]}) == 4 + 2
    assert behind({"sources": [files]}) is None
    assert behind({"sources": [source(None, ends)]}) is None
    assert behind(None) is None
