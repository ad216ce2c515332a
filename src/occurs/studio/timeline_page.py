"""The timeline of a run as the page that ``occurs plot`` makes: one file that needs neither a server nor a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from occurs.studio.results import OPEN, Results, Rows

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def write_page(
    found: Results, types: Sequence[str], path: Path, begin: int | None = None, stop: int | None = None,
    text: str = "", title: str = "",
) -> None:  # fmt: skip
    """Write the page of some types (none: all detections) and of all input events.

    Rows are chosen as in :meth:`Results.rows`.  Of more rows than a page shows, the earliest detections are on it, then
    the earliest input events; the page says how many it leaves out.  Raises UnknownNameError.
    """
    from occurs.model.time import TimeKind
    from occurs.plot.timeline import PAGE_ROWS, Timeline, page

    chosen = found.named(types)
    kind = TimeKind(**found.told["time"])
    detections, left_out = _first([(t, found.picked(t, begin, stop, text)) for t in chosen], PAGE_ROWS)
    inputs = [(t, t.within(begin, stop)) for t in found.of("input") if t not in chosen]
    events, more = _first(inputs, PAGE_ROWS - sum(map(len, detections.values())))
    line = Timeline.of(detections, kind, key=None, title=title, inputs=events)
    shown = replace(line, start=begin, end=stop).page()
    if left_out or more:
        rows = sum(map(len, (*detections.values(), *events.values())))
        notice = f"{rows:,} of {rows + left_out + more:,} rows are shown: the earliest detections, then input events"
        shown = replace(shown, notices=(notice, *shown.notices))
    path.write_text(page(shown), encoding="utf-8")


def _first(parts: Sequence[tuple[Rows, np.ndarray]], most: int) -> tuple[dict[str, pa.Table], int]:
    """The rows that begin first, as a table per type, and how many are left out."""
    import numpy as np

    times = [one.time[at] for one, at in parts]
    total = sum(map(len, times))
    kept = [np.ones(len(t), bool) for t in times]
    if total > most:
        earliest = np.argsort(np.concatenate(times), kind="stable")[: max(most, 0)]
        mask = np.zeros(total, bool)
        mask[earliest] = True
        kept = np.split(mask, np.cumsum([len(t) for t in times])[:-1])
    tables = {one.name: _table(one, at[keep]) for (one, at), keep in zip(parts, kept)}
    return tables, max(total - max(most, 0), 0)


def _table(one: Rows, at: np.ndarray) -> pa.Table:
    import pyarrow as pa

    part = one.table.select([c["name"] for c in one.columns]).take(pa.array(at))
    times = {"time": pa.array(one.time[at])}
    if one.lasting:
        times["end"] = pa.array(one.end[at], mask=one.end[at] == OPEN)
    return pa.table({**times, **{c["name"]: part[c["name"]] for c in one.columns}})
