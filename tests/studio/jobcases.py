"""Runs of jobs without a process of their own, and results that tests make up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import to_builtins

from occurs.model.labels import Labels
from occurs.studio import job_worker
from occurs.studio.job_results import Writer, _octets
from occurs.studio.limits import JobLimits
from occurs.studio.results import END, FILE, LABEL, LINE, MANIFEST, OPEN, ROW, TIME, Results
from occurs.studio.shapes import JobNet


def ran(
    root: Path, texts: Mapping[str, str], events: Sequence[str], kind: str = "run", told: list[Any] | None = None,
    options: Mapping[str, Any] | None = None, net: Mapping[str, Any] | None = None,
    asked: Mapping[str, Any] | None = None, **limits: int,
) -> tuple[dict[str, Any], Results]:  # fmt: skip
    """What the process of a job would do, in this one; the caller changes to ``root`` and back."""
    most = JobLimits(**limits)
    folder = root / ".job"
    folder.mkdir(exist_ok=asked is not None)
    lines = [] if told is None else told
    given = {
        "kind": kind, "texts": texts, "events": events, "options": options or {},
        "net": {**to_builtins(JobNet()), **(net or {})}, "asked": asked or {}, "root": str(root),
        "folder": str(folder), "most_bytes": most.bytes, "most_rows": most.rows, "most_found": most.found,
    }  # fmt: skip
    return job_worker.done(given, lines.append), Results(folder)


def result(folder: Path, types: Mapping[str, tuple[str, Sequence[Mapping[str, Any]]]]) -> Results:
    """A result with types: name -> (part, rows); a row has ``time``, maybe ``end`` (None: open), and attributes."""
    writer = Writer(folder, None, None, [], [])  # type: ignore[arg-type]
    first = 0
    for name, (part, rows) in types.items():
        rows = sorted(rows, key=lambda r: r["time"])
        names = list(dict.fromkeys(n for r in rows for n in r if n not in ("time", "end")))
        special: dict[str, Any] = {TIME: pa.array([r["time"] for r in rows], pa.int64())}
        if any("end" in r for r in rows):
            special[END] = pa.array([OPEN if r["end"] is None else r["end"] for r in rows], pa.int64())
        numbers = np.arange(first, first + len(rows), dtype=np.uint64)
        special[LABEL] = _octets(Labels(numbers, numbers))
        if part == "input":
            none = pa.nulls(len(rows), pa.int64())
            special |= {FILE: pa.nulls(len(rows), pa.int32()), ROW: none, LINE: none}
        first += len(rows)
        writer._put(name, part, special, pa.table({n: pa.array([r.get(n) for r in rows]) for n in names}), ())
    time = {"timestamp": False, "unit": None}
    (folder / MANIFEST).write_text(json.dumps({"time": time, "files": [], "types": writer._types}))
    return Results(folder)
