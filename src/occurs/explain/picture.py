"""Answers as timelines, and as HTML for notebooks."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from occurs.explain.words import value_text
from occurs.plot.lanes import Answer
from occurs.plot.timeline import Timeline

if TYPE_CHECKING:
    from occurs.explain.why import Why
    from occurs.explain.whynot import WhyNot

#: what stands before the names of lanes, as shapes that need no colour
FAILED, ADDED = "✗ ", "· "


def why_not_timeline(answer: WhyNot) -> Timeline:
    """A group per reason: a lane per type of its rows, windows as bars that end at the row from which they are
    measured, rows at which clauses failed (red) and rows that are added (dashed) in lanes of their own, and the asked
    time as a line through all."""
    q = answer.question
    rows: dict[str, list[dict[str, Any]]] = {}
    for reason in answer.reasons:
        group = {"reason": f"{reason.number}"}
        asked = {"time": q.first, "end": q.last if q.last > q.first else None}
        rows.setdefault(f"{q.type}?", []).append({"time": asked["time"], "end": asked["end"], **group})
        for name, first, last in reason.windows:
            rows.setdefault(name, []).append({"time": first, "end": last, **group})
        for w in reason.witness:
            lane = (ADDED if w.added else "" if w.ok else FAILED) + w.type
            values = {n: value_text(v) for n, v in w.attributes.items() if v is not None}
            rows.setdefault(lane, []).append({"time": w.time, "end": w.end, **group, **values})
    title = f"why not {q.type}?"
    shown = Answer(
        frozenset(n for n in rows if n.startswith(FAILED)), frozenset(n for n in rows if n.startswith(ADDED)),
        (q.first, q.last) if q.bounded else None,
    )  # fmt: skip
    return _timeline(rows, answer.kind, "reason", title, shown)


def why_timeline(answer: Why) -> Timeline:
    """A lane per type of the derivation, and the intervals in which nothing was allowed to happen."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for n in answer.nodes:
        if n.time is None or n.kind not in ("detection", "event", "absence", "aggregate", "passed"):
            continue
        values = {k: value_text(v) for k, v in json.loads(n.attributes or "{}").items() if v is not None}
        lane = f"no {n.type}" if n.kind == "absence" else str(n.clause if n.kind == "aggregate" else n.type)
        rows.setdefault(lane, []).append({"time": n.time, "end": n.end, **values})
    return _timeline(rows, answer.kind, "", f"why {answer.row['type']}?")


def _timeline(
    rows: Mapping[str, list[dict[str, Any]]], kind: Any, key: str, title: str, answer: Answer | None = None
) -> Timeline:
    tables = {}
    for name, found in rows.items():
        names = sorted({n for row in found for n in row} - {"time", "end"})
        columns: dict[str, pa.Array] = {"time": pa.array([r["time"] for r in found], pa.int64())}
        if any(r["end"] is not None for r in found):
            columns["end"] = pa.array([r["time"] + 1 if r["end"] is None else r["end"] for r in found], pa.int64())
        for n in names:
            columns[n] = pa.array([r.get(n) for r in found], pa.string())
        tables[name] = pa.table(columns)
    return Timeline(tables, kind, key=(key,) if key else (), title=title, answer=answer)


def html_of(text: str, timeline: Timeline | None) -> str:
    """An answer as a notebook shows it."""
    shown = f"<pre>{html.escape(text)}</pre>"
    return shown if timeline is None else shown + timeline._repr_html_()
