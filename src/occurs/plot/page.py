"""A timeline as one page of HTML that needs nothing else: it moves, zooms and tells what is under the pointer."""

from __future__ import annotations

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from occurs.plot.lanes import Chart, Lane


def page(chart: Chart) -> str:
    """The page.  Text of users is escaped where it is markup, and data elsewhere; nothing is loaded from anywhere."""
    title = chart.title or "Timeline"
    # `<` cannot end the script that holds the data, nor begin a comment in it
    data = json.dumps(_data(chart), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        data = data.replace(letter, f"\\u{ord(letter):04x}")
    before, middle, after = _template().split("@@")[::2]
    return before + html.escape(title) + middle + data + after


@cache
def _template() -> str:
    """Text with ``@@title@@`` and ``@@data@@`` in it."""
    return files("occurs.plot").joinpath("page.html").read_text(encoding="utf-8")


def _data(chart: Chart) -> dict[str, Any]:
    return {
        "title": chart.title,
        "stamped": chart.kind.timestamp,
        "unit": chart.kind.unit or "ticks",
        # times are given from here, so that they are exact in floats; text, as these have 53 bits
        "base": str(chart.start),
        "span": max(chart.end - chart.start, 1),
        "types": [{"name": t, "colour": c, "input": t in chart.inputs} for t, c in chart.colours.items()],
        "groups": [
            {"name": g.name, "lanes": [_lane(lane, chart) for lane in g.lanes]} for g in chart.groups
        ],
        "notices": list(chart.notices),
    }  # fmt: skip


def _lane(lane: Lane, chart: Chart) -> dict[str, Any]:
    return {
        "type": chart.types.index(lane.type),
        "lasting": lane.lasting,
        "rows": lane.rows,
        "start": _from(lane.start, chart.start),
        "end": _from(lane.end, chart.start) if lane.lasting else [],
        "open": np.flatnonzero(lane.open).tolist(),
        "row": lane.row.tolist() if lane.rows > 1 else [],
        "crowded": np.flatnonzero(lane.crowded).tolist(),
        "label": lane.label,
        "text": lane.text,
        "signal": lane.signal,
        "values": None if lane.values is None else [None if np.isnan(v) else v for v in lane.values.tolist()],
    }


def _from(ticks: np.ndarray, base: int) -> list[int]:
    # Python's integers: the difference of two int64 may be none
    return [t - base for t in ticks.tolist()]
